"""Missing values filled in, as a scikit-learn transformer that is saved with the model."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.data.transformer import QueryTransformer

__all__ = ["Imputer"]


class Imputer(QueryTransformer):
    r"""Replace missing values (NaN), for rankers that do not accept them.

    ================  ===============================================================================================
    strategy          a missing value of a feature becomes
    ================  ===============================================================================================
    ``median``        the median of the feature over all training documents
    ``mean``          its mean over all training documents
    ``query-median``  its median over the documents of the same query; where the whole query has none, as ``median``
    ``constant``      ``fill_value``
    ================  ===============================================================================================

    A feature without any value in the training data becomes ``fill_value``. Numbers that are present stay as they are.

    ``X`` is an array or frame with a separate ``qid`` (needed by ``query-median`` only), a frame with a ``qid`` column
    (which is kept unchanged) or a `RankingDataset` (returns a dataset). Sparse matrices stay sparse; their zeros count
    as values. `plackett.load` reads a pipeline of imputer and ranker that was saved with the ranker's ``save`` or
    `plackett.rankers.storage.save`.

    Parameters
    ----------
    strategy
        ``"median"``, ``"mean"``, ``"query-median"`` or ``"constant"``.
    fill_value
        The number for ``constant``, and for features without any value.
    add_indicator
        Append a feature for each one that had missing values in the training data: 1 where it is missing, else 0.
    n_jobs
        Number of threads; None is all cores.

    Attributes
    ----------
    statistics_
        The number for each feature.
    indicator_features_
        Indices of the features that had missing values in the training data.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, np.nan], [8.0, 6.0]])
    >>> Imputer().fit_transform(X).tolist()
    [[1.0, 5.0], [3.0, 6.0], [3.0, 6.0], [8.0, 6.0]]
    >>> Imputer("query-median").fit_transform(X, qid=["a", "a", "a", "b"])[:, 0].tolist()
    [1.0, 2.0, 3.0, 8.0]
    """

    def __init__(
        self,
        strategy: str = "median",
        *,
        fill_value: float = 0.0,
        add_indicator: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.strategy = strategy
        self.fill_value = fill_value
        self.add_indicator = add_indicator
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.strategy != "query-median"
        return tags

    @property
    def needs_queries(self) -> bool:  # type: ignore[override]
        """Whether values are filled in query by query."""
        return self.strategy == "query-median"

    def check_parameters(self, features: Any) -> None:
        """Reject parameters that are wrong, or wrong for these features."""
        choice("strategy", self.strategy, STRATEGIES)
        if not isinstance(self.fill_value, Real) or not np.isfinite(self.fill_value):
            raise DataError(f"fill_value={self.fill_value!r}; give a finite number")
        if self.strategy == "query-median" and hasattr(features, "tocsr"):
            raise DataError(
                "X is sparse, which strategy='query-median' does not support; use 'median', 'mean' or "
                "'constant', or give X.toarray()"
            )

    def _learn(self, features: Any) -> None:
        present = _present(features)
        empty = np.array([values.size + zeros == 0 for values, zeros in present], bool)
        rule = STRATEGIES[self.strategy]
        fills = [
            self.fill_value if none or rule is None else rule(*part) for none, part in zip(empty, present, strict=True)
        ]
        self.statistics_ = np.array(fills, np.float64)
        counts = np.array([values.size + zeros for values, zeros in present], np.int64)
        self.indicator_features_ = np.flatnonzero(counts < features.shape[0])

    def apply(self, features: Any, offsets: np.ndarray) -> Any:
        """The new features of rows that are grouped by query."""
        if hasattr(features, "tocsr"):
            return self._apply_sparse(features.tocsr())
        filled = np.array(features, order="C")
        if self.strategy == "query-median":
            over_queries(_fill_by_query, offsets, filled, self.statistics_, n_jobs=self.n_jobs)
        else:
            rows, columns = np.nonzero(np.isnan(filled))
            filled[rows, columns] = self.statistics_[columns]
        if not self.added.size:
            return filled
        return np.hstack([filled, np.isnan(features[:, self.added]).astype(filled.dtype)])

    def _apply_sparse(self, matrix: Any) -> Any:
        from scipy import sparse

        missing = np.isnan(matrix.data)
        filled = matrix.copy()
        filled.data[missing] = self.statistics_[matrix.indices[missing]]
        if not self.added.size:
            return filled
        holes = type(matrix)((missing.astype(matrix.dtype), matrix.indices, matrix.indptr), shape=matrix.shape)
        joined = sparse.hstack([filled, holes[:, self.added]], format="csr")
        joined.eliminate_zeros()
        return joined

    @property
    def added(self) -> np.ndarray:
        """The features that get an indicator."""
        return self.indicator_features_ if self.add_indicator else np.empty(0, np.int64)

    def names_out(self, names: Any) -> Any:
        """Names of the new features, given those of the old ones."""
        features = [name for name in names if name != "qid"] if len(names) > self.n_features_in_ else list(names)
        return [*names, *(f"missing {features[j]}" for j in self.added)]

    def restored(self) -> None:
        """Check what was read from a file."""
        self.statistics_ = np.asarray(self.statistics_, np.float64)
        self.indicator_features_ = np.asarray(self.indicator_features_, np.int64)
        some = self.indicator_features_
        if (
            self.statistics_.shape != (self.n_features_in_,)
            or not np.isfinite(self.statistics_).all()
            or some.ndim != 1
            or ((some < 0) | (some >= self.n_features_in_)).any()
        ):
            raise DataError("the numbers of an Imputer are damaged")


def _median(values: np.ndarray, zeros: int) -> float:
    """Median of the values and this many zeros."""
    if not zeros:
        return float(np.median(values))
    ordered = np.sort(values)
    negative = int(np.searchsorted(ordered, 0.0))

    def at(k: int) -> float:
        return ordered[k] if k < negative else 0.0 if k < negative + zeros else ordered[k - zeros]

    n = values.size + zeros
    return 0.5 * (float(at((n - 1) // 2)) + float(at(n // 2)))


def _mean(values: np.ndarray, zeros: int) -> float:
    return float(values.sum(dtype=np.float64) / (values.size + zeros))


#: Function from the values of a feature, and the number of zeros not stored, to the number for missing ones.
STRATEGIES = {"median": _median, "mean": _mean, "query-median": _median, "constant": None}


def _present(features: Any) -> list[tuple[np.ndarray, int]]:
    """The values stored for each feature, and the number of its zeros that are not."""
    if not hasattr(features, "tocsc"):
        columns = (features[:, j] for j in range(features.shape[1]))
        return [(column[~np.isnan(column)], 0) for column in columns]
    matrix = features.tocsc()
    matrix.sum_duplicates()
    parts = [matrix.data[a:b] for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    return [(part[~np.isnan(part)], matrix.shape[0] - part.size) for part in parts]


@kernel
def _fill_by_query(lo, hi, offsets, X, otherwise):
    values, order, spare_values, spare_order = sorting_memory(longest(lo, hi, offsets))
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        for j in range(X.shape[1]):
            n = 0
            for i in range(a, b):
                if X[i, j] == X[i, j]:
                    values[n] = X[i, j]
                    n += 1
            if n == b - a:
                continue
            fill = otherwise[j]
            if n > 0:
                argsort_descending(values, order, spare_values, spare_order, n)
                fill = 0.5 * (values[(n - 1) // 2] + values[n // 2])
            for i in range(a, b):
                if X[i, j] != X[i, j]:
                    X[i, j] = fill
