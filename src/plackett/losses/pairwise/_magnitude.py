"""Shared base of the magnitude-preserving losses: pairs with a target difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel, template
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pairwise._rows import add, gaps, sweep_of
from plackett.losses.pairwise.base import all_pairs, sweep_pairs

#: Within this distance of the target difference, the curvature of |z|^β with β < 2 stops growing.
_CLOSE = 1e-6


@kernel(inline=True)
def power(t, beta):  # type: ignore[no-untyped-def]
    """t^β, β t^(β−1) and a curvature for t ≥ 0: exact for β ≥ 2, that of the quadratic bound at t below."""
    if beta == 2.0:
        return t * t, 2.0 * t, 2.0
    if beta == 1.0:
        return t, (1.0 if t > 0.0 else 0.0), 1.0 / max(t, _CLOSE)
    factor = beta * (beta - 1.0) if beta > 2.0 else beta
    return t**beta, beta * t ** (beta - 1.0), factor * (t if beta > 2.0 else max(t, _CLOSE)) ** (beta - 2.0)


@template
def _phi(gap, target, value, slope, curvature, *shape):  # type: ignore[no-untyped-def]
    """Placeholder for the formula of a loss."""
    raise NotImplementedError


@template
def _of_later_documents(row, u, below, n, shape):  # type: ignore[no-untyped-def]
    """Pairs of a document with all that come after it by descending label, each with its target difference."""
    gap, value, slope, bend = gaps(row, u, u + 1, n, 0.0)
    target = row.target[: n - u - 1]
    for v in range(u + 1, n):
        target[v - u - 1] = row.label[u] - row.label[v]
    _phi(gap, target, value, slope, bend, *shape)
    return add(row, u, u + 1, n)


@dataclass(frozen=True, kw_only=True, repr=False)
class MagnitudeLoss(Loss):
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

    approach: ClassVar[str] = "pairwise"
    takes_preferences: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    curvature: ClassVar[str] = "surrogate"

    beta: float = 2.0
    normalize: bool = False

    #: The formula: ``phi(gap, target, value, slope, curvature, *shape)`` for arrays of pairs.
    phi: ClassVar[Callable[..., Any]]
    #: ``sweep(lo, hi, offsets, scores, pairs, shape, want_value, out)`` over all pairs.
    sweep: ClassVar[Callable[..., Any]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "phi" in vars(cls) and "sweep" not in vars(cls):
            cls.sweep = staticmethod(sweep_of(_of_later_documents, _phi=cls.phi))

    def __post_init__(self) -> None:
        if not self.beta >= 1:
            raise LossError(f"{self.name}: beta={self.beta}; give a number of at least 1")

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether the gradient is Lipschitz continuous: for β of 2 and above."""
        return self.beta >= 2

    @property
    def shape(self) -> tuple[float, ...]:
        """Numbers that decide the form of the loss."""
        return (float(self.beta),)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the preferences of a dataset, or on all its pairs of judged documents."""
        form = _AllPairs if data.preferences is None else _Preferences
        return form(self, data, n_jobs)


class _AllPairs(BoundLoss):
    def __init__(self, loss: MagnitudeLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss = loss
        pairs = None
        if loss.normalize:
            weight = np.where(data.labels >= 0, self.sample_weight, 0.0)
            total, squares = (np.bincount(data.query_of_row, w, data.n_queries) for w in (weight, weight**2))
            pairs = np.maximum(0.5 * (total**2 - squares), 0.0)
        self.pairs = all_pairs(self, pairs)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        return sweep_pairs(self, scores, self.loss.shape, value)


class _Preferences(BoundLoss):
    def __init__(self, loss: MagnitudeLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        pairs = data.preferences
        assert pairs is not None
        self.loss, self.winner, self.loser = loss, pairs.winner, pairs.loser
        if pairs.margin is not None:
            self.target = pairs.margin
        elif data.y is not None:
            self.target = data.y[self.winner] - data.y[self.loser]
        else:
            raise LossError(f"{loss.name} needs labels, or preferences with margins, to define the target differences")
        self.query = data.query_of_row[self.winner]
        weight = self.sample_weight[self.winner] * self.sample_weight[self.loser]
        if pairs.weight is not None:
            weight = weight * pairs.weight
        if loss.normalize:
            total = np.bincount(self.query, weight, data.n_queries)[self.query]
            weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
        self.weight = weight * self.query_weight[self.query]

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        losses, slopes, bends = (np.empty(self.winner.size) for _ in range(3))
        self.loss.phi(scores[self.winner] - scores[self.loser], self.target, losses, slopes, bends, *self.loss.shape)
        slopes, bends, n = slopes * self.weight, bends * self.weight, scores.size
        gradient = np.bincount(self.winner, slopes, n) - np.bincount(self.loser, slopes, n)
        curvature = np.bincount(self.winner, bends, n) + np.bincount(self.loser, bends, n)
        return np.bincount(self.query, losses * self.weight, self.data.n_queries), gradient, curvature
