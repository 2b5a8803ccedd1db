"""Join runs: for each query, the documents of all runs, and the score that each run gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import order_of_groups
from plackett.data.frame_columns import as_polars, find_column, id_array, id_strings, is_table
from plackett.data.grouping import group_rows
from plackett.data.trec import as_run

if TYPE_CHECKING:
    import polars as pl


def join_runs(
    runs: Sequence[Any], names: tuple[str, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, pl.Series, tuple[np.ndarray, np.ndarray] | None]:
    """Table of scores, offsets, query ids and document ids, as `RankLists` holds them.

    The last is the ranks of the documents (see `Places`) if every run lists them by descending score, otherwise None.

    Ids are compared by hash, entry by entry within a query. At the end, the strings of all entries matched to the same
    document are compared once. Joining columns of strings would take several times as long.
    """
    import polars as pl

    if len(runs) == 0:
        raise DataError("there are no runs to aggregate")
    frames = [_frame(run, name) for run, name in zip(runs, names, strict=True)]
    together = pl.concat(frames, rechunk=False)
    which = np.repeat(np.arange(len(frames)), [frame.height for frame in frames])
    scores = together["score"].to_numpy()
    query, offsets, qids = _queries(together["qid"])
    entries = order_of_groups(query, offsets)
    for seed in range(8):
        hashes = together["docid"].hash(seed).to_numpy()
        row_in_query, first, counts = (
            np.empty(query.size, np.int64),
            np.empty(query.size, np.int64),
            np.empty_like(query),
        )
        over_queries(_number, offsets, entries, hashes, row_in_query, first, counts)
        rows = np.concatenate(([0], np.cumsum(counts[: qids.size])))
        row = rows[query] + row_in_query
        values = np.full((rows[-1], len(frames)), np.nan)
        before = np.full(values.shape, -1, np.int32)
        twice, falling = _fill(entries, query, row, which, scores, values, before)
        if twice >= 0:
            raise DataError(
                f"query {together['qid'][twice]!r}: the run {names[which[twice]]!r} has document "
                f"{together['docid'][twice]!r} twice"
            )
        start = np.repeat(offsets[:-1] - rows[:-1], np.diff(rows))
        docids = together["docid"].gather(pl.Series(first[np.arange(rows[-1]) + start]))
        if (docids.gather(pl.Series(row)) == together["docid"]).all():
            positions = (before, np.where(before < 0, before, before + np.int32(1))) if falling else None
            return values, rows, qids, docids, positions
    raise AssertionError("eight hash functions in a row took two ids for one")


def _frame(run: Any, name: str) -> pl.DataFrame:
    """Columns qid, docid, score; duplicate documents are detected later, while joining."""
    import polars as pl

    if is_table(run):
        table = as_polars(run)
        columns = {role: find_column(table, role) for role in ("qid", "docid", "score")}
        table = table.select(**{role: pl.col(str(column)) for role, column in columns.items()})
        if not table.schema["score"].is_numeric():
            raise DataError(f"run {name!r}: the score must be a number, found {table.schema['score']}")
        table = table.with_columns(
            id_strings(table["qid"]), id_strings(table["docid"]), pl.col("score").cast(pl.Float64)
        )
    else:
        table = as_run(run)
    if table.height == 0:
        raise DataError(f"run {name!r} is empty: it has no documents")
    bad = ~table["score"].is_finite().fill_null(False)
    if bad.any():
        row = bad.arg_max() or 0
        qid, docid, score = table.row(row)
        raise DataError(f"run {name!r}, query {qid!r}: document {docid!r} has the score {score}; scores must be finite")
    return table


def _queries(qid: pl.Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of the query of each entry, offsets of the queries, their ids by first appearance."""
    starts = (qid != qid.shift(1)).fill_null(True).arg_true()
    edges = np.append(starts.to_numpy(), len(qid)).astype(np.int64)
    heads, qids, order = group_rows(id_array(qid.gather(starts)))
    number = np.repeat(np.arange(qids.size), np.diff(heads))
    of_head = np.empty_like(number)
    of_head[slice(None) if order is None else order] = number
    query = np.repeat(of_head, np.diff(edges))
    return query, np.concatenate(([0], np.cumsum(np.bincount(query, minlength=qids.size)))), qids


@kernel
def _number(lo, hi, offsets, entries, hashes, row, first, counts):
    """Number the different hashes of each query by first appearance; ``first`` is the entry that was it."""
    slots = 16
    while slots < 2 * longest(lo, hi, offsets):
        slots *= 2
    table = np.empty(slots, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        used = 16
        while used < 2 * (b - a):
            used *= 2
        table[:used] = -1
        mask = np.uint64(used - 1)
        n = 0
        for i in range(a, b):
            hashed = hashes[entries[i]]
            slot = np.int64(hashed & mask)
            while table[slot] >= 0 and hashes[first[a + table[slot]]] != hashed:
                slot = (slot + 1) & (used - 1)
            if table[slot] < 0:
                table[slot] = n
                first[a + n] = entries[i]
                n += 1
            row[entries[i]] = table[slot]
        counts[q] = n


@kernel
def _fill(entries, query, row, which, scores, values, before):
    """Put each score in its cell. Return the first entry whose cell was taken, or -1, and whether scores descend.

    ``before`` counts the entries of the same query and run that came earlier.
    """
    falling = True
    count = 0
    for i in range(entries.size):
        e = entries[i]
        last = entries[i - 1]
        if i > 0 and query[e] == query[last] and which[e] == which[last]:
            falling &= scores[e] < scores[last]
            count += 1
        else:
            count = 0
        if not np.isnan(values[row[e], which[e]]):
            return e, False
        values[row[e], which[e]] = scores[e]
        before[row[e], which[e]] = count
    return -1, falling
