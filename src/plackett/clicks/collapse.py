"""Distinct pages with counts, and one log out of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import mix
from plackett.clicks._codes import codes
from plackett.clicks.log import PAGES, ROWS, ClickLog


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


def collapse(log: ClickLog) -> ClickLog:
    """See `ClickLog.collapse`."""
    hashes = np.empty(log.n_pages, np.uint64)
    _page_hashes(log.offsets, log.query, log.document, log.rank, log.clicked, hashes)
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, log.n_pages), bool), ordered[1:] != ordered[:-1])))
    ends = np.append(starts, log.n_pages)
    if not _confirm(order, ends, log.offsets, log.query, log.document, log.rank, log.clicked):
        raise DataError("two different pages share a hash of 64 bits: split the log and collapse its parts")
    weight = np.add.reduceat(log.page_weight[order], starts) if starts.size else np.zeros(0)
    first = order[starts]
    back = np.argsort(first, kind="stable")
    kept = log.select(first[back])
    drop: dict[str, Any] = dict.fromkeys(({*ROWS} - {"ranks"}) | {*PAGES, "rankers"})
    return kept.replace(**(drop | {"weight": weight[back], "clicks": kept.clicked.astype(np.int32)}))


def concat(logs: list[ClickLog]) -> ClickLog:
    """See `ClickLog.concat`."""
    if not logs:
        raise DataError("no logs to put together")

    def joined(ids: str, code: str) -> tuple[np.ndarray, np.ndarray]:
        kinds = {getattr(log, ids).dtype.kind for log in logs if getattr(log, ids).size}
        if len(kinds) > 1:
            raise DataError(f"{ids} are whole numbers in one log and texts in another")
        parts = [getattr(log, ids) for log in logs if getattr(log, ids).size]
        if not parts:
            return np.zeros(0, np.int32), getattr(logs[0], ids)
        new, known = codes(np.concatenate(parts), ids)
        starts = np.cumsum([0, *(getattr(log, ids).size for log in logs)])
        new_codes = [new[a + getattr(log, code)] for a, log in zip(starts, logs, strict=False)]
        return np.concatenate(new_codes), known

    query, queries = joined("queries", "query")
    document, documents = joined("documents", "document")
    sizes = np.concatenate([log.lengths for log in logs])
    changes: dict[str, Any] = {}
    for name in (*ROWS, *PAGES):
        parts = [getattr(log, name) for log in logs]
        changes[name] = None if any(part is None for part in parts) else np.concatenate(parts)
    if any(log.ranks is not None for log in logs):
        changes["ranks"] = np.concatenate([log.rank for log in logs])
    if any(log.weight is not None for log in logs):
        changes["weight"] = np.concatenate([log.page_weight for log in logs])
    changes["rankers"] = None
    if changes["ranker"] is not None:
        changes["ranker"], changes["rankers"] = joined("rankers", "ranker")
    return ClickLog(
        offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        query=query,
        document=document,
        clicks=np.concatenate([log.clicks for log in logs]),
        queries=queries,
        documents=documents,
        **changes,
    ).checked()
