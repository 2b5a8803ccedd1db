"""From the excess of a surrogate to the excess of the pair error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.losses.base import Loss
from plackett.losses.pairwise.base import PairLoss

__all__ = ["CalibrationTransform"]

#: Margins between which the conditional risk is minimised.
_REACH = 40.0
_GRID = 401


@dataclass(frozen=True)
class CalibrationTransform:
    r"""The function ψ with :math:`\psi(R_0 - R_0^*) \le R_\varphi - R_\varphi^*` for the pair error and a margin loss:

    .. math:: \psi(x) = H^-\big(\tfrac{1 + x}{2}\big) - H\big(\tfrac{1 + x}{2}\big), \qquad
              H(\rho) = \inf_a \rho\, \varphi(a) + (1 - \rho)\, \varphi(-a)

    and :math:`H^-` the same infimum over margins a of the wrong sign. The book prints :math:`H^-` in both places, which
    is 0. φ is calibrated, and its minimiser consistent with the pair error over all pair functions, where ψ > 0 for
    x > 0. Closed forms: exponential :math:`1 - \sqrt{1 - x^2}`, hinge :math:`x`, logistic to base 2
    :math:`1 - h_2((1 + x)/2)`, square and squared hinge :math:`x^2`.

    Parameters
    ----------
    phi
        A pair loss of the library, or a function of an array of margins.
    scale
        Factor of φ; 1 / log 2 gives the logistic loss base 2.

    References
    ----------
    Bartlett, Jordan, McAuliffe: Convexity, classification, and risk bounds. Journal of the American Statistical
    Association 2006.
    Clémençon, Lugosi, Vayatis: Ranking and empirical minimization of U-statistics. Annals of Statistics 2008.

    Examples
    --------
    >>> psi = CalibrationTransform(lambda margin: np.exp(-margin))
    >>> round(psi(0.8), 6), round(psi.inverse(0.4), 6), psi.calibrated
    (0.4, 0.8, True)
    """

    phi: Any
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.phi, Loss) and not callable(self.phi):
            raise DataError(f"phi={self.phi!r}; give a pair loss, or a function of margins")
        number("scale", self.scale, above=0.0)

    @cached_property
    def function(self) -> Callable[[np.ndarray], np.ndarray]:
        """φ of an array of margins."""
        if isinstance(self.phi, PairLoss):
            return lambda z: self.scale * _of_margins(self.phi, z)
        if isinstance(self.phi, Loss):
            from plackett.theory.consistency.pairwise_01 import pair_loss_curve

            return lambda z: self.scale * pair_loss_curve(self.phi, np.atleast_1d(z))
        return lambda z: self.scale * np.asarray(self.phi(np.atleast_1d(np.asarray(z, np.float64))), np.float64)

    def conditional_risk(self, rho: float, *, wrong: bool = False) -> float:
        """H(ρ), or with ``wrong`` the infimum over margins that disagree with ρ."""
        number("rho", rho, least=0.0, most=1.0)
        sign = 1.0 if rho >= 0.5 else -1.0
        low, high = (-_REACH, 0.0) if wrong else (-_REACH, _REACH)
        for _ in range(8):  # refine the grid around its minimum
            grid = np.linspace(low, high, _GRID)
            values = rho * self.function(sign * grid) + (1.0 - rho) * self.function(-sign * grid)
            best = int(np.argmin(values))
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, _GRID - 1)]
        return float(values.min())

    def __call__(self, x: float) -> float:
        """ψ(x), for x between 0 and 1."""
        number("x", x, least=0.0, most=1.0)
        rho = (1.0 + x) / 2.0
        return max(0.0, self.conditional_risk(rho, wrong=True) - self.conditional_risk(rho))

    @cached_property
    def _hull(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of the lower convex hull of ψ."""
        x = np.linspace(0.0, 1.0, 201)
        y = np.array([self(v) for v in x])
        hull: list[int] = []
        for i in range(x.size):
            while len(hull) > 1 and (y[hull[-1]] - y[hull[-2]]) * (x[i] - x[hull[-1]]) >= (y[i] - y[hull[-1]]) * (
                x[hull[-1]] - x[hull[-2]]
            ):
                hull.pop()
            hull.append(i)
        return x[hull], y[hull]

    @property
    def calibrated(self) -> bool:
        """Whether ψ is positive for all x > 0: a small excess of φ means a small excess of the pair error."""
        return all(self(x) > 1e-9 for x in (0.01, 0.05, 0.2, 0.5, 1.0))

    def inverse(self, excess: float) -> float:
        """The largest excess of the pair error that goes with an excess of the φ-risk; at most 1.

        By bisection, on the convex hull of ψ where it is not convex.
        """
        number("excess", excess, least=0.0)
        x, y = self._hull
        if excess >= y[-1]:
            return 1.0
        convex = y.size > 100  # ψ itself is convex: no vertex was removed
        low, high = 0.0, 1.0
        while high - low > 1e-10:
            middle = (low + high) / 2.0
            value = self(middle) if convex else float(np.interp(middle, x, y))
            low, high = (middle, high) if value <= excess else (low, middle)
        return high


def _of_margins(loss: PairLoss, z: np.ndarray) -> np.ndarray:
    """Values of a pair loss at an array of margins."""
    z = np.atleast_1d(np.asarray(z, np.float64)) - loss.margin
    value, slope, curvature = np.empty((3, z.size))
    loss.phi(z, value, slope, curvature, *loss.shape)
    return value
