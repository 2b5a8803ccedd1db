"""Magnitude-preserving pair loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._kernels.kernel import kernel
from plackett.losses.pairwise._magnitude import MagnitudeLoss
from plackett.losses.pairwise.pair_svr import PairSVR

__all__ = ["MagnitudePreserving"]


@kernel
def _squares(lo, hi, offsets, scores, pairs, shape, want_value, value, gradient, curvature):  # type: ignore[no-untyped-def]
    """All pairs for β = 2 in linear time: Σ_{u<v} w_u w_v (r_u − r_v)² = W Σ_i w_i (r_i − r̄)² with r = s − y."""
    order, _, judged, labels, weight, scale = pairs
    for q in range(lo, hi):
        mass = 0.0
        mean = 0.0
        for i in range(offsets[q], offsets[q] + judged[q]):
            row = order[i]
            if weight[row] > 0.0:
                mass += weight[row]
                mean += (scores[row] - labels[row] - mean) * weight[row] / mass
        total = 0.0
        for i in range(offsets[q], offsets[q] + judged[q]):
            row = order[i]
            away = scores[row] - labels[row] - mean
            total += weight[row] * away * away
            gradient[row] = 2.0 * scale[q] * mass * weight[row] * away
            curvature[row] = 2.0 * scale[q] * weight[row] * (mass - weight[row])
        value[q] = scale[q] * mass * total


@dataclass(frozen=True, kw_only=True, repr=False)
class MagnitudePreserving(MagnitudeLoss):
    r"""Magnitude-preserving pair loss :math:`|s_u - s_v - (y_u - y_v)|^\beta`.

    Scores should differ by as much as the labels. For β = 2 all pairs of a query sum up to
    :math:`m \sum_i (r_i - \bar r)^2` with :math:`r = s - y` over its m judged documents, which takes linear time:
    least squares up to a constant per query. Other powers visit all pairs. Convex; the curvature is exact for β = 2 and
    above.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [2, 0, 0], qid=[1, 1, 1])
    >>> MagnitudePreserving()(np.array([1.0, 0.0, 0.0]), data)  # |1 - 2|² twice, and 0 for the tied pair
    2.0

    References
    ----------
    Cortes, Mohri, Rastogi: Magnitude-preserving ranking algorithms. ICML 2007.
    """

    name: ClassVar[str] = "MagnitudePreserving"
    learns_from: ClassVar[str] = "documents"
    _test_variants = ({"beta": 1.5}, {"beta": 1.0}, {"beta": 3.0}, {"normalize": True})
    phi = staticmethod(PairSVR.phi)

    @property
    def kernel(self) -> Any:  # type: ignore[override]
        """Sums for squares, pairs for other powers."""
        return _squares if self.beta == 2 else PairSVR.kernel

    @property
    def shape(self) -> tuple[float, ...]:
        """The power; nothing is free."""
        return float(self.beta), 0.0
