"""Models whose click probability depends on the pair and on a cell: the rank, or rank and last click.

A log is reduced once to counts of clicks and skips per pair and cell; passes of EM then no longer depend on the number
of pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.cached import cached_property
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett.clicks._codes import TOUCHED
from plackett.clicks.log import ClickLog
from plackett.clicks.models.log_parts import part_starts
from plackett.data.read_only import read_only


def rank_cells(log: ClickLog, n_ranks: int) -> np.ndarray:
    """Rank of each row from 0; ranks below the last known one share its cell."""
    return np.minimum(log.rank, n_ranks) - 1


def n_browsing_cells(n_ranks: int) -> int:
    """Number of cells of `browsing_cells`."""
    return n_ranks * (n_ranks + 1) // 2


@kernel
def browsing_cell(last, rank, n_ranks):
    """Cell of the last clicked rank above (0 if none) and the distance to it: t (2m − t + 1) / 2 + s − 1."""
    t = min(last, n_ranks - 1)
    s = min(rank - last, n_ranks - t)
    return t * (2 * n_ranks - t + 1) // 2 + s - 1


@kernel
def _browsing_cells(lo, hi, offsets, rank, clicked, n_ranks, out):
    for page in range(lo, hi):
        last = 0
        for row in range(offsets[page], offsets[page + 1]):
            out[row] = browsing_cell(last, rank[row], n_ranks)
            if clicked[row]:
                last = rank[row]


def browsing_cells(log: ClickLog, n_ranks: int) -> np.ndarray:
    """Cell of each row by the last click above it and the distance to it."""
    out = np.empty(log.n_rows, np.int32)
    over_queries(_browsing_cells, log.offsets, log.rank, log.clicked, n_ranks, out)
    return out


@dataclass(frozen=True)
class CellCounts:
    """Clicks and skips of pairs in cells, sorted by pair.

    Pair ``p`` has the entries ``starts[p]:starts[p + 1]``, each with a cell, clicks and skips. Clicks and all
    impressions are also summed by pair and by cell.
    """

    starts: np.ndarray
    cell: np.ndarray
    clicks: np.ndarray
    skips: np.ndarray
    pair_clicks: np.ndarray
    pair_shown: np.ndarray
    cell_clicks: np.ndarray
    cell_shown: np.ndarray

    @cached_property
    def pair(self) -> np.ndarray:
        """Pair of each entry."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Pairs cut into parts: first pair and first entry of each."""
        return part_starts(self.starts)


#: How the cell of a row is determined: it is given, it is the rank, or it depends on the rank and the last click.
GIVEN, RANK, BROWSING = range(3)


@kernel
def _read_ahead(order, at, end, offsets, pair, clicks):
    """Read the first and last row of the next pages, all at once; the sum only keeps the reads from being left out."""
    ahead = 0
    for i in range(at, min(at + TOUCHED, end)):
        a = offsets[order[i]]
        b = offsets[order[i] + 1] - 1
        if a <= b:
            ahead += pair[a] + pair[b] + clicks[a] + clicks[b]
    return ahead


@kernel
def _page_codes(begin, end, first, rows, kind, n_ranks, m, local, code, ends):
    """Pair, from the first one of its query, and code of each row of a page; rows are counted by pair."""
    pair, ranks, cell, clicks = rows
    last = 0
    for row in range(begin, end):
        rank = ranks[row] if ranks.size else row - begin + 1
        hit = clicks[row] > 0
        if kind == BROWSING:
            c = browsing_cell(last, rank, n_ranks)
        elif kind == RANK:
            c = min(rank, n_ranks) - 1
        else:
            c = cell[row]
        if hit:
            last = rank
        p = pair[row] - first
        ends[p + 1] += 1
        local[m] = p
        code[m] = 2 * c + hit
        m += 1
    return m


@kernel
def _merge(begin, end, n, code, mass, weighted, slot, out, cell_clicks, cell_shown):
    """The entries of one pair, from number n on, out of its rows; the next number, and the pair's clicks and pages."""
    out_cell, out_clicks, out_skips = out
    start = n
    hits = 0.0
    shown = 0.0
    for i in range(begin, end):
        c = code[i] >> 1
        w = mass[i] if weighted else 1.0
        e = slot[c]
        if e < 0:
            e = n
            slot[c] = n
            out_cell[n] = c
            out_clicks[n] = 0.0
            out_skips[n] = 0.0
            n += 1
        shown += w
        cell_shown[c] += w
        if code[i] & 1:
            out_clicks[e] += w
            cell_clicks[c] += w
            hits += w
        else:
            out_skips[e] += w
    for e in range(start, n):
        slot[out_cell[e]] = -1
    return n, hits, shown


