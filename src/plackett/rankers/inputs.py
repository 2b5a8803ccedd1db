"""What users hand to a ranker: arrays, frames or datasets, brought to one form."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from plackett._errors import DataError, PlackettWarning
from plackett.data.dataset import RankingDataset

__all__ = ["Rows", "rows_to_score", "training_data"]

#: Column of a frame that holds the query ids where no ``qid`` is given beside it.
QID_COLUMN = "qid"


class Rows(NamedTuple):
    """Rows to score: features and grouping, and how scores get back into the caller's order."""

    data: RankingDataset
    caller_order: bool

    def give_back(self, scores: np.ndarray) -> np.ndarray:
        """Scores in the order in which the caller's rows stood."""
        return self.data.to_input_order(scores) if self.caller_order else scores


def training_data(
    X: Any,
    y: Any,
    qid: Any = None,
    group: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    name: str = "fit",
) -> RankingDataset:
    """Dataset of whatever was given to ``fit``."""
    if isinstance(X, RankingDataset):
        if y is not None or qid is not None or group is not None:
            raise DataError(f"{name}: a RankingDataset has its own labels and queries; give it alone")
        data = X
        if sample_weight is not None:
            data = data.replace(sample_weight=np.asarray(sample_weight, np.float64))
        if query_weight is not None:
            data = data.replace(query_weight=np.asarray(query_weight, np.float64))
        return data
    if y is None:
        raise DataError(f"{name}: y is missing; give the labels, or a RankingDataset instead of X")
    features, qid, names = _features(X, qid)
    if qid is None and group is None:
        warnings.warn(
            f"{name} without qid: all rows are taken for one query. Give qid=… (or group=…), a frame with a column "
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


def rows_to_score(X: Any, qid: Any = None) -> Rows:
    """Dataset without labels of whatever was given to ``predict``."""
    if isinstance(X, RankingDataset):
        if qid is not None:
            raise DataError("predict: a RankingDataset knows its queries; give it without qid")
        return Rows(X, False)
    features, qid, names = _features(X, qid)
    return Rows(RankingDataset.from_arrays(features, None, qid, feature_names=names), True)


def _features(X: Any, qid: Any) -> tuple[Any, Any, list[str] | None]:
    """Feature table, query ids (from the column of a frame where none are given) and column names."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "__dataframe__") and not hasattr(X, "__arrow_c_stream__"):
        return X, qid, None
    names = [str(column) for column in columns]
    if QID_COLUMN in names:
        if qid is None:
            qid = X[QID_COLUMN].to_numpy()
        X = X.drop(columns=QID_COLUMN) if hasattr(X, "iloc") else X.drop(QID_COLUMN)
        names.remove(QID_COLUMN)
    for name in names:
        if not _is_numeric(X[name].dtype):
            raise DataError(
                f"column {name!r} is of type {X[name].dtype}, not a number; encode or drop it (a query id column is "
                f"called '{QID_COLUMN}')"
            )
    return X.to_numpy(dtype=np.float32, na_value=np.nan) if hasattr(X, "iloc") else X.to_numpy(), qid, names


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):  # polars
        return dtype.is_numeric() or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "iufb"
