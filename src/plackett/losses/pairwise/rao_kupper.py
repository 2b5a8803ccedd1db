"""Bradley–Terry comparisons with ties (Rao and Kupper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett._kernels.vector_math import exp, log1p
from plackett.losses.pairwise._ties import TieLoss

__all__ = ["RaoKupper"]


@kernel(inline=True)
def _softplus(x):
    """log(1 + e^x), its slope and its curvature."""
    e = exp(-abs(x))
    large = 1.0 / (1.0 + e)
    small = e * large
    return log1p(e) + max(x, 0.0), large if x >= 0.0 else small, small * large


@kernel
def _won(z, value, slope, curvature, width):
    for i in range(z.size):
        f, d, c = _softplus(width - z[i])
        value[i] = f
        slope[i] = -d
        curvature[i] = c


@kernel
def _tied(z, value, slope, curvature, width, tie_weight):
    constant = np.log(np.expm1(2.0 * width))
    for i in range(z.size):
        f, d, c = _softplus(width - z[i])
        g, e, b = _softplus(width + z[i])
        value[i] = tie_weight * (f + g - constant)
        slope[i] = tie_weight * (e - d)
        curvature[i] = tie_weight * (c + b)


@dataclass(frozen=True, kw_only=True, repr=False)
class RaoKupper(TieLoss):
    r"""Minus the log-likelihood of the Bradley–Terry model with ties of Rao and Kupper.

    .. math:: P(u \succ v) = \frac{e^{s_u}}{e^{s_u} + \theta e^{s_v}}, \qquad
              P(u \sim v) = \frac{(\theta^2 - 1)\, e^{s_u + s_v}}{(e^{s_u} + \theta e^{s_v})(\theta e^{s_u} + e^{s_v})}

    Ties teach the model that the scores of documents with equal labels should be close. With θ = 1 and
    ``tie_weight=0`` it is the cross entropy of RankNet (`Logistic`). Convex, with the exact curvature.

    Parameters
    ----------
    theta
        Width θ of ties, above 1: documents of equal score tie with probability (θ − 1)/(θ + 1).

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 1], qid=[1, 1])
    >>> float(np.exp(-RaoKupper(theta=3.0)(np.zeros(2), data)).round(6))  # probability of the tie
    0.5

    References
    ----------
    Zhou, Xue, Zha, Yu: Learning to rank with ties. SIGIR 2008.
    Rao, Kupper: Ties in paired-comparison experiments. Journal of the American Statistical Association 1967.
    """

    name: ClassVar[str] = "RaoKupper"
    won = staticmethod(_won)
    tied = staticmethod(_tied)
    learns_from: ClassVar[str] = "documents"
    _test_variants = ({"theta": 1.1}, {"theta": 1.0, "tie_weight": 0.0}, {"normalize": True, "tie_weight": 0.3})

    theta: float = 2.0

    def __post_init__(self) -> None:
        number(f"{self.name}: theta", self.theta, least=1, error=LossError)
        super().__post_init__()

    @property
    def width(self) -> float:
        """Logarithm of θ."""
        return float(np.log(self.theta))
