"""Losses that are mixed per query, and losses that count only the top of the ideal list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError, LossError
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.losses.pairwise.base import PairLoss


@dataclass(frozen=True, kw_only=True, repr=False)
class MixedLoss(Loss):
    """Sum over categories of the probability of the category (a query feature) times its loss."""

    name: ClassVar[str] = "mixture"

    losses: tuple[Loss, ...]

    @property
    def has_value(self) -> bool:  # type: ignore[override]
        """Whether all of them have a value."""
        return all(loss.has_value for loss in self.losses)

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Whether all of them are smooth."""
        return all(loss.smooth for loss in self.losses)

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """Whether all of them are."""
        return all(loss.shift_invariant for loss in self.losses)

    @property
    def takes_preferences(self) -> bool:  # type: ignore[override]
        """Whether one of them learns from explicit preferences."""
        return any(loss.takes_preferences for loss in self.losses)

    def settle(self, data: RankingDataset) -> MixedLoss:
        """Settle each of them."""
        return MixedLoss(losses=tuple(loss.settle(data) for loss in self.losses))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Mixed(self, data, n_jobs)


class _Mixed(BoundLoss):
    def __init__(self, loss: MixedLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        n = len(loss.losses)
        shares = np.full((data.n_queries, n), 1.0 / n) if data.query_features is None else data.query_features
        if shares.shape[1] != n:
            raise DataError(f"{n} losses need as many probabilities per query, got {shares.shape[1]}")
        weight = self.query_weight
        self.bound = []
        for c, one in enumerate(loss.losses):
            share = shares[:, c].astype(np.float64)
            if share.any():
                self.bound.append(one.bind(data.replace(query_weight=weight * share), n_jobs=n_jobs))
        if any(bound.n_outputs != 1 for bound in self.bound):
            raise LossError("losses with several outputs per document cannot be mixed")

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        total = self.zeros()
        for bound in self.bound:
            for sums, part in zip(total, bound.evaluate(scores, value), strict=True):
                sums += part
        return total


def in_the_top(data: RankingDataset, k: int) -> np.ndarray:
    """Whether a document is among the first k of some ideal order: fewer than k judged ones have larger labels."""
    sizes = data.group
    last = data.offsets[:-1] + np.minimum(k, sizes) - 1
    least = np.full(data.n_queries, np.inf)
    least[sizes > 0] = data.sorted_labels[last[sizes > 0]]
    return (data.labels >= least[data.query_of_row]) & (data.labels >= 0)


@dataclass(frozen=True, kw_only=True, repr=False)
class TopLoss(Loss):
    """A loss restricted to documents that may be among the first k of an ideal order, divided by the number of terms.

    A pair loss counts the pairs with such a document, the list likelihood its first k stages, a loss of documents only
    such documents.
    """

    name: ClassVar[str] = "top"

    loss: Loss
    k: int

    @property
    def has_value(self) -> bool:  # type: ignore[override]
        """As the loss inside."""
        return self.loss.has_value

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """As the loss inside."""
        return self.loss.smooth

    @property
    def shift_invariant(self) -> bool:  # type: ignore[override]
        """As the loss inside."""
        return self.loss.shift_invariant

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        return _Top(self, data, n_jobs)


class _Top(BoundLoss):
    def __init__(self, loss: TopLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.parts: list[tuple[float, Any]] = []
        inner, plain = loss.loss, data.replace(preferences=None)
        top = in_the_top(plain, loss.k)
        if isinstance(inner, ListMLELoss):
            judged = np.bincount(data.query_of_row, data.labels >= 0, data.n_queries)
            terms = np.minimum(judged, loss.k).astype(np.float64)
            self.parts = [(1.0, self._weighed(inner.replace(k=loss.k), plain, terms))]
        elif isinstance(inner, PairLoss):
            inner = inner.replace(normalize=False)
            # pairs of two documents below the top are those of the list without the top
            rest = plain.replace(y=np.where(top, -1.0, plain.labels))
            weight = inner.pair_weight(plain, n_jobs)
            terms = weight - inner.pair_weight(rest, n_jobs)
            terms[terms < 1e-12 * np.maximum(weight, 1e-300)] = 0.0
            self.parts = [(1.0, self._weighed(inner, plain, terms)), (-1.0, self._weighed(inner, rest, terms))]
        elif inner.approach == "pointwise":
            weight = self.sample_weight * top
            terms = np.bincount(data.query_of_row, weight, data.n_queries).astype(np.float64)
            self.parts = [(1.0, self._weighed(inner, plain.replace(sample_weight=weight), terms))]
        else:
            raise LossError(
                f"{inner} has no form for the top only: it is not a loss of documents or pairs, nor ListMLE"
            )

    def _weighed(self, loss: Loss, data: RankingDataset, terms: np.ndarray) -> BoundLoss:
        share = np.divide(self.query_weight, terms, out=np.zeros_like(terms), where=terms > 0)
        return loss.bind(data.replace(query_weight=share), n_jobs=self.n_jobs)

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        total = self.zeros()
        for sign, bound in self.parts:
            for sums, part in zip(total, bound.evaluate(scores, value), strict=True):
                sums += sign * part
        np.maximum(total[2], 0.0, out=total[2])
        return total
