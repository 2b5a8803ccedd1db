"""Labels and logs joined with features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.features import dataset_rows
from plackett.clicks.log import ClickLog
from plackett.clicks.pairs import PairTable
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import ids_array

__all__ = ["labelled_dataset", "page_dataset"]


@dataclass(frozen=True)
class Join:
    """A dataset made by joining clicks with features, and what was lost in the join."""

    data: RankingDataset
    #: Pairs of the log (or labels) that have no features, and how much of the weight they had.
    without_features: int
    lost_weight: float
    #: Rows of the features that the log says nothing about.
    without_clicks: int

    def __str__(self) -> str:
        return (
            f"{self.data.n_rows} rows of {self.data.n_queries} queries; {self.without_features} pairs have no features "
            f"({self.lost_weight:.1%} of the weight), {self.without_clicks} rows with features have no clicks"
        )


def labelled_dataset(labels: Any, features: RankingDataset, *, weighted: bool = False, keep_all: bool = False) -> Join:
    """Join labels (query, document, label, weight) with the features of a dataset.

    Parameters
    ----------
    labels
        Frame from `model_labels`, `smooth_clicks`, `discount_clicks` or `InteractionModel.labels`, or one of your own.
    features
        Dataset with the same query and document ids (row numbers where it has no document ids).
    weighted
        Use the pages behind each label as ``sample_weight``.
    keep_all
        Keep documents without a label, as unjudged (−1).

    Examples
    --------
    >>> import polars as pl
    >>> features = RankingDataset.from_arrays([[1.0], [2.0]], None, qid=["q", "q"], docids=["a", "b"])
    >>> labels = pl.DataFrame({"query": ["q", "q"], "document": ["b", "z"], "label": [1.0, 0.0], "weight": [3.0, 1.0]})
    >>> print(labelled_dataset(labels, features))
    1 rows of 1 queries; 1 pairs have no features (25.0% of the weight), 1 rows with features have no clicks
    """
    from plackett.clicks._codes import codes

    docids = np.arange(features.n_rows) if features.docids is None else features.docids
    code, names = codes(docids, "docids")
    table = PairTable(features.qids, names, features.query_of_row.astype(np.int32), code)
    rows = table.find(
        ids_array(labels["query"].to_numpy(), "query"), ids_array(labels["document"].to_numpy(), "document")
    )
    value = np.asarray(labels["label"].to_numpy(), np.float64)
    weight = np.asarray(labels["weight"].to_numpy(), np.float64)
    known = rows >= 0
    if not known.any():
        raise DataError("no labelled pair is in the dataset: do query and document ids agree?")
    y, page_weight = np.full(features.n_rows, -1.0), np.zeros(features.n_rows)
    y[rows[known]], page_weight[rows[known]] = value[known], weight[known]
    labelled = np.zeros(features.n_rows, bool)
    labelled[rows[known]] = True
    chosen = np.arange(features.n_rows) if keep_all else np.flatnonzero(labelled)
    data = RankingDataset.from_arrays(
        features.X[chosen],
        y[chosen],
        qid=features.qids[features.query_of_row[chosen]],
        docids=docids[chosen],
        sample_weight=np.where(labelled, page_weight, 1.0)[chosen] if weighted else None,
        feature_names=features.feature_names,
        categories=features.categories,
    )
    lost = float(weight[~known].sum() / max(weight.sum(), 1e-12))
    return Join(data, int((~known).sum()), lost, int((~labelled).sum()))


def page_dataset(log: ClickLog, features: RankingDataset, *, weight: Any = None) -> Join:
    """Join every page of a log with features: a query per page, clicks as labels, ranks as positions.

    What `PositionBiasLambdaMART` and `UnbiasedLambdaMART` learn from. Distinct pages with counts (`ClickLog.collapse`)
    become fewer queries with ``query_weight``.

    Parameters
    ----------
    weight
        Weight of each row of the log, such as inverse propensities; becomes ``sample_weight``.
    """
    at = dataset_rows(log, features)[log.pair]
    known = at >= 0
    if not known.any():
        raise DataError("no document of the log is in the dataset: do query and document ids agree?")
    kept_pages, page = np.unique(log.page[known], return_inverse=True)
    data = RankingDataset.from_arrays(
        features.X[at[known]],
        log.clicked[known].astype(np.float64),
        qid=page,
        positions=log.rank[known],
        sample_weight=None if weight is None else np.asarray(weight, np.float64)[known],
        query_weight=None if log.weight is None else log.weight[kept_pages],
        feature_names=features.feature_names,
        categories=features.categories,
    )
    pairs = np.zeros(log.n_pairs, bool)
    pairs[log.pair[~known]] = True
    used = np.zeros(features.n_rows, bool)
    used[at[known]] = True
    lost = float(log.row_weight[~known].sum() / max(log.row_weight.sum(), 1e-12))
    return Join(data, int(pairs.sum()), lost, int((~used).sum()))
