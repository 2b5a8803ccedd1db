"""Linear rankers trained near another one: their own objective plus a penalty for the distance between the weights."""

from __future__ import annotations

import copy

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.moments import feature_scale
from plackett.models.linear import Linear, train_near
from plackett.rankers.base import GradientTrained, Ranker
from plackett.rankers.pairwise.linear_svm import LinearPairSVM
from plackett.scorers.linear import LinearScorer
from plackett.solvers.quasi_newton import quasi_newton


def near(member: Ranker, data: RankingDataset, overall: Ranker, rho: float) -> Ranker:
    r"""The ranker that minimises the objective of ``member`` on some data plus :math:`\frac{\rho}{2} \lVert w - w_g
    \rVert^2`.

    Weights are those of the features as the ranker standardises them; :math:`w_g` are those of ``overall``, a fitted
    ranker of the same kind.
    """
    local = copy.copy(overall)
    if isinstance(member, LinearPairSVM) and member.loss == "squared_hinge":
        local.scorer_ = _near_svm(member, data, overall.scorer_, rho)
        local.__dict__.pop("gap_", None)  # known for the objective alone
        return local
    if isinstance(member, GradientTrained) and overall.scorer_.line is not None:
        model, loss = member.make_model(), member.make_loss().settle(data)
        if isinstance(model, Linear) and loss.has_value and loss.smooth and model.l1_ratio == 0.0:
            local.scorer_ = member.finished(train_near(model, loss, data, overall.scorer_.model, rho))
            return local
    raise DataError(
        f"rho={rho} keeps the weights of local rankers near the global ones, which needs a linear base with a smooth "
        f"loss, such as RankSVM or ListNet; for {type(member).__name__} use shrink, which mixes scores"
    )


def _near_svm(member: LinearPairSVM, data: RankingDataset, overall: LinearScorer, rho: float) -> LinearScorer:
    """½‖w‖² + C Σ ξ² + ρ/2 ‖w − w_g‖² over the weights of the scaled features."""
    scale = feature_scale(data.X, data.row_weight, member.standardize)
    pairs = member.make_pairs(data)
    centre = overall.weights[:, 0] * scale

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = pairs.evaluate(np.asarray(data.X @ (w / scale), np.float64), True)
        value = 0.5 * w @ w + member.C * total + 0.5 * rho * ((w - centre) @ (w - centre))
        return float(value), w + member.C * (data.X.T @ slope) / scale + rho * (w - centre)

    optimum = quasi_newton(objective, centre, maxiter=member.max_iter, ftol=1e-12)
    return LinearScorer((optimum.x / scale)[:, None], np.zeros(1))
