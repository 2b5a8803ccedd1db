"""ListMLE with a Gamma prior on the strength of each document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.listwise.listmle import ListMLELoss

__all__ = ["ListMLEGammaLoss"]

#: Scores above this count as this in the prior, whose exponential would overflow.
_LARGEST = 700.0


@dataclass(frozen=True, kw_only=True, repr=False)
class ListMLEGammaLoss(Loss):
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
    >>> round(ListMLEGammaLoss()(np.zeros(2), data), 4)  # log 2, at the mode of the prior
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

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Bound(self, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: ListMLEGammaLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.likelihood = ListMLELoss(k=loss.k).bind(data, n_jobs=n_jobs)
        self.shape, self.rate = loss.shape - 1.0, loss.rate
        weight = np.where(data.labels >= 0, self.sample_weight, 0.0)
        self.weight = weight * self.query_weight[data.query_of_row]
        has_mode = self.shape > 0 and self.rate > 0
        self.least = self.shape * (1.0 - np.log(self.shape / self.rate)) if has_mode else 0.0

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        losses, gradient, curvature = self.likelihood.evaluate(scores, value)
        strength = self.rate * np.exp(np.minimum(scores, _LARGEST))
        prior = self.weight * (strength - self.shape * scores - self.least)
        # summed query by query: the last bits must not depend on the queries before
        present = self.data.group > 0
        if present.any():
            losses[present] += np.add.reduceat(prior, self.data.offsets[:-1][present])
        return losses, gradient + self.weight * (strength - self.shape), curvature + self.weight * strength
