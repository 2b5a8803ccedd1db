"""Two-layer bound: queries, and documents of each."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.theory.bounds._slopes import slope_at
from plackett.theory.bounds.base import Bound

__all__ = ["TwoLayerBound"]


@dataclass(frozen=True, kw_only=True)
class TwoLayerBound(Bound):
    r"""Theorem 17.6 of Liu: the pairwise risk where queries are drawn, and documents for each,

    .. math:: R - \hat R \le D(n) + \sqrt{\frac{2 M^2 \log(4/\delta)}{n}} + \frac1n \sum_i D(\lfloor m_i / 2 \rfloor)
              + \sqrt{\sum_i \frac{2 M^2 \log(4/\delta)}{m_i n^2}}

    with :math:`D(m) = c \sqrt{V/m}` for the 0–1 loss and :math:`c B \varphi'(B) \sqrt{V/m}` for a surrogate. More
    queries alone, or more documents alone, do not make it vanish. A query with fewer than two documents makes it
    infinite.

    Parameters
    ----------
    queries
        n.
    documents
        m: one number for all queries, or one for each (then `solve` does not work).
    vc, c
        V, and a constant that the source leaves open.
    surrogate, largest
        None for the 0–1 loss; otherwise φ as in `UStatisticSurrogateBound`, and B.
    loss_bound
        M, the largest value of the loss.

    References
    ----------
    Chen, Liu, Ma: Two-layer generalization analysis for ranking using Rademacher average. NIPS 2010.

    Examples
    --------
    >>> round(TwoLayerBound(queries=200, documents=100, vc=10).value, 7)
    0.9010866
    """

    framework: ClassVar[str] = "two-layer"
    approach: ClassVar[str] = "pairwise"
    rate: ClassVar[str] = "1/√n + 1/√m"
    assumptions: ClassVar[tuple[str, ...]] = ("independent queries", "independent documents of each", "c is not known")
    sizes: ClassVar[tuple[str, ...]] = ("queries", "documents")

    queries: int
    documents: Any
    vc: float = 1.0
    c: float = 1.0
    surrogate: str | float | None = None
    largest: float = 1.0
    loss_bound: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = np.shape(self.documents)
        if shape not in ((), (self.queries,)):
            raise DataError(f"documents has shape {shape}; give one number, or one for each of {self.queries} queries")

    @property
    def loss_range(self) -> float:
        """M."""
        return self.loss_bound

    def complexity(self, m: Any) -> Any:
        """D(m)."""
        steep = 1.0 if self.surrogate is None else self.largest * slope_at(self.surrogate, self.largest)
        return self.c * steep * np.sqrt(self.vc / np.asarray(m, np.float64))

    @property
    def value(self) -> float:
        """The bound."""
        m, n = np.asarray(self.documents, np.float64), float(self.queries)
        if m.min() < 2:
            return inf
        spread = 2.0 * self.loss_bound**2 * log(4.0 / self.delta)
        inside = float(np.mean(self.complexity(np.floor(m / 2.0))))
        return float(self.complexity(n)) + sqrt(spread / n) + inside + sqrt(spread * float(np.mean(1.0 / m)) / n)
