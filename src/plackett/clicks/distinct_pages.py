"""Which pages of a log are the same, and how often each was seen."""

from __future__ import annotations

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import mix


@kernel
def _page_hashes(offsets, query, document, rank, clicked, out):
    for page in range(query.size):
        h = mix(np.uint64(query[page]))
        for row in range(offsets[page], offsets[page + 1]):
            h = mix(h ^ (np.uint64(document[row]) * np.uint64(2) + np.uint64(clicked[row])))
            h = mix(h ^ np.uint64(rank[row]))
        out[page] = h


@kernel
def _confirm(order, starts, offsets, query, document, rank, clicked):
    """Whether the pages of each group are the same as the first one."""
    for g in range(starts.size - 1):
        first = order[starts[g]]
        a = offsets[first]
        n = offsets[first + 1] - a
        for i in range(starts[g] + 1, starts[g + 1]):
            page = order[i]
            b = offsets[page]
            if query[page] != query[first] or offsets[page + 1] - b != n:
                return False
            for j in range(n):
                if document[a + j] != document[b + j] or clicked[a + j] != clicked[b + j]:
                    return False
                if rank[a + j] != rank[b + j]:
                    return False
    return True


def distinct_pages(
    offsets: np.ndarray,
    query: np.ndarray,
    document: np.ndarray,
    rank: np.ndarray,
    clicked: np.ndarray,
    weight: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The first of each set of equal pages (query, documents, ranks, clicked ones), and the sums of their weights."""
    n_pages = query.size
    hashes = np.empty(n_pages, np.uint64)
    _page_hashes(offsets, query, document, rank, clicked, hashes)
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, n_pages), bool), ordered[1:] != ordered[:-1])))
    if not _confirm(order, np.append(starts, n_pages), offsets, query, document, rank, clicked):
        raise DataError("two different pages share a hash of 64 bits: split the log and collapse its parts")
    sums = np.add.reduceat(weight[order], starts) if starts.size else np.zeros(0)
    first = order[starts]
    back = np.argsort(first, kind="stable")
    return first[back], sums[back]