@kernel
def _count(lo, hi, part_rows, part_queries, pages, rows, kind, n_ranks, out, by_pair, by_cell, used):
    """Entries of the pairs of each part, written from the first row of the part on.

    Rows of one query at a time are sorted by pair, by counting, and merged by cell: what that takes stays in the cache.
    """
    order, query_pages, query_rows, query_pairs, offsets, weight = pages
    sizes, pair_clicks, pair_shown = by_pair
    cell_clicks, cell_shown = by_cell
    most_rows = longest(part_queries[lo], part_queries[hi], query_rows)
    most_pairs = longest(part_queries[lo], part_queries[hi], query_pairs)
    weighted = weight.size > 0
    end = query_pages[part_queries[hi]]
    ahead = 0
    local = np.empty(most_rows, np.int32)
    code = np.empty(most_rows, np.int32)  # twice the cell, and one more for a click
    sorted_code = np.empty(most_rows, np.int32)
    mass = np.ones(most_rows if weighted else 1)
    sorted_mass = np.ones(most_rows if weighted else 1)
    ends = np.zeros(most_pairs + 1, np.int64)
    slot = np.full(cell_clicks.shape[1], -1, np.int64)  # entry of each cell, of the pair at hand
    for part in range(lo, hi):
        n = part_rows[part]
        for q in range(part_queries[part], part_queries[part + 1]):
            first = query_pairs[q]
            n_pairs = query_pairs[q + 1] - first
            ends[: n_pairs + 1] = 0
            m = 0
            for at in range(query_pages[q], query_pages[q + 1]):
                if at % TOUCHED == 0:
                    ahead += _read_ahead(order, at, end, offsets, rows[0], rows[3])
                a, b = offsets[order[at]], offsets[order[at] + 1]
                if weighted:
                    mass[m : m + b - a] = weight[order[at]]
                m = _page_codes(a, b, first, rows, kind, n_ranks, m, local, code, ends)
            for p in range(n_pairs):
                ends[p + 1] += ends[p]
            for i in range(m):
                sorted_row = ends[local[i]]
                ends[local[i]] += 1
                sorted_code[sorted_row] = code[i]
                if weighted:
                    sorted_mass[sorted_row] = mass[i]
            begin = 0
            for p in range(n_pairs):
                before = n
                n, pair_clicks[first + p], pair_shown[first + p] = _merge(
                    begin,
                    ends[p],
                    n,
                    sorted_code,
                    sorted_mass,
                    weighted,
                    slot,
                    out,
                    cell_clicks[part],
                    cell_shown[part],
                )
                sizes[first + p] = n - before
                begin = ends[p]
        used[part] = n - part_rows[part]
    return ahead


@kernel
def _close_gaps(starts, used, values):
    n = 0
    for part in range(used.size):
        for i in range(starts[part], starts[part] + used[part]):
            values[n] = values[i]
            n += 1


def count_cells(log: ClickLog, cell: np.ndarray, n_cells: int, n_jobs: int | None = None) -> CellCounts:
    """Counts of a log whose rows are in the given cells."""
    return _counted(log, GIVEN, cell, n_cells, 0, n_jobs)


def count_ranks(log: ClickLog, n_ranks: int, n_jobs: int | None = None) -> CellCounts:
    """Counts by rank: ranks below the last known one share its cell.

    The log remembers them if they are much smaller than it is: several methods on one log count it once.
    """
    kept: dict[int, CellCounts] = log.__dict__.setdefault("_rank_counts", {})
    if n_ranks in kept:
        return kept[n_ranks]
    counts = _counted(log, RANK, np.zeros(0, np.int32), n_ranks, n_ranks, n_jobs)
    if counts.cell.size <= log.n_rows // 8:
        kept[n_ranks] = counts
    return counts


def count_browsing(log: ClickLog, n_ranks: int, n_jobs: int | None = None) -> CellCounts:
    """Counts by rank and last click above it; see `browsing_cells`."""
    return _counted(log, BROWSING, np.zeros(0, np.int32), n_browsing_cells(n_ranks), n_ranks, n_jobs)


def _counted(log: ClickLog, kind: int, cell: np.ndarray, n_cells: int, n_ranks: int, n_jobs: int | None) -> CellCounts:
    n_rows, n_pairs = log.n_rows, log.n_pairs
    part_queries, part_rows = part_starts(log.query_rows)
    n_parts = part_rows.size - 1
    # memory that is never written to is not allocated: what the parts leave free costs nothing
    entries = np.empty(n_rows, np.uint16), np.empty(n_rows), np.empty(n_rows)
    by_pair = np.empty(n_pairs, np.int64), np.empty(n_pairs), np.empty(n_pairs)
    by_cell = np.zeros((n_parts, n_cells)), np.zeros((n_parts, n_cells))
    used = np.zeros(n_parts, np.int64)
    weight, ranks = (
        read_only(np.zeros(0, dtype) if each is None else each)
        for each, dtype in ((log.weight, np.float64), (log.ranks, np.int32))
    )
    pages = log.by_query, log.query_pages, log.query_rows, log.query_pairs, log.offsets, weight
    over_queries(
        _count,
        part_rows,
        part_queries,
        pages,
        (log.pair, ranks, read_only(cell), log.clicks),
        kind,
        n_ranks,
        entries,
        by_pair,
        by_cell,
        used,
        n_jobs=n_jobs,
    )
    for values in entries:
        _close_gaps(part_rows, used, values)
    n = int(used.sum())
    cell_clicks, cell_shown = (sums.sum(axis=0) for sums in by_cell)
    return CellCounts(
        starts=np.concatenate(([0], np.cumsum(by_pair[0]))),
        cell=entries[0][:n],
        clicks=entries[1][:n],
        skips=entries[2][:n],
        pair_clicks=by_pair[1],
        pair_shown=by_pair[2],
        cell_clicks=cell_clicks,
        cell_shown=cell_shown,
    )


def rank_counts(log: ClickLog) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pair, rank from 0, clicks and impressions of each pair at each rank where it was shown, by pair and rank."""
    counts = count_ranks(log, log.longest)
    order = np.lexsort((counts.cell, counts.pair))
    clicks, skips = counts.clicks[order], counts.skips[order]
    return counts.pair[order], counts.cell[order], clicks, clicks + skips
