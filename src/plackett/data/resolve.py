"""Rows of a dataset, found by query id and document id."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.grouped import Grouped
from plackett.data.grouping import ids_array
from plackett.data.ids import distinct, find


def document_rows(data: Grouped, qid: Any, docid: Any) -> np.ndarray:
    """Row of each named document of each named query; an error if an id is missing or not unique.

    Ids of another type are compared as text, so that ``7`` finds ``"7"``.

    >>> from plackett import RankingDataset
    >>> data = RankingDataset.from_arrays(None, None, qid=["a", "b", "b"], docids=["x", "x", "y"])
    >>> document_rows(data, ["b", "a"], ["y", "x"]).tolist()
    [2, 0]
    """
    if data.docids is None:
        raise DataError("the dataset has no document ids (docids is None); name the documents by row instead")
    qids, docids = ids_array(qid, "qid"), ids_array(docid, "document ids")
    if qids.size != docids.size:
        raise DataError(f"lengths differ: qid has {qids.size}, document ids {docids.size}")
    query = find(data.qids, qids)
    missing = np.flatnonzero(query < 0)
    if missing.size:
        raise DataError(f"query {qids[missing[0]]} (entry {missing[0]}) is not in the dataset")
    names, code = distinct(data.docids)
    wanted = find(names, docids)
    key = data.query_of_row * names.size + code
    order = np.argsort(key, kind="stable")
    target = query * names.size + wanted
    first = np.searchsorted(key[order], target, side="left")
    count = np.searchsorted(key[order], target, side="right") - first
    missing = np.flatnonzero((wanted < 0) | (count == 0))
    if missing.size:
        raise DataError(f"query {qids[missing[0]]} has no document {docids[missing[0]]} (entry {missing[0]})")
    double = np.flatnonzero(count > 1)
    if double.size:
        raise DataError(f"query {qids[double[0]]} has document {docids[double[0]]} {count[double[0]]} times")
    return order[first]
