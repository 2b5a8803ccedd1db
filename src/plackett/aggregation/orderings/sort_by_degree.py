"""Sort by degree: by how many others a document is preferred to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.aggregation.orderings.base import Ordering
from plackett.aggregation.orderings.preference import Preference, pair_blocks

__all__ = ["SortByDegree"]


@dataclass(frozen=True, kw_only=True)
class SortByDegree(Ordering):
    r"""Sort by degree: the score of a document is the mean of its preferences over the others of its list,

    .. math:: \frac{1}{n - 1} \sum_{v \ne u} h(u, v).

    If documents are either relevant or not, its ranking loss is at most twice the loss of h, in expectation and in
    regret, and no deterministic method does better. All n (n − 1) / 2 pairs are compared, in blocks, without storing
    a table of them.
    A document alone in its list scores ½.

    Examples
    --------
    >>> SortByDegree().scores([[0.5, 1.0, 0.5], [0.0, 0.5, 1.0], [0.5, 0.0, 0.5]], [0, 3]).tolist()
    [0.75, 0.5, 0.25]

    References
    ----------
    Balcan, Bansal, Beygelzimer, Coppersmith, Langford, Sorkin: Robust reductions from ranking to classification.
    Machine Learning 2008.
    """

    name: ClassVar[str] = "SortByDegree"
    aliases: ClassVar[tuple[str, ...]] = ("degree",)

    def _scores(self, preference: Preference, offsets: np.ndarray, keys: np.ndarray) -> np.ndarray:
        n = int(offsets[-1])
        degree = np.zeros(n)
        for first, second in pair_blocks(offsets):
            h = preference(first, second)
            lo, hi = int(first[0]), int(second.max()) + 1  # rows of a block lie together
            degree[lo:hi] += np.bincount(first - lo, h, hi - lo)
            degree[lo:hi] += np.bincount(second - lo, 1.0 - h, hi - lo)
        others = np.repeat(np.diff(offsets), np.diff(offsets)) - 1
        return np.divide(degree, others, out=np.full(n, 0.5), where=others > 0)
