"""Feature importance: for ranking by one feature alone, and for a fitted ranker's quality."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

if TYPE_CHECKING:
    import polars as pl

__all__ = ["permutation_importance", "single_feature_importance"]


def single_feature_importance(
    data: RankingDataset, measure: str | Measure | Callable[..., float] = "nDCG@10", *, random_state: int = 0
) -> pl.DataFrame:
    """How well each feature ranks by itself, with large or small values first, whichever is better.

    Parameters
    ----------
    data
        Features and labels. A missing value is ranked last in both directions.
    measure
        Measure or loss that scores the two rankings. If smaller is better (losses, measures such as ``ARP``), the
        value is negated.
    random_state
        Seed, for measures that estimate the mean over ties.

    Returns
    -------
    polars.DataFrame
        ``feature``, ``importance`` (the better of the two), ``direction`` (``"high first"`` or ``"low first"``; the
        former if both are equal), ``high_first`` and ``low_first``; the most important feature first.

    References
    ----------
    Geng, Liu, Qin, Li: Feature selection for ranking. SIGIR 2007.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[3, 5, 1], [2, 6, 1], [1, 9, 1]], [2, 1, 0], qid=[1, 1, 1])
    >>> single_feature_importance(data, "nDCG").select("feature", "importance", "direction").rows()[:2]
    [('1', 1.0, 'high first'), ('2', 1.0, 'low first')]
    """
    import polars as pl

    worth = _worth(data, measure, random_state)
    values = np.empty((data.n_features, 2))
    for j in range(data.n_features):
        values[j] = [worth(feature_scores(data, j, sign)) for sign in (1, -1)]
    high, low = values.T
    frame = pl.DataFrame(
        {
            "feature": feature_names(data),
            "importance": np.maximum(high, low),
            "direction": np.where(high >= low, "high first", "low first").tolist(),
            "high_first": high,
            "low_first": low,
        }
    )
    return frame.sort("importance", descending=True, maintain_order=True)


def permutation_importance(
    ranker: Any,
    data: RankingDataset,
    measure: str | Measure | Callable[..., float] = "nDCG@10",
    *,
    n_repeats: int = 5,
    within_queries: bool = False,
    random_state: int = 0,
) -> pl.DataFrame:
    r"""How much worse a ranker gets when the values of a feature are shuffled.

    .. math:: I_j = M(f, X) - \frac{1}{R} \sum_{r=1}^R M(f, X^{(j, r)})

    where :math:`X^{(j, r)}` has the j-th column in a random order. Redundant features can replace each other,
    so each of them may look unimportant.

    Parameters
    ----------
    ranker
        A fitted ranker, ours or another library's.
    data
        Documents that it was not trained on, with labels.
    measure
        A measure or a loss; the sign is chosen so that a helpful feature is positive.
    n_repeats
        Number R of random orders per feature.
    within_queries
        Shuffle among the documents of each query, not among all. A feature of the query, the same for all its
        documents, then has importance 0.
    random_state
        Seed.

    Returns
    -------
    polars.DataFrame
        ``feature``, ``importance`` and its standard deviation ``std`` over the repeats (0 for one); the most important
        feature first.

    References
    ----------
    Breiman: Random forests. Machine Learning 2001.
    Fisher, Rudin, Dominici: All models are wrong, but many are useful. JMLR 2019.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(30, 8, 3, random_state=0)
    >>> ranker = pk.ListNet(alpha=0.1).fit(data)
    >>> permutation_importance(ranker, data, "nDCG").columns
    ['feature', 'importance', 'std']
    """
    import polars as pl

    from plackett.data.estimators import predict

    whole("n_repeats", n_repeats, least=1)
    worth = _worth(data, measure, random_state)
    before = worth(predict(ranker, data))
    drops = np.zeros((data.n_features, n_repeats))
    orders = [_order(data, within_queries, np.random.default_rng([random_state, r])) for r in range(n_repeats)]
    shuffled = _Shuffled(data.X)
    for j in range(data.n_features):
        for r, order in enumerate(orders):
            drops[j, r] = before - worth(predict(ranker, data.replace(X=shuffled(j, order))))
    frame = pl.DataFrame(
        {
            "feature": feature_names(data),
            "importance": drops.mean(axis=1),
            "std": drops.std(axis=1, ddof=1) if n_repeats > 1 else np.zeros(data.n_features),
        }
    )
    return frame.sort("importance", descending=True, maintain_order=True)


def feature_names(data: RankingDataset) -> list[str]:
    """Names of the features; numbers from 1, as in LETOR files, if they have none."""
    return [str(j + 1) for j in range(data.n_features)] if data.feature_names is None else list(data.feature_names)


# ------------------------------------------------------------------------------------------------------- by measure


def _worth(
    data: RankingDataset, measure: str | Measure | Callable[..., float], random_state: int
) -> Callable[[np.ndarray], float]:
    """The mean of a measure for given scores, or the value of a loss, so that larger is better."""
    if data.y is None:
        raise DataError("the data have no labels to measure features with")
    if not isinstance(measure, (str, Measure)):
        return lambda scores: -float(measure(scores, data))
    parsed = parse(measure)

    def worth(scores: np.ndarray) -> float:
        return parsed.worth(parsed.mean(parsed.per_query(Scored(data, scores, random_state=random_state))))

    return worth


def feature_scores(data: RankingDataset, feature: int, sign: int = 1) -> np.ndarray:
    """Scores that rank by one feature alone, large values first or, with ``sign=-1``, small ones; missing ones last.

    >>> data = RankingDataset.from_arrays([[3.0], [np.nan], [1.0]], [2, 1, 0], qid=[1, 1, 1])
    >>> feature_scores(data, 0).tolist(), feature_scores(data, 0, -1).tolist()
    ([3.0, -1.0, 1.0], [-3.0, -4.0, -1.0])
    """
    return _missing_last(sign * _column(data.X, feature))


def _column(X: Any, j: int) -> np.ndarray:
    column = X[:, j] if isinstance(X, np.ndarray) else X[:, [j]].toarray()[:, 0]
    return np.asarray(column, np.float64)


def _missing_last(scores: np.ndarray) -> np.ndarray:
    missing = np.isnan(scores)
    if not missing.any():
        return scores
    return np.where(missing, np.min(scores, initial=0.0, where=~missing) - 1.0, scores)


def _order(data: RankingDataset, within_queries: bool, rng: np.random.Generator) -> np.ndarray:
    """A random order of the rows, optionally within each query."""
    if not within_queries:
        return rng.permutation(data.n_rows)
    return np.lexsort((rng.random(data.n_rows), data.query_of_row))


class _Shuffled:
    """A table with one column in another order; every call reuses the same memory."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.dense = isinstance(X, np.ndarray)
        self.table: Any = np.array(X) if self.dense else X.tocsc()
        self.last = 0

    def __call__(self, j: int, order: np.ndarray) -> Any:
        if self.dense:
            self.table[:, self.last] = self.X[:, self.last]
            self.table[:, j] = self.X[order, j]
            self.last = j
            return self.table
        new_row = np.empty_like(order)
        new_row[order] = np.arange(order.size)  # row i of the new column is row order[i] of the old one
        changed = self.table.copy()
        of_column = slice(*changed.indptr[j : j + 2])
        changed.indices[of_column] = new_row[changed.indices[of_column]]
        changed.has_sorted_indices = False
        return changed.tocsr()
