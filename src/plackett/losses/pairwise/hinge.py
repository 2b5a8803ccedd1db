"""Hinge pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._kernels.kernel import kernel
from plackett.losses.pairwise._hinge_sweep import hinge_sweep
from plackett.losses.pairwise.base import PairLoss

__all__ = ["Hinge"]


@kernel
def _phi(z, value, slope, curvature):  # type: ignore[no-untyped-def]
    for i in range(z.size):  # z is the difference minus the margin
        value[i] = max(0.0, -z[i])
        slope[i] = -1.0 if z[i] < 0.0 else 0.0
        curvature[i] = -slope[i]


@kernel
def _sweep(lo, hi, offsets, scores, pairs, shape, want_value, value, gradient, curvature):  # type: ignore[no-untyped-def]
    hinge_sweep(lo, hi, offsets, scores, pairs, shape[0], False, value, gradient, curvature)


@dataclass(frozen=True, kw_only=True, repr=False)
class Hinge(PairLoss):
    r"""Hinge pair loss :math:`\varphi(z) = \max(0, \text{margin} - z)`, the loss of Ranking SVM.

    All pairs in O(n log n) by two sorted sweeps. At the kink the slope is 0; the curvature is a surrogate, the weight
    of the violated pairs of each document.

    References
    ----------
    Herbrich, Graepel, Obermayer: Large margin rank boundaries for ordinal regression. 2000.
    Joachims: Training linear SVMs in linear time. KDD 2006 (the sweep).
    """

    name: ClassVar[str] = "Hinge"
    smooth: ClassVar[bool] = False
    convex: ClassVar[bool] = True
    curvature: ClassVar[str] = "surrogate"
    _test_variants = ({"margin": 0.3}, {"margin": 0.0, "normalize": True})
    kernel = staticmethod(_sweep)
    phi = staticmethod(_phi)

    margin: float = 1.0
