"""Ids as small whole numbers: codes, and the pairs of query and document of a log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.data.frame_columns import id_series
from plackett.data.grouping import first_appearances, ids_array


def codes(values: Any, name: str = "ids", *, blank: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Code of each value, int32 in the order of first appearance, and the id of each code; see `ids_array`.

    >>> codes(["b", "a", "b"])[0].tolist()
    [0, 1, 0]
    """
    ids = ids_array(values, name, blank=blank)
    if ids.size == 0:
        return np.zeros(0, np.int32), ids
    if ids.dtype.kind == "i":
        first, code = first_appearances(ids)
        return code.astype(np.int32), ids[first]
    series = id_series("id", ids)
    known = series.unique(maintain_order=True)
    return _match(series, known).astype(np.int32), ids_array(known.to_numpy(), name, blank=blank)


def joined_codes(parts: Sequence[tuple[np.ndarray, np.ndarray]], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes of several logs, one after another, and the ids of all of them, from the codes and the ids of each."""
    filled = [ids for _, ids in parts if ids.size]
    if len({ids.dtype.kind for ids in filled}) > 1:
        raise DataError(f"{name} are whole numbers in one log and texts in another")
    if not filled:
        return np.zeros(0, np.int32), parts[0][1]
    new, known = codes(np.concatenate(filled), name)
    starts = np.cumsum([0, *(ids.size for _, ids in parts)])
    return np.concatenate([new[a + code] for a, (code, _) in zip(starts, parts, strict=False)]), known


def find_codes(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Code of each value among known ids, int64; -1 where it is not known.

    Whole numbers and texts never match: 7 is not "7".
    """
    if values.dtype.kind != known.dtype.kind or known.size == 0:
        return np.full(values.size, -1)
    return _match(id_series("id", values), id_series("id", known))


def _match(series: Any, known: Any) -> np.ndarray:
    table = known.alias("id").to_frame().with_row_index("code")
    matched = series.alias("id").to_frame().join(table, on="id", how="left", maintain_order="left")
    return matched["code"].cast(int).fill_null(-1).to_numpy()


#: Pages whose first and last row are read ahead, all at once: pages of a query lie far apart, and a kernel that waits
#: for one at a time spends most of its time waiting.
TOUCHED = 16


@kernel
def _number_pairs(order, query_pages, offsets, document, stamp, number, pair, pair_document, query_pairs):
    n = 0
    ahead = 0
    for q in range(query_pages.size - 1):
        query_pairs[q] = n
        for at in range(query_pages[q], query_pages[q + 1]):
            if at % TOUCHED == 0:
                for i in range(at, min(at + TOUCHED, order.size)):
                    a = offsets[order[i]]
                    b = offsets[order[i] + 1] - 1
                    if a <= b:
                        ahead += document[a] + document[b]
            page = order[at]
            for row in range(offsets[page], offsets[page + 1]):
                d = document[row]
                if stamp[d] != q:
                    stamp[d] = q
                    number[d] = n
                    pair_document[n] = d
                    n += 1
                pair[row] = number[d]
    query_pairs[query_pages.size - 1] = n
    return ahead


def number_pairs(
    order: np.ndarray, query_pages: np.ndarray, offsets: np.ndarray, document: np.ndarray, n_documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number of the pair of each row, document of each pair, and first pair of each query.

    Pages are visited in the given order, where query q has ``query_pages[q]:query_pages[q + 1]``: the pairs
    of one query are contiguous.
    """
    stamp = np.full(n_documents, -1, np.int32)
    number = np.empty(n_documents, np.int32)
    pair, pair_document = np.empty(document.size, np.int32), np.empty(document.size, np.int32)
    query_pairs = np.empty(query_pages.size, np.int64)
    _number_pairs(order, query_pages, offsets, document, stamp, number, pair, pair_document, query_pairs)
    return pair, pair_document[: query_pairs[-1]].copy(), query_pairs
