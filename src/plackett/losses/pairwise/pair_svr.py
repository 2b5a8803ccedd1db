"""Support vector regression of label differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett.losses.pairwise._magnitude import MagnitudeLoss, power

__all__ = ["PairSVR"]


@kernel
def _phi(gap, target, value, slope, curvature, beta, epsilon):
    for i in range(gap.size):
        z = gap[i] - target[i]
        miss = abs(z) - epsilon
        f, d, c = power(max(miss, 0.0), beta)
        value[i] = f
        slope[i] = d if z > 0.0 else -d
        curvature[i] = c if miss > 0.0 or epsilon == 0.0 else 0.0


@dataclass(frozen=True, kw_only=True, repr=False)
class PairSVR(MagnitudeLoss):
    r"""Loss of differences :math:`\max(0, |s_u - s_v - (y_u - y_v)| - \varepsilon)^\beta`.

    Support vector regression of the differences of labels: deviations up to ε are free. With ε = 0 it is
    `MagnitudePreserving`. Convex; the curvature is exact for β = 2 and above.

    Parameters
    ----------
    epsilon
        Half the width ε of the free zone.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [2, 0], qid=[1, 1])
    >>> PairSVR(epsilon=0.5)(np.array([0.0, 0.0]), data)  # (|0 - 2| - 0.5)²
    2.25

    References
    ----------
    Cortes, Mohri, Rastogi: Magnitude-preserving ranking algorithms. ICML 2007.
    """

    name: ClassVar[str] = "PairSVR"
    learns_from: ClassVar[str] = "documents"
    _test_variants = ({"beta": 1.0, "epsilon": 0.7}, {"epsilon": 0.0, "normalize": True})
    phi = staticmethod(_phi)

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        number(f"{self.name}: epsilon", self.epsilon, least=0, error=LossError)

    @property
    def shape(self) -> tuple[float, ...]:
        """Power and free zone."""
        return float(self.beta), float(self.epsilon)
