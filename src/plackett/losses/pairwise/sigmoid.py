"""Sigmoid pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.vector_math import exp
from plackett.losses.pairwise.base import PairLoss

__all__ = ["Sigmoid"]


@kernel
def _phi(z, value, slope, curvature, sigma):
    for i in range(z.size):
        e = exp(-sigma * abs(z[i]))
        large = 1.0 / (1.0 + e)
        small = e * large
        value[i] = small if z[i] >= 0.0 else large
        slope[i] = -sigma * small * large
        curvature[i] = -sigma * slope[i]


def _device_slope(torch: Any, z: Any, sigma: float) -> Any:
    small = torch.sigmoid(-sigma * z.abs())
    return -sigma * small * (1.0 - small)


@dataclass(frozen=True, kw_only=True, repr=False)
class Sigmoid(PairLoss):
    r"""Sigmoid pair loss :math:`\varphi(z) = 1/(1 + e^{\sigma (z - \text{margin})})`.

    A smooth count of misordered pairs: it lies between 0 and 1, so a pair that cannot be ordered correctly counts like
    any other. As σ grows, it approaches the count itself. It is not convex: start from another ranker
    (`plackett.SigmoidRank` does). The curvature is a surrogate, :math:`\sigma\,|\varphi'|`, which bounds the second
    derivative.

    Parameters
    ----------
    sigma
        Steepness σ.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 0], qid=[1, 1, 1])
    >>> round(Sigmoid(sigma=100.0)(np.array([0.0, 1.0, -1.0]), data), 3)  # one misordered pair of two
    1.0

    References
    ----------
    Carvalho, Elsas, Cohen, Carbonell: A meta-learning approach for robust rank learning. LR4IR 2008.
    """

    name: ClassVar[str] = "Sigmoid"
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"margin": 0.7}, {"normalize": True, "sigma": 5.0})
    phi = staticmethod(_phi)
    device_slope = staticmethod(_device_slope)

    sigma: float = 1.0

    def __post_init__(self) -> None:
        number(f"{self.name}: sigma", self.sigma, above=0, error=LossError)

    @property
    def shape(self) -> tuple[float, ...]:
        """The steepness."""
        return (float(self.sigma),)
