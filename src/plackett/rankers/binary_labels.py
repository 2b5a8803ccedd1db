"""Binary relevance labels, for rankers that do not use grades."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from plackett._errors import DataError

__all__ = ["balanced", "check_relevance"]


class Labelled(Protocol):
    """Anything with labels."""

    @property
    def labels(self) -> np.ndarray:
        """One number per document; below 0 if it was not judged."""


def check_relevance(data: Labelled, rel: float) -> None:
    """Reject labels that differ but are all relevant or all irrelevant: there is nothing to learn from them."""
    labels = data.labels[data.labels >= 0]
    relevant = labels >= rel
    if labels.size and np.ptp(labels) > 0 and relevant.all() == relevant.any():
        side = "at least" if relevant.all() else "below"
        raise DataError(
            f"every label is {side} rel={rel:g} (labels from {labels.min():g} to {labels.max():g}); choose another rel"
        )


def balanced(weight: np.ndarray, side: np.ndarray) -> np.ndarray:
    """Rescale weights so that both sides (−1 and 1) have the same total; the overall sum is unchanged.

    >>> balanced(np.ones(4), np.array([1, -1, -1, -1])).tolist()
    [2.0, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666]
    """
    total = np.where(side > 0, weight[side > 0].sum(), weight[side < 0].sum())
    return weight * weight.sum() / (2.0 * total)
