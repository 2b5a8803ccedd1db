"""Bound by document-level stability."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import ClassVar

from plackett.theory.bounds.base import Bound

__all__ = ["DocumentStabilityBound"]


@dataclass(frozen=True, kw_only=True)
class DocumentStabilityBound(Bound):
    r"""Theorem 17.7 of Liu: the pair risk of an algorithm whose loss on any pair changes by at most β when one of its m
    training documents is replaced,

    .. math:: R - \hat R \le 2 \beta(m) + (m \beta(m) + B) \sqrt{2 \log(1/\delta) / m}

    It falls like 1/√m where β is of order 1/m, and grows like √m where β does not fall.

    Parameters
    ----------
    documents
        m.
    beta
        β: a number, or a function of m such as `rank_svm_document_stability`, which `solve` needs.
    loss_bound
        B, the largest loss; see `hinge_loss_bound`.

    References
    ----------
    Agarwal, Niyogi: Stability and generalization of bipartite ranking algorithms. COLT 2005.

    Examples
    --------
    >>> from plackett.theory import hinge_loss_bound, rank_svm_document_stability
    >>> beta = lambda m: rank_svm_document_stability(m, 0.1)
    >>> round(DocumentStabilityBound(documents=10_000, beta=beta, loss_bound=hinge_loss_bound(0.1)).value, 7)
    4.1276815
    """

    framework: ClassVar[str] = "document"
    approach: ClassVar[str] = "pairwise"
    kind: ClassVar[str] = "algorithm"
    rate: ClassVar[str] = "1/√m where β = O(1/m)"
    assumptions: ClassVar[tuple[str, ...]] = ("independent documents", "uniform stability", "a bounded loss")
    sizes: ClassVar[tuple[str, ...]] = ("documents",)

    documents: int
    beta: float | Callable[[float], float]
    loss_bound: float = 1.0

    @property
    def loss_range(self) -> float:
        """B."""
        return self.loss_bound

    @property
    def value(self) -> float:
        """The bound."""
        m = self.documents
        beta = self.beta(m) if callable(self.beta) else self.beta
        return 2.0 * beta + (m * beta + self.loss_bound) * sqrt(2.0 * log(1.0 / self.delta) / m)
