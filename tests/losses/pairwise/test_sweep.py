"""A pair loss is its formula: the sweep over pairs comes from the base class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import plackett as pk
from plackett._kernels.kernel import kernel
from plackett.losses.pairwise.base import PairLoss


@kernel
def _cubic(z, value, slope, curvature, factor):
    for i in range(z.size):
        short = max(0.0, -z[i])
        value[i] = factor * short**3
        slope[i] = -3.0 * factor * short**2
        curvature[i] = 6.0 * factor * short


@dataclass(frozen=True, kw_only=True, repr=False)
class CubicHinge(PairLoss):
    """Written here with nothing but φ."""

    name: ClassVar[str] = "CubicHinge"
    ids: ClassVar[tuple[str, ...]] = ()
    phi = staticmethod(_cubic)

    margin: float = 1.0

    @property
    def shape(self):
        return (0.5,)


@pytest.mark.parametrize("normalize", [False, True])
def test_a_loss_of_a_formula_alone_agrees_with_the_double_loop(normalize):
    rng = np.random.default_rng(0)
    qid = np.repeat([0, 1, 2], [9, 1, 30])
    y, s, w = rng.integers(-1, 4, 40), rng.normal(size=40), rng.random(40)
    data = pk.RankingDataset.from_arrays(None, y, qid, sample_weight=w)
    value, gradient, curvature = np.zeros(3), np.zeros(40), np.zeros(40)
    for q in range(3):
        pairs = [(u, v) for u in range(40) for v in range(40) if qid[u] == qid[v] == q and y[u] > y[v] >= 0]
        scale = sum(w[u] * w[v] for u, v in pairs) if normalize and pairs else 1.0
        for u, v in pairs:
            short, weight = max(0.0, 1.0 - (s[u] - s[v])), 0.5 * w[u] * w[v] / scale
            value[q] += weight * short**3
            gradient[u] -= 3.0 * weight * short**2
            gradient[v] += 3.0 * weight * short**2
            curvature[u] += 6.0 * weight * short
            curvature[v] += 6.0 * weight * short
    bound = CubicHinge(normalize=normalize).bind(data)
    for result, expected in zip(bound.evaluate(s), (value, gradient, curvature), strict=True):
        np.testing.assert_allclose(result, expected, atol=1e-12)
