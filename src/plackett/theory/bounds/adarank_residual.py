"""Check AdaRank's assumption that a measure is additive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.scorers.products import table_times
from plackett.solvers.measure_objective import MeasureObjective

__all__ = ["adarank_residual"]


@dataclass(frozen=True, eq=False)
class AdaRankResidual:
    r"""How far from additive a measure was in each round, and what that says about training.

    Attributes
    ----------
    residual
        :math:`M_q(F_t) - M_q(F_{t-1}) - \alpha_t M_q(f_t)`, ``(rounds, queries)``, with :math:`M_q(F_0) = 0`.
    values
        :math:`M_q(F_t)`, ``(rounds, queries)``.
    phi
        :math:`\varphi_t = \sum_q D_t(q) M_q(f_t)` of each round.
    bound
        Guaranteed mean of the measure after each round,
        :math:`1 - \prod_{s \le t} e^{-\min_q \text{residual}_{sq}} \sqrt{1 - \varphi_s^2}`. It is informative (above
        the trivial) only as long as the residuals stay small.
    mean
        The mean of the measure after each round, never below ``bound``.
    """

    residual: np.ndarray
    values: np.ndarray
    phi: np.ndarray
    bound: np.ndarray
    mean: np.ndarray

    @property
    def largest(self) -> np.ndarray:
        """Largest absolute residual of each round."""
        return np.abs(self.residual).max(axis=1, initial=0.0)


def adarank_residual(data: RankingDataset, weak: Any, alphas: Any, measure: Any = "AP") -> AdaRankResidual:
    r"""Residuals of AdaRank's linearity condition, and the training bound that depends on them.

    AdaRank would lower the exponential loss in every round if the measure of an ensemble were the sum of the measures
    of its members: :math:`M(F_t) = M(F_{t-1}) + \alpha_t M(f_t)`. It is not, and convergence is not guaranteed.

    Parameters
    ----------
    data
        Labelled documents, such as AdaRank's training data.
    weak
        The weak rankers, one row of feature weights for each round: ``ranker.weak_``.
    alphas
        Their coefficients: ``ranker.alphas_``. The bound holds for those that AdaRank computes on this data.
    measure
        The measure that was maximised, with values between −1 and 1.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[1.0], [0.0]], [1, 0], qid=[1, 1])
    >>> check = adarank_residual(data, [[1.0], [1.0]], [0.5, 0.5])  # M is 1 throughout: 1 - 0 - 0.5, then 1 - 1 - 0.5
    >>> check.residual.tolist()
    [[0.5], [-0.5]]

    References
    ----------
    Xu, Li: AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.
    """
    weak, alphas = array("weak", weak, 2), array("alphas", alphas)
    if weak.shape != (alphas.size, data.n_features):
        raise DataError(
            f"weak has shape {weak.shape}; give one row for each of the {alphas.size} alphas, with a weight for each "
            f"of the {data.n_features} features"
        )
    lists = MeasureObjective(data, parse(measure))
    lists.check_bounds("adarank_residual")
    both = np.vstack([weak, np.cumsum(alphas[:, None] * weak, axis=0)])
    stacked = lists.per_query(np.ascontiguousarray(table_times(data.X, both.T).T))
    alone, values = stacked[: alphas.size], stacked[alphas.size :]
    before = np.vstack([np.zeros((1, values.shape[1])), values[:-1]])[: alphas.size]
    residual = values - before - alphas[:, None] * alone
    share = lists.weight * np.exp(-before)
    share /= share.sum(axis=1, keepdims=True)
    phi = (share * alone).sum(axis=1)
    counted = residual[:, lists.weight > 0]
    factors = np.exp(-counted.min(axis=1, initial=np.inf)) * np.sqrt(np.maximum(1.0 - phi**2, 0.0))
    return AdaRankResidual(residual, values, phi, 1.0 - np.cumprod(factors), values @ lists.weight)
