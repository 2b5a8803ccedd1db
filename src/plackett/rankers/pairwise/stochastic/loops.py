"""Which examples are drawn, and how often: a table of weights for single documents and one for pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import below, mix
from plackett.data.dataset import RankingDataset
from plackett.data.mapped import copy_rows, is_large, query_blocks, row_array
from plackett.data.parts import all_rows, parts, per_row, rows_where, values_at
from plackett.rankers.pairwise._entries import Entries, pair_entries
from plackett.rankers.pairwise.stochastic.alias import Alias, alias_table, draw_entry

#: Stored instead of the second row of a pair: a single document, by its side.
RELEVANT, IRRELEVANT = -1, -2

_UNIT = 2.0**-32


class PairPool(NamedTuple):
    """Pairs to draw: entry i has the better document ``first[i]`` and the others ``order[low[i]:high[i]]``.

    ``cumulative`` are running sums of the weights of ``order``, empty if these are equal. ``margin`` has one number
    per entry, or is empty if the learner's margin applies. ``mass`` is the total weight of all pairs.
    """

    alias: Alias
    first: np.ndarray
    low: np.ndarray
    high: np.ndarray
    order: np.ndarray
    cumulative: np.ndarray
    margin: np.ndarray
    mass: float


class Singles(NamedTuple):
    """Documents to draw, with their side (1 relevant, −1 not), and their total weight."""

    alias: Alias
    side: np.ndarray
    mass: float


class Draws(NamedTuple):
    """Draw a pair with this probability, otherwise a document; if one kind is empty, always the other.

    ``margin`` is the target for examples without their own margin.
    """

    pair_probability: float
    pairs: PairPool
    singles: Singles
    margin: float

    @property
    def empty(self) -> bool:
        """Whether there is nothing to draw."""
        return self.pairs.mass == 0.0 and self.singles.mass == 0.0


# ------------------------------------------------------------------------------------------------------------ pairs


def label_pairs(data: RankingDataset, rel: float, *, by_query: bool) -> PairPool:
    """Pairs of unequal labels of the same query (or the preferences of the dataset), all alike or queries alike."""
    if data.preferences is None and is_large(data.X):
        return _label_pairs_on_disk(data, by_query)
    entries = pair_entries(data)
    sums = entries.sums()
    cumulative = None if data.sample_weight is None or data.preferences is not None else sums
    mass = _masses(data, entries, sums, by_query)
    return _pairs(mass, entries.first, entries.low, entries.high, entries.order, cumulative, entries.margin)


def _masses(data: RankingDataset, entries: Entries, sums: np.ndarray, by_query: bool) -> np.ndarray:
    """Total weight of the pairs of each entry."""
    mass = entries.weight * (sums[entries.high] - sums[entries.low])
    if by_query:
        total = np.bincount(entries.query, mass, data.n_queries)[entries.query]
        mass = np.divide(mass, total, out=np.zeros_like(mass), where=total > 0)
    if data.query_weight is not None:
        mass = mass * data.query_weight[entries.query]
    return mass


def _label_pairs_on_disk(data: RankingDataset, by_query: bool) -> PairPool:
    """The same for data on disk: tables are written there, block by block."""
    order, first, low, high = (row_array(data.X, (data.n_rows,), np.int64) for _ in range(4))
    mass = row_array(data.X, (data.n_rows,))
    cumulative = np.empty(0) if data.sample_weight is None else row_array(data.X, (data.n_rows + 1,))
    n, running = 0, 0.0
    for lo, hi in query_blocks(data.offsets):
        start, end, part = int(data.offsets[lo]), int(data.offsets[hi]), data.select(np.arange(lo, hi))
        entries = pair_entries(part)
        sums = entries.sums(running)
        running = float(sums[-1])
        own = _masses(part, entries, sums, by_query)
        some = own > 0.0
        new = slice(n, n + int(some.sum()))
        n = new.stop
        mass[new] = own[some]
        first[new] = entries.first[some] + start
        low[new], high[new] = entries.low[some] + start, entries.high[some] + start
        order[start:end] = entries.order + start
        if cumulative.size:
            cumulative[start + 1 : end + 1] = sums[1:]
    mass = mass[:n]
    total = float(mass.sum())
    return PairPool(alias_table(mass, data.X), first[:n], low[:n], high[:n], order, cumulative, np.empty(0), total)


def side_pairs(data: RankingDataset, rel: float) -> PairPool:
    """Every relevant document with every other one, whatever their queries."""
    weight = per_row(data, lambda part: part.row_weight)
    relevant = _rows(data, lambda part: (part.labels >= rel) & (part.row_weight > 0))
    others = _rows(data, lambda part: _irrelevant(part, rel))
    order = row_array(data.X, (relevant.size + others.size,), np.int64)
    order[: relevant.size], order[relevant.size :] = relevant, others
    mass = values_at(weight, relevant, data.X)
    mass *= values_at(weight, others, data.X).sum()
    total = float(mass.sum())
    if total == 0.0:
        return no_pairs(data, rel)
    cumulative = np.empty(0)
    if data.sample_weight is not None or data.query_weight is not None:
        cumulative = row_array(data.X, (order.size + 1,))
        np.cumsum(copy_rows(weight, order, cumulative[1:]), out=cumulative[1:])
    low, high = (row_array(data.X, (relevant.size,), np.int64) for _ in range(2))
    low[:], high[:] = relevant.size, order.size
    return PairPool(alias_table(mass, data.X), relevant, low, high, order, cumulative, np.empty(0), total)


def _rows(data: RankingDataset, chosen: Callable[[RankingDataset], np.ndarray]) -> np.ndarray:
    rows = rows_where(data, chosen)
    return all_rows(data) if rows is None else rows


def no_pairs(data: RankingDataset, rel: float) -> PairPool:
    """None at all."""
    none = np.empty(0, np.int64)
    return _pairs(np.empty(0), none, none, none, none, None)


def _pairs(
    mass: np.ndarray,
    first: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    order: np.ndarray,
    sums: np.ndarray | None,
    margin: np.ndarray | None = None,
) -> PairPool:
    some = mass > 0.0  # documents with nothing below them are left out of the table
    cumulative = np.empty(0) if sums is None else sums
    own = np.empty(0) if margin is None else margin[some]
    mass, first, low, high = mass[some], first[some], low[some], high[some]
    return PairPool(alias_table(mass), first, low, high, order, cumulative, own, float(mass.sum()))


# ---------------------------------------------------------------------------------------------------------- singles


def documents(data: RankingDataset, rel: float) -> Singles:
    """Every judged document."""
    mass = per_row(data, lambda part: part.row_weight * _judged(part))
    side = per_row(data, lambda part: np.where(part.labels >= rel, 1.0, -1.0))
    return Singles(alias_table(mass, data.X), side, float(mass.sum()))


def balanced_documents(data: RankingDataset, rel: float) -> Singles:
    """Every judged document; relevant ones together as often as the others."""
    mass = per_row(data, lambda part: part.row_weight)
    total = _sum_at(mass, data, _judged)
    sides = (
        _sum_at(mass, data, lambda part: part.labels >= rel),
        _sum_at(mass, data, lambda part: _irrelevant(part, rel)),
    )
    factors = [0.5 * total / own if own > 0.0 else 1.0 for own in sides]
    for lo, hi, part in parts(data):
        own = mass[data.offsets[lo] : data.offsets[hi]]
        own[part.labels >= rel] *= factors[0]
        own[_irrelevant(part, rel)] *= factors[1]
        own *= _judged(part)
    side = per_row(data, lambda part: np.where(part.labels >= rel, 1.0, -1.0))
    return Singles(alias_table(mass, data.X), side, float(mass.sum()))


def _sum_at(mass: np.ndarray, data: RankingDataset, chosen: Callable[[RankingDataset], np.ndarray]) -> float:
    return float(values_at(mass, rows_where(data, chosen), data.X).sum())


def _judged(data: RankingDataset) -> np.ndarray:
    return data.labels >= 0


def no_documents(data: RankingDataset, rel: float) -> Singles:
    """None at all."""
    return Singles(alias_table(np.empty(0)), np.empty(0), 0.0)


def _irrelevant(data: RankingDataset, rel: float) -> np.ndarray:
    return (data.labels >= 0) & (data.labels < rel)


# ------------------------------------------------------------------------------------------------------------ loops


@dataclass(frozen=True)
class Loop:
    """What is drawn; ``mixed`` loops draw a pair with a probability that the user chooses."""

    pairs: Callable[[RankingDataset, float], PairPool]
    singles: Callable[[RankingDataset, float], Singles]
    mixed: bool = False

    @property
    def by_side(self) -> bool:
        """Whether it matters which labels are relevant."""
        return self.pairs is side_pairs or self.singles is not no_documents


def _all_alike(data: RankingDataset, rel: float) -> PairPool:
    return label_pairs(data, rel, by_query=False)


def _queries_alike(data: RankingDataset, rel: float) -> PairPool:
    return label_pairs(data, rel, by_query=True)


#: The loops by name, as sofia-ml calls them.
LOOPS = {
    "stochastic": Loop(no_pairs, documents),
    "balanced-stochastic": Loop(no_pairs, balanced_documents),
    "roc": Loop(side_pairs, no_documents),
    "rank": Loop(_all_alike, no_documents),
    "query-norm-rank": Loop(_queries_alike, no_documents),
    "combined-ranking": Loop(_all_alike, documents, mixed=True),
    "combined-roc": Loop(side_pairs, documents, mixed=True),
}


def make_draws(loop: Loop, data: RankingDataset, *, rel: float, margin: float, pair_probability: float) -> Draws:
    """The tables of a loop for a dataset."""
    if data.y is None and (data.preferences is None or loop.by_side):
        raise DataError("this loop needs labels, but the dataset has none")
    pairs, singles = loop.pairs(data, rel), loop.singles(data, rel)
    share = pair_probability if loop.mixed else 1.0
    if pairs.mass == 0.0 or singles.mass == 0.0:
        share = float(pairs.mass > 0.0)
    return Draws(share, pairs, singles, margin)


@kernel(inline=True)
def _draw_position(order_low, order_high, cumulative, bits):  # type: ignore[no-untyped-def]
    """A random position from ``order_low`` up to ``order_high``: uniform, or by running sums of weights."""
    if cumulative.size == 0:
        return order_low + below(bits, order_high - order_low)
    share = np.float64(bits & np.uint64(0xFFFFFFFF)) * _UNIT
    target = cumulative[order_low] + share * (cumulative[order_high] - cumulative[order_low])
    low = order_low
    high = order_high - 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[middle + 1] > target:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def draw(start, first, second, margin, draws):  # type: ignore[no-untyped-def]
    """Draw examples number ``start``, ``start + 1``, …: the rows of pairs, and the margins they should have.

    For a single document ``second`` is `RELEVANT` or `IRRELEVANT`.
    """
    pairs = draws.pairs
    singles = draws.singles
    for i in range(first.size):
        bits = mix(start + np.uint64(i))
        more = mix(bits ^ np.uint64(0xD1B54A32D192ED03))
        margin[i] = draws.margin
        if np.float64(more >> np.uint64(32)) * _UNIT < draws.pair_probability:
            entry = draw_entry(bits, pairs.alias.keep, pairs.alias.other)
            first[i] = pairs.first[entry]
            second[i] = pairs.order[_draw_position(pairs.low[entry], pairs.high[entry], pairs.cumulative, more)]
            if pairs.margin.size:
                margin[i] = pairs.margin[entry]
        else:
            row = draw_entry(bits, singles.alias.keep, singles.alias.other)
            first[i] = row
            second[i] = RELEVANT if singles.side[row] > 0.0 else IRRELEVANT
