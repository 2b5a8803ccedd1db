"""The base class of generalisation bounds: small objects with their assumptions, value and inverse."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice, number, probability
from plackett._base.errors import DataError
from plackett.data.arguments import array

#: Largest sample that `solve` looks at.
_LARGEST = 10**18


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Base class of bounds: with probability 1 − δ the risk exceeds the empirical one by at most `value`.

    A subclass is a frozen dataclass whose fields are the parameters. It declares what it assumes and what it bounds.
    The value is never cut off: if it is not below the range of the loss, the bound is uninformative, and `vacuous` is
    True.

    Parameters
    ----------
    delta
        The probability with which the bound may fail.

    Examples
    --------
    >>> from plackett.theory import KernelMarginBound
    >>> bound = KernelMarginBound(pairs=10_000, norm=10.0)
    >>> round(bound.value, 7), bound.vacuous, bound.solve(0.1).pairs
    (0.4122387, False, 169941)
    """

    #: "document", "subset" or "two-layer"; "pointwise", "pairwise" or "listwise".
    framework: ClassVar[str]
    approach: ClassVar[str]
    #: "uniform" (for all functions of a class), "margin" (the same, by the empirical margin loss) or "algorithm".
    kind: ClassVar[str] = "uniform"
    #: What is bounded, how fast the bound falls, and what must hold for it.
    bounded: ClassVar[str] = "risk − empirical risk"
    rate: ClassVar[str]
    assumptions: ClassVar[tuple[str, ...]] = ()
    #: The parameters that are sample sizes: what `solve` looks for.
    sizes: ClassVar[tuple[str, ...]]

    delta: float = 0.05

    def __post_init__(self) -> None:
        probability("delta", self.delta)
        for name in self.sizes:
            if not (array(name, getattr(self, name), None) > 0).all():
                raise DataError(f"{name}={getattr(self, name)}; give a positive number")
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            numeric = str(field.type).startswith(("int", "float")) and value is not None and not callable(value)
            if numeric or (isinstance(value, (int, float, np.number)) and not isinstance(value, bool)):
                number(field.name, value, least=0)

    @property
    def value(self) -> float:
        """The amount added to the empirical risk; infinite where the assumptions do not hold."""
        raise NotImplementedError

    @property
    def loss_range(self) -> float:
        """Largest value of the loss: a bound that is not below it is vacuous."""
        return 1.0

    @property
    def vacuous(self) -> bool:
        """Whether the bound is uninformative, because no loss exceeds it anyway."""
        return not self.value < self.loss_range

    @property
    def confidence(self) -> float:
        """Probability with which the bound holds."""
        return 1.0 - self.delta

    def replace(self, **parameters: Any) -> Self:
        """Copy with other parameters."""
        return dataclasses.replace(self, **parameters)

    def solve(self, epsilon: float, size: str | None = None) -> Self:
        """The bound at the smallest sample for which it is at most ``epsilon``.

        Parameters
        ----------
        epsilon
            Target value of the bound.
        size
            Which sample size to solve for, with the others fixed. By default all of them grow together: the largest is
            as small as possible and the others follow in the current proportion, rounded to whole numbers.

        Notes
        -----
        Found by bisection, for a bound that falls with the sample size. Parameters given as numbers stay fixed, so give
        complexities and stability coefficients as functions of the sample size.
        """
        number("epsilon", epsilon, above=0.0)
        names = self.sizes if size is None else (size,)
        for name in names:
            choice("size", name, self.sizes)
        for name in self.sizes:
            if np.ndim(given := getattr(self, name)):
                raise DataError(
                    f"{name} holds one number for each query; solve needs one for all: give {name}="
                    f"{round(float(np.mean(given)))} (their mean)"
                )
        low, high = 0, 1
        while not self._grown(names, high).value <= epsilon:
            low, high = high, high * 2
            if high > _LARGEST:
                raise DataError(
                    f"{type(self).__name__} does not fall to {epsilon} however large {' and '.join(names)} get: it is "
                    f"{self._grown(names, _LARGEST).value:.4g} at {_LARGEST:.0e}"
                )
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._grown(names, middle).value <= epsilon else (middle, high)
        return self._grown(names, high)

    def _grown(self, names: Sequence[str], largest: int) -> Self:
        """The bound at sample sizes in their current proportion, the largest of them given."""
        now = {name: float(getattr(self, name)) for name in names}
        unit = max(now.values())
        return self.replace(**{name: max(1, round(largest * value / unit)) for name, value in now.items()})

    def __str__(self) -> str:
        note = "vacuous" if self.vacuous else f"of at most {self.loss_range:g}"
        return f"{type(self).__name__}: {self.bounded} ≤ {self.value:.6g} with probability {self.confidence:g} ({note})"


def bounds() -> dict[str, type[Bound]]:
    """All generalisation bounds by name.

    >>> sorted(bounds())[:2]
    ['DocumentStabilityBound', 'IRSVMBound']
    """
    from importlib import import_module

    from plackett._names.catalogue import items

    members = (getattr(import_module(i.module), i.symbol) for i in items("theory") if i.module.startswith(__package__))
    return {cls.__name__: cls for cls in members if isinstance(cls, type) and issubclass(cls, Bound)}
