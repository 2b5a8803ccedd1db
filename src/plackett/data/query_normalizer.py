"""Query-level normalisation as a scikit-learn transformer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from plackett._errors import DataError, PlackettWarning
from plackett._estimator import Transformer, not_fitted
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import group_rows, ids_array
from plackett.data.scaling import check_method, scale_queries

__all__ = ["QueryNormalizer"]
__public__ = ["QueryNormalizer"]


class QueryNormalizer(Transformer):
    r"""Normalise each feature within each query.

    With :math:`x_1 \dots x_m` the values of one feature over the documents of one query:

    ==========  =====================================================================================================
    method
    ==========  =====================================================================================================
    ``minmax``  :math:`(x_i - \min x) / (\max x - \min x)`; LETOR's QueryLevelNorm and RankLib's ``linear``
    ``zscore``  :math:`(x_i - \bar x) / s` with the sample deviation :math:`s` (divisor :math:`m - 1`), as in RankLib
    ``sum``     :math:`x_i / \sum_j |x_j|`, as in RankLib
    ``rank``    rank of :math:`x_i` from below, ties sharing their mean rank, scaled to 0…1
    ==========  =====================================================================================================

    A feature that is constant in a query becomes 0 there (with ``sum``, only a feature of zeros stays 0). NaN stays NaN
    and is otherwise ignored. Nothing is learned from the training data: each query is normalised by itself, so its
    documents must be transformed together.

    ``X`` is an array or frame with a separate ``qid`` (in any order), a frame with a ``qid`` column (which is kept
    unchanged) or a `RankingDataset` (returns a dataset). In a scikit-learn pipeline, ``qid`` arrives by metadata
    routing, without further requests; without routing, use the column. Sparse input is rejected if it would become
    dense, that is by all methods except ``sum``.

    Parameters
    ----------
    method
        ``"minmax"``, ``"zscore"``, ``"sum"`` or ``"rank"``.
    n_jobs
        Number of threads; None is all cores.

    Examples
    --------
    >>> X = np.array([[1.0], [10.0], [3.0], [20.0], [2.0]])
    >>> QueryNormalizer().fit_transform(X, qid=["a", "b", "a", "b", "a"]).ravel().tolist()
    [0.0, 0.0, 1.0, 1.0, 0.5]

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval. 2010.
    """

    _ids = ()
    paper = "Qin, Liu, Xu, Li 2010"

    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn from the class
    __metadata_request__transform = {"qid": True}  # noqa: RUF012

    def __init__(self, method: str = "minmax", *, n_jobs: int | None = None) -> None:
        self.method = method
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, qid: Any = None) -> QueryNormalizer:
        """Check the input and remember its columns; there is nothing else to learn."""
        self._check(X, reset=True)
        return self

    def transform(self, X: Any, *, qid: Any = None) -> Any:
        """The normalised features, in the form that ``X`` has."""
        self._check_fitted()
        return self._transform(X, qid)

    def fit_transform(self, X: Any, y: Any = None, *, qid: Any = None, **fit_params: Any) -> Any:
        """`fit` and `transform` in one."""
        if fit_params:
            raise TypeError(f"fit_transform has no parameter {next(iter(fit_params))!r}")
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns: the same as the input."""
        self._check_fitted()
        if input_features is not None and len(input_features) != len(self._columns_out):
            raise ValueError(f"input_features should have length equal to number of features, {len(self._columns_out)}")
        return self._columns_out if input_features is None else np.asarray(input_features, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.method == "sum"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # ------------------------------------------------------------------------------------------------------ inside

    def _check_fitted(self) -> None:
        if not hasattr(self, "n_features_in_"):
            raise not_fitted("this QueryNormalizer is not fitted yet; call fit first")

    def _is_valid(self, features: Any) -> bool:
        """Whether the features pass scikit-learn's checks as they are, as they usually do in serving."""
        return (
            isinstance(features, np.ndarray)
            and features.dtype in (np.float32, np.float64)
            and features.ndim == 2
            and features.shape[0] > 0
            and features.shape[1] == self.n_features_in_
            and not np.isinf(features).any()
        )

    def _check(self, X: Any, *, reset: bool) -> Any:
        """Features of ``X`` as a float array or CSR matrix, after scikit-learn's usual checks."""
        features = X
        if isinstance(X, RankingDataset):
            features = X.X
        elif _has_qid(X):
            features = X.drop(columns="qid") if hasattr(X, "iloc") else X.drop("qid")
        check_method(self.method, features)
        if not reset and self._is_valid(features):
            if hasattr(self, "feature_names_in_") and not isinstance(X, RankingDataset):
                warnings.warn(
                    "X does not have valid feature names, but QueryNormalizer was fitted with feature names",
                    UserWarning,
                    stacklevel=4,
                )
            return features
        from sklearn.utils.validation import validate_data

        checked = validate_data(
            self,
            features,
            reset=reset,
            dtype=[np.float64, np.float32],
            accept_sparse="csr",
            ensure_all_finite="allow-nan",
        )
        if reset:
            default = np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
            names = list(X.columns) if _has_qid(X) else getattr(self, "feature_names_in_", default)
            self._columns_out = np.asarray(names, dtype=object)
        return checked

    def _transform(self, X: Any, qid: Any) -> Any:
        features = self._check(X, reset=False)
        if isinstance(X, RankingDataset):
            scaled = scale_queries(features, X.offsets, self.method, self.n_jobs)
            return X.replace(X=scaled.astype(np.float32, copy=False))
        in_frame = _has_qid(X)
        offsets, rows = _groups(X["qid"] if in_frame and qid is None else qid, features.shape[0])
        scaled = scale_queries(features if rows is None else features[rows], offsets, self.method, self.n_jobs)
        if rows is not None:
            scaled = scaled[np.argsort(rows)]
        return _with_columns(X, scaled) if in_frame else scaled


def _has_qid(X: Any) -> bool:
    return hasattr(X, "columns") and "qid" in X.columns


def _groups(qid: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    if qid is None:
        warnings.warn(
            "no qid: all rows are treated as one query. Give qid=, or a frame with a column qid; in a scikit-learn "
            "pipeline switch on sklearn.set_config(enable_metadata_routing=True)",
            PlackettWarning,
            stacklevel=5,
        )
        return np.array([0, n_rows]), None
    ids = ids_array(qid, "qid")
    if ids.size != n_rows:
        raise DataError(f"lengths differ: X has {n_rows} rows, qid {ids.size}")
    offsets, _, rows = group_rows(ids)
    return offsets, rows


def _with_columns(frame: Any, features: np.ndarray) -> Any:
    """The frame with its features replaced; the column ``qid`` stays in place."""
    names = [name for name in frame.columns if name != "qid"]
    if not hasattr(frame, "iloc"):
        import polars as pl

        return frame.with_columns([pl.Series(name, features[:, j]) for j, name in enumerate(names)])
    frame = frame.copy()
    for j, name in enumerate(names):
        frame[name] = features[:, j]
    return frame
