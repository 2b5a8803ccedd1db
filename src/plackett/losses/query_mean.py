"""Query-level normalisation of any pair or point loss."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett._names.catalogue import find
from plackett.data.dataset import RankingDataset
from plackett.data.weights import given_or_ones
from plackett.losses.base import BoundLoss, Loss
from plackett.losses.pairwise.base import PairLoss, total_pair_weight

__all__ = ["QueryMean"]

#: What the loss of a query is a sum of, by its approach.
_TERMS = {"pairwise": "pairs", "pointwise": "documents"}

#: Properties of the loss inside.
_INHERITED = (
    "has_value",
    "smooth",
    "convex",
    "shift_invariant",
    "curvature",
    "separable",
    "counts_rounds",
    "approach",
    "takes_preferences",
)


@dataclass(frozen=True, kw_only=True, repr=False)
class QueryMean(Loss):
    r"""Any pair or point loss, averaged instead of summed over the pairs (documents) of a query.

    .. math:: \sum_i \frac{1}{n_i} \sum_{j=1}^{n_i} l(f; z_j^{(i)})

    A query with many documents has many more pairs and dominates training; here every query counts the same. This is
    how IR-SVM is derived from the ranking SVM, and it gives the same variant of RankNet (``Logistic``), RankBoost
    (``Exponential``), FRank (``Fidelity``) and regression (``Square``). The risk of the method on new queries is then
    bounded by the number of queries, whatever their lengths.

    Parameters
    ----------
    loss
        Name of a loss or a loss object: ``QueryMean(loss=Logistic(margin=1.0))``.
    per
        What is counted: ``"pairs"`` (of unequal labels, or the preferences of the dataset) or ``"documents"`` (those
        judged); each with its weight. None counts what the loss is a sum of, and rejects listwise losses.

    Notes
    -----
    If all queries have the same number of terms, it is the loss itself up to a constant factor. Repeating the
    preferences of a query changes nothing. Pair losses offer the same with ``normalize``. The factor 1/r for
    r queries, which the paper has, is left out: it would only rescale the regularisation.

    References
    ----------
    Qin, Zhang, Tsai, Wang, Liu, Li: Query-level loss functions for information retrieval. Information Processing &
    Management 2008.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 0], qid=[1, 1, 1])
    >>> QueryMean(loss="Logistic")(np.zeros(3), data).__round__(4)  # log 2, the mean of two pairs
    0.6931
    """

    name: ClassVar[str] = "QueryMean"
    convex: ClassVar[bool] = True
    _test_variants = ({"loss": "Fidelity"}, {"loss": "Square"})

    loss: Any = "Logistic"
    per: str | None = None

    def __post_init__(self) -> None:
        inner = self.inner
        if self.per is None and self._terms() is None:
            raise LossError(f"{inner.name} is not a sum over pairs or documents; say what to count with per=…")
        choice(f"{self.name}: per", self.per, (None, *_TERMS.values()), error=LossError)
        for name in _INHERITED:
            object.__setattr__(self, name, getattr(inner, name))

    @property
    def inner(self) -> Loss:
        """The loss that is normalised."""
        if isinstance(self.loss, Loss):
            return self.loss
        item = find("loss", str(self.loss), error=LossError)
        if item.name == self.name:
            raise LossError(f"loss={self.loss!r}; give the name of another loss or an object")
        inner: Loss = getattr(import_module(item.module), item.symbol)()
        return inner

    def settle(self, data: RankingDataset) -> Self:
        """The loss with everything fixed that depends on all of the data."""
        return self.replace(loss=self.inner.settle(data))

    def ranking_scores(self, scores: np.ndarray) -> np.ndarray:
        """The one score per document to rank by."""
        return self.inner.ranking_scores(scores)

    @property
    def combines(self) -> bool:
        """Whether the inner loss does."""
        return self.inner.combines

    def takes(self, n_outputs: int) -> bool:
        """Whether the inner loss makes one score of this number of outputs per document."""
        return self.inner.takes(n_outputs)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset: the inner one with the weight of each query divided by its number of terms."""
        total = self._count(data, n_jobs)
        weight = given_or_ones(data.query_weight, data.n_queries)
        weight = np.divide(weight, total, out=np.zeros(data.n_queries), where=total > 0)
        return self.inner.bind(data.replace(query_weight=weight), n_jobs=n_jobs)

    def _terms(self) -> str | None:
        return self.per or _TERMS.get(self.inner.approach)

    def _count(self, data: RankingDataset, n_jobs: int | None) -> np.ndarray:
        """Weight of the terms of each query."""
        if self._terms() == "pairs":
            inner = self.inner
            return inner.pair_weight(data, n_jobs) if isinstance(inner, PairLoss) else total_pair_weight(data, n_jobs)
        weight = given_or_ones(data.sample_weight, data.n_rows)
        judged = weight * (data.labels >= 0)
        return np.bincount(data.query_of_row, judged, data.n_queries)
