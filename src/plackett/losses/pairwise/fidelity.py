"""Fidelity pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.vector_math import exp
from plackett.losses.pairwise.base import PairLoss

__all__ = ["Fidelity"]


@kernel
def fidelity_phi(z, value, slope, curvature, target):
    a = np.sqrt(target)
    b = np.sqrt(1.0 - target)
    for i in range(z.size):
        e = exp(-abs(z[i]))
        large = 1.0 / (1.0 + e)
        small = e * large
        right = large if z[i] >= 0.0 else small
        wrong = small if z[i] >= 0.0 else large
        p = np.sqrt(right)
        r = np.sqrt(wrong)
        miss = wrong / (1.0 + p) if target == 1.0 else a - p  # 1 - √P loses its digits where P is nearly 1
        value[i] = 0.5 * (miss * miss + (r - b) * (r - b))
        d = -0.5 * p * r * (a * r - b * p)
        slope[i] = d
        curvature[i] = max(0.25 * right * wrong, abs(d))


def _device_slope(torch: Any, z: Any, target: float) -> Any:
    p, r = torch.sigmoid(z).sqrt(), torch.sigmoid(-z).sqrt()
    return -0.5 * p * r * (target**0.5 * r - (1.0 - target) ** 0.5 * p)


@dataclass(frozen=True, kw_only=True, repr=False)
class Fidelity(PairLoss):
    r"""Fidelity pair loss :math:`\varphi(z) = 1 - \sqrt{\bar P P} - \sqrt{(1 - \bar P)(1 - P)}`, the loss of FRank.

    :math:`P = 1/(1 + e^{-(z - \text{margin})})` is the modelled probability that the first document belongs before the
    second, :math:`\bar P` the target probability. It lies between 0 and 1 and is 0 if the two agree, so hopeless pairs
    have less influence than with the cross entropy. It is not convex, and not a bound on the number of misordered
    pairs: at z = 0 it is 0.293. The curvature is a surrogate that bounds the second derivative in the usual case of P̄
    = 1.

    Parameters
    ----------
    target
        The target probability P̄ that a preferred document comes first.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> round(Fidelity()(np.array([0.0, 0.0]), data), 3)  # 1 - √½
    0.293

    References
    ----------
    Tsai, Liu, Qin, Chen, Ma: FRank: a ranking method with fidelity loss. SIGIR 2007.
    """

    name: ClassVar[str] = "Fidelity"
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"margin": 0.7}, {"normalize": True, "target": 0.8}, {"target": 0.5})
    phi = staticmethod(fidelity_phi)
    device_slope = staticmethod(_device_slope)

    target: float = 1.0

    def __post_init__(self) -> None:
        number(f"{self.name}: target", self.target, least=0.0, most=1.0, error=LossError)

    @property
    def shape(self) -> tuple[float, ...]:
        """The target probability."""
        return (float(self.target),)
