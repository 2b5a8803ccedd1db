"""Greedy feature selection: important features that do not repeat each other (GAS)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.evaluation.importance import feature_names, single_feature_importance
from plackett.feature_selection.selector import FeatureSelector
from plackett.feature_selection.similarity import feature_similarity

__all__ = ["GreedySelector", "greedy_choice", "selection_objective"]


class GreedySelector(FeatureSelector):
    r"""Keep the features that rank well by themselves and differ from each other (GAS).

    Select t features S that maximise

    .. math:: \sum_{i \in S} w_i - c \sum_{i \in S} \sum_{j \in S, j \ne i} e_{ij}

    greedily: take the feature with the largest weight k, replace the others' :math:`w_j` by
    :math:`w_j - 2 c\, e_{kj}`, and continue with the rest. The weight is the measure of ranking by the feature alone
    (`single_feature_importance`), in its better direction; e is the `feature_similarity` after all features are turned
    in this direction. Of equal weights, the first feature is taken. A feature that is constant in every query ranks
    nothing, yet has the measure of a random order and no similarity: such features come last, if no others are left.

    Parameters
    ----------
    n_features
        t, the number of features to keep: a whole number, or a share between 0 and 1. Default: half.
    redundancy
        c, how much similarity costs; 0 keeps the t most important features. None means 1 / t, which balances t
        importances against t (t − 1) similarities.
    measure
        Measure or loss of ranking by one feature.
    scale
        Similarity from −1 to 1 (``"tau"``), or from 0 to 1 (``"agreement"``).
    n_jobs
        Number of threads; None means all cores.

    Attributes
    ----------
    selected_
        Indices of the selected features, in the order of selection.
    importances_, directions_, similarities_
        w, the better direction (1 or −1) and e of all features.
    constant_
        Which features are constant in every query.
    objective_
        Value of the objective.

    Examples
    --------
    >>> import plackett as pk
    >>> X = [[3, 6, 1], [2, 4, 5], [1, 2, 3], [9, 18, 2], [5, 10, 2], [7, 14, 1]]  # the second repeats the first
    >>> selector = GreedySelector(2, redundancy=0.5, measure="nDCG")
    >>> selector.fit_transform(X, [2, 1, 0, 2, 0, 1], qid=[1, 1, 1, 2, 2, 2])[0].tolist()
    [3.0, 1.0]

    References
    ----------
    Geng, Liu, Qin, Li: Feature selection for ranking. SIGIR 2007.
    """

    def __init__(
        self,
        n_features: int | float = 0.5,
        *,
        redundancy: float | None = None,
        measure: Any = "nDCG@10",
        scale: str = "tau",
        n_jobs: int | None = None,
    ) -> None:
        self.n_features = n_features
        self.redundancy = redundancy
        self.measure = measure
        self.scale = scale
        self.n_jobs = n_jobs

    def _choose(self, data: RankingDataset) -> np.ndarray:
        by_importance = single_feature_importance(data, self.measure)
        # back in the order of the columns
        row_of = {name: k for k, name in enumerate(by_importance["feature"].to_list())}
        order = [row_of[name] for name in feature_names(data)]
        self.importances_ = by_importance["importance"].to_numpy()[order]
        self.directions_ = np.where(by_importance["direction"].to_numpy()[order] == "high first", 1, -1)
        self.similarities_ = feature_similarity(data, self.directions_, scale=self.scale, n_jobs=self.n_jobs)
        self.constant_ = _constant(data)
        chosen, self.objective_ = greedy_choice(
            self.importances_,
            self.similarities_,
            n_features=self.n_features,
            redundancy=self.redundancy,
            last=self.constant_,
        )
        return chosen


def greedy_choice(
    importance: Any, similarity: Any, *, n_features: int | float, redundancy: float | None = None, last: Any = None
) -> tuple[np.ndarray, float]:
    """The features that GAS selects, in its order, and the value of its objective.

    Features that the mask ``last`` marks are taken only when no others are left.

    >>> chosen, value = greedy_choice([0.9, 0.5], [[1, 0.1], [0.1, 1]], n_features=2, redundancy=0.25)
    >>> chosen.tolist(), round(value, 4)
    ([0, 1], 1.35)

    References
    ----------
    Geng, Liu, Qin, Li: Feature selection for ranking. SIGIR 2007.
    """
    weight, similar = np.array(importance, np.float64), np.asarray(similarity, np.float64)
    if weight.ndim != 1 or similar.shape != (weight.size, weight.size):
        raise DataError(f"similarity has shape {similar.shape}; it must be a square over {weight.size} importances")
    if not (np.isfinite(weight).all() and np.isfinite(similar).all()):
        raise DataError("importance and similarity must be finite numbers")
    size = n_kept(n_features, weight.size)
    if redundancy is None:
        redundancy = 1.0 / size
    if not isinstance(redundancy, Real) or not 0.0 <= redundancy < np.inf:
        raise DataError(f"redundancy={redundancy!r}; give a number of 0 or more")
    later = np.zeros(weight.size, bool) if last is None else np.asarray(last, bool)
    if later.shape != weight.shape:
        raise DataError(f"last has shape {later.shape}; it must mark each of the {weight.size} features or not")
    left, chosen, value = np.ones(weight.size, bool), np.empty(size, np.int64), 0.0
    for step in range(size):
        now = left & ~later if (left & ~later).any() else left
        best = int(np.argmax(np.where(now, weight, -np.inf)))
        chosen[step] = best
        value += weight[best]
        left[best] = False
        weight -= 2.0 * redundancy * similar[best]  # the double sum counts each pair twice
    return chosen, float(value)


def selection_objective(importance: Any, similarity: Any, chosen: Any, *, redundancy: float) -> float:
    """The objective of GAS for a given set of features.

    >>> selection_objective([0.9, 0.5], [[1, 0.1], [0.1, 1]], [0, 1], redundancy=0.25).__round__(4)
    1.35

    References
    ----------
    Geng, Liu, Qin, Li: Feature selection for ranking. SIGIR 2007.
    """
    rows = np.asarray(chosen, np.int64)
    part = np.asarray(similarity, np.float64)[np.ix_(rows, rows)]
    return float(np.asarray(importance, np.float64)[rows].sum() - redundancy * (part.sum() - np.trace(part)))


def _constant(data: RankingDataset) -> np.ndarray:
    """Which features have one value only in every query; missing values count as one."""
    constant = np.ones(data.n_features, bool)
    step = 64  # queries that are made dense at once
    for lo in range(0, data.n_queries, step):
        a, b = int(data.offsets[lo]), int(data.offsets[min(lo + step, data.n_queries)])
        X = data.X[a:b]
        X = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
        first = X[data.offsets[data.query_of_row[a:b]] - a]
        constant &= ((first == X) | (np.isnan(X) & np.isnan(first))).all(axis=0)
    return constant


def n_kept(n_features: Any, available: int) -> int:
    """The number of features to keep, given as a number or a share.

    >>> n_kept(3, 10), n_kept(0.25, 10)
    (3, 2)
    """
    if isinstance(n_features, (int, np.integer)) and not isinstance(n_features, bool):
        number("n_features", n_features, least=1, most=available)
        return int(n_features)
    if isinstance(n_features, (float, np.floating)) and not isinstance(n_features, bool) and 0.0 < n_features <= 1.0:
        return max(1, round(float(n_features) * available))
    raise DataError(f"n_features={n_features!r}; give a whole number, or a share above 0 and up to 1")
