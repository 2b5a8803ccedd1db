"""Query-level bound of ListNet and ListMLE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, lgamma, log, sqrt
from typing import Any, ClassVar, NamedTuple

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.theory.bounds.base import Bound

__all__ = ["ListwiseBound"]


class StrengthRange(NamedTuple):
    """Least and largest value of a positive transform φ of scores between −BM and BM, and its largest slope."""

    least: float
    largest: float
    slope: float


def _linear(a: float, b: float, reach: float) -> StrengthRange:
    if not b > a * reach:
        raise DataError(f"transform='linear' needs b > a·B·M for positive strengths, got b={b} and a·B·M={a * reach}")
    return StrengthRange(b - a * reach, b + a * reach, a)


def _exponential(a: float, b: float, reach: float) -> StrengthRange:
    return StrengthRange(exp(-a * reach), exp(a * reach), a * exp(a * reach))


def _sigmoid_as_printed(a: float, b: float, reach: float) -> StrengthRange:
    end = 1.0 + exp(-a * reach)
    return StrengthRange(1.0 / (1.0 + exp(a * reach)), 1.0 / end, a * exp(a * reach) / end**2)


def _sigmoid(a: float, b: float, reach: float) -> StrengthRange:
    return _sigmoid_as_printed(a, b, reach)._replace(slope=a / 4.0)


_TRANSFORMS: dict[str, Callable[[float, float, float], StrengthRange]] = {
    "linear": _linear,
    "exp": _exponential,
    "sigmoid": _sigmoid_as_printed,
    "sigmoid, tight": _sigmoid,
}
_ORDERS: dict[str, Callable[[int], float]] = {
    "ListMLE": lambda m: 1.0,
    "ListNet": lambda m: exp(lgamma(m + 1)) if m < 170 else inf,
}


@dataclass(frozen=True, kw_only=True)
class ListwiseBound(Bound):
    r"""Theorem 17.5 of Liu: the risk of ListMLE and ListNet, scaled to at most 1, of linear functions of m documents,

    .. math:: R - \hat R \le 2\, C_A(\varphi)\, N(\varphi) \frac{2 B M}{\sqrt n} + \sqrt{\frac{2 \log(2/\delta)}{n}},
              \qquad C_{ListMLE} = \frac{2}{\inf\varphi\,(\log m + \log(\sup\varphi / \inf\varphi))},
              \quad C_{ListNet} = m!\, C_{ListMLE}

    with N the largest slope of the transform φ from scores to strengths. One formula for C covers every row of the
    book's Table 17.1, so any positive transform works. The factor 2BM/√n is the book's; by the definition of the
    Rademacher average with 1/n it would be half as large.

    Parameters
    ----------
    queries, documents
        n, and m of each query.
    algorithm
        ``"ListMLE"`` or ``"ListNet"``.
    norm, radius
        B and M: largest length of the weights and of the feature vectors.
    transform
        φ: ``"linear"`` (a·s + b), ``"exp"`` (e^{as}), ``"sigmoid"`` with the slope as printed, ``"sigmoid, tight"``
        with its true slope a/4, or a `StrengthRange`.

    References
    ----------
    Lan, Liu, Ma, Li: Generalization analysis of listwise learning-to-rank algorithms. ICML 2009.

    Examples
    --------
    >>> bound = ListwiseBound(queries=1000, documents=10)
    >>> round(bound.value, 7), f"{bound.replace(algorithm='ListNet').value:.4g}"
    (0.1602742, '2.699e+05')
    """

    framework: ClassVar[str] = "subset"
    approach: ClassVar[str] = "listwise"
    bounded: ClassVar[str] = "risk − empirical risk, of the loss scaled to at most 1"
    rate: ClassVar[str] = "1/√n"
    assumptions: ClassVar[tuple[str, ...]] = ("independent queries of m documents", "linear scores of bounded length")
    sizes: ClassVar[tuple[str, ...]] = ("queries",)

    queries: int
    documents: int = 10
    algorithm: str = "ListMLE"
    norm: float = 1.0
    radius: float = 1.0
    transform: Any = "linear"
    a: float = 1.0
    b: float = 2.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, table in (("algorithm", _ORDERS), ("transform", _TRANSFORMS)):
            given = getattr(self, name)
            if not isinstance(given, StrengthRange) and given not in table:
                raise DataError(f"{name}={given!r}; give one of {', '.join(map(repr, table))}")
        number("documents", self.documents, least=2)
        self.strengths  # noqa: B018  # refuses a transform that is not positive

    @property
    def strengths(self) -> StrengthRange:
        """Range and slope of the strengths."""
        if isinstance(self.transform, StrengthRange):
            return self.transform
        return _TRANSFORMS[self.transform](self.a, self.b, self.norm * self.radius)

    @property
    def factor(self) -> float:
        """C of the algorithm."""
        low, high, _ = self.strengths
        return 2.0 * _ORDERS[self.algorithm](self.documents) / (low * (log(self.documents) + log(high / low)))

    @property
    def value(self) -> float:
        """The bound."""
        complexity = 2.0 * self.norm * self.radius / sqrt(self.queries)
        return 2.0 * self.factor * self.strengths.slope * complexity + sqrt(2.0 * log(2.0 / self.delta) / self.queries)
