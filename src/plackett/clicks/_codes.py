"""Ids as small whole numbers: codes, and the pairs of query and document of a log."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._kernel import kernel
from plackett.data._tables import id_series
from plackett.data.grouping import first_appearances, ids_array

__all__ = ["codes", "find_codes", "number_pairs"]


def codes(values: Any, name: str = "ids") -> tuple[np.ndarray, np.ndarray]:
    """Code of each value, int32 in the order of first appearance, and the id of each code.

    >>> codes(["b", "a", "b"])[0].tolist()
    [0, 1, 0]
    """
    given = np.asarray(values)
    if given.dtype == object:
        missing = np.flatnonzero([each is None for each in given.ravel()])
        if missing.size:
            raise DataError(f"{name}[{missing[0]}] is missing; every entry needs an id")
    ids = ids_array(values, name)
    if ids.size == 0:
        return np.zeros(0, np.int32), ids
    if ids.dtype.kind == "i":
        first, code = first_appearances(ids)
        return code.astype(np.int32), ids[first]
    series = id_series("id", ids)
    known = series.unique(maintain_order=True)
    return _match(series, known).astype(np.int32), ids_array(known.to_numpy(), name)


def find_codes(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Code of each value among known ids, int64; -1 where it is not known.

    Whole numbers and texts never match: 7 is not "7".
    """
    if values.dtype.kind != known.dtype.kind or known.size == 0:
        return np.full(values.size, -1)
    return _match(id_series("id", values), id_series("id", known))


def _match(series: Any, known: Any) -> np.ndarray:
    table = known.alias("id").to_frame().with_row_index("code")
    found = series.alias("id").to_frame().join(table, on="id", how="left", maintain_order="left")
    return found["code"].cast(int).fill_null(-1).to_numpy()


@kernel
def _number_pairs(order, query, offsets, document, stamp, number, pair, pair_query, pair_document):  # type: ignore[no-untyped-def]
    n = 0
    for place in range(order.size):
        page = order[place]
        q = query[page]
        for row in range(offsets[page], offsets[page + 1]):
            d = document[row]
            if stamp[d] != q:
                stamp[d] = q
                number[d] = n
                pair_query[n] = q
                pair_document[n] = d
                n += 1
            pair[row] = number[d]
    return n


def number_pairs(
    order: np.ndarray, query: np.ndarray, offsets: np.ndarray, document: np.ndarray, n_documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of the pair of each row, and query and document of each pair; pairs of one query are contiguous.

    Pages are visited in the given order, which must be sorted by query.
    """
    stamp = np.full(n_documents, -1, np.int32)
    number = np.empty(n_documents, np.int32)
    pair = np.empty(document.size, np.int32)
    pair_query, pair_document = np.empty(document.size, np.int32), np.empty(document.size, np.int32)
    n = _number_pairs(order, query, offsets, document, stamp, number, pair, pair_query, pair_document)
    return pair, pair_query[:n].copy(), pair_document[:n].copy()
