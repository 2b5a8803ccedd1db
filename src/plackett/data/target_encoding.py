"""Categories as numbers: ordered target statistics that never see the labels of their own query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett._base.estimator import Transformer, not_fitted
from plackett._kernels.kernel import kernel
from plackett.data.categories import recoded
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import group_rows, ids_array
from plackett.data.ids import distinct

__all__ = ["OrderedTargetEncoder"]

#: Feature number under which the statistic of an unknown category is kept.
_UNKNOWN = -1.0


class OrderedTargetEncoder(Transformer):
    r"""Encode categories by the labels of their documents in other queries (ordered target encoding).

    The queries are shuffled. For a document of the training data with category c,

    .. math:: x = \frac{a\,m + \sum_{j : c_j = c} t_j}{a + \#\{j : c_j = c\}},

    where j runs only over documents of *earlier queries*, as CatBoost does with earlier rows. No label of the
    document's own query is used, so a ranker cannot read labels from the feature. Several random orders are
    averaged. New documents (`transform`) get the statistic over all training queries; a category that was never seen
    gets m. With ``relative``, t is the label minus the mean label of its query and m is 0; otherwise t is the label and
    m the mean label of the earlier queries, or of all of them for new documents. Unjudged documents do not count, and
    NaN is its own category.

    Use `fit_transform` on training data to get the ordered statistics; with ``fit(…).transform(…)`` on the same data,
    each document's statistic would include its own label. Pipelines call `fit_transform`.

    Parameters
    ----------
    features
        Indices of the columns that hold category codes; None means those that a dataset declares as categories, or
        all columns if there are none.
    smoothing
        a, the number of documents that the prior m counts as.
    relative
        Learn labels relative to the mean of their query.
    n_permutations
        Number of random orders.
    random_state
        Seed. The result does not depend on the order of rows.

    Examples
    --------
    >>> X, y = [[7.0], [8.0], [7.0], [8.0]], [1, 0, 1, 0]
    >>> encoder = OrderedTargetEncoder(n_permutations=1, smoothing=1.0)
    >>> encoder.fit_transform(X, y, qid=[1, 1, 2, 2]).ravel().tolist()  # the first query has none before it
    [0.0, 0.0, 0.25, -0.25]
    >>> encoder.transform([[7.0], [9.0]]).ravel().round(3).tolist()
    [0.333, 0.0]

    References
    ----------
    Prokhorenkova, Gusev, Vorobev, Dorogush, Gulin: CatBoost: unbiased boosting with categorical features. NeurIPS 2018.
    """

    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn from the class

    def __init__(
        self,
        features: Sequence[int] | None = None,
        *,
        smoothing: float = 10.0,
        relative: bool = True,
        n_permutations: int = 4,
        random_state: int | None = 0,
    ) -> None:
        self.features = features
        self.smoothing = smoothing
        self.relative = relative
        self.n_permutations = n_permutations
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, qid: Any = None) -> OrderedTargetEncoder:
        """Learn the statistics over all queries."""
        self._learn(X, y, qid)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, qid: Any = None, **fit_params: Any) -> Any:
        """Fit, and encode training documents with the statistics of the queries before theirs."""
        if fit_params:
            raise TypeError(f"fit_transform has no parameter {next(iter(fit_params))!r}")
        table, target, query = self._learn(X, y, qid)
        rng = np.random.default_rng(self.random_state)
        n_queries = int(query.max(initial=-1)) + 1
        orders = [rng.permutation(n_queries) for _ in range(self.n_permutations)]
        encoded = np.array(table, np.float64)
        for j in self._columns(table.shape[1]):
            code = np.unique(table[:, j], return_inverse=True)[1]
            earlier = [_earlier(code, order[query], target, self._prior(order, query, target)) for order in orders]
            encoded[:, j] = np.mean([self._smoothed(*parts) for parts in earlier], axis=0)
        return self._as_given(X, encoded)

    def transform(self, X: Any) -> Any:
        """Replace the codes with statistics over all training queries."""
        if not hasattr(self, "statistics_"):
            raise not_fitted("this OrderedTargetEncoder is not fitted yet; call fit first")
        table = self._table(X)
        if table.shape[1] != self.n_features_in_:
            raise DataError(f"X has {table.shape[1]} features, but this encoder is expecting {self.n_features_in_}")
        if isinstance(X, RankingDataset) and X.categories:
            for j, values in getattr(self, "categories_", ()):
                codes = recoded(table[:, j], X.categories[(X.feature_names or ())[j]], values)
                table[:, j] = np.where(np.isnan(codes) & ~np.isnan(table[:, j]), -1.0, codes)  # never seen, not missing
        encoded = np.array(table, np.float64)
        learned = np.asarray(self.statistics_, np.float64)
        for j in self._columns(table.shape[1]):
            known = learned[learned[:, 0] == j]
            values, code = np.unique(table[:, j], return_inverse=True)
            at = np.searchsorted(known[:, 1], values)  # NaN sorts last in both
            at = np.minimum(at, max(known.shape[0] - 1, 0))
            same = (known[at, 1] == values) | (np.isnan(known[at, 1]) & np.isnan(values))
            encoded[:, j] = np.where(same, known[at, 2], learned[learned[:, 0] == _UNKNOWN, 2])[code]
        return self._as_given(X, encoded)

    # ------------------------------------------------------------------------------------------------------ inside

    def _learn(self, X: Any, y: Any, qid: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features, targets (NaN where unjudged) and number of the query of each row; sets ``statistics_``."""
        number("smoothing", self.smoothing, above=0)
        whole("n_permutations", self.n_permutations, least=1)
        table = self._table(X)
        labels, query = _labels(X, y, qid, table.shape[0])
        self.n_features_in_ = table.shape[1]
        declared = (X.categories if isinstance(X, RankingDataset) else None) or {}
        self.categories_ = [[X.feature_names.index(name), list(values)] for name, values in declared.items()]
        target = np.where(labels >= 0, labels, np.nan)
        judged = ~np.isnan(target)
        if self.relative:
            n_queries = int(query.max(initial=-1)) + 1
            total = np.bincount(query[judged], target[judged], n_queries)
            target = target - (total / np.maximum(np.bincount(query[judged], minlength=n_queries), 1))[query]
        prior = 0.0 if self.relative or not judged.any() else float(target[judged].mean())
        rows = [[_UNKNOWN, 0.0, prior]]
        for j in self._columns(table.shape[1]):
            values, code = np.unique(table[:, j], return_inverse=True)
            total = np.bincount(code[judged], target[judged], values.size)
            statistics = self._smoothed(total, np.bincount(code[judged], minlength=values.size), prior)
            rows += [[float(j), value, statistic] for value, statistic in zip(values, statistics, strict=True)]
        self.statistics_ = np.array(rows)
        return table, target, query

    def _prior(self, order: np.ndarray, query: np.ndarray, target: np.ndarray) -> Any:
        """Mean target of the queries before that of each row."""
        if self.relative:
            return 0.0
        total, count, _ = _earlier(np.zeros(query.size, np.int64), order[query], target, 0.0)
        return total / np.maximum(count, 1)

    def _smoothed(self, total: np.ndarray, count: np.ndarray, prior: Any) -> np.ndarray:
        return (total + self.smoothing * prior) / (count + self.smoothing)

    def _columns(self, n_features: int) -> list[int]:
        declared = [j for j, _ in getattr(self, "categories_", ())]
        chosen = (declared or range(n_features)) if self.features is None else self.features
        for j in chosen:
            if not 0 <= j < n_features:
                raise DataError(f"features: there is no feature {j}; there are {n_features}")
        return list(chosen)

    @staticmethod
    def _table(X: Any) -> np.ndarray:
        table = X.X if isinstance(X, RankingDataset) else X
        if hasattr(table, "toarray"):
            raise DataError("X is sparse; codes of categories are dense: give an array")
        table = np.asarray(table)
        if table.ndim != 2 or table.dtype.kind not in "biuf":
            raise DataError("X must be a table of numbers; give codes for categories that are text")
        return table.astype(np.float64)

    def _as_given(self, X: Any, encoded: np.ndarray) -> Any:
        if not isinstance(X, RankingDataset):
            return encoded
        names = [(X.feature_names or ())[j] for j in self._columns(X.n_features)] if X.categories else []
        left = {name: values for name, values in (X.categories or {}).items() if name not in names}
        return X.replace(X=encoded.astype(np.float32), categories=left)


def _labels(X: Any, y: Any, qid: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and the query of each row as a number that does not depend on the order of rows."""
    if isinstance(X, RankingDataset):
        if X.y is None:
            raise DataError("the dataset has no labels, which target statistics need")
        return X.labels, distinct(X.qids)[1][X.query_of_row]
    if y is None or qid is None:
        raise DataError("target statistics need y= and qid=: they leave out the labels of a document's own query")
    labels, ids = np.asarray(y, np.float64), ids_array(qid, "qid")
    if labels.shape != (n_rows,) or ids.size != n_rows:
        raise DataError(f"lengths differ: X has {n_rows} rows, y {labels.size}, qid {ids.size}")
    if np.isnan(labels).any():
        raise DataError("y has missing values (NaN); write -1 for unjudged documents")
    offsets, names, rows = group_rows(ids)
    number = distinct(names)[1]
    query = np.empty(n_rows, np.int64)
    query[np.arange(n_rows) if rows is None else rows] = np.repeat(number, np.diff(offsets))
    return labels, query


def _earlier(code: np.ndarray, position: np.ndarray, target: np.ndarray, prior: Any) -> tuple[Any, Any, Any]:
    """Sum and number of the targets of rows with the same code at an earlier position; the prior is passed through."""
    total, count = np.empty(code.size), np.empty(code.size)
    _sums(np.lexsort((position, code)), code, position, target, total, count)
    return total, count, prior


@kernel
def _sums(order, code, position, target, total, count):
    """Rows by code and position. Each code begins at 0: not even the last bit depends on later labels."""
    before, n_before, here, n_here = 0.0, 0, 0.0, 0
    for k in range(order.size):
        i = order[k]
        if k == 0 or code[i] != code[order[k - 1]]:
            before, n_before, here, n_here = 0.0, 0, 0.0, 0
        elif position[i] != position[order[k - 1]]:
            before, n_before, here, n_here = before + here, n_before + n_here, 0.0, 0
        total[i] = before
        count[i] = n_before
        if not np.isnan(target[i]):
            here += target[i]
            n_here += 1
