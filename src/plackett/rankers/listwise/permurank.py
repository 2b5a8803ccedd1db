"""PermuRank: perfect rankings should beat the others, by as much as the measure tells them apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import LossError
from plackett.rankers.listwise._structural import Lists, Problem, StructuralSVM, Violations
from plackett.rankers.listwise.svm_map import ap_violations
from plackett.rankers.listwise.svm_ndcg import ndcg_violations
from plackett.rankers.pointwise._sides import check_sides
from plackett.scorers._products import block_sums
from plackett.solvers.cutting_plane import CuttingPlaneSolution, minimise
from plackett.solvers.proved_gap import relative_gap

__all__ = ["PermuRank", "Rankings", "slack_violations"]

#: Rounds of the search for a ranking, after the one that the scores give.
_SEARCHES = 4
#: Scores count so much more than the measure that the ranking they give is the most violated one.
_BY_SCORE = 1e6


@dataclass(kw_only=True, eq=False, repr=False)
class PermuRank(StructuralSVM):
    r"""PermuRank: a linear ranker that learns pairs of a perfect and an imperfect ranking of each list.

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \, \mathrm{mean}_q \max_{\pi^* \text{perfect},\, \pi}
              (1 - M(\pi)) \, \big[ 1 - w \cdot (\Psi(\pi^*) - \Psi(\pi)) \big]_+

    with the feature map Ψ of `SVMNDCG`: the measure weighs the violation, where in `SVMMAP` and `SVMNDCG` it is the
    margin. Both bound 1 − M from above. Ψ has the pairs of unequal gains only, so it is the same for all perfect
    rankings, and one of them stands for the whole working set of perfect ones.

    The working set of imperfect rankings grows in rounds: the weights are trained on it to a proved gap, and of each
    list the ranking that its new scores give joins, or one that is violated more. Those are looked for with the exact
    search of `SVMMAP` and `SVMNDCG`, since :math:`(1 - M)(1 + F)` is largest where some weighted sum of both factors
    is; a ranking that is best for no weights is missed. Training ends when no ranking found would move the objective
    by more than `tol`.

    Parameters
    ----------
    measure
        ``"AP"`` or ``"nDCG"``.
    k, gain
        Of nDCG: the cut-off, None for the whole list, and the gain as in `SVMNDCG`.
    rel
        Of AP: the least relevant label.

    Attributes
    ----------
    gap_
        As for the other structural SVMs, but with respect to the rankings that the search finds.
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

    ids: ClassVar[tuple[str, ...]] = ("listwise.permurank",)
    paper: ClassVar[str] = "Xu, Liu, Lu, Li, Ma 2008"

    max_iter: int = 100
    measure: str = "AP"
    k: int | None = None
    gain: Any = "exp2"
    rel: float = 1.0

    def _violations(self, lists: Lists) -> Violations:
        if self.measure not in _MEASURES:
            raise LossError(f"measure={self.measure!r}; PermuRank has {', '.join(_MEASURES)}")
        return _MEASURES[self.measure](self, lists)

    def _solve(self, problem: Problem, step: Callable[[np.ndarray], bool]) -> CuttingPlaneSolution:
        rankings = Rankings(problem)
        weights = best = np.zeros(problem.scale.size)
        primal, dual, gap = np.inf, 0.0, 1.0
        n_iter = 0
        while n_iter < self.max_iter:
            loss = rankings.search(weights)
            self.n_rankings_ = rankings.size
            n_iter += 1
            objective = 0.5 * float(weights @ weights) + self.C * loss
            if objective < primal:
                best, primal = weights, objective
            gap = relative_gap(primal, dual)
            if step(best) or gap <= self.tol:
                break
            inner = minimise(rankings.risk, weights.size, C=self.C, tol=max(0.1 * gap, 0.5 * self.tol), max_iter=10_000)
            weights, dual = inner.coef, max(dual, inner.dual)
        return CuttingPlaneSolution(best, primal, dual, gap, rankings.size, n_iter)

    def _risk(self, problem: Problem, weights: np.ndarray) -> float:
        loss = slack_violations(problem.violations, problem.scores(weights), problem.lists.offsets)[2]
        return float((loss * problem.lists.share).sum())


class Rankings:
    """The working set of imperfect rankings: list, 1 − M and difference of the feature map from perfect ones."""

    def __init__(self, problem: Problem) -> None:
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
        return float((share * loss).sum()), (share * self.error[worst]) @ self.features[worst]

    def _worst(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of each list that has any the ranking of the largest loss, and this loss."""
        loss = self.error * np.maximum(1.0 + self.features @ weights, 0.0)
        order = np.lexsort((loss, self.of_list))
        worst = order[np.flatnonzero(np.diff(self.of_list[order], append=-1))]
        return worst, loss[worst]

    def search(self, weights: np.ndarray) -> float:
        """Take in rankings of a larger loss than those that are here; the mean loss with them."""
        problem = self.problem
        lists = problem.lists
        error, slope, loss = slack_violations(problem.violations, problem.scores(weights), lists.offsets)
        worst, known = self._worst(weights)
        before = np.zeros(lists.share.size)
        before[self.of_list[worst]] = known
        new = np.flatnonzero((loss > before * (1 + 1e-9)) & (error > 0))
        self.of_list = np.append(self.of_list, new)
        self.error = np.append(self.error, error[new])
        summed = block_sums(lists.X, slope[:, None], lists.offsets, problem.n_jobs)[new, 0]
        self.features = np.vstack([self.features, summed / problem.scale])
        return float((np.maximum(loss, before) * lists.share).sum())


def slack_violations(
    violations: Violations, scores: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each list a ranking with a large (1 − M)(1 + F): its 1 − M, the slope of F for the scores, and the product.

    F is the score of its feature map less that of a perfect ranking. First the ranking by score; then those of the
    largest 1 − M + λF, where λ = (1 − M)/(1 + F) at the last one is the slope of the product.
    """
    lengths = np.diff(offsets)
    query = np.repeat(np.arange(lengths.size), lengths)
    best_error, best_slope = np.zeros(lengths.size), np.zeros(scores.size)
    best_loss = np.zeros(lengths.size)
    scale = np.full(lengths.size, _BY_SCORE)
    for search in range(1 + _SEARCHES):
        error, slope = violations(scores * scale[query])
        F = np.bincount(query, slope * scores, lengths.size)
        loss = error * np.maximum(1.0 + F, 0.0)
        better = loss > best_loss
        best_error[better], best_loss[better] = error[better], loss[better]
        rows = better[query]
        best_slope[rows] = slope[rows]
        scale = np.ones(lengths.size) if search == 0 else np.clip(error / np.maximum(1.0 + F, 1e-9), 1e-6, _BY_SCORE)
    return best_error, best_slope, best_loss


def _ap(ranker: PermuRank, lists: Lists) -> Violations:
    check_sides(lists, ranker.rel)
    return ap_violations(lists, ranker.rel, ranker.n_jobs)


def _ndcg(ranker: PermuRank, lists: Lists) -> Violations:
    return ndcg_violations(lists, ranker.k, ranker.gain, ranker.n_jobs)


_MEASURES = {"AP": _ap, "nDCG": _ndcg}
