"""Binary relevance labels, for rankers that do not use grades."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from plackett._base.errors import DataError

#: Labels that are looked at together: those of data that are on the disk are not copied as a whole.
_ROWS = 4_096


class Labelled(Protocol):
    """Anything with labels."""

    @property
    def labels(self) -> np.ndarray:
        """One number per document; below 0 if it was not judged."""


def check_relevance(data: Labelled, rel: float) -> None:
    """Reject labels that differ but are all relevant or all irrelevant: there is nothing to learn from them."""
    low, high = np.inf, -np.inf
    for start in range(0, data.labels.size, _ROWS):
        labels = data.labels[start : start + _ROWS]
        judged = labels[labels >= 0]
        low, high = min(low, judged.min(initial=np.inf)), max(high, judged.max(initial=-np.inf))
    if low < high and not low < rel <= high:
        side = "at least" if low >= rel else "below"
        raise DataError(f"every label is {side} rel={rel:g} (labels from {low:g} to {high:g}); choose another rel")


def balanced(weight: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Rescale weights so that both sides (−1 and 1) have the same total; the overall sum is unchanged.

    >>> balanced(np.ones(4), np.array([1, -1, -1, -1])).tolist()
    [2.0, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666]
    """
    total = np.where(side > 0, weight[side > 0].sum(), weight[side < 0].sum())
    return weight * weight.sum() / (2.0 * total)
