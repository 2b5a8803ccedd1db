"""Build a dataset from blocks of parsed LETOR text: join them and group the rows by query."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.data.grouping import group_rows
from plackett.data.ids import distinct
from plackett.data.letor.block import LetorBlock
from plackett.data.letor.comments import docids_of
from plackett.data.letor.spans import run_starts
from plackett.data.strings import Strings


def to_dataset(blocks: list[LetorBlock], group: Any) -> RankingDataset:
    """Dataset of all rows of the blocks, which are emptied on the way."""
    path = blocks[0].options.path
    n_rows = sum(len(block.y) for block in blocks)
    if n_rows == 0:
        raise DataError(f"{path}: no rows; the file is empty or holds nothing but comments")
    y = np.concatenate([block.y for block in blocks])
    comments = _join_strings([(block.comments, len(block.y)) for block in blocks])
    rows: np.ndarray | None = None
    if any(block.qid is not None for block in blocks):
        for block in blocks:
            if block.no_query is not None:
                raise block.no_query
        if group is not None:
            raise DataError(f"{path}: the lines have query ids (qid:…), so group must not be given")
        offsets, qids, rows = _queries(blocks)
    else:
        sizes = _group_sizes(path, group, n_rows)
        if sizes is None:
            raise next(block.no_query for block in blocks if block.no_query is not None)
        offsets, qids = np.concatenate(([0], np.cumsum(sizes))), np.arange(sizes.size)
    X = _join_features(blocks, n_rows)
    if rows is not None:
        y = y[rows]
        comments = None if comments is None else comments.take(rows)
        if isinstance(X, np.ndarray):
            _permute(X, rows)
        else:
            X = X[rows]
    docids = None if comments is None else docids_of(comments)
    return RankingDataset(X=X, y=y, offsets=offsets, qids=qids, docids=docids, comments=comments, input_rows=rows)


def _queries(blocks: list[LetorBlock]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Offsets and ids of the queries, and the rows in grouped order where they are not grouped already."""
    named = any(isinstance(block.qid, Strings) for block in blocks)
    heads, starts, row = [], [], 0
    for block in blocks:
        if block.qid is None:
            continue
        first = run_starts(block.qid)
        if isinstance(block.qid, Strings):
            heads.append(block.qid.take(first).to_numpy())
        else:
            ids = block.qid[first]
            heads.append(Strings.from_values(ids).to_numpy() if named else ids)
        starts.append(first + row)
        row += len(block.y)
    unique, code = distinct(np.concatenate(heads))
    lengths = np.diff(np.append(np.concatenate(starts), row))
    offsets, order, rows = group_rows(np.repeat(code, lengths))
    return offsets, unique[order], rows


def _join_strings(columns: list[tuple[Strings | None, int]]) -> Strings | None:
    if all(column is None for column, _ in columns):
        return None
    if len(columns) == 1:
        return columns[0][0]
    lengths = [np.zeros(n, np.int64) if column is None else column.lengths for column, n in columns]
    data = [column.data for column, _ in columns if column is not None]
    return Strings(np.concatenate(data), np.concatenate(([0], np.cumsum(np.concatenate(lengths)))))


def _join_features(blocks: list[LetorBlock], n_rows: int) -> Any:
    options = blocks[0].options
    width = max(block.width for block in blocks)
    if options.sparse:
        from scipy.sparse import csr_matrix

        values = [block.features[0] for block in blocks]
        columns = [block.features[1] for block in blocks]
        ends = np.cumsum([0] + [block.features[2][-1] for block in blocks])
        pointers = [block.features[2][1:] + end for block, end in zip(blocks, ends, strict=False)]
        parts = tuple(map(_joined, (values, columns, [np.zeros(1, np.int64), *pointers])))
        return csr_matrix(parts, shape=(n_rows, width))
    if len(blocks) == 1:
        return blocks[0].features
    X = np.empty((n_rows, width), np.float32)
    row = 0
    for block in blocks:  # each block is freed as soon as it is copied, so little more than one array is in memory
        X[row : row + len(block.y), : block.width] = block.features
        X[row : row + len(block.y), block.width :] = options.fill
        row += len(block.y)
        block.features = None
    return X


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _group_sizes(path: str, group: Any, n_rows: int) -> np.ndarray | None:
    """Sizes of the queries as given, or as written in a file; LightGBM's ``path.query`` is found automatically."""
    source = "group"
    if group is None:
        if not os.path.exists(path + ".query"):
            return None
        group = path + ".query"
    if isinstance(group, (str, os.PathLike)):
        source = os.fspath(group)
        with open(source, encoding="utf-8", errors="replace") as file:
            group = _whole_numbers(source, file)
    sizes = np.asarray(group)
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise DataError(f"{source} must hold the number of rows of each query: whole numbers, none below 0")
    if sizes.sum() != n_rows:
        raise DataError(f"{path} has {n_rows} rows, but the queries of {source} have {sizes.sum()} together")
    return sizes.astype(np.int64)


def _whole_numbers(source: str, lines: Iterable[str]) -> np.ndarray:
    sizes = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            if not line.strip().isdecimal():
                raise DataError(f"{source}, line {number}: the number of rows of a query was expected: {line[:40]!r}")
            sizes.append(int(line))
    return np.array(sizes, np.int64)


@kernel
def _permute(X, rows):  # type: ignore[no-untyped-def]
    """Row ``i`` becomes what row ``rows[i]`` was, in place: one row of spare room, cycle by cycle."""
    done = np.zeros(rows.size, np.bool_)
    spare = np.empty(X.shape[1], X.dtype)
    for first in range(rows.size):
        if done[first] or rows[first] == first:
            continue
        for j in range(spare.size):  # loops, because slices of arrays take Numba seconds to compile
            spare[j] = X[first, j]
        to = first
        while rows[to] != first:
            for j in range(spare.size):
                X[to, j] = X[rows[to], j]
            done[to] = True
            to = rows[to]
        for j in range(spare.size):
            X[to, j] = spare[j]
        done[to] = True
