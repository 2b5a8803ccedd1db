"""Measures in the form that a sweep along a line needs: the change when two neighbours in a list are exchanged.

When document j overtakes document i, which was at position p directly above it, the measure changes by

    (g_j − g_i) · (w_p − w_{p+1}) · c_p

where g depends on the document, w on the position, and c on the documents above. It follows the recursion
c_{p+1} = c_p · f + e, with f and e of the document at position p. Sums of gains times discounts have f = 1 and e = 0.
Average precision counts the relevant documents above (f = 1, and e = 1 for relevant ones). For reciprocal rank and ERR,
c is the probability of reaching position p (e = 0, f = 1 minus the probability of stopping).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_array
from plackett.measures.ap import AveragePrecision
from plackett.measures.err import ExpectedReciprocalRank
from plackett.measures.nerr import NormalisedERR
from plackett.measures.ranking import Scored
from plackett.measures.relevance import n_relevant
from plackett.measures.rr import ReciprocalRank
from plackett.measures.success import SuccessRate
from plackett.solvers.measure_objective import MeasureObjective


class NeighbourForm(NamedTuple):
    """Gain g, factor f and addend e of each document; worth w of each position, flat over the queries."""

    gain: np.ndarray
    factor: np.ndarray
    addend: np.ndarray
    worth: np.ndarray


def neighbour_form(lists: MeasureObjective) -> NeighbourForm | None:
    """The form of a measure of some lists; None if it has no such form."""
    measure = lists.measure
    make = _FORMS.get(type(measure), _linear if measure.linear_swaps else None)
    if make is None:
        return None
    out = NeighbourForm(*(row_array(lists.X, (lists.lists.n_rows,)) for _ in NeighbourForm._fields))
    for lo, hi in lists.blocks:
        rows = slice(lists.lists.offsets[lo], lists.lists.offsets[hi])
        for whole, part in zip(out, make(measure, lists.part(lo, hi)), strict=True):
            whole[rows] = part
    return out


def _linear(measure: Any, data: RankingDataset) -> NeighbourForm:
    """The worth of a position is in the swap state of any order."""
    ranking = Scored(data, np.zeros(data.n_rows)).ranking("stable")
    state = measure.swap_state(ranking)
    gain = np.empty(data.n_rows)
    gain[ranking.rows] = state[:, 0]
    return NeighbourForm(gain, np.ones(data.n_rows), np.zeros(data.n_rows), np.ascontiguousarray(state[:, 2]))


def _average_precision(measure: Any, data: RankingDataset) -> NeighbourForm:
    if measure.over == "all":
        form = _linear(measure, data)
        return form._replace(
            worth=-form.worth
        )  # swap states are unsigned, and hold the loss of a late rank instead of its worth
    relevant = (data.labels >= measure.rel).astype(np.float64)
    total = n_relevant(Scored(data, np.zeros(data.n_rows)).ranking("stable"), measure.rel)
    if measure.divisor == "reachable":
        total = np.minimum(total, measure.k or data.n_rows)
    gain = relevant / np.maximum(total, 1)[data.query_of_row]
    return NeighbourForm(gain, np.ones(data.n_rows), relevant, _until(measure.k, data, 1.0 / _ranks(data)))


def _first_relevant(measure: Any, data: RankingDataset) -> NeighbourForm:
    relevant = (data.labels >= measure.rel).astype(np.float64)
    return NeighbourForm(relevant, 1.0 - relevant, np.zeros(data.n_rows), _until(measure.k, data, 1.0 / _ranks(data)))


def _success(measure: Any, data: RankingDataset) -> NeighbourForm:
    return _first_relevant(measure, data)._replace(worth=_until(measure.k, data, np.ones(data.n_rows)))


def _cascade(measure: Any, data: RankingDataset) -> NeighbourForm:
    ranking = Scored(data, np.zeros(data.n_rows)).ranking("stable")
    state = measure.swap_state(ranking)
    gain, factor = np.empty(data.n_rows), np.empty(data.n_rows)
    gain[ranking.rows] = state[:, 0]
    factor[ranking.rows] = 1.0 / state[:, 1]
    return NeighbourForm(gain, factor, np.zeros(data.n_rows), _until(measure.k, data, 1.0 / _ranks(data)))


_FORMS: dict[type, Callable[[Any, RankingDataset], NeighbourForm]] = {
    AveragePrecision: _average_precision,
    ReciprocalRank: _first_relevant,
    SuccessRate: _success,
    ExpectedReciprocalRank: _cascade,
    NormalisedERR: _cascade,
}


def _ranks(data: RankingDataset) -> np.ndarray:
    return np.arange(1.0, data.n_rows + 1.0) - data.offsets[data.query_of_row]


def _until(k: int | None, data: RankingDataset, worth: np.ndarray) -> np.ndarray:
    return worth if k is None else np.where(_ranks(data) <= k, worth, 0.0)
