"""Preferences that spread to pairs of similar documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers.semi_supervised._base import SemiSupervised, with_pairs
from plackett.rankers.semi_supervised._neighbours import check_neighbours, list_neighbours, scaled

__all__ = ["PreferencePropagation"]


@dataclass(kw_only=True, eq=False, repr=False)
class PreferencePropagation(SemiSupervised):
    r"""Preferences spread to similar pairs: if u is preferred to v, documents like u are preferred to those like v.

    For labelled documents u above v of a query, an unlabelled document u' near u and one v' near v get the preference
    u' before v' with the weight :math:`\mathrm{sim}(u, u')\,\mathrm{sim}(v, v')`; contradicting weights cancel. Unlike
    labels, preferences need no common scale. The base ranker is trained on the pairs of human labels, with weight 1,
    and on the propagated pairs, so it must learn from pairs. With 0 neighbours it is the base ranker.

    Parameters
    ----------
    n_neighbors
        Number of unlabelled documents that count as near.
    metric, threshold
        As in `SimilarityPropagation`.
    weight
        Factor of the weights of propagated pairs.

    Examples
    --------
    >>> X, y, qid = [[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1], [7, 7, 7, 7]
    >>> PreferencePropagation().fit(X, y, qid=qid).card_["documents"]["propagated pairs"]
    1

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 8.3.
    """

    search_space: ClassVar[SearchSpace] = {"n_neighbors": (1, 2, 4), "weight": (0.1, 0.3, 1.0)}
    _test_settings: ClassVar[dict[str, Any]] = {"base": "RankSVM(C=0.01)"}

    n_neighbors: int = 1
    metric: str = "euclidean"
    threshold: float = 0.0
    weight: float = 0.5

    def _augmented(self, data: RankingDataset) -> RankingDataset | None:
        check_neighbours(self)
        number("weight", self.weight, least=0.0)
        base = self.base_ranker()
        if not base.takes_preferences:
            raise DataError(
                f"base={base} does not learn from pairs; use RankSVM(), RankBoost(), GradientRanker(model='trees'), "
                "…, or propagate labels with SimilarityPropagation"
            )
        if self.n_neighbors == 0 or self.weight == 0.0 or data.preferences is not None:
            return None
        pairs = propagated_pairs(data, self.n_neighbors, self.metric, self.threshold)
        self._more["propagated pairs"] = len(pairs)
        if len(pairs) == 0:
            return None
        return with_pairs(data, Preferences.from_labels(data, margin=False), pairs, self.weight)


def propagated_pairs(data: RankingDataset, n_neighbors: int, metric: str, threshold: float = 0.0) -> Preferences:
    """Preferences between unlabelled documents, with weights; contradicting ones are subtracted."""
    from scipy.sparse import csr_matrix, triu

    judged = data.labels >= 0
    giver, taker, similar = list_neighbours(data, scaled(data, metric), n_neighbors, judged, ~judged, metric)
    kept = (similar >= threshold) & (similar > 0.0)
    shape = (data.n_rows, data.n_rows)
    near = csr_matrix((similar[kept], (taker[kept], giver[kept])), shape=shape)
    pairs = Preferences.from_labels(data, margin=False)
    above = csr_matrix((np.ones(len(pairs)), (pairs.winner, pairs.loser)), shape=shape)
    carried = near @ above @ near.T
    net = triu(carried - carried.T, k=1).tocoo()
    strong = np.abs(net.data) > 1e-12
    first, second, value = net.row[strong], net.col[strong], net.data[strong]
    winner, loser = np.where(value > 0, first, second), np.where(value > 0, second, first)
    return Preferences(winner.astype(np.int64), loser.astype(np.int64), None, np.abs(value))
