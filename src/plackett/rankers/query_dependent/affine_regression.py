"""Regression with a separate scale and level for each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.pointwise.square import Square
from plackett.rankers.base import GradientTrained, Ranker
from plackett.rankers.wrapper import SingleMember
from plackett.solvers.monitor import Monitor

__all__ = ["AffineRegression"]

#: Smallest scale of a query: a negative one would reverse its order.
_LEAST = 1e-3


@dataclass(kw_only=True, eq=False, repr=False)
class AffineRegression(SingleMember):
    r"""Regression of labels up to a scale and a level per query, which do not affect the order,

    .. math:: \min_{f, \alpha, \beta} \sum_i \sum_j (y_j^i - \beta_i - \alpha_i f(x_j^i))^2
              + \lambda_\beta \lVert \beta \rVert^2 + \lambda_\alpha \lVert \alpha - 1 \rVert^2 + \text{penalty of } f.

    Judges are strict for one query and lenient for the next, and features differ in level between queries. Plain
    regression fits these differences; here α and β absorb them, and only f is used to rank. The two parts are optimised
    in turn: given f, two equations per query; given α and β, the base regression with the labels
    :math:`(y - \beta_i) / \alpha_i` and weights :math:`\alpha_i^2`. A turn that does not lower the sum of squares and
    penalties is rejected. With infinite penalties or no turns it is the base ranker.

    Parameters
    ----------
    alpha_penalty, beta_penalty
        :math:`\lambda_\alpha` and :math:`\lambda_\beta`, in units of one document.
    n_sweeps
        Maximum number of turns.
    base
        A regression on labels: `LinearRegression` (None), `PolynomialRegression`, `MART`, `RandomForest`, ….

    Attributes
    ----------
    losses_
        The sum of squares and penalties of α and β after each turn, the base ranker's first.

    Examples
    --------
    >>> X, y, qid = [[0.0], [1.0], [0.0], [1.0]], [0, 1, 3, 4], ["strict", "strict", "mild", "mild"]
    >>> AffineRegression().fit(X, y, qid=qid).rank(X, qid=qid).tolist()
    [2, 1, 2, 1]

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, equation 7.2.
    """

    search_space: ClassVar[SearchSpace] = {
        "alpha_penalty": Real(0.1, 100.0, log=True),
        "beta_penalty": Real(0.01, 10.0, log=True),
    }
    _usual_base: ClassVar[str] = "LinearRegression"
    # a second copy of a query has a penalty of its own; an interrupt ends a member
    _test_skips: ClassVar[tuple[str, ...]] = ("interrupt", "query_weight")

    alpha_penalty: float = 10.0
    beta_penalty: float = 0.1
    n_sweeps: int = 20

    def base_ranker(self) -> Ranker:
        """The regression in ``base``."""
        base = super().base_ranker()
        loss = base.make_loss() if isinstance(base, GradientTrained) else None
        if not isinstance(loss, Square) or loss.target not in ("linear", None):
            raise DataError(
                f"base={self.base!r} is not a regression of the labels; use LinearRegression(), MART(), "
                "RandomForest(), …"
            )
        return base

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if not (self.alpha_penalty >= 0.0 and self.beta_penalty >= 0.0) or self.n_sweeps < 0:
            raise DataError(
                f"alpha_penalty={self.alpha_penalty}, beta_penalty={self.beta_penalty}, n_sweeps={self.n_sweeps}; "
                "give 0 or more of each"
            )
        member = self._trained(data, monitor.valid)
        f = member.score_rows(data)
        scale, level = np.ones(data.n_queries), np.zeros(data.n_queries)
        losses = [self._value(data, f, scale, level)]
        for _ in range(self.n_sweeps):
            scale, level = affine_step(data, f, self.alpha_penalty, self.beta_penalty)
            new, shift = self._regressed(data, scale, level, monitor, member)
            f = new.score_rows(data) + shift
            losses.append(self._value(data, f, scale, level))
            if not losses[-1] < losses[-2] * (1.0 - 1e-6):
                losses.pop()
                break
            member = new
        self.losses_ = np.array(losses)
        self._end_with(member)
        monitor.judge(self.score_rows)

    def _regressed(
        self, data: RankingDataset, scale: np.ndarray, level: np.ndarray, monitor: Monitor, like: Ranker
    ) -> tuple[Ranker, float]:
        """The base ranker on labels without scale and level, and the shift that made them non-negative."""
        of, judged = data.query_of_row, data.labels >= 0
        target = (data.labels - level[of]) / scale[of]
        shift = min(0.0, float(target[judged].min(initial=0.0)))
        weight = (1.0 if data.sample_weight is None else data.sample_weight) * scale[of] ** 2
        changed = data.replace(y=np.where(judged, target - shift, -1.0), sample_weight=np.asarray(weight, np.float64))
        return self._trained(changed, monitor.valid, like), shift

    def _value(self, data: RankingDataset, f: np.ndarray, scale: np.ndarray, level: np.ndarray) -> float:
        of = data.query_of_row
        miss = data.labels - level[of] - scale[of] * f
        squares = float((data.row_weight * (data.labels >= 0)) @ miss**2)
        return squares + _times(self.beta_penalty, level) + _times(self.alpha_penalty, scale - 1.0)


def affine_step(
    data: RankingDataset, f: np.ndarray, alpha_penalty: float, beta_penalty: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scale and level of each query that minimise the squares for given scores; the scale is at least 0.001."""
    of, n = data.query_of_row, data.n_queries
    w = data.row_weight * (data.labels >= 0)
    y = np.where(w > 0, data.labels, 0.0)
    s_w, s_f, s_y = (np.bincount(of, w * v, n) for v in (np.ones_like(f), f, y))
    s_ff, s_fy = np.bincount(of, w * f * f, n), np.bincount(of, w * f * y, n)
    if np.isinf(alpha_penalty):
        scale = np.ones(n)
    elif np.isinf(beta_penalty):
        scale = (s_fy + alpha_penalty) / np.maximum(s_ff + alpha_penalty, 1e-300)
    else:
        a, b, d = s_ff + alpha_penalty, s_f, s_w + beta_penalty
        det = a * d - b * b
        right = s_fy + alpha_penalty
        scale = np.divide(right * d - b * s_y, det, out=np.ones(n), where=det > 1e-12 * np.maximum(a * d, 1e-300))
    scale = np.maximum(scale, _LEAST)
    if np.isinf(beta_penalty):
        return scale, np.zeros(n)
    below = s_w + beta_penalty
    return scale, np.divide(s_y - scale * s_f, below, out=np.zeros(n), where=below > 0)


def _times(penalty: float, values: np.ndarray) -> float:
    return penalty * float(values @ values) if np.isfinite(penalty) else 0.0
