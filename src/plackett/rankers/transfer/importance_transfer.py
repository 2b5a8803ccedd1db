"""Source queries weighted by how much their documents look like those of the target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.base import Ranker
from plackett.rankers.transfer.base import TransferRanker, agreement
from plackett.rankers.transfer.domains import pooled
from plackett.selection.selection_bias import selection_weights

__all__ = ["ImportanceTransfer"]


@dataclass(kw_only=True, eq=False, repr=False)
class ImportanceTransfer(TransferRanker):
    r"""Importance weights: source queries that look more like the target count more.

    The weight of source query i is :math:`\delta_i \eta_i`. :math:`\eta = P_t(x) / P_s(x)` is estimated by a logistic
    regression that tells target documents from source ones (`plackett.clicks.selection_weights`); a query has the mean
    of its documents. η corrects a shift of the documents. If the same documents have different labels in the target,
    :math:`\delta = P_t(y \mid x) / P_s(y \mid x)` is needed too: the share of pairs that a ranker trained on the target
    orders correctly, as in `InstanceTransfer`.

    Parameters
    ----------
    eta
        ``"logistic"``, or None for 1.
    delta
        ``"precision"``, or None for 1.
    clip
        Largest η relative to its mean, so that a few documents do not outweigh all others.
    alpha
        Penalty of the logistic regression.
    include_target
        Whether the target's own queries, with weight 1, are part of the training data.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=40, docs_per_query=8, n_features=5, random_state=0)
    >>> target, source = data.select(range(5)), data.select(range(5, 40))
    >>> ImportanceTransfer().fit(target, source=source).predict(target).shape
    (40,)

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 9.2.
    Zadrozny: Learning and evaluating classifiers under sample selection bias. ICML 2004.
    """

    search_space: ClassVar[SearchSpace] = {"delta": ("precision", None), "eta": ("logistic", None)}

    eta: str | None = "logistic"
    delta: str | None = None
    clip: float = 20.0
    alpha: float = 1.0
    include_target: bool = True

    def _transfer(
        self, data: RankingDataset, sources: dict[Any, RankingDataset], valid: RankingDataset | None, alone: Ranker
    ) -> None:
        if self.eta not in ("logistic", None) or self.delta not in ("precision", None):
            raise DataError(
                f"eta={self.eta!r}, delta={self.delta!r}; eta is 'logistic' or None, delta 'precision' or None"
            )
        parts, weights = ([data], [np.ones(data.n_queries)]) if self.include_target else ([], [])
        for source in sources.values():
            weight = self.query_weights(data, source, alone)
            if weight.any():
                parts.append(source)
                weights.append(weight)
        if not parts or len(parts) == int(self.include_target):
            self._end_with(alone)
            return
        self._end_with(self._trained(pooled(parts, weights), valid))

    def query_weights(self, target: RankingDataset, source: RankingDataset, alone: Ranker | None = None) -> np.ndarray:
        """Weight of each source query; ``alone`` is a ranker trained on the target, needed for ``delta``."""
        weight = np.ones(source.n_queries)
        if self.eta is not None:
            eta = selection_weights(source, target, alpha=self.alpha, clip=self.clip)
            weight = np.bincount(source.query_of_row, eta, source.n_queries) / np.maximum(source.group, 1)
        if self.delta is not None:
            assert alone is not None
            weight = weight * np.nan_to_num(agreement(source, alone.score_rows(source))[1], nan=0.0)
        return weight
