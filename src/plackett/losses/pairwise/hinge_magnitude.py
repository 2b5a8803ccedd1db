"""Hinge magnitude-preserving pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._kernels.kernel import kernel
from plackett.losses.pairwise._magnitude import MagnitudeLoss, power

__all__ = ["HingeMagnitude"]


@kernel
def _phi(gap, target, value, slope, curvature, beta):  # type: ignore[no-untyped-def]
    for i in range(gap.size):
        z = gap[i] - target[i]
        inverted = gap[i] * target[i] < 0.0
        f, d, c = power(abs(z), beta)
        value[i] = f if inverted else 0.0
        slope[i] = (d if z > 0.0 else -d) if inverted else 0.0
        curvature[i] = c if inverted else 0.0


@dataclass(frozen=True, kw_only=True, repr=False)
class HingeMagnitude(MagnitudeLoss):
    r"""Hinge magnitude-preserving pair loss: :math:`|s_u - s_v - (y_u - y_v)|^\beta` for inverted pairs, 0 for others.

    A pair is inverted where the differences of scores and of labels have opposite signs. The loss jumps by
    :math:`|y_u - y_v|^\beta` where the scores cross: it is neither continuous nor convex, its gradient is that of the
    inverted pairs, and it needs a start other than equal scores, where no pair is inverted.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [2, 0, 0], qid=[1, 1, 1])
    >>> HingeMagnitude()(np.array([1.0, 2.0, 0.0]), data)  # |-1 - 2|² for the inverted pair
    9.0

    References
    ----------
    Cortes, Mohri, Rastogi: Magnitude-preserving ranking algorithms. ICML 2007.
    """

    name: ClassVar[str] = "HingeMagnitude"
    convex: ClassVar[bool] = False
    learns_from: ClassVar[str] = "documents"
    _test_variants = ({"beta": 1.0}, {"beta": 2.5, "normalize": True})
    phi = staticmethod(_phi)

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Never: it jumps where scores cross."""
        return False
