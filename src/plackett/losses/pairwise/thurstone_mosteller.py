"""Thurstone–Mosteller comparisons with ties."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett.losses.pairwise._ties import TieLoss

__all__ = ["ThurstoneMosteller"]

_ROOT_HALF = math.sqrt(0.5)
_LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)
#: Below this many standard deviations Φ underflows, and its asymptotic series is exact to the last digits.
_FAR = -35.0
#: Below this the curvature is 1 to more digits than the formula would leave.
_FARTHER = -1e6


@kernel
def _log_normal(t):
    """Logarithm of Φ(t), and the quotient φ(t)/Φ(t) of density and distribution."""
    if t > _FAR:
        mass = 0.5 * math.erfc(-t * _ROOT_HALF)
        log_mass = math.log1p(-0.5 * math.erfc(t * _ROOT_HALF)) if t > 0.0 else math.log(mass)
        return log_mass, math.exp(-0.5 * t * t - _LOG_ROOT_2PI) / mass
    x = 1.0 / (t * t)
    series = 1.0 - x * (1.0 - x * (3.0 - x * (15.0 - x * (105.0 - x * 945.0))))
    return -0.5 * t * t - _LOG_ROOT_2PI - math.log(-t) + math.log(series), -t / series


@kernel
def _won(z, value, slope, curvature, width):
    for i in range(z.size):
        t = z[i] - width
        log_mass, quotient = _log_normal(t)
        value[i] = -log_mass
        slope[i] = -quotient
        curvature[i] = max(quotient * (quotient + t), 0.0) if t > _FARTHER else 1.0


@kernel
def _tied(z, value, slope, curvature, width, tie_weight):
    for i in range(z.size):
        gap = abs(z[i])
        a = width - gap
        b = -width - gap
        log_a, quotient_a = _log_normal(a)
        log_b, quotient_b = _log_normal(b)
        less = log_b - log_a if a > _FARTHER else -2.0 * width * gap  # there it is (a² − b²) / 2
        ratio = math.exp(less)
        rest = -math.expm1(less)
        value[i] = -tie_weight * (log_a + math.log(rest))
        dens_a = quotient_a / rest  # densities at both ends over the probability of the tie
        dens_b = quotient_b * ratio / rest
        push = dens_a - dens_b
        slope[i] = tie_weight * (push if z[i] >= 0.0 else -push)
        curvature[i] = tie_weight * (max(push * push + a * dens_a - b * dens_b, 0.0) if a > _FARTHER else 1.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class ThurstoneMosteller(TieLoss):
    r"""Minus the log-likelihood of the Thurstone–Mosteller model with ties.

    .. math:: P(u \succ v) = \Phi(s_u - s_v - \varepsilon), \qquad
              P(u \sim v) = \Phi(\varepsilon - (s_u - s_v)) - \Phi(-\varepsilon - (s_u - s_v))

    with Φ the normal distribution function. Convex, with the exact curvature; the tails are computed in logarithms.

    Parameters
    ----------
    epsilon
        Half the width ε of ties on the scale of the scores.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> loss = ThurstoneMosteller(epsilon=0.3)
    >>> float(np.exp(-loss(np.array([0.3, 0.0]), data)).round(6))
    0.5

    References
    ----------
    Zhou, Xue, Zha, Yu: Learning to rank with ties. SIGIR 2008.
    Glenn, David: Ties in paired-comparison experiments using a modified Thurstone–Mosteller model. Biometrics 1960.
    """

    name: ClassVar[str] = "ThurstoneMosteller"
    won = staticmethod(_won)
    tied = staticmethod(_tied)
    learns_from: ClassVar[str] = "documents"
    _test_variants = ({"epsilon": 0.05, "tie_weight": 0.2}, {"normalize": True})

    epsilon: float = 0.5

    def __post_init__(self) -> None:
        number(f"{self.name}: epsilon", self.epsilon, least=0, error=LossError)
        super().__post_init__()

    @property
    def width(self) -> float:
        """ε."""
        return float(self.epsilon)
