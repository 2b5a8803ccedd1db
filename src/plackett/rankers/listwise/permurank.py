"""PermuRank: perfect rankings should beat the others, in proportion to the loss of the measure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending
from plackett.data.mapped import row_array
from plackett.rankers.binary_labels import check_relevance
from plackett.rankers.listwise.structural import StructuralProblem, StructuralSVM, TrainingLists, Violations
from plackett.rankers.listwise.svm_map import ap_violations
from plackett.rankers.listwise.svm_ndcg import classes, ndcg_terms, ndcg_violations
from plackett.scorers.products import block_sums
from plackett.solvers.cutting_plane import CuttingPlaneSolution, minimise
from plackett.solvers.proved_gap import relative_gap

__all__ = ["PermuRank"]

#: Weight of scores so small that the measure alone decides, for scores up to 1.
_LEAST_SCALE = 1e-9
#: Rankings of a list are enumerated if their number times the number of documents is at most this.
_MOST_STEPS = 100_000
#: Rankings that are in memory at a time.
_ROWS = 1_024


@dataclass(kw_only=True, eq=False, repr=False)
class PermuRank(StructuralSVM):
    r"""PermuRank: a linear ranker trained on pairs of a perfect and an imperfect ranking of each list.

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \, \mathrm{mean}_q \max_{\pi^* \text{perfect},\, \pi}
              (1 - M(\pi)) \, \big[ 1 - w \cdot (\Psi(\pi^*) - \Psi(\pi)) \big]_+

    with the feature map Ψ of `SVMNDCG`. Here the measure weights the violation; in `SVMMAP` and `SVMNDCG` it is the
    margin. Both bound 1 − M from above. Ψ contains only pairs of unequal gains, so it is the same for all perfect
    rankings, and one of them represents the whole working set of perfect ones.

    The working set of imperfect rankings grows in rounds: the weights are trained on it to a proved gap, and the most
    violated ranking of each list under the new weights is added. It is found with the exact search of `SVMMAP` and
    `SVMNDCG`, which maximises a weighted sum of the factors of :math:`(1 - M)(1 + F)`, for the weights that make the
    product largest. This misses rankings that are best for no weights. Short lists, and lists with few documents
    outside their most frequent grade, are then searched exhaustively; for other lists the search also gives a bound on
    the product. Training stops when no ranking found would change the objective by more than `tol`.

    Parameters
    ----------
    measure
        ``"AP"`` or ``"nDCG"``.
    k, gain
        For nDCG: the cut-off (None for the whole list), and the gain as in `SVMNDCG`.
    rel
        For AP: the lowest label that counts as relevant.

    Attributes
    ----------
    objective_, gap_
        As for the other structural SVMs. If the search is not exact, the bounds of the lists are used: `objective_` is
        then an upper bound of the objective, and `gap_`, which includes what the search may have missed, can stay above
        `tol`.
    n_rankings_
        Number of imperfect rankings in the working set.

    Examples
    --------
    >>> ranker = PermuRank().fit([[0.0], [1.0], [2.0]], [0, 1, 1], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Xu, Liu, Lu, Li, Ma: Directly optimizing evaluation measures in learning to rank. SIGIR 2008.
    Sarawagi, Gupta: Accurate max-margin training for structured output spaces. ICML 2008 (the search).
    """

    max_iter: int = 100
    measure: str = "AP"
    k: int | None = None
    gain: Any = "exp2"
    rel: float = 1.0

    def _check(self, lists: TrainingLists) -> None:
        choice("measure", self.measure, _MEASURES, error=LossError)
        if self.measure == "AP":
            check_relevance(lists, self.rel)

    def _violations(self, lists: TrainingLists) -> PermutationSearch:
        return _MEASURES[self.measure](self, lists)

    def _solve(self, problem: StructuralProblem, step: Callable[[np.ndarray], bool]) -> CuttingPlaneSolution:
        rankings = Rankings(problem)
        weights = best = np.zeros(problem.scale.size)
        primal, dual, gap = np.inf, 0.0, 1.0
        n_iter = 0
        while n_iter < self.max_iter:
            loss, bound = rankings.search(weights)
            self.n_rankings_ = rankings.size
            n_iter += 1
            length = 0.5 * float(weights @ weights)
            if length + self.C * bound < primal:
                best, primal = weights, length + self.C * bound
            # the gap that more rounds can close
            gap = min(relative_gap(primal, dual), relative_gap(length + self.C * loss, dual))
            if step(best) or gap <= self.tol:
                break
            inner = minimise(rankings.risk, weights.size, C=self.C, tol=max(0.1 * gap, 0.5 * self.tol), max_iter=10_000)
            weights, dual = inner.coef, max(dual, inner.dual)
        return CuttingPlaneSolution(best, primal, dual, gap, rankings.size, n_iter)

    def _risk(self, problem: StructuralProblem, weights: np.ndarray) -> float:
        scores, bound = problem.scores(weights), np.empty(problem.lists.share.size)
        for own, rows, part, search in problem.parts():
            bound[own] = slack_violations(search, scores[rows], part.offsets, self.n_jobs).bound
        return float((bound * problem.lists.share).sum())


class Rankings:
    """The working set of imperfect rankings: list, 1 − M and difference of the feature map from perfect ones."""

    def __init__(self, problem: StructuralProblem) -> None:
        self.problem = problem
        self.of_list: np.ndarray = np.empty(0, np.int64)
        self.error: np.ndarray = np.empty(0)
        self.features: np.ndarray = np.empty((0, problem.scale.size))

    @property
    def size(self) -> int:
        """Number of rankings."""
        return self.error.size

    def risk(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """Mean over the lists of the largest loss of their rankings, and a subgradient."""
        worst, loss = self._worst(weights)
        share = self.problem.lists.share[self.of_list[worst]] * (loss > 0)
        factor, slope = share * self.error[worst], np.zeros(weights.size)
        for start in range(0, worst.size, _ROWS):
            rows = slice(start, start + _ROWS)
            slope += factor[rows] @ self.features[worst[rows]]
        return float((share * loss).sum()), slope

    def _worst(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ranking of largest loss in each list that has rankings, and that loss."""
        loss = self.error * np.maximum(1.0 + self.features @ weights, 0.0)
        order = np.lexsort((loss, self.of_list))
        worst = order[np.flatnonzero(np.diff(self.of_list[order], append=-1))]
        return worst, loss[worst]

    def search(self, weights: np.ndarray) -> tuple[float, float]:
        """Add rankings with a larger loss than the current ones; return the new mean loss and its bound."""
        problem = self.problem
        lists, scores = problem.lists, problem.scores(weights)
        worst, known = self._worst(weights)
        before, loss, bound = np.zeros(lists.share.size), np.empty(lists.share.size), np.empty(lists.share.size)
        before[self.of_list[worst]] = known
        of_list, errors, n = [self.of_list], [self.error], self.size
        features = row_array(lists.X, (n + lists.share.size, self.features.shape[1]))
        features[:n] = self.features
        for own, rows, part, search in problem.parts():
            error, slope, loss[own], bound[own] = slack_violations(search, scores[rows], part.offsets, problem.n_jobs)
            new = np.flatnonzero((loss[own] > before[own] * (1 + 1e-9)) & (error > 0))
            summed = block_sums(part.X, slope[:, None], part.offsets, problem.n_jobs)[new, 0]
            of_list.append(own.start + new)
            errors.append(error[new])
            features[n : n + new.size] = summed / problem.scale
            n += new.size
        self.of_list, self.error, self.features = np.concatenate(of_list), np.concatenate(errors), features[:n]
        loss = np.maximum(loss, before)
        return float((loss * lists.share).sum()), float((np.maximum(loss, bound) * lists.share).sum())


class PermutationSearch(NamedTuple):
    """A search for rankings with a large (1 − M)(1 + F).

    Attributes
    ----------
    violations
        Finds the ranking of the largest 1 − M + F of each list.
    grade, lead, pairs, worth, discount
        For each document: its class (0 is the best), and how many documents are in worse classes minus how many in
        better ones; for each list, its pairs; the gain of each document as a share of the ideal DCG, and the discounts.
        Without a discount the measure is AP.
    patterns
        Number of orders of the classes of each list; 0 if there are too many to try.
    """

    violations: Violations
    grade: np.ndarray
    lead: np.ndarray
    pairs: np.ndarray
    worth: np.ndarray
    discount: np.ndarray
    patterns: np.ndarray


class Slack(NamedTuple):
    """The ranking found for each list: 1 − M, the gradient of F by the scores, (1 − M)(1 + F), and its bound."""

    error: np.ndarray
    slope: np.ndarray
    loss: np.ndarray
    bound: np.ndarray


def slack_violations(
    search: PermutationSearch, scores: np.ndarray, offsets: np.ndarray, n_jobs: int | None = None
) -> Slack:
    """Find for each list a ranking with a large (1 − M)(1 + F), and a bound on the largest.

    F is the score of the feature map minus that of a perfect ranking. The rankings are points (1 + F, 1 − M); a search
    for the largest 1 − M + λF finds corners of their convex hull. Along the hull the product rises and falls once, so
    the corners left and right of its maximum close in on an edge: λ is the slope of the line between the two known
    corners, and a corner above this line replaces one of them. The maximum on the last edge bounds all rankings. If it
    is above the best corner, the rankings below the edge are tried one by one, if they are few.
    """
    best, n_lists = _Best(scores.size, offsets), offsets.size - 1
    query = best.query

    def corner(scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        error, slope = search.violations(scores * scale[query])
        height = 1.0 + np.bincount(query, slope * scores, n_lists)
        best.take(error, slope, error * np.maximum(height, 0.0))
        return error, height

    # from λ = 2 on 1 + F is at least ½ and 1 − M at most 1: the maximum is not on this side
    left, left_height = corner(np.full(n_lists, 2.0))
    largest = np.zeros(n_lists)
    np.maximum.at(largest, query, np.abs(scores))
    right, right_height = corner(_LEAST_SCALE / (1.0 + 2.0 * largest))
    bound = best.loss.copy()
    open_ = (right > left) & (left_height > right_height)
    while open_.any():
        slope = np.where(open_, right - left, 1.0) / np.where(open_, left_height - right_height, 1.0)
        error, height = corner(slope)
        line = right + slope * right_height
        edge = open_ & (error + slope * height <= line + 1e-12 * (1.0 + np.abs(line)))
        top = np.clip(line / (2.0 * slope), right_height, left_height)
        bound[edge] = ((line - slope * top) * top)[edge]
        open_ &= ~edge
        rising = error > slope * height  # towards larger F
        to_right, to_left = open_ & rising, open_ & ~rising
        right[to_right], right_height[to_right] = error[to_right], height[to_right]
        left[to_left], left_height[to_left] = error[to_left], height[to_left]
        open_ &= (right > left) & (left_height > right_height)
    bound = np.maximum(bound, best.loss)
    wanted = (bound > best.loss * (1 + 1e-9)) & (search.patterns > 0)
    if wanted.any():
        known = search.grade, search.lead, search.pairs, search.worth, search.discount, wanted
        out = np.zeros(n_lists), np.zeros(scores.size), np.zeros(n_lists)
        over_queries(_try_all, offsets, scores, *known, *out, n_jobs=n_jobs, rows_per_thread=PAIR_ROWS_PER_THREAD)
        best.take(*out)
        bound[wanted] = best.loss[wanted]
    return Slack(best.error, best.slope, best.loss, bound)


class _Best:
    """The best ranking of each list so far."""

    def __init__(self, n_rows: int, offsets: np.ndarray) -> None:
        n = offsets.size - 1
        self.query = np.repeat(np.arange(n), np.diff(offsets))
        self.error, self.slope, self.loss = np.zeros(n), np.zeros(n_rows), np.zeros(n)

    def take(self, error: np.ndarray, slope: np.ndarray, loss: np.ndarray) -> None:
        """Keep the better rankings."""
        better = loss > self.loss
        self.error[better], self.loss[better] = error[better], loss[better]
        rows = better[self.query]
        self.slope[rows] = slope[rows]


@kernel
def _try_all(lo, hi, offsets, scores, grade, lead, pairs, worth, discount, wanted, error, slope, loss):
    """The largest (1 − M)(1 + F) over all orders of the classes, with each class in the order of its scores."""
    n_max = longest(lo, hi, offsets)
    numbers = np.empty((3, n_max))
    keys, spare, here = numbers[0], numbers[1], numbers[2]
    whole = np.empty((6, n_max + 1), np.int64)
    order, spare_order, first, size, met, pattern = whole[0], whole[1], whole[2], whole[3], whole[4], whole[5]
    rows = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        if not wanted[q]:
            continue
        for i in range(n):
            keys[i] = scores[a + i]
        argsort_descending(keys, order, spare, spare_order, n)
        size[: n + 1] = 0
        for i in range(a, a + n):
            size[grade[i]] += 1
        first[0] = 0
        for g in range(n):
            first[g + 1] = first[g] + size[g]
        met[:n] = 0
        for t in range(n):  # documents by class, and inside it by score
            g = grade[a + order[t]]
            rows[first[g] + met[g]] = a + order[t]
            pattern[first[g] + met[g]] = g
            met[g] += 1
        while True:
            met[:n] = 0
            reached = 0.0
            height = 1.0
            for r in range(n):
                g = pattern[r]
                i = rows[first[g] + met[g]]
                here[r] = ((n - 1 - 2 * r) - (size[g] - 1 - 2 * met[g]) - lead[i]) / pairs[q]
                height += here[r] * scores[i]
                met[g] += 1
                if discount.size > 0:
                    reached += worth[i] * discount[r]
                elif g == 0:
                    reached += met[0] / ((r + 1.0) * size[0])
            product = (1.0 - reached) * height
            if height > 0.0 and product > loss[q]:
                loss[q] = product
                error[q] = 1.0 - reached
                met[:n] = 0
                for r in range(n):
                    g = pattern[r]
                    slope[rows[first[g] + met[g]]] = here[r]
                    met[g] += 1
            # the next permutation in lexicographic order
            k = n - 2
            while k >= 0 and pattern[k] >= pattern[k + 1]:
                k -= 1
            if k < 0:
                break
            t = n - 1
            while pattern[t] <= pattern[k]:
                t -= 1
            pattern[k], pattern[t] = pattern[t], pattern[k]
            t = n - 1
            k += 1
            while k < t:
                pattern[k], pattern[t] = pattern[t], pattern[k]
                k += 1
                t -= 1


def _patterns(grade: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Number of orders of the classes of each list; 0 if trying them takes too long."""
    query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    lengths = np.diff(offsets)
    classes, counts = np.unique(np.stack([query, grade]), axis=1, return_counts=True)
    ways = gammaln(lengths + 1.0) - np.bincount(classes[0], gammaln(counts + 1.0), lengths.size)
    few = ways + np.log(np.maximum(lengths, 1)) <= np.log(_MOST_STEPS)
    return np.where(few, np.rint(np.exp(np.where(few, ways, 0.0))), 0).astype(np.int64)


def ap_search(lists: TrainingLists, rel: float, n_jobs: int | None) -> PermutationSearch:
    """The search for AP."""
    known = classes(lists, (lists.labels >= rel).astype(np.float64), np.ones(lists.longest))
    violations = ap_violations(lists, rel, n_jobs)
    return PermutationSearch(violations, *known[:4], np.empty(0), _patterns(known.grade, lists.offsets))


def ndcg_search(lists: TrainingLists, k: int | None, gain: Any, n_jobs: int | None) -> PermutationSearch:
    """The search for nDCG."""
    violations = ndcg_violations(lists, k, gain, n_jobs)
    gains, discount = ndcg_terms(lists, k, gain)
    known = classes(lists, gains, discount)
    return PermutationSearch(violations, *known[:4], discount, _patterns(known.grade, lists.offsets))


def _ap(ranker: PermuRank, lists: TrainingLists) -> PermutationSearch:
    return ap_search(lists, ranker.rel, ranker.n_jobs)


def _ndcg(ranker: PermuRank, lists: TrainingLists) -> PermutationSearch:
    return ndcg_search(lists, ranker.k, ranker.gain, ranker.n_jobs)


_MEASURES = {"AP": _ap, "nDCG": _ndcg}
