"""Search spaces for tuning: ranges of numbers and lists of values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Integer", "Real"]

__home__ = "models"


@dataclass(frozen=True)
class Real:
    """Numbers from ``low`` to ``high``, evenly on a linear or logarithmic scale.

    >>> Real(0.01, 1.0, log=True).grid(3)
    [0.01, 0.1, 1.0]
    """

    low: float
    high: float
    log: bool = False

    def at(self, share: float) -> float:
        """The number at a share of the way, 0 is ``low`` and 1 is ``high``."""
        if not self.log:
            return self.low + share * (self.high - self.low)
        return float(f"{math.exp(math.log(self.low) + share * math.log(self.high / self.low)):.6g}")

    def grid(self, n: int) -> list[float]:
        """``n`` numbers at equal steps; the middle of the range where n is 1."""
        return [self.at(share) for share in _steps(n)]


@dataclass(frozen=True)
class Integer:
    """Whole numbers from ``low`` to ``high``, both included.

    >>> Integer(4, 64, log=True).grid(3)
    [4, 16, 64]
    """

    low: int
    high: int
    log: bool = False

    def at(self, share: float) -> int:
        """The number at a share of the way."""
        return round(Real(self.low, self.high, self.log).at(share))

    def grid(self, n: int) -> list[int]:
        """At most ``n`` different numbers at equal steps."""
        return sorted({self.at(share) for share in _steps(n)})


#: The parameters worth tuning: a range, or the values to choose from.
SearchSpace = Mapping[str, Real | Integer | Sequence[Any]]


def _steps(n: int) -> list[float]:
    return [0.5] if n == 1 else [i / (n - 1) for i in range(n)]


def grid_values(choice: Real | Integer | Sequence[Any], n: int = 3) -> list[Any]:
    """The values of one parameter in a grid: ``n`` of a range, all of a list.

    >>> grid_values(("nDCG", "AP"))
    ['nDCG', 'AP']
    """
    return choice.grid(n) if isinstance(choice, (Real, Integer)) else list(choice)


def value_at(choice: Real | Integer | Sequence[Any], share: float) -> Any:
    """The value at a share in [0, 1) of a range or a list; all values of a list have parts of the same size.

    >>> value_at(Integer(1, 4), 0.99), value_at(("hinge", "logistic"), 0.3)
    (4, 'hinge')
    """
    if isinstance(choice, Real):
        return choice.at(share)
    if isinstance(choice, Integer):  # every whole number has the same part of the (log) range
        low, high = choice.low, choice.high + 1
        value = low * (high / low) ** share if choice.log else low + share * (high - low)
        return min(int(value), choice.high)
    return choice[int(share * len(choice))]
