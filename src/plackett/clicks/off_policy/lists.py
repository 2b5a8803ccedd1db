"""The lists that a new ranker would have shown, in the codes of a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks._codes import find_codes
from plackett.clicks.log import ClickLog
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import ids_array
from plackett.data.trec import as_run, run_frame


@dataclass(frozen=True)
class NewLists:
    """Lists of a new ranker for the queries of a log.

    Attributes
    ----------
    offsets, document
        Documents of each query of the log from the top down: codes of the log, -1 for documents that it never showed.
    row_rank
        Rank of the document of each row of the log in the new list of its query, 0 if it is not there.
    covered
        Whether each page's query has a new list.
    """

    offsets: np.ndarray
    document: np.ndarray
    row_rank: np.ndarray
    covered: np.ndarray

    @property
    def rank(self) -> np.ndarray:
        """Rank of each entry, from 1."""
        sizes = np.diff(self.offsets)
        return np.arange(self.document.size) - np.repeat(self.offsets[:-1], sizes) + 1

    @property
    def query(self) -> np.ndarray:
        """Query of each entry."""
        return np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))


def run_of(given: Any, data: RankingDataset | None) -> Any:
    """The run: what was given or, with a dataset, the run of a ranker or of scores of its documents."""
    if data is not None:
        return run_frame(data, given)
    if hasattr(given, "predict"):
        raise DataError(f"a {type(given).__name__} needs the documents that it ranks: give data=…")
    return given


def new_lists(log: ClickLog, run: Any, k: int) -> NewLists:
    """Lists of a run (a TREC file, a table with query, document and score, or nested dicts), cut at k."""
    import polars as pl

    frame = as_run(run)
    texts = log.queries.dtype.kind != "i", log.documents.dtype.kind != "i"
    columns = []
    for name, text in zip(("qid", "docid"), texts, strict=True):
        column = frame[name].cast(pl.String) if text else frame[name].cast(pl.Int64, strict=False)
        columns.append(column.fill_null("" if text else -(2**62)))
    query = find_codes(ids_array(columns[0].to_numpy(), "qid"), log.queries)
    document = find_codes(ids_array(columns[1].to_numpy(), "docid"), log.documents)
    score = frame["score"].to_numpy()
    known = query >= 0
    if not known.any():
        raise DataError("no query of the run is in the log: do the ids agree?")
    query, document, score = query[known], document[known], score[known]
    order = np.lexsort((np.arange(query.size), -score, query))
    query, document = query[order], document[order]
    starts = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=log.n_queries))))
    position = np.arange(query.size) - starts[query]
    top = position < k
    query, document, position = query[top], document[top], position[top]
    offsets = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=log.n_queries)))).astype(np.int64)
    n = log.documents.size
    key = query.astype(np.int64) * (n + 1) + np.where(document >= 0, document, n)
    by_key = np.argsort(key, kind="stable")
    wanted = log.query[log.page].astype(np.int64) * (n + 1) + log.document
    at = np.minimum(np.searchsorted(key[by_key], wanted), max(key.size - 1, 0))
    row_rank = np.where(key[by_key][at] == wanted, position[by_key][at] + 1, 0)
    return NewLists(offsets, document, row_rank, np.diff(offsets)[log.query] > 0)
