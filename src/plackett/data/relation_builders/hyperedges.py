"""Hyperedges: groups of documents of a query that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import first_appearances
from plackett.data.relations import Relation

__all__ = ["hyperedges"]


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
    code, names = _numbered(name)
    no_group = [i for i, each in enumerate(names) if each is None or each != each]  # NaN differs from itself
    if no_group:
        kept = ~np.isin(code, no_group)
        row, code = row[kept], code[kept]
    n_groups, longest = max(len(names), 1), int(data.group.max(initial=1))
    query = data.query_of_row[row]
    member = np.sort((query * n_groups + code) * longest + row - data.offsets[query])
    key, local = np.divmod(member[np.concatenate(([True], np.diff(member) != 0))[: member.size]], longest)
    row = data.offsets[key // n_groups] + local
    begins = np.concatenate(([True], np.diff(key) != 0))[: key.size]
    size = np.diff(np.append(np.flatnonzero(begins), key.size))
    shared = np.repeat(size > 1, size)
    key, row, begins = key[shared], row[shared], begins[shared]
    query_of_edge, code_of_edge = np.divmod(key[begins], n_groups)
    index_in_query = np.arange(query_of_edge.size) - np.searchsorted(query_of_edge, query_of_edge)
    over = np.flatnonzero(index_in_query >= data.group[query_of_edge])
    if over.size:
        raise DataError(
            f"query {data.qids[query_of_edge[over[0]]]} has more groups than documents; leave out those of least weight"
        )
    edge = np.cumsum(begins) - 1
    other = (data.offsets[query_of_edge] + index_in_query)[edge]
    values = None
    if weight is not None:
        table = np.array([float(weight.get(each, 1.0)) for each in names])
        if not (np.isfinite(table).all() and (table > 0).all()):
            raise DataError("weights of groups must be finite and above 0")
        values = table[code_of_edge[edge]]
    return Relation(row, other, values).regrouped(None, data.offsets)


def _members(data: RankingDataset, groups: Any) -> tuple[np.ndarray, Sequence[Any]]:
    """Row and group of each membership."""
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "biuf" and groups.shape == (data.n_rows,):
        return np.arange(data.n_rows), groups  # type: ignore[return-value]
    try:
        listed = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    except TypeError:
        raise DataError(f"groups={groups!r}; give a group of each row, or pairs (row, group)") from None
    if listed and set(map(type, listed)) == {tuple} and set(map(len, listed)) == {2}:
        rows, names = zip(*listed, strict=True)
        row = np.array(rows)
        if row.dtype.kind not in "iu":
            raise DataError(f"groups as pairs (row, group) need row numbers, got {row.dtype}")
        if row.min() < 0 or row.max() >= data.n_rows:
            bad = row.min() if row.min() < 0 else row.max()
            raise DataError(f"groups name row {bad}, but the rows are 0 to {data.n_rows - 1}")
        return row.astype(np.int64), names
    if len(listed) != data.n_rows:
        raise DataError(f"groups have {len(listed)} entries, but the dataset has {data.n_rows} rows")
    return np.arange(data.n_rows), listed


def _numbered(names: Sequence[Any]) -> tuple[np.ndarray, Sequence[Any]]:
    """The number of each name, counted from 0 in the order of first appearance, and the distinct names."""
    if isinstance(names, np.ndarray):
        first, code = first_appearances(names)
        return code, names[first].tolist()
    known = dict.fromkeys(names)
    number = dict(zip(known, range(len(known)), strict=True))
    return np.fromiter(map(number.__getitem__, names), np.int64, len(names)), list(known)
