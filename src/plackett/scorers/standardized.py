"""The weighted sum of scores that are standardised within each list."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from plackett.scorers.blend import BlendScorer

__all__ = ["StandardizedScorer", "standardized"]


class StandardizedScorer(BlendScorer):
    """Trained rankers, and the factor of each one's standardised score in the sum."""

    kind: ClassVar[str] = "standardized"
    list_aware: ClassVar[bool] = True  # type: ignore[assignment]

    def _scaled(self, scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        return standardized(scores, offsets)


def standardized(scores: Any, offsets: np.ndarray) -> np.ndarray:
    """Scores with mean 0 and variance 1 in each list; 0 where they are all equal, NaN where one is.

    >>> standardized([1.0, 3.0, 5.0, 5.0], np.array([0, 2, 4])).tolist()
    [-1.0, 1.0, 0.0, 0.0]
    """
    n, sizes = offsets.size - 1, np.diff(offsets)
    query, sizes = np.repeat(np.arange(n), sizes), np.maximum(sizes, 1)
    rest = np.asarray(scores, np.float64) - (np.bincount(query, scores, n) / sizes)[query]
    spread = np.sqrt(np.bincount(query, rest**2, n) / sizes)
    level = np.sqrt(np.bincount(query, np.square(scores), n) / sizes)
    return np.where((spread <= 1e-12 * level)[query], 0.0, rest / np.maximum(spread, 1e-300)[query])
