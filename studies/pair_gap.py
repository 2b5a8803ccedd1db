"""From a classifier of pairs to a ranking: is there a gap?"""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from studies._tilted import tilted_queries
from studies.base import Study, per_query


def pair_gap(*, n_queries: int = 40, n_docs: int = 20, random_state: int = 0) -> Study:
    """Does a good pair classifier make a good ranking?

    `RankSVM` classifies a pair by the difference of two scores and ranks by the scores: its ranking makes exactly the
    errors of its classifier, so there is no gap in the pair measure. A decision tree over both documents of a pair has
    no scores. Its preferences contain cycles (the study shows the share of cyclic triples), no order agrees with all of
    them, and sorting by the number of wins changes the error. What both share is a gap between the pair error and
    position-based measures: two rankings with the same pair error can have different 1 − nDCG@5.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 3.9.
    """
    import polars as pl
    from sklearn.tree import DecisionTreeClassifier

    from plackett.rankers.pairwise.rank_svm import RankSVM

    train, test = (tilted_queries(n_queries, n_docs, 0.6, random_state + i, noise=0.8) for i in range(2))
    svm = RankSVM(C=0.1).fit(train)
    tree = DecisionTreeClassifier(max_leaf_nodes=64, random_state=random_state)
    rows_u, rows_v = _ordered_pairs(train, n_docs)
    decided = train.labels[rows_u] != train.labels[rows_v]
    rows_u, rows_v = rows_u[decided], rows_v[decided]
    tree.fit(np.hstack([train.X[rows_u], train.X[rows_v]]), train.labels[rows_u] > train.labels[rows_v])

    rows_u, rows_v = _ordered_pairs(test, n_docs)
    scores = svm.predict(test)
    by_tree = tree.predict_proba(np.hstack([test.X[rows_u], test.X[rows_v]]))[:, 1].reshape(-1, n_docs, n_docs)
    preferences = {
        "RankSVM": (scores[rows_u] > scores[rows_v]).reshape(-1, n_docs, n_docs),
        "tree over pairs": by_tree > by_tree.transpose(0, 2, 1),
    }
    rows = []
    for name, preferred in preferences.items():
        wins = preferred.sum(axis=2).ravel().astype(float)
        rows.append(
            {
                "classifier": name,
                "pair error of the classifier": _error(test, preferred, n_docs),
                "pair error of its ranking": _error(test, _from_scores(wins, n_docs), n_docs),
                "circular triples": circular_triples(preferred),
                "1 − nDCG@5": float(1 - per_query(test, wins, "nDCG@5").mean()),
            }
        )
    return Study(pl.DataFrame(rows), "Errors of pair classifiers and of the rankings made of them")


def circular_triples(preferred: np.ndarray) -> float:
    """Share of the triples a, b, c with a before b, b before c and c before a, or the reverse.

    >>> circular_triples(np.array([[[0, 1, 0], [0, 0, 1], [1, 0, 0]]], bool))
    1.0
    """
    before = preferred.astype(float)
    n = before.shape[1]
    circles = np.einsum("qab,qbc,qca->", before, before, before) / 3
    return float(circles / (before.shape[0] * n * (n - 1) * (n - 2) / 6))


def _ordered_pairs(data: RankingDataset, n_docs: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the first and the second document of all n × n pairs of each query."""
    rows = np.arange(data.n_rows).reshape(-1, n_docs)
    return np.repeat(rows, n_docs, axis=1).ravel(), np.tile(rows, (1, n_docs)).ravel()


def _from_scores(scores: np.ndarray, n_docs: int) -> np.ndarray:
    lists = scores.reshape(-1, n_docs)
    return (lists[:, :, None] > lists[:, None, :]) + 0.5 * (lists[:, :, None] == lists[:, None, :])


def _error(data: RankingDataset, preferred: Any, n_docs: int) -> float:
    """Share of the pairs of unequal labels that are preferred in the wrong order; a tie is half an error."""
    labels = data.labels.reshape(-1, n_docs)
    better = labels[:, :, None] > labels[:, None, :]
    wrong = 0.5 * (1 - preferred.astype(float) + preferred.astype(float).transpose(0, 2, 1))
    return float(wrong[better].mean())
