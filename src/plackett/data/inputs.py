"""Input of a ranker: arrays, frames and datasets, converted to one form."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett.data.categories import category_columns, is_category
from plackett.data.dataset import RankingDataset
from plackett.data.trained_columns import TrainedColumns

#: Column of a frame that holds the query ids if no ``qid`` is given.
QID_COLUMN = "qid"


class Rows(NamedTuple):
    """Rows to score: features, grouping, and how to return scores in the caller's order."""

    data: RankingDataset
    caller_order: bool
    #: Whether the queries are known; otherwise all rows form one.
    grouped: bool

    def give_back(self, scores: np.ndarray) -> np.ndarray:
        """Scores in the caller's row order."""
        return self.data.to_input_order(scores) if self.caller_order else scores


def training_data(
    X: Any,
    y: Any,
    qid: Any = None,
    group: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    name: str = "fit",
    columns: TrainedColumns | None = None,
) -> RankingDataset:
    """Build a dataset from the arguments of ``fit``; with ``columns``, features follow their order."""
    columns = columns or TrainedColumns()
    if isinstance(X, RankingDataset):
        if y is not None or qid is not None or group is not None:
            raise DataError(f"{name}: a RankingDataset has its own labels and queries; give it alone")
        weights = {"sample_weight": (sample_weight, X.n_rows), "query_weight": (query_weight, X.n_queries)}
        given = {field: _weights(field, w, size) for field, (w, size) in weights.items() if w is not None}
        return columns.aligned(X.replace(**given) if given else X)
    if y is None:
        frame = " (of a frame: pk.RankingDataset.from_frame(X))" if hasattr(X, "columns") else ""
        raise DataError(
            f"{name} requires y to be passed, but the target y is None: give labels, or a RankingDataset instead of X"
            f"{frame}"
        )
    features, qid, names = _features(X, qid, columns, "eval_set" if name == "eval_set" else "X")
    if qid is None and group is None:
        warnings.warn(
            f"{name} without qid: all rows are treated as one query. Give qid=… (or group=…), a frame with a column "
            f"'{QID_COLUMN}', or a RankingDataset. Inside scikit-learn's tools, switch routing on with "
            "sklearn.set_config(enable_metadata_routing=True)",
            PlackettWarning,
            stacklevel=4,
        )
    return RankingDataset.from_arrays(
        features,
        y,
        qid,
        group=group,
        sample_weight=sample_weight,
        query_weight=query_weight,
        feature_names=names,
    )


def _weights(field: str, values: Any, size: int) -> np.ndarray:
    weights = np.asarray(values, np.float64)
    if weights.shape != (size,):
        raise DataError(f"{field} has shape {weights.shape}, expected ({size},)")
    return weights


def rows_to_score(X: Any, qid: Any = None, columns: TrainedColumns | None = None) -> Rows:
    """Build an unlabelled dataset from the arguments of ``predict``; with ``columns``, features follow their order."""
    columns = columns or TrainedColumns()
    if isinstance(X, RankingDataset):
        if qid is not None:
            raise DataError("predict: a RankingDataset already contains its queries; omit qid")
        return Rows(columns.aligned(X), caller_order=False, grouped=True)
    features, qid, names = _features(X, qid, columns)
    data = RankingDataset.from_arrays(features, None, qid, feature_names=names)
    return Rows(data, caller_order=True, grouped=qid is not None)


def categories_of(X: Any) -> dict[str, list[Any]]:
    """The categorical columns of the input of ``fit``, with their values; empty if it has none."""
    if isinstance(X, RankingDataset):
        return {name: list(values) for name, values in (X.categories or {}).items()}
    if not _is_frame(X):
        return {}
    X = _without_qid(X)
    return category_columns(X) if all(isinstance(name, str) for name in X.columns) else {}


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__"))


def _without_qid(X: Any) -> Any:
    """The feature columns of a pandas or polars frame."""
    if hasattr(X, "column_names"):  # an Arrow table
        import polars as pl

        X = pl.DataFrame(X)
    if QID_COLUMN not in X.columns:
        return X
    return X.drop(columns=QID_COLUMN) if hasattr(X, "iloc") else X.drop(QID_COLUMN)


def _features(X: Any, qid: Any, columns: TrainedColumns, where: str = "X") -> tuple[Any, Any, list[str] | None]:
    """Feature table, query ids (from a column of the frame if none are given) and column names."""
    if not _is_frame(X):
        if getattr(getattr(X, "dtype", None), "kind", "") == "c":
            raise DataError("Complex data not supported: X must hold real numbers")
        return X, qid, None
    if qid is None and QID_COLUMN in getattr(X, "column_names", X.columns):
        qid = X[QID_COLUMN].to_numpy()
    X = _without_qid(X)
    # as in scikit-learn, only names that are all strings count
    names = list(X.columns) if all(isinstance(name, str) for name in X.columns) else None
    if names is not None:
        if columns.order(names, where) is not None:
            X = X[list(columns.names or ())]
            names = list(X.columns)
        X = _encoded(X, columns)
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if not _is_numeric(dtype):
            holds = (
                "categories, which only tree rankers such as LambdaMART take"
                if is_category(dtype)
                else "no number; for tree rankers, make it a column of categories (astype('category') in pandas, "
                "cast(pl.Categorical) in polars)"
            )
            raise DataError(
                f"column {name!r} is of type {dtype}: it holds {holds}; otherwise encode or drop it (a query id "
                f"column is called '{QID_COLUMN}')"
            )
    table = X.to_numpy(dtype=np.float32, na_value=np.nan) if hasattr(X, "iloc") else X.to_numpy()
    return table, qid, names


def _encoded(X: Any, columns: TrainedColumns) -> Any:
    """The frame with categories replaced by codes."""
    codes = {name: columns.codes(X[name], name) for name in columns.categories if name in X.columns}
    if not codes:
        return X
    if hasattr(X, "iloc"):
        return X.assign(**codes)
    import polars as pl

    return X.with_columns(**{name: pl.Series(values) for name, values in codes.items()})


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return dtype.is_numeric() or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "iufb"
