"""Squared hinge pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._kernels.kernel import kernel
from plackett.losses.pairwise._hinge_sweep import hinge_sweep
from plackett.losses.pairwise.base import PairLoss

__all__ = ["SquaredHinge"]


@kernel
def _phi(z, value, slope, curvature):  # type: ignore[no-untyped-def]
    for i in range(z.size):  # z is the difference minus the margin
        miss = max(0.0, -z[i])
        value[i] = miss * miss
        slope[i] = -2.0 * miss
        curvature[i] = 2.0 if miss > 0.0 else 0.0


@kernel
def _sweep(lo, hi, offsets, scores, pairs, shape, want_value, value, gradient, curvature):  # type: ignore[no-untyped-def]
    hinge_sweep(lo, hi, offsets, scores, pairs, shape[0], True, value, gradient, curvature)


@dataclass(frozen=True, kw_only=True, repr=False)
class SquaredHinge(PairLoss):
    r"""Squared hinge pair loss :math:`\varphi(z) = \max(0, \text{margin} - z)^2`.

    All pairs in O(n log n) by two sorted sweeps.

    References
    ----------
    Chapelle and Keerthi: Efficient algorithms for ranking with SVMs. Information Retrieval 2010.
    """

    name: ClassVar[str] = "SquaredHinge"
    convex: ClassVar[bool] = True
    _test_variants = ({"margin": 0.3}, {"margin": 2.0, "normalize": True})
    kernel = staticmethod(_sweep)
    phi = staticmethod(_phi)

    margin: float = 1.0
