"""Labels that spread over a graph of similar documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.rankers.semi_supervised._base import SemiSupervised, with_labels
from plackett.rankers.semi_supervised._neighbours import check_neighbours, is_count, list_neighbours, scaled

__all__ = ["GraphPropagation"]

#: Keeps the system regular for documents that no label reaches.
_RIDGE = 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class GraphPropagation(SemiSupervised):
    r"""Labels spread over the nearest-neighbour graph of each list, with human labels held fixed.

    With weights :math:`w^+` between similar and :math:`w^-` between dissimilar documents, the labels F (relative to the
    middle of the scale) minimise

    .. math:: \sum w^+_{ij} (F_i - F_j)^2 + \kappa \sum w^-_{ij} (F_i + F_j)^2

    over the unlabelled documents. With κ = 0 (label propagation) each label is the weighted mean of its neighbours;
    with κ > 0 (mixed label propagation) dissimilar documents are pushed to opposite ends of the scale. One sparse
    positive definite system is solved for all lists. Documents that no label reaches stay unlabelled. The base ranker
    is trained on human and automatic labels. With 0 neighbours it is the base ranker.

    Parameters
    ----------
    n_neighbors
        Number of edges from each document to its most similar ones.
    kappa, n_dissimilar
        Weight of the edges between dissimilar documents, and their number per document.
    metric
        As in `SimilarityPropagation`.
    round_labels
        Give automatic labels in the proportions of the human labels of the list, the highest grades to the highest
        values (class mass normalisation): with few labels the values lie close together and say little about the grade.
        If False, the labels are the values themselves, real numbers, which regressions can use.
    weight
        Weight of an automatically labelled document.

    Examples
    --------
    >>> X, y, qid = [[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1], [7, 7, 7, 7]
    >>> GraphPropagation(n_neighbors=2).fit(X, y, qid=qid).card_["documents"]["automatic labels"]
    2

    References
    ----------
    Zhu, Ghahramani: Learning from labeled and unlabeled data with label propagation. 2002.
    Tong, Jin: Semi-supervised learning by mixed label propagation. AAAI 2007.
    """

    search_space: ClassVar[SearchSpace] = {"n_neighbors": (3, 5, 10), "kappa": (0.0, 0.1, 1.0)}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ({"kappa": 0.5},)

    n_neighbors: int = 5
    kappa: float = 0.0
    n_dissimilar: int = 2
    metric: str = "euclidean"
    round_labels: bool = True
    weight: float = 1.0

    def _augmented(self, data: RankingDataset) -> RankingDataset | None:
        check_neighbours(self)
        if not (0.0 <= self.kappa < np.inf and is_count(self.n_dissimilar) and 0.0 < self.weight < np.inf):
            raise DataError(
                f"kappa={self.kappa}, n_dissimilar={self.n_dissimilar}, weight={self.weight}; give 0 or more, a whole "
                "number of 0 or more, and a weight above 0"
            )
        judged = data.labels >= 0
        if self.n_neighbors == 0 or judged.all() or not judged.any():
            return None
        labels = self.labels(data)
        self._more["automatic labels"] = int(((labels >= 0) & ~judged).sum())
        return with_labels(data, labels, self.weight)

    def labels(self, data: RankingDataset) -> np.ndarray:
        """Human labels, automatic labels where propagation reaches, and −1 elsewhere."""
        X, every = scaled(data, self.metric), np.ones(data.n_rows, bool)
        similar = _graph(data, *list_neighbours(data, X, self.n_neighbors, every, every, self.metric))
        unlike = None
        if self.kappa > 0.0 and self.n_dissimilar > 0:
            row, other, value = list_neighbours(data, X, self.n_dissimilar, every, every, self.metric, far=True)
            unlike = _graph(data, row, other, self.kappa * np.maximum(1.0 - value, 0.0))
        labels = harmonic_labels(data.labels, similar, unlike)
        if self.round_labels:
            labels = _in_proportion(data, labels)
        return np.where(data.labels >= 0, data.labels, labels)


def _in_proportion(data: RankingDataset, values: np.ndarray) -> np.ndarray:
    """Human labels assigned to the documents of a list in the order of their automatic values; −1 without a value."""
    free = np.flatnonzero((data.labels < 0) & (values >= 0))
    of = data.query_of_row[free]
    order = np.lexsort((-values[free], of))
    free, of = free[order], of[order]
    count = np.bincount(of, minlength=data.n_queries)
    first = np.concatenate(([0], np.cumsum(count)))[:-1]
    share = (np.arange(free.size) - first[of] + 0.5) / count[of]
    human = np.bincount(data.query_of_row, data.labels >= 0, data.n_queries).astype(np.int64)
    labels = np.full(data.n_rows, -1.0)
    labels[free] = data.sorted_labels[data.offsets[of] + (share * human[of]).astype(np.int64)]
    return labels


def _graph(data: RankingDataset, row: np.ndarray, other: np.ndarray, weight: np.ndarray) -> Any:
    """A symmetric matrix of weights, each edge once."""
    from scipy.sparse import csr_matrix

    table = csr_matrix((np.maximum(weight, 0.0), (row, other)), shape=(data.n_rows, data.n_rows))
    return table.maximum(table.T)


def harmonic_labels(labels: np.ndarray, similar: Any, unlike: Any = None) -> np.ndarray:
    """Labels of unlabelled documents (below 0) that minimise the sum over edges; −1 where no label reaches.

    Parameters
    ----------
    labels
        Labels, below 0 where unknown.
    similar, unlike
        Symmetric sparse matrices of the weights of similar and of dissimilar pairs.
    """
    from scipy.sparse import csc_matrix, diags
    from scipy.sparse.linalg import splu

    known = np.flatnonzero(labels >= 0)
    free = np.flatnonzero(labels < 0)
    if known.size == 0 or free.size == 0:
        return labels.copy()
    low, high = labels[known].min(), labels[known].max()
    middle = (low + high) / 2.0
    laplacian = diags(np.asarray(similar.sum(axis=1)).ravel()) - similar
    system, signed = laplacian, similar
    if unlike is not None:
        system = laplacian + diags(np.asarray(unlike.sum(axis=1)).ravel()) + unlike
        signed = similar - unlike
    scale = _RIDGE * max(float(system.diagonal()[free].max(initial=0.0)), 1e-300)

    def solve(matrix: Any, right: np.ndarray) -> np.ndarray:
        inner = csc_matrix(matrix.tocsr()[free][:, free] + scale * diags(np.ones(free.size)))
        return splu(inner).solve(np.asarray(right).ravel())

    values = middle + solve(system, signed.tocsr()[free][:, known] @ (labels[known] - middle))
    # the chance that a walk over similar documents ends at a label: 1, or 0 where none is connected
    reached = solve(laplacian, similar.tocsr()[free][:, known] @ np.ones(known.size))
    completed = labels.copy()
    completed[free] = np.where(reached > 0.5, np.clip(values, low, high), -1.0)
    return completed
