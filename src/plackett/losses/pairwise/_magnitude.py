"""Shared base of the magnitude-preserving losses: pairs with a target difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel, template
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, LossOnData
from plackett.losses.pairwise.base import PreferenceTerms, SweptLoss, all_pairs, documents_weight
from plackett.losses.pairwise.rows import add, gaps, sweep_of

#: Within this distance of the target difference, the curvature of |z|^β with β < 2 stops growing.
_CLOSE = 1e-6


@kernel(inline=True)
def power(t, beta):
    """t^β, β t^(β−1) and a curvature for t ≥ 0: exact for β ≥ 2, that of the quadratic bound at t below."""
    if beta == 2.0:
        return t * t, 2.0 * t, 2.0
    if beta == 1.0:
        return t, (1.0 if t > 0.0 else 0.0), 1.0 / max(t, _CLOSE)
    factor = beta * (beta - 1.0) if beta > 2.0 else beta
    return t**beta, beta * t ** (beta - 1.0), factor * (t if beta > 2.0 else max(t, _CLOSE)) ** (beta - 2.0)


@template
def _phi(gap, target, value, slope, curvature, *shape):
    """Placeholder for the formula of a loss."""
    raise NotImplementedError


@template
def _of_later_documents(row, u, below, n, shape):
    """Pairs of a document with all that come after it by descending label, each with its target difference."""
    gap, value, slope, bend = gaps(row, u, u + 1, n, 0.0)
    target = row.target[: n - u - 1]
    for v in range(u + 1, n):
        target[v - u - 1] = row.label[u] - row.label[v]
    _phi(gap, target, value, slope, bend, *shape)
    return add(row, u, u + 1, n)


@dataclass(frozen=True, kw_only=True, repr=False)
class MagnitudeLoss(SweptLoss):
    """A loss of pairs whose scores should differ by as much as their labels.

    The pairs are all pairs of judged documents of a query, those of equal labels included, each once; or the explicit
    preferences of the dataset, whose margins are the target differences (without margins, the differences of the
    labels). A pair weighs the product of the weights of its two documents.

    Parameters
    ----------
    beta
        Power β of the deviation, at least 1.
    normalize
        Divide the loss of a query by the weight of its pairs, so that queries with many pairs do not dominate.
    """

    takes_preferences: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    curvature: ClassVar[str] = "surrogate"

    beta: float = 2.0
    normalize: bool = False

    #: The formula: ``phi(gap, target, value, slope, curvature, *shape)`` for arrays of pairs.
    phi: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "phi" in vars(cls) and "kernel" not in vars(cls):
            cls.kernel = staticmethod(sweep_of(_of_later_documents, _phi=cls.phi))

    def __post_init__(self) -> None:
        number(f"{self.name}: beta", self.beta, least=1, error=LossError)

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether the gradient is Lipschitz continuous: for β of 2 and above."""
        return self.beta >= 2

    @property
    def shape(self) -> tuple[float, ...]:
        """Numbers that decide the form of the loss."""
        return (float(self.beta),)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """All pairs of judged documents."""
        data, total = bound.data, None
        if self.normalize:
            weight = np.where(data.labels >= 0, bound.sample_weight, 0.0)
            sums, squares = (np.bincount(data.query_of_row, w, data.n_queries) for w in (weight, weight**2))
            total = np.maximum(0.5 * (sums**2 - squares), 0.0)
        return all_pairs(bound, total), self.shape

    def of_preferences(self, gap: np.ndarray, target: Any, terms: tuple[np.ndarray, ...]) -> None:
        """Fill in loss, slope and curvature of each preference from the difference of its scores."""
        self.phi(gap, target, *terms, *self.shape)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the preferences of a dataset, or on all its pairs of judged documents."""
        pairs = data.preferences
        if pairs is None:
            return super().bind(data, n_jobs=n_jobs)
        if pairs.margin is not None:
            target = pairs.margin
        elif data.y is not None:
            target = data.y[pairs.winner] - data.y[pairs.loser]
        else:
            raise LossError(f"{self.name} needs labels, or preferences with margins, to define the target differences")
        return PreferenceTerms(self, data, n_jobs, target, documents_weight(data, pairs))
