"""Boosting with one distribution over human and one over automatic pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.data.weights import given_or_ones
from plackett.losses.pairwise.base import total_pair_weight
from plackett.rankers.semi_supervised._base import SemiSupervised
from plackett.rankers.semi_supervised._neighbours import check_neighbours
from plackett.rankers.semi_supervised.similarity_propagation import propagated_labels
from plackett.rankers.wrapper import needs_whole_lists

__all__ = ["SemiSupervisedRankBoost"]


@dataclass(kw_only=True, eq=False, repr=False)
class SemiSupervisedRankBoost(SemiSupervised):
    r"""Semi-supervised RankBoost: human and automatic labels have separate pairs and distributions,

    .. math:: J(H) = \operatorname{mean}_{(x, x') \in S_L} e^{H(x') - H(x)}
              + \lambda \operatorname{mean}_{(x, x') \in S_U} e^{H(x') - H(x)}.

    Automatic labels are those of `SimilarityPropagation`. Pairs are formed within the human-labelled documents
    (:math:`S_L`) and within the automatically labelled ones (:math:`S_U`) of a query, never between them, so errors of
    propagation do not affect human judgements. This is RankBoost on two lists per query, with the automatic lists
    weighted so that together they count λ times as much as the human ones; the step of a weak ranker is
    :math:`\frac12 \log \frac{W^+_L + \lambda W^+_U}{W^-_L + \lambda W^-_U}`. Any other base ranker can be trained on
    the two lists as well. With λ = 0 it is the base ranker.

    Parameters
    ----------
    trade_off
        λ.
    n_neighbors, metric, threshold
        As in `SimilarityPropagation`.
    base
        The ranker; None uses `RankBoost`.

    Examples
    --------
    >>> X, y, qid = [[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1], [7, 7, 7, 7]
    >>> ranker = SemiSupervisedRankBoost().fit(X, y, qid=qid)
    >>> ranker.rank([[0.05], [1.05]], qid=[1, 1]).tolist()
    [2, 1]

    References
    ----------
    Amini, Truong, Goutte: A boosting algorithm for learning bipartite ranking functions with partially labeled data.
    SIGIR 2008.
    """

    search_space: ClassVar[SearchSpace] = {"trade_off": Real(0.01, 1.0, log=True), "n_neighbors": (1, 2, 4)}
    _test_settings: ClassVar[dict[str, Any]] = {"base": "RankBoost(n_estimators=20)"}
    _usual_base: ClassVar[str] = "RankBoost"

    trade_off: float = 0.3
    n_neighbors: int = 1
    metric: str = "euclidean"
    threshold: float = 0.0

    def _augmented(self, data: RankingDataset) -> RankingDataset | None:
        check_neighbours(self)
        number("trade_off", self.trade_off, least=0.0)
        labels = propagated_labels(data, self.n_neighbors, self.metric, self.threshold)
        self._more["automatic labels"] = int(((labels >= 0) & (data.labels < 0)).sum())
        if self.trade_off == 0.0 or data.preferences is not None:
            return None
        if needs_whole_lists(self.base_ranker()):
            raise DataError(
                "SemiSupervisedRankBoost splits each list in two, and groups of documents (hyperedges) with it; "
                "use SimilarityPropagation, or HypergraphRanker around SemiSupervisedRankBoost"
            )
        return separated(data, labels, self.trade_off)


def separated(data: RankingDataset, labels: np.ndarray, trade_off: float) -> RankingDataset | None:
    """Two lists per query, of human and of automatic labels; in total the latter weigh ``trade_off`` times the former.

    None if the automatic labels form no pairs.
    """
    human = data.labels >= 0
    automatic = (labels >= 0) & ~human
    lists = data.replace(y=np.where(automatic, labels, -1.0))
    weight = given_or_ones(data.query_weight, data.n_queries)
    pairs = float(weight @ total_pair_weight(data)), float(weight @ total_pair_weight(lists))
    if pairs[1] <= 0.0:
        return None
    share = trade_off * (pairs[0] / pairs[1] if pairs[0] > 0.0 else 1.0)
    order = np.lexsort((np.arange(data.n_rows), automatic, data.query_of_row))
    n_human = np.bincount(data.query_of_row, ~automatic, data.n_queries).astype(np.int64)
    sizes = np.stack([n_human, data.group - n_human], axis=1).ravel()
    full = np.flatnonzero(sizes)
    rows = {name: getattr(data, name) for name in ("X", "sample_weight")}
    taken = {name: None if value is None else value[order] for name, value in rows.items()}
    return RankingDataset(
        **taken,
        y=np.where(human | automatic, labels, -1.0)[order],
        offsets=np.concatenate(([0], np.cumsum(sizes[full]))),
        qids=np.arange(full.size),
        query_weight=(weight[:, None] * np.array([1.0, share])).ravel()[full],
        query_features=None if data.query_features is None else np.repeat(data.query_features, 2, axis=0)[full],
        feature_names=data.feature_names,
        relations=_within(data, order, automatic[order]),
    )


def _within(data: RankingDataset, order: np.ndarray, automatic: np.ndarray) -> Mapping[str, Relation] | None:
    """The pairs of each relation with both documents in the same part."""
    if data.relations is None:
        return None
    within = {}
    for name, relation in data.relations.items():
        moved = relation.moved(order)
        kept = automatic[moved.row] == automatic[moved.other]
        weight = None if moved.weight is None else moved.weight[kept]
        within[name] = Relation(moved.row[kept], moved.other[kept], weight)
    return MappingProxyType(within)
