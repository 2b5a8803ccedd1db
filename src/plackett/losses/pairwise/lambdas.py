"""The lambda gradient: pairs weighted by the effect of swapping them on a measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.arguments import number, whole_or_none
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, REASSOC, kernel, kernel_from, template
from plackett._kernels.scratch import lanes32, longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett._kernels.vector_math import exp32
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss, LossOnData
from plackett.losses.pairwise.base import label_order
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.measures.swaps import n_layers, swaps_below

__all__ = ["Lambda"]

#: Documents further below the best one than this are moved to this distance, to stay in the range of float32.
_FARTHEST = -1e30


class PairRules(NamedTuple):
    """Which pairs of a ranking count, and how."""

    truncation: int
    sigma: float
    normalize: bool

    @classmethod
    def of(cls, loss: Lambda, data: RankingDataset) -> PairRules:
        """The rules of a loss on one dataset."""
        return cls(loss.truncation or max(data.n_rows, 1), float(loss.sigma), bool(loss.normalize))


@kernel(fastmath=REASSOC)
def _against_lower(top, s, y, w, g, v, sigma, shrink, push, bend):
    """Pairs of one document with those ranked below it, in float32 lanes and without a branch."""
    one = np.float32(1.0)
    zero = np.float32(0.0)
    floor = np.float32(0.01)
    score, label, gain, discount, factor = top
    total_push = zero
    total_bend = zero
    total_size = zero
    for j in range(s.size):
        gap = score - s[j]
        size = abs(gain - g[j]) * abs(discount + v[j]) * factor * w[j]
        size = size / (floor + gap) if shrink else size
        size = zero if label == y[j] else size
        right = one / (one + exp32(sigma * gap))  # how much a correctly ordered pair is still in doubt
        force = (right if label > y[j] else right - one) * size
        curve = right * (one - right) * size
        push[j] -= force
        bend[j] += curve
        total_push += force
        total_bend += curve
        total_size += abs(force)
    return total_push, total_bend, total_size


@kernel
def _upper(i, n, lanes, state, first):
    """Score, label, gain, discount and factor of the document at position i, for its swaps with those below it."""
    s, y, w, g, a, u, _, _, _ = lanes
    return s[i], y[i], g[i], u[i], a[i] * w[i]


@kernel
def _upper_by_layers(i, n, lanes, state, first):
    """As `_upper`; a state of several layers, from position ``first`` on, replaces the four numbers of a swap."""
    s, y, w, g, a, u, v, _, _ = lanes
    if n_layers(state) == 1:
        return s[i], y[i], g[i], u[i], a[i] * w[i]
    swaps_below(state, first + i, v[i + 1 : n])  # v holds the change itself: all gains are 0
    return s[i], y[i], np.float32(1.0), np.float32(0.0), w[i]


@template
def _one_query(n, lanes, state, first, rules):
    """Push and curvature of the n documents in ``lanes``, best first; returns the scale of this query."""
    s, y, w, g, _, _, v, push, bend = lanes
    truncation, sigma, normalize = rules
    shrink = normalize and s[0] != s[n - 1]
    for i in range(n):
        push[i] = 0.0
        bend[i] = 0.0
    total = 0.0
    for i in range(min(truncation, n - 1)):
        if w[i] > 0.0:
            r = slice(i + 1, n)
            top = upper(i, n, lanes, state, first)  # type: ignore[name-defined] # noqa: F821
            up, curve, size = _against_lower(
                top, s[r], y[r], w[r], g[r], v[r], np.float32(sigma), shrink, push[r], bend[r]
            )
            push[i] += up
            bend[i] += curve
            total += size
    total *= 2.0 * sigma
    return sigma * np.log2(1.0 + total) / total if normalize and total > 0.0 else sigma


_one_query_of_lanes = kernel_from(_one_query, upper=_upper)
_one_query_of_state = kernel_from(_one_query, upper=_upper_by_layers)


@kernel
def _linear(lo, hi, offsets, scores, documents, query_weight, rules, gradient, curvature):
    """The lambdas of a measure that is a sum of gains times discounts: sorts and goes over the pairs in one pass."""
    grades, weight, gains, discounts = documents
    _, sigma, _ = rules
    n_max = longest(lo, hi, offsets)
    lane = lanes32(9, n_max)
    s, y, w, g, a, u, v, push, bend = lane[0], lane[1], lane[2], lane[3], lane[4], lane[5], lane[6], lane[7], lane[8]
    lanes = (s, y, w, g, a, u, v, push, bend)
    keys, rows, spare_keys, spare_rows = sorting_memory(n_max)
    a[:] = 1.0
    for q in range(lo, hi):
        first = offsets[q]
        n = offsets[q + 1] - first
        if n < 2 or query_weight[q] == 0.0:
            continue
        for i in range(n):
            keys[i] = scores[first + i]
        argsort_descending(keys, rows, spare_keys, spare_rows, n)
        for i in range(n):
            row = first + rows[i]
            s[i] = max(keys[i] - keys[0], _FARTHEST)
            y[i] = grades[row]
            w[i] = weight[row]
            g[i] = gains[row]
            u[i] = discounts[first + i]
            v[i] = -u[i]
        scale = query_weight[q] * _one_query_of_lanes(n, lanes, 0, 0, rules)
        for i in range(n):
            gradient[first + rows[i]] = -scale * push[i]
            curvature[first + rows[i]] = scale * sigma * bend[i]


@kernel
def _general(lo, hi, offsets, scores, documents, query_weight, rules, gradient, curvature):
    """The lambdas of any measure with a swap delta, from its ranking and state."""
    grades, weight, rows, state = documents
    _, sigma, _ = rules
    lane = lanes32(9, longest(lo, hi, offsets))
    s, y, w, g, a, u, v, push, bend = lane[0], lane[1], lane[2], lane[3], lane[4], lane[5], lane[6], lane[7], lane[8]
    lanes = (s, y, w, g, a, u, v, push, bend)
    for q in range(lo, hi):
        first = offsets[q]
        n = offsets[q + 1] - first
        if n < 2 or query_weight[q] == 0.0:
            continue
        best = scores[rows[first]]
        for i in range(n):
            row = rows[first + i]
            s[i] = max(scores[row] - best, _FARTHEST)
            y[i] = grades[row]
            w[i] = weight[row]
            g[i] = state[first + i, 0] if n_layers(state) == 1 else 0.0
            a[i] = state[first + i, 1]
            u[i] = state[first + i, 2]
            v[i] = state[first + i, 3]
        scale = query_weight[q] * _one_query_of_state(n, lanes, state, first, rules)
        for i in range(n):
            gradient[rows[first + i]] = -scale * push[i]
            curvature[rows[first + i]] = scale * sigma * bend[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class Lambda(Loss):
    r"""Lambda gradient of a measure.

    For each pair with :math:`y_u > y_v`

    .. math:: \lambda_{uv} = \frac{\sigma\,|\Delta M_{uv}|}{1 + e^{\sigma (s_u - s_v)}}

    moves u up and v down, where :math:`|\Delta M_{uv}|` is the change of the measure when the two swap ranks. The ranks
    are those of the current scores, equal scores in the order of the rows. It is a gradient without a value; the
    curvature is the derivative of λ with the ranks held fixed.

    Parameters
    ----------
    measure
        Any measure with a swap delta: nDCG, DCG, AP, RR, ERR, P, ARP, … With ``ARP`` and two grades, neighbours have
        the same weight at every rank, as all pairs do in RankNet, and other pairs have a weight proportional to their
        distance.
    truncation
        Only pairs with at least one document in this many top ranks count; None uses all pairs.
    sigma
        Steepness of the sigmoid.
    normalize
        Divide each pair's weight by 0.01 + |s_u − s_v| and scale the gradient of a query by log2(1 + Λ)/Λ with Λ the
        sum of its lambdas, as LightGBM does; it keeps queries with many pairs from dominating.

    References
    ----------
    Burges, Ragno, Le: Learning to rank with nonsmooth cost functions. NIPS 2006.
    Donmez, Svore, Burges: On the local optimality of LambdaRank. SIGIR 2009 (other measures).
    """

    name: ClassVar[str] = "Lambda"
    approach: ClassVar[str] = "pairwise"
    has_value: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = (
        {"normalize": False, "truncation": None},
        {"normalize": False, "truncation": 2, "sigma": 2.0},
        {"measure": "AP", "normalize": False},
        {"measure": "RR", "normalize": False},
        {"measure": "ERR(max_label=3)", "normalize": False},
        {"measure": "P@3", "sigma": 0.5},
        {"measure": "ARP", "normalize": False, "truncation": None},
    )
    rows_per_thread = PAIR_ROWS_PER_THREAD

    measure: Any = "nDCG"
    truncation: int | None = 30
    sigma: float = 1.0
    normalize: bool = True

    def __post_init__(self) -> None:
        measure = parse(self.measure)
        if not measure.swaps:
            raise LossError(f"{measure} has no swap delta, which the lambda gradient needs; try nDCG, AP, RR or ERR")
        object.__setattr__(self, "measure", str(measure))
        whole_or_none("truncation", self.truncation, least=1, error=LossError)
        number(f"{self.name}: sigma", self.sigma, above=0, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The measure, what is known of the documents in single precision, and the rules.

        These are their grades and weights; for a measure that is a sum of gains times discounts also the gains, and the
        discount of each position.
        """
        data, measure = bound.data, parse(self.measure)
        order, below, _ = label_order(data, bound.n_jobs)
        grades = np.empty(data.n_rows, np.float32)  # labels to compare: close ones stay apart in float32 as well
        grades[order] = -below
        weight = np.where(data.labels >= 0, bound.sample_weight, 0.0).astype(np.float32)  # unjudged: in no pair
        documents: tuple[np.ndarray, ...] = grades, weight
        if measure.linear_swaps:  # gains belong to documents and discounts to ranks, whatever the scores
            ranking = Scored(data, np.zeros(data.n_rows), n_jobs=bound.n_jobs).ranking("stable")
            state = measure.swap_state(ranking)
            gains = np.empty(data.n_rows, np.float32)
            with np.errstate(over="ignore"):
                gains[ranking.rows] = state[:, 0]
            if not np.isfinite(gains).all():
                raise LossError(
                    f"{self}: gains are too large for labels up to {data.labels.max():g}; try a linear gain"
                )
            documents = grades, weight, gains, state[:, 2].astype(np.float32)
        return measure, documents, tuple(PairRules.of(self, data))

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Gradient and curvature per score; zeros for the value, as there is none."""
        measure, documents, rules = bound.constants
        if measure.linear_swaps:
            return bound.run(_linear, scores, documents, bound.query_weight, rules)
        ranking = Scored(bound.data, scores, n_jobs=bound.n_jobs).ranking("stable")
        documents = *documents, ranking.rows, measure.swap_state(ranking)
        return bound.run(_general, scores, documents, bound.query_weight, rules)
