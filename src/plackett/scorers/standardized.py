"""The weighted sum of scores that are standardised within each list."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from plackett.scorers.blend import BlendScorer

__all__ = ["StandardizedScorer"]


class StandardizedScorer(BlendScorer):
    """Trained rankers, and the factor of each one's standardised score in the sum."""

    kind: ClassVar[str] = "standardized"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]

    not_exportable: ClassVar[str] = (  # type: ignore[assignment]
        "scales the scores of its members within each list (scale='query'), and engines score one document at a time; "
        "blend with scale='spread', export one of its members_, or serve it: plackett serve scores whole lists"
    )

    def contributions(self, X: Any, n_jobs: int | None = None) -> None:
        """None: scores are not sums over features."""

    def _scaled(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return standardized(scores, offsets)


def standardized(scores: Any, offsets: np.ndarray) -> np.ndarray:
    """Scores with mean 0 and variance 1 in each list; 0 where they are all equal, NaN where one is.

    >>> standardized([1.0, 3.0, 5.0, 5.0], np.array([0, 2, 4])).tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    scores = np.asarray(scores, np.float64)
    n, sizes = offsets.size - 1, np.diff(offsets)
    query, filled = np.repeat(np.arange(n), sizes), sizes > 0
    largest = np.zeros(n)
    largest[filled] = np.maximum.reduceat(np.abs(scores), offsets[:-1][filled]) if scores.size else 0.0
    scores = np.ldexp(scores, -np.frexp(largest)[1][query])  # at most 1: squares neither overflow nor vanish
    sizes = np.maximum(sizes, 1)
    rest = scores - (np.bincount(query, scores, n) / sizes)[query]
    spread = np.sqrt(np.bincount(query, rest**2, n) / sizes)
    level = np.sqrt(np.bincount(query, scores**2, n) / sizes)
    return np.where((spread <= 1e-12 * level)[query], 0.0, rest / np.maximum(spread, 1e-300)[query])
