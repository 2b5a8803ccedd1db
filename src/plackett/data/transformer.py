"""What the transformers of features have in common: arrays, frames with a column ``qid`` and datasets alike."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._base.estimator import Transformer, not_fitted
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import group_rows, ids_array


class QueryTransformer(Transformer):
    """Base class of transformers that replace features and may look at whole queries.

    ``X`` is an array or frame with a separate ``qid`` (in any order), a frame with a ``qid`` column (which is kept
    unchanged) or a `RankingDataset` (returns a dataset). A subclass implements `apply` and, if it learns, `_learn`.
    """

    #: Whether the result depends on which rows form a query; otherwise ``qid`` is not needed.
    needs_queries: ClassVar[bool] = True

    __metadata_request__fit = {"qid": True}  # noqa: RUF012 - read by scikit-learn from the class
    __metadata_request__transform = {"qid": True}  # noqa: RUF012

    def fit(self, X: Any, y: Any = None, *, qid: Any = None) -> Self:
        """Check the input, remember its columns and learn from it what there is to learn."""
        self._learn(self._check(X, reset=True))
        return self

    def transform(self, X: Any, *, qid: Any = None) -> Any:
        """The transformed features, in the form that ``X`` has."""
        self.check_fitted()
        if isinstance(X, RankingDataset):
            X = self.aligned(X)
        features = self._check(X, reset=False)
        if isinstance(X, RankingDataset):
            transformed = self.apply(features, X.offsets).astype(np.float32, copy=False)
            names = None if X.feature_names is None else tuple(self.names_out(X.feature_names))
            return X.replace(X=transformed, feature_names=names)
        in_frame = has_qid(X)
        offsets, rows = self._groups(X["qid"] if in_frame and qid is None else qid, features.shape[0])
        transformed = self.apply(features if rows is None else features[rows], offsets)
        if rows is not None:
            transformed = transformed[np.argsort(rows)]
        return self._with_columns(X, transformed) if in_frame else transformed

    def fit_transform(self, X: Any, y: Any = None, *, qid: Any = None, **fit_params: Any) -> Any:
        """`fit` and `transform` in one."""
        if fit_params:
            raise TypeError(f"fit_transform has no parameter {next(iter(fit_params))!r}")
        return self.fit(X, y, qid=qid).transform(X, qid=qid)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the output columns."""
        self.check_fitted()
        if input_features is not None and len(input_features) != len(self._columns_in):
            raise ValueError(f"input_features should have length equal to number of features, {len(self._columns_in)}")
        names = self._columns_in if input_features is None else np.asarray(input_features, dtype=object)
        return np.asarray(self.names_out(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # ------------------------------------------------------------------------------------------------------ inside

    def check_fitted(self) -> None:
        """Raise an error if it is not fitted yet."""
        if not hasattr(self, "n_features_in_"):
            raise not_fitted(f"this {type(self).__name__} is not fitted yet; call fit first")

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

    def check_parameters(self, features: Any) -> None:
        """Reject parameters that are wrong, or wrong for these features."""

    def _learn(self, features: Any) -> None:
        """Learn from the training features; by default there is nothing to learn."""

    def apply(self, features: Any, offsets: np.ndarray) -> Any:
        """The new features of rows that are grouped by query."""
        raise NotImplementedError

    def names_out(self, names: Any) -> Any:
        """Names of the new features, given those of the old ones."""
        return names

    def _check(self, X: Any, *, reset: bool) -> Any:
        """Features of ``X`` as a float array or CSR matrix, after scikit-learn's usual checks."""
        features = X
        if isinstance(X, RankingDataset):
            refuse_categories(X.categories, type(self).__name__)
            features = X.X
        elif has_qid(X):
            features = X.drop(columns="qid") if hasattr(X, "iloc") else X.drop("qid")
        self.check_parameters(features)
        if isinstance(X, RankingDataset) and not reset:  # aligned; scikit-learn would miss the names
            return features
        if not reset and self._is_valid(features):
            if hasattr(self, "feature_names_in_"):
                warnings.warn(
                    f"X does not have valid feature names, but {type(self).__name__} was fitted with feature names",
                    UserWarning,
                    stacklevel=3,
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
            if isinstance(X, RankingDataset) and X.feature_names is not None:
                self.feature_names_in_ = np.array(X.feature_names, dtype=object)
            default = np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)
            names = list(X.columns) if has_qid(X) else getattr(self, "feature_names_in_", default)
            self._columns_in = np.asarray(names, dtype=object)
        return checked

    def aligned(self, data: RankingDataset) -> RankingDataset:
        """The dataset with its features in the order of the training data, if both have names."""
        if data.n_features != self.n_features_in_:
            raise DataError(
                f"X has {data.n_features} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        known, names = getattr(self, "feature_names_in_", None), data.feature_names
        if known is None or names is None or known.tolist() == list(names):
            return data
        column_of = {name: j for j, name in enumerate(names)}
        for name in names:
            if name not in set(known.tolist()):
                raise DataError(f"X has the feature {name!r}, which {type(self).__name__} was not fitted on")
        if len(column_of) != len(names):
            raise DataError("X has several features of the same name")
        return data.replace(X=data.X[:, [column_of[name] for name in known]], feature_names=tuple(known.tolist()))

    def _groups(self, qid: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray | None]:
        if qid is None:
            if self.needs_queries:
                warnings.warn(
                    "no qid: all rows are treated as one query. Give qid=, or a frame with a column qid; in a "
                    "scikit-learn pipeline switch on sklearn.set_config(enable_metadata_routing=True)",
                    PlackettWarning,
                    stacklevel=4,
                )
            return np.array([0, n_rows]), None
        ids = ids_array(qid, "qid")
        if ids.size != n_rows:
            raise DataError(f"lengths differ: X has {n_rows} rows, qid {ids.size}")
        offsets, _, rows = group_rows(ids)
        return offsets, rows

    def _with_columns(self, frame: Any, features: np.ndarray) -> Any:
        """The frame with its features replaced, and new ones at the end; the column ``qid`` stays in place."""
        old = [name for name in frame.columns if name != "qid"]
        names = list(self.names_out(old))
        if not hasattr(frame, "iloc"):
            import polars as pl

            return frame.with_columns([pl.Series(name, features[:, j]) for j, name in enumerate(names)])
        import pandas as pd

        frame = frame.copy()
        for j, name in enumerate(old):
            frame[name] = features[:, j]
        if len(names) == len(old):
            return frame
        # one by one they would make a frame of many small blocks
        return pd.concat([frame, pd.DataFrame(features[:, len(old) :], frame.index, names[len(old) :])], axis=1)


def has_qid(X: Any) -> bool:
    """Whether this is a frame with the query ids in a column."""
    return hasattr(X, "columns") and "qid" in X.columns
