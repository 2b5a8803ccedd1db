"""Which queries to label."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.selection.active.expected_change import believed_norms, checked_parts, label_chances
from plackett.selection.budget import checked_budget
from plackett.selection.candidates import Candidates

__all__ = ["k_center", "queries_by_change"]


def query_vectors(data: RankingDataset) -> np.ndarray:
    """Mean and deviation of each feature over the documents of each query, scaled to deviation 1 over the queries."""
    X = data.dense().astype(np.float64)
    n = np.maximum(data.group, 1)[:, None]
    mean = np.add.reduceat(X, data.offsets[:-1]) / n
    spread = np.sqrt(np.maximum(np.add.reduceat(X * X, data.offsets[:-1]) / n - mean**2, 0.0))
    vectors = np.hstack([mean, spread])
    scale = vectors.std(axis=0)
    return (vectors - vectors.mean(axis=0)) / np.where(scale > 1e-12, scale, 1.0)


def k_center(vectors: Any, budget: int, *, labelled: Any = (), random_state: Any = 0) -> np.ndarray:
    r"""Choose queries so that no query is far from a labelled one: the greedy k-centre method.

    Each step takes the query that is farthest from those taken. The largest distance of any query to its nearest
    centre is at most twice the smallest possible.

    Parameters
    ----------
    vectors
        A vector per query, such as `query_vectors` of a dataset or embeddings of the query texts; or a dataset.
    budget
        Number of queries.
    labelled
        Numbers of queries that are labelled already. Without any, the first query is drawn at random.

    References
    ----------
    Gonzalez: Clustering to minimize the maximum intercluster distance. Theoretical Computer Science 1985.
    Sener, Savarese: Active learning for convolutional neural networks: a core-set approach. ICLR 2018.

    Examples
    --------
    >>> k_center([[0.0], [0.1], [5.0], [9.0]], 2, labelled=[0]).tolist()
    [3, 2]
    """
    Z = query_vectors(vectors) if isinstance(vectors, RankingDataset) else np.asarray(vectors, np.float64)
    if Z.ndim != 2 or not np.isfinite(Z).all():
        raise DataError("a vector of finite numbers per query is needed")
    taken = np.unique(np.asarray(labelled, np.int64))
    if taken.size and not (taken.min() >= 0 and taken.max() < len(Z)):
        raise DataError(f"labelled must be numbers of queries, 0 to {len(Z) - 1}")
    budget = checked_budget(budget, len(Z) - taken.size, "unlabelled queries")
    chosen: list[int] = []
    distance = np.full(len(Z), np.inf)
    for center in taken:
        distance = np.minimum(distance, np.square(Z - Z[center]).sum(axis=1))
    distance[taken] = -1.0
    if not taken.size:
        first = int(np.random.default_rng(random_state).integers(len(Z)))
        chosen.append(first)
        distance = np.square(Z - Z[first]).sum(axis=1)
        distance[first] = -1.0
    while len(chosen) < budget:
        center = int(distance.argmax())
        chosen.append(center)
        distance = np.minimum(distance, np.square(Z - Z[center]).sum(axis=1))
        distance[center] = -1.0
    return np.array(chosen)


def queries_by_change(
    data: RankingDataset,
    scores: Any,
    budget: int,
    *,
    members: Any = None,
    loss: str = "hinge",
    per_document: bool = False,
) -> np.ndarray:
    r"""Queries whose labels are expected to change the current ranker most, the one with the largest change first.

    .. math:: score(q) = \sum_{x \in q} \sum_y P(y \mid x)\, \bigl\| \mathrm{E}\,\nabla_w D_y(w, x) \bigr\|

    :math:`D_y` is the loss of the pairs that x with label y would form with the other documents of its query; their
    labels are unknown as well, so a pair counts with the probability of its order. P(y|x) comes from a logistic
    regression on the scores of the judged documents of other queries. Only queries without any judgement are chosen. As
    with `expected_change`, compare with a random choice: a large change need not be for the better.

    Parameters
    ----------
    data
        Documents, with label −1 where there is none yet.
    scores
        Scores of the current ranker.
    budget
        Number of queries.
    members, loss
        See `expected_change`.
    per_document
        Divide by the number of documents, so that long queries are not preferred if the cost of a query grows with its
        number of documents.

    References
    ----------
    Donmez, Carbonell: Optimizing estimated loss reduction for active sampling in rank learning. ICML 2008.

    Examples
    --------
    >>> X = [[0.0], [1.0], [0.4], [0.6], [0.0], [9.0]]
    >>> data = RankingDataset.from_arrays(X, [0, 1, -1, -1, -1, -1], qid=[1, 1, 2, 2, 3, 3])
    >>> queries_by_change(data, [0.0, 1.0, 0.4, 0.6, 0.0, 9.0], 2).tolist()  # the third query is far from a tie
    [1, 2]
    """
    candidates = Candidates.from_dataset(data, scores)
    fresh = np.flatnonzero((candidates.count(~candidates.open) == 0) & (data.group > 0))
    budget = checked_budget(budget, fresh.size, "queries without judgements")
    f, X, labels = checked_parts(data, candidates, scores, members, loss)
    chance = label_chances(f, labels, np.unique(labels[labels >= 0]))
    change = np.zeros(fresh.size)
    for i, q in enumerate(fresh):
        rows = slice(data.offsets[q], data.offsets[q + 1])
        norms = believed_norms(X[rows], f[rows], X[rows], f[rows], chance[rows], loss)
        change[i] = (chance[rows] * norms).sum()
    if per_document:
        change /= data.group[fresh]
    return fresh[np.lexsort((fresh, -change))[:budget]]
