"""Base of the bounds of pairwise support vector machines."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from plackett._base.arguments import positive
from plackett.theory.bounds.base import Bound
from plackett.theory.bounds.query_stability import QueryStabilityBound


@dataclass(frozen=True, kw_only=True)
class SVMBound(Bound):
    """Parameters of the bounds of Ranking SVM and IR-SVM: objective mean hinge + λ‖f‖², kernel at most κ²."""

    framework: ClassVar[str] = "subset"
    approach: ClassVar[str] = "pairwise"
    kind: ClassVar[str] = "algorithm"
    sizes: ClassVar[tuple[str, ...]] = ("queries",)

    queries: int
    penalty: float = 1.0
    kappa: float = 1.0
    norm: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        positive(penalty=self.penalty, kappa=self.kappa)

    @property
    def loss_range(self) -> float:
        """Largest hinge loss, 1 + 2κ times the largest norm (1/√λ where it is not given)."""
        return 1.0 + 2.0 * self.kappa * (1.0 / sqrt(self.penalty) if self.norm is None else self.norm)

    @property
    def tau(self) -> float:
        """The query-level stability coefficient."""
        raise NotImplementedError

    @property
    def value(self) -> float:
        """The bound."""
        return QueryStabilityBound(
            queries=self.queries, tau=self.tau, loss_bound=self.loss_range, delta=self.delta
        ).value
