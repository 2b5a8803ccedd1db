"""Pairs drawn at random in proportion to their weights, without a list of them."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss
from plackett.losses.pairwise._margin_pairs import PreferencePairs, margin_pairs
from plackett.losses.pairwise.base import label_order

__all__ = ["DrawnPairs"]


class DrawnPairs:
    """The preferences of a dataset, or its pairs of unequal labels, to draw from; a draw takes O(log n).

    The better document is drawn in proportion to the weight of the pairs in which it is the better one, then the worse
    one in proportion to its own weight. Rows are sorted by descending label, so the worse ones are the rest of the
    query.
    """

    def __init__(self, data: RankingDataset, margin: float | str, normalize: bool) -> None:
        pairs = margin_pairs(data, margin=margin, normalize=normalize)
        self.margin = margin
        self.labels = None if data.y is None else data.labels
        self.given = pairs if isinstance(pairs, PreferencePairs) else None
        if self.given is not None:
            self.ends = np.cumsum(self.given.weight)
            return
        weight = BoundLoss(data).sample_weight
        self.order, below, judged = label_order(data)
        self.cumulated = np.concatenate(([0.0], np.cumsum(weight[self.order])))
        start = np.repeat(data.offsets[:-1], data.group)
        self.first_worse = np.minimum(start + below, np.repeat(data.offsets[:-1] + judged, data.group))
        self.end = np.repeat(data.offsets[:-1] + judged, data.group)
        worse = self.cumulated[self.end] - self.cumulated[self.first_worse]
        worse[self.first_worse == self.end] = 0.0
        scale = pairs.scale[data.query_of_row]  # type: ignore[attr-defined]
        self.ends = np.cumsum(scale * weight[self.order] * worse)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return self.ends.size == 0 or not self.ends[-1] > 0

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows of the better and of the worse document, and the margin, of n pairs."""
        picked = _at(self.ends, rng.random(n) * self.ends[-1])
        share = rng.random(n)
        if self.given is not None:
            return self.given.winner[picked], self.given.loser[picked], self.given.margin[picked]
        low, high = self.cumulated[self.first_worse[picked]], self.cumulated[self.end[picked]]
        other = _at(self.cumulated[1:], low + share * (high - low))
        other = np.clip(other, self.first_worse[picked], self.end[picked] - 1)
        winner, loser = self.order[picked], self.order[other]
        if self.margin == "label":
            assert self.labels is not None
            return winner, loser, self.labels[winner] - self.labels[loser]
        return winner, loser, np.full(n, float(self.margin))


def _at(ends: np.ndarray, values: np.ndarray) -> np.ndarray:
    """First entry whose cumulative weight is above each value; never an entry of weight 0."""
    return np.minimum(np.searchsorted(ends, values, side="right"), np.searchsorted(ends, ends[-1]))
