"""Labels given to the most similar unlabelled documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.semi_supervised._base import SemiSupervised, with_labels
from plackett.rankers.semi_supervised._neighbours import check_neighbours, list_neighbours, scaled

__all__ = ["SimilarityPropagation"]


@dataclass(kw_only=True, eq=False, repr=False)
class SimilarityPropagation(SemiSupervised):
    """Unlabelled documents take the label of the most similar labelled document of their query.

    Each labelled document gives its label to its nearest unlabelled documents; if several claim a document, the nearest
    wins. Human labels are never changed. The base ranker is then trained on human and automatic labels together, as if
    all were human. Because the automatic labels contain errors, this is a baseline. With 0 neighbours it is the base
    ranker.

    Parameters
    ----------
    n_neighbors
        Number of unlabelled documents that a labelled one gives its label to.
    metric
        ``"euclidean"`` (of standardised features; the similarity is :math:`e^{-d^2 / p}` with p features) or
        ``"cosine"``.
    threshold
        Least similarity.
    weight
        Weight of an automatically labelled document; human labels weigh 1.

    Examples
    --------
    >>> X, y, qid = [[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1], [7, 7, 7, 7]
    >>> ranker = SimilarityPropagation(n_neighbors=1).fit(X, y, qid=qid)
    >>> ranker.card_["documents"]["automatic labels"]
    2

    References
    ----------
    Amini, Truong, Goutte: A boosting algorithm for learning bipartite ranking functions with partially labeled data.
    SIGIR 2008.
    """

    search_space: ClassVar[SearchSpace] = {"n_neighbors": (1, 2, 4), "weight": (0.1, 0.3, 1.0)}

    n_neighbors: int = 1
    metric: str = "euclidean"
    threshold: float = 0.0
    weight: float = 1.0

    def _augmented(self, data: RankingDataset) -> RankingDataset | None:
        check_neighbours(self)
        number("weight", self.weight, above=0.0)
        labels = propagated_labels(data, self.n_neighbors, self.metric, self.threshold)
        self._more["automatic labels"] = int(((labels >= 0) & (data.labels < 0)).sum())
        return with_labels(data, labels, self.weight)


def propagated_labels(data: RankingDataset, n_neighbors: int, metric: str, threshold: float = 0.0) -> np.ndarray:
    """The labels, including those given to unlabelled documents."""
    judged = data.labels >= 0
    labels = data.labels.copy()
    if n_neighbors == 0 or judged.all() or not judged.any():
        return labels
    giver, taker, similar = list_neighbours(data, scaled(data, metric), n_neighbors, judged, ~judged, metric)
    kept = similar >= threshold
    giver, taker, similar = giver[kept], taker[kept], similar[kept]
    order = np.argsort(similar, kind="stable")  # the last assignment wins: the most similar
    labels[taker[order]] = data.labels[giver[order]]
    return labels
