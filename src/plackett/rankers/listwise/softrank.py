"""SoftRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett._base.search_space import Real, SearchSpace
from plackett.losses.base import Loss
from plackett.losses.listwise.soft_ap import SoftAP
from plackett.losses.listwise.softrank import SoftNDCG, SoftPC
from plackett.models.linear import Linear
from plackett.rankers.base import GradientTrained

__all__ = ["SoftRank"]

#: Loss of each measure, from the parameters of the ranker.
_LOSSES = {
    "nDCG": lambda r: SoftNDCG(sigma=r.sigma, gain=r.gain, max_exact=r.max_exact),
    "AP": lambda r: SoftAP(sigma=r.sigma, rel=r.rel, max_exact=r.max_exact),
    "P": lambda r: SoftPC(sigma=r.sigma, k=r.k, rel=r.rel, max_exact=r.max_exact),
}


@dataclass(kw_only=True, eq=False, repr=False)
class SoftRank(GradientTrained, Linear):
    """SoftRank: a linear model that maximises the expected value of a measure under Gaussian noise on the scores.

    The losses (`SoftNDCG`, `SoftAP` and `SoftPC` of `plackett.losses`) are not convex: the result is a
    local optimum that depends on the start (zero weights, or another model with `warm_start`). The paper trains a
    network of two layers: ``GradientRanker(loss="SoftNDCG", model="neural")``.

    Parameters
    ----------
    measure
        ``"nDCG"``, ``"AP"`` or ``"P"`` (precision at `k`).
    sigma
        Standard deviation of the noise.
    gain
        Gain of nDCG.
    k
        Cut-off of precision.
    rel
        The lowest label that counts as relevant, for AP and precision.
    max_exact
        Longest list with exact rank distributions; longer lists use an approximation.

    Examples
    --------
    >>> ranker = SoftRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Taylor, Guiver, Robertson, Minka: SoftRank: optimizing non-smooth rank metrics. WSDM 2008.
    """

    search_space: ClassVar[SearchSpace] = {"alpha": Real(1e-4, 1.0, log=True), "sigma": Real(0.1, 3.0, log=True)}

    measure: str = "nDCG"
    sigma: float = 1.0
    gain: Any = "exp2"
    k: int = 3
    rel: float = 1.0
    max_exact: int = 100

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        choice("SoftRank: measure", self.measure, _LOSSES, error=LossError)
        return _LOSSES[self.measure](self)
