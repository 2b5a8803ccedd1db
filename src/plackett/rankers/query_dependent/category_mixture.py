"""One ranking function, trained with a different loss for each kind of query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.models.base import Model
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.query_dependent._losses import MixedLoss
from plackett.solvers.monitor import Monitor

__all__ = ["CategoryMixture"]


@dataclass(kw_only=True, eq=False, repr=False)
class CategoryMixture(GradientRanker):
    r"""One ranking function for all queries, trained with losses that depend on the kind of query,

    .. math:: L(f) = \sum_q \sum_c P(c \mid q)\, L_c(f; q).

    The probabilities :math:`P(c \mid q)` of the categories are the ``query_features`` of the dataset: one non-negative
    column per loss, with rows that sum to 1. Without query features all categories are equally probable. Prediction
    does not need them. With one loss it is `GradientRanker`.

    Parameters
    ----------
    losses
        One loss per category: names or objects.
    model
        As in `GradientRanker`.
    loss
        Not used.

    Examples
    --------
    >>> import plackett as pk
    >>> X, y, qid = [[0.0], [1.0], [2.0], [0.0], [1.0]], [0, 1, 2, 0, 1], [1, 1, 1, 2, 2]
    >>> data = pk.RankingDataset.from_arrays(X, y, qid, query_features=[[0.9, 0.1], [0.2, 0.8]])
    >>> CategoryMixture(losses=("ListMLE", "Logistic")).fit(data).rank(data).tolist()
    [3, 2, 1, 2, 1]

    References
    ----------
    Bian, Liu, Qin, Zha: Ranking with query-dependent loss for web search. WSDM 2010.
    """

    search_space: ClassVar[SearchSpace] = {"losses": (("ListMLE", "Logistic"), ("ListNet", "Logistic"))}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"losses": ("Logistic",), "model": "linear"},)

    losses: Sequence[Any] = ("ListMLE", "Logistic")

    def make_loss(self) -> Loss:
        """The mixture; the loss itself if there is only one."""
        if isinstance(self.losses, str) or len(self.losses) == 0:
            raise DataError(f"losses={self.losses!r}; give a list of losses, such as ('ListMLE', 'Logistic')")
        losses = tuple(GradientRanker(loss=loss).make_loss() for loss in self.losses)
        return losses[0] if len(losses) == 1 else MixedLoss(losses=losses)

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        model: Model = self.make_model()
        self.scorer_ = self.finished(model.train(self.make_loss(), self._with_shares(data), monitor, self.start()))

    def _with_shares(self, data: RankingDataset) -> RankingDataset:
        """The dataset with the probabilities of the categories as query features."""
        n = len(self.losses)
        if n == 1:
            return data
        if data.query_features is None:
            return data.replace(query_features=np.full((data.n_queries, n), 1.0 / n, np.float32))
        shares = data.query_features.astype(np.float64)
        if shares.shape[1] != n:
            raise DataError(
                f"query_features has {shares.shape[1]} columns, but there are {n} losses: give one for each"
            )
        bad = np.flatnonzero(~((shares >= 0.0).all(axis=1) & (np.abs(shares.sum(axis=1) - 1.0) < 1e-3)))
        if bad.size:
            row = [round(float(v), 4) for v in shares[bad[0]]]
            raise DataError(
                f"query_features of query {data.qids[bad[0]]} are {row}: probabilities of categories are not "
                "negative and sum to 1"
            )
        return data
