"""The dual of a support vector machine over pairs, by coordinate descent on the kernel of the documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.scorers.products import table_times
from plackett.solvers.proved_gap import relative_gap

#: Passes over the unsettled pairs between two passes over all pairs.
_PASSES = 10


@dataclass(frozen=True)
class PairDualSolution:
    """Result of `minimise`.

    Attributes
    ----------
    coef
        Weight of each document in the scores ``K @ coef``.
    alpha
        Multiplier of each pair.
    primal, dual
        Objective at ``coef``, and a lower bound of the objective of any other.
    gap
        ``(primal − dual) / primal``; 0 where the primal is 0.
    n_iter
        Rounds.
    """

    coef: np.ndarray
    alpha: np.ndarray
    primal: float
    dual: float
    gap: float
    n_iter: int


def minimise(
    K: np.ndarray,
    winner: np.ndarray,
    loser: np.ndarray,
    margin: np.ndarray,
    price: np.ndarray,
    *,
    squared: bool,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    monitor_step: Callable[[np.ndarray], bool] | None = None,
) -> PairDualSolution:
    r"""Maximise the dual over the multipliers of the pairs,

    .. math:: \max_\alpha \sum_i m_i \alpha_i - \tfrac12 \sum_{ij} \alpha_i \alpha_j K'_{ij}, \qquad
              0 \le \alpha_i \le C_i ,

    where :math:`K'` is the kernel of pairs, :math:`K'((u, v), (u', v')) = K(u, u') + K(v, v') - K(u, v') - K(v, u')`;
    for squared slacks :math:`\alpha_i^2 / 4 C_i` is subtracted and there is no upper bound. K′ is never formed: with
    :math:`\beta = A^\top \alpha` (A has a row +1, −1 per pair) the scores :math:`K \beta` are kept up to date, which
    is one difference of two rows of K per changed multiplier.

    Parameters
    ----------
    K
        Kernel of the documents with each other.
    winner, loser, margin, price
        The pairs: their documents, margins m and prices C.
    squared
        Whether slacks are squared.
    tol, max_iter
        Relative duality gap at which to stop, and maximum number of rounds.
    rng
        Random generator for the order in which pairs are visited.
    monitor_step
        Called after each round with the weights so far; training stops when it returns True.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008.
    """
    alpha: np.ndarray = np.zeros(winner.size)
    coef: np.ndarray = np.zeros(K.shape[0])
    diagonal = np.ascontiguousarray(np.diag(K))
    curvature = np.maximum(diagonal[winner] + diagonal[loser] - 2.0 * K[winner, loser], 0.0)
    ridge = 0.5 / price if squared else np.zeros(price.size)
    bound = np.full(price.size, np.inf) if squared else price
    primal, dual, best, n_iter = np.inf, 0.0, coef, 0
    while True:
        coef = np.bincount(winner, alpha, coef.size) - np.bincount(loser, alpha, coef.size)
        scores = table_times(K, coef[:, None], n_jobs)[:, 0]
        miss = margin - (scores[winner] - scores[loser])
        slack = np.maximum(miss, 0.0)
        length = 0.5 * float(coef @ scores)
        value = length + float(price @ (slack**2 if squared else slack))
        if value < primal:
            primal, best = value, coef
        dual = max(dual, float(margin @ alpha) - length - 0.5 * float(ridge @ alpha**2))
        stop = n_iter > 0 and monitor_step is not None and monitor_step(best)
        if stop or primal - dual <= tol * primal or n_iter == max_iter:
            break
        slope = miss - ridge * alpha
        open_pairs = np.flatnonzero(((slope > 0) & (alpha < bound)) | ((slope < 0) & (alpha > 0)))
        for _ in range(_PASSES):
            _pass(rng.permutation(open_pairs), K, winner, loser, margin, curvature, ridge, bound, alpha, scores)
        n_iter += 1
    gap = relative_gap(primal, dual)
    return PairDualSolution(best, alpha, primal, dual, gap, n_iter)


@kernel
def _pass(pairs, K, winner, loser, margin, curvature, ridge, bound, alpha, scores):
    """Set each multiplier to its best value while the others are fixed."""
    for p in pairs:
        u = winner[p]
        v = loser[p]
        slope = margin[p] - (scores[u] - scores[v]) - ridge[p] * alpha[p]
        bend = curvature[p] + ridge[p]
        if bend > 0.0:
            target = min(max(alpha[p] + slope / bend, 0.0), bound[p])
        else:  # the two documents are identical
            target = bound[p] if slope > 0.0 else 0.0
        change = target - alpha[p]
        if change != 0.0:
            alpha[p] = target
            for i in range(scores.size):
                scores[i] += change * (K[u, i] - K[v, i])
