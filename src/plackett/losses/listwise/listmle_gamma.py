"""ListMLE with a Gamma prior on the strength of each document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett.losses.base import Loss, LossOnData
from plackett.losses.listwise.listmle import ListMLELoss

__all__ = ["ListMLEGamma"]

#: Scores above this count as this in the prior, whose exponential would overflow.
_LARGEST = 700.0


@dataclass(frozen=True, kw_only=True, repr=False)
class ListMLEGamma(Loss):
    r"""ListMLE, with strengths :math:`v_j = e^{s_j}` that have a Gamma prior: a maximum a posteriori estimate.

    .. math:: L = L_{\mathrm{ListMLE}} + \sum_j w_j \big( b\,e^{s_j} - (a - 1)\,s_j - c \big)

    over the judged documents, with c the smallest value of the term, so that a strength at the mode (a − 1)/b costs
    nothing (c = 0 where there is no mode). The prior keeps documents that always or never win at finite scores, and
    fixes the additive constant of the scores. Scores above 700 count as 700 in the prior. The estimate without
    features, by minorisation, is `plackett.PlackettLuce.fit` with ``prior=(a, b)``.

    Parameters
    ----------
    shape, rate
        a ≥ 1 and b ≥ 0 of the Gamma distribution; a = 1 and b = 0 is ListMLE.
    k
        Only the first k ranks count, as in ListMLE.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(ListMLEGamma()(np.zeros(2), data), 4)  # log 2, at the mode of the prior
    0.6931

    References
    ----------
    Guiver, Snelson: Bayesian inference for Plackett–Luce ranking models. ICML 2009.
    """

    name: ClassVar[str] = "ListMLEGamma"
    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    _test_variants = ({"shape": 1.0, "rate": 0.0}, {"shape": 1.5, "rate": 3.0, "k": 2})

    shape: float = 2.0
    rate: float = 1.0
    k: int | None = None

    def __post_init__(self) -> None:
        if not (self.shape >= 1 and self.rate >= 0):
            raise LossError(f"{self.name}: shape={self.shape}, rate={self.rate}; give shape ≥ 1 and rate ≥ 0")
        ListMLELoss(k=self.k)  # refuses a bad k

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The likelihood, the weight of each document's prior, and its smallest value."""
        data, shape = bound.data, self.shape - 1.0
        weight = np.where(data.labels >= 0, bound.sample_weight, 0.0) * bound.query_weight[data.query_of_row]
        has_mode = shape > 0 and self.rate > 0
        least = shape * (1.0 - np.log(shape / self.rate)) if has_mode else 0.0
        return ListMLELoss(k=self.k).bind(data, n_jobs=bound.n_jobs), weight, least

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Those of the likelihood and of the prior."""
        likelihood, weight, least = bound.constants
        losses, gradient, curvature = likelihood.evaluate(scores, value)
        shape, strength = self.shape - 1.0, self.rate * np.exp(np.minimum(scores, _LARGEST))
        prior = weight * (strength - shape * scores - least)
        # summed query by query: the last bits must not depend on the queries before
        present = bound.data.group > 0
        if present.any():
            losses[present] += np.add.reduceat(prior, bound.data.offsets[:-1][present])
        return losses, gradient + weight * (strength - shape), curvature + weight * strength
