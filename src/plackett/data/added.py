"""Documents that were added to the candidates of a query because they are judged: to learn from, not to measure on."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.some_rows import some_rows
from plackett.data.strings import Strings

__all__ = ["without_added"]

#: What the comment of such a document says, in the way of LETOR's comments. Every format keeps comments.
_MARK = "added = 1"
_PATTERN = re.compile(f" {_MARK}".encode())


def added_comments(docids: Any, added: Any) -> Strings:
    """Comments that mark documents as added.

    >>> added_comments(["a", "b"], [False, True]).to_numpy().tolist()
    ['docid = a', 'docid = b added = 1']
    """
    marks = (
        f"docid = {docid} {_MARK}" if one else f"docid = {docid}" for docid, one in zip(docids, added, strict=True)
    )
    return Strings.from_values(list(marks))


def added_rows(data: RankingDataset) -> np.ndarray:
    """Numbers of the rows whose documents were added to the candidates.

    >>> comments = added_comments(["a", "b"], [False, True])
    >>> added_rows(RankingDataset.from_arrays([[1.0], [2.0]], qid=[1, 1], comments=comments)).tolist()
    [1]
    """
    if data.comments is None:
        return np.empty(0, np.int64)
    if "added" not in data.memo:
        ends = np.array([found.end() for found in _PATTERN.finditer(data.comments.data.data)], np.int64)
        data.memo["added"] = np.flatnonzero(np.isin(data.comments.offsets[1:], ends) & (data.comments.lengths > 0))
    return data.memo["added"]


def without_added(data: RankingDataset) -> RankingDataset:
    """The dataset without the documents that ``extract(add_judged=True)`` added to the candidates; the queries stay.

    A search would not have found these documents, most of which are relevant: figures with them are too good.
    `experiment`, `cross_validate` and `AutoRanker` learn from them and measure without them.

    >>> comments = added_comments(["a", "b"], [False, True])
    >>> data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], [1, 1], docids=["a", "b"], comments=comments)
    >>> without_added(data).docids.tolist()
    ['a']
    """
    added = added_rows(data)
    return data if added.size == 0 else some_rows(data, np.setdiff1d(np.arange(data.n_rows), added))
