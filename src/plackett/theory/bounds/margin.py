"""Margin bounds of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, log, log2, sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett.data.arguments import array
from plackett.theory.bounds.base import Bound
from plackett.theory.bounds.margin_loss import margin_loss

__all__ = ["KernelMarginBound", "MarginBound", "UniformMarginBound", "best_margin"]


@dataclass(frozen=True, kw_only=True)
class MarginBound(Bound):
    r"""Theorem 10.1 of Mohri et al.: the misranking error of pairs by the empirical margin loss,

    .. math:: R \le \hat R_\rho + \frac2\rho (\mathfrak R^{D_1} + \mathfrak R^{D_2}) + \sqrt{\frac{\log(1/\delta)}{2m}}

    with the Rademacher complexities of the class on the first and on the second documents of the pairs. With those that
    were measured on the sample the last term is :math:`3\sqrt{\log(2/\delta)/(2m)}`. A tie is an error.

    Parameters
    ----------
    pairs
        m independent pairs.
    first, second
        The two complexities: numbers, or functions of m, which `solve` needs.
    rho
        Margin ρ of the margin loss.
    empirical
        Whether the complexities were measured on the sample.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> bound = MarginBound(pairs=10_000, first=lambda m: m**-0.5, second=lambda m: m**-0.5)
    >>> round(bound.value, 7)  # 2 · 0.02 + 0.0122387
    0.0522387
    """

    framework: ClassVar[str] = "document"
    approach: ClassVar[str] = "pairwise"
    kind: ClassVar[str] = "margin"
    bounded: ClassVar[str] = "pair error − empirical margin loss"
    rate: ClassVar[str] = "1/√m where the complexities fall at that rate"
    assumptions: ClassVar[tuple[str, ...]] = ("independent pairs with labels ±1", "ρ chosen in advance")
    sizes: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: int
    first: float | Callable[[float], float]
    second: float | Callable[[float], float]
    rho: float = 1.0
    empirical: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        number("rho", self.rho, above=0.0)

    @property
    def complexity(self) -> float:
        """Sum of the two complexities."""
        return sum(r(self.pairs) if callable(r) else r for r in (self.first, self.second))

    @property
    def value(self) -> float:
        """The bound."""
        return 2.0 / self.rho * self.complexity + self._chance(1.0)

    def _chance(self, doubled: float) -> float:
        """The last term; δ is divided by ``doubled``."""
        times, over = (3.0, 2.0) if self.empirical else (1.0, 1.0)
        return times * sqrt(log(over * doubled / self.delta) / (2.0 * self.pairs))


@dataclass(frozen=True, kw_only=True)
class UniformMarginBound(MarginBound):
    r"""Exercise 10.1 of Mohri et al.: the margin bound for all ρ in (0, 1] at once, so that ρ may be chosen afterwards,

    .. math:: R \le \hat R_\rho + \frac4\rho (\mathfrak R^{D_1} + \mathfrak R^{D_2}) +
              \sqrt{\frac{\log \log_2 (2/\rho)}{m}} + \sqrt{\frac{\log(2/\delta)}{2m}}

    With measured complexities the last term is :math:`3\sqrt{\log(4/\delta)/(2m)}`. `best_margin` chooses ρ.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> round(UniformMarginBound(pairs=10_000, first=0.01, second=0.01, rho=0.5).value, 7)
    0.1819066
    """

    assumptions: ClassVar[tuple[str, ...]] = ("independent pairs with labels ±1", "0 < ρ ≤ 1")

    @property
    def value(self) -> float:
        """The bound."""
        if self.rho > 1:
            return inf
        grid = sqrt(max(0.0, log(log2(2.0 / self.rho))) / self.pairs)
        return 4.0 / self.rho * self.complexity + grid + self._chance(2.0)


@dataclass(frozen=True, kw_only=True)
class KernelMarginBound(Bound):
    r"""Corollary 10.2 of Mohri et al.: the margin bound of functions of norm Λ of a kernel, whatever its dimension,

    .. math:: R \le \hat R_\rho + 4 \sqrt{\frac{r^2 \Lambda^2}{\rho^2 m}} + \sqrt{\frac{\log(1/\delta)}{2m}},
              \qquad r^2 = \sup_x K(x, x)

    (the source prints :math:`r = \sup K(x, x)`, with which the formula does not fit). With ρ = 1 the empirical margin
    loss is at most the mean slack of Ranking SVM.

    Parameters
    ----------
    pairs
        m independent pairs.
    norm, radius
        Λ and r.
    rho
        Margin ρ of the margin loss.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> round(KernelMarginBound(pairs=10_000, norm=10.0).value, 7)
    0.4122387
    """

    framework: ClassVar[str] = "document"
    approach: ClassVar[str] = "pairwise"
    kind: ClassVar[str] = "margin"
    bounded: ClassVar[str] = "pair error − empirical margin loss"
    rate: ClassVar[str] = "1/√m"
    assumptions: ClassVar[tuple[str, ...]] = (
        "independent pairs with labels ±1",
        "a bounded kernel",
        "ρ chosen in advance",
    )
    sizes: ClassVar[tuple[str, ...]] = ("pairs",)

    pairs: int
    norm: float = 1.0
    radius: float = 1.0
    rho: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("rho", self.rho, above=0.0)

    @property
    def value(self) -> float:
        """The bound."""
        steep = 4.0 * self.radius * self.norm / (self.rho * sqrt(self.pairs))
        return steep + sqrt(log(1.0 / self.delta) / (2.0 * self.pairs))


class BestMargin(NamedTuple):
    """The margin with the least bound of the error, the empirical margin loss at it, and the bound of the error."""

    rho: float
    margin_loss: float
    error_bound: float


def best_margin(margins: Any, complexity: float, *, delta: float = 0.05, n_grid: int = 400) -> BestMargin:
    """The ρ in (0, 1] for which `UniformMarginBound` gives the least bound of the error of pairs with these margins.

    Parameters
    ----------
    margins
        Margin of each pair, of a function of the class.
    complexity
        Sum of the Rademacher complexities on the first and second documents.

    References
    ----------
    Mohri, Rostamizadeh, Talwalkar: Foundations of machine learning. MIT Press 2018.

    Examples
    --------
    >>> best_margin(np.full(10_000, 0.5), 0.002).rho  # no loss up to 0.5, and less complexity the larger
    0.5
    """
    values = array("margins", margins)
    number("complexity", complexity, least=0.0)
    number("n_grid", n_grid, least=1)
    inside = values[(values > 0) & (values <= 1)]
    grid = np.unique(np.concatenate([np.linspace(1.0 / n_grid, 1.0, n_grid), inside[:: max(1, inside.size // n_grid)]]))
    bound = UniformMarginBound(pairs=values.size, first=complexity, second=0.0, delta=delta)
    parts = [(float(margin_loss(values, rho).mean()), bound.replace(rho=float(rho)).value) for rho in grid]
    best = int(np.argmin([loss + excess for loss, excess in parts]))
    return BestMargin(float(grid[best]), parts[best][0], sum(parts[best]))
