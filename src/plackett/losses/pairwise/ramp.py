"""Ramp pair loss: a hinge that levels off."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett.losses.pairwise._hinge_sweep import hinge_sweep
from plackett.losses.pairwise.base import PairLoss

__all__ = ["Ramp"]


@kernel
def _phi(z, value, slope, curvature, height):
    for i in range(z.size):  # z is the difference minus the margin
        value[i] = min(height, max(0.0, -z[i]))
        slope[i] = -1.0 if -height <= z[i] < 0.0 else 0.0
        curvature[i] = -slope[i]


@kernel
def _sweep(lo, hi, offsets, scores, pairs, shape, want_value, value, gradient, curvature):
    # a ramp is the difference of two hinges
    margin, height = shape
    hinge_sweep(lo, hi, offsets, scores, pairs, margin, False, value, gradient, curvature)
    end = offsets[hi]
    less_value, less_gradient, less_curvature = np.zeros(hi), np.zeros(end), np.zeros(end)
    hinge_sweep(lo, hi, offsets, scores, pairs, margin - height, False, less_value, less_gradient, less_curvature)
    for q in range(lo, hi):
        value[q] = max(0.0, value[q] - less_value[q])
        for row in range(offsets[q], offsets[q + 1]):
            gradient[row] -= less_gradient[row]
            curvature[row] = max(0.0, curvature[row] - less_curvature[row])


@dataclass(frozen=True, kw_only=True, repr=False)
class Ramp(PairLoss):
    r"""Ramp pair loss :math:`\varphi(z) = \min(\text{height}, \max(0, \text{margin} - z))`.

    The difference of two hinges, :math:`H_{\text{margin}}(z) - H_{\text{margin} - \text{height}}(z)` with :math:`H_a(z)
    = \max(0, a - z)`: a pair that is far out of order costs no more than the height, and has no gradient. It is neither
    smooth nor convex; `plackett.RampRank` minimises it by a sequence of convex problems. All pairs in O(n log n) by
    sorted sweeps. The curvature is a surrogate, the weight of the pairs on the slope.

    Parameters
    ----------
    height
        Largest loss of a pair: 1 − s where the second hinge is called :math:`H_s` and the margin is 1.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 0], qid=[1, 1, 1])
    >>> Ramp()(np.array([0.0, 0.5, 50.0]), data)  # 1.5, and 2 instead of 51
    3.5

    References
    ----------
    Collobert, Sinz, Weston, Bottou: Trading convexity for scalability. ICML 2006.
    """

    name: ClassVar[str] = "Ramp"
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"margin": 0.3, "height": 0.9}, {"normalize": True})
    kernel = staticmethod(_sweep)
    phi = staticmethod(_phi)

    margin: float = 1.0
    height: float = 2.0

    def __post_init__(self) -> None:
        number(f"{self.name}: height", self.height, above=0, most=inf, error=LossError)

    @property
    def shape(self) -> tuple[float, ...]:
        """The height."""
        return (float(self.height),)
