"""Hyperedges: groups of documents of a query that belong together."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation

__all__ = ["hyperedges"]
__public__ = ["hyperedges"]


@fulfils("relational.relations")
def hyperedges(data: RankingDataset, groups: Any, *, weight: Any = None) -> Relation:
    """The relation of documents that belong to the same groups: the same author, brand, site or session.

    A document may be in several groups. In the result, which `HypergraphRanker` reads, the second number of a pair is
    not a document but a label of the group: one of the row numbers of its query, so that relations of this kind follow
    their documents like any other. Groups of one document are left out; a query has at most as many groups as
    documents.

    Parameters
    ----------
    data
        The dataset.
    groups
        A group of each row (any values; None or NaN for no group), or pairs ``(row, group)`` as a list of tuples where
        documents are in several. The same name in two queries means two groups.
    weight
        Weight of a group, by name: a mapping, in which groups that are missing weigh 1; None for 1 everywhere.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [1, 0, 0, 2], qid=[1, 1, 1, 1])
    >>> hyperedges(data, ["x", "y", "x", "y"]).to_pairs().tolist()
    [[0, 0], [1, 1], [2, 0], [3, 1]]
    """
    row, name = _members(data, groups)
    numbers: dict[Any, int] = {}
    code = np.array([numbers.setdefault(each, len(numbers)) for each in name], np.int64)
    queries = data.query_of_row[row] if row.size else row
    pairs = np.unique(np.stack([queries, code, row], axis=1), axis=0)
    _, group, size = np.unique(pairs[:, :2], axis=0, return_inverse=True, return_counts=True)
    pairs, group = pairs[size[group] > 1], group[size[group] > 1]
    edges, label = np.unique(group, return_inverse=True)
    query_of_edge = np.zeros(edges.size, np.int64)
    query_of_edge[label] = pairs[:, 0]
    place = np.arange(edges.size) - np.searchsorted(query_of_edge, query_of_edge)
    over = np.flatnonzero(place >= data.group[query_of_edge]) if edges.size else edges
    if over.size:
        raise DataError(
            f"query {data.qids[query_of_edge[over[0]]]} has more groups than documents; leave out those of least weight"
        )
    other = data.offsets[query_of_edge[label]] + place[label]
    values = None
    if weight is not None:
        table = np.array([float(weight.get(each, 1.0)) for each in numbers])
        if not (np.isfinite(table).all() and (table > 0).all()):
            raise DataError("weights of groups must be finite and above 0")
        values = table[pairs[:, 1]]
    return Relation(pairs[:, 2], other, values).regrouped(None, data.offsets)


def _members(data: RankingDataset, groups: Any) -> tuple[np.ndarray, list[Any]]:
    try:
        listed = list(groups)
    except TypeError:
        raise DataError(f"groups={groups!r}; give a group of each row, or pairs (row, group)") from None
    if listed and all(isinstance(entry, tuple) and len(entry) == 2 for entry in listed):
        row = np.array([entry[0] for entry in listed], np.int64)
        if row.min() < 0 or row.max() >= data.n_rows:
            raise DataError(f"groups name row {row.max()}, but the rows are 0 to {data.n_rows - 1}")
        return row, [entry[1] for entry in listed]
    if len(listed) != data.n_rows:
        raise DataError(f"groups have {len(listed)} entries, but the dataset has {data.n_rows} rows")
    kept = [i for i, name in enumerate(listed) if name is not None and name == name]  # NaN differs from itself
    return np.array(kept, np.int64), [listed[i] for i in kept]
