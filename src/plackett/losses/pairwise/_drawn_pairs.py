"""Pairs drawn at random in proportion to their weights, without a list of them."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import query_blocks, row_array
from plackett.data.weights import given_or_ones
from plackett.losses.pairwise._margin_pairs import PreferencePairs, margin_pairs
from plackett.losses.pairwise.base import label_order


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
        shape = (data.n_rows,)
        self.order, self.first_worse, self.end = (row_array(data.X, shape, np.int64) for _ in range(3))
        self.cumulated, self.ends = row_array(data.X, (data.n_rows + 1,)), row_array(data.X, shape)
        for lo, hi in query_blocks(data.offsets):
            self._fill(data.select(np.arange(lo, hi)), int(data.offsets[lo]), pairs.scale[lo:hi])  # type: ignore[attr-defined]

    def _fill(self, part: RankingDataset, start: int, scale: np.ndarray) -> None:
        """The tables of a block of queries whose rows begin at ``start``."""
        rows = slice(start, start + part.n_rows)
        order, below, judged = label_order(part)
        weight = given_or_ones(part.sample_weight, part.n_rows)[order]
        sums = np.cumsum(np.concatenate(([self.cumulated[start]], weight)))
        end = np.repeat(part.offsets[:-1] + judged, part.group)
        first_worse = np.minimum(np.repeat(part.offsets[:-1], part.group) + below, end)
        worse = sums[end] - sums[first_worse]
        worse[first_worse == end] = 0.0
        before = self.ends[start - 1] if start else 0.0
        self.cumulated[start + 1 : rows.stop + 1] = sums[1:]
        self.order[rows], self.first_worse[rows], self.end[rows] = order + start, first_worse + start, end + start
        self.ends[rows] = np.cumsum(np.concatenate(([before], np.repeat(scale, part.group) * weight * worse)))[1:]

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
