"""Models whose click probability depends on the pair and on a cell: the rank, or rank and last click.

A log is reduced once to counts of clicks and skips per pair and cell; passes of EM then no longer depend on the number
of pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plackett._kernel import kernel, over_queries
from plackett.clicks.log import ClickLog
from plackett.clicks.models._parts import part_starts

__all__ = ["CellCounts", "browsing_cells", "count_cells", "n_browsing_cells", "rank_cells"]


def rank_cells(log: ClickLog, n_ranks: int) -> np.ndarray:
    """Rank of each row from 0; ranks below the last known one share its cell."""
    return np.minimum(log.rank, n_ranks) - 1


def n_browsing_cells(n_ranks: int) -> int:
    """Number of cells of `browsing_cells`."""
    return n_ranks * (n_ranks + 1) // 2


@kernel
def browsing_cell(last, rank, n_ranks):  # type: ignore[no-untyped-def]
    """Cell of the last clicked rank above (0 if none) and the distance to it: t (2m − t + 1) / 2 + s − 1."""
    t = min(last, n_ranks - 1)
    s = min(rank - last, n_ranks - t)
    return t * (2 * n_ranks - t + 1) // 2 + s - 1


@kernel
def _browsing_cells(lo, hi, offsets, rank, clicked, n_ranks, out):  # type: ignore[no-untyped-def]
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


@kernel
def _sort_by_pair(pair, cell, clicked, weight, page, starts, at, out_cell, out_hit, out_weight):  # type: ignore[no-untyped-def]
    for row in range(pair.size):
        place = at[pair[row]]
        at[pair[row]] += 1
        out_cell[place] = cell[row]
        out_hit[place] = clicked[row]
        out_weight[place] = weight[page[row]]


@kernel
def _merge_cells(starts, cell, hit, weight, n_cells, new_starts, out_cell, out_clicks, out_skips):  # type: ignore[no-untyped-def]
    hits = np.zeros(n_cells)
    misses = np.zeros(n_cells)
    touched = np.zeros(n_cells, np.int64)
    seen = np.zeros(n_cells, np.bool_)
    n = 0
    for p in range(starts.size - 1):
        new_starts[p] = n
        m = 0
        for i in range(starts[p], starts[p + 1]):
            c = cell[i]
            if not seen[c]:
                seen[c] = True
                touched[m] = c
                m += 1
            if hit[i]:
                hits[c] += weight[i]
            else:
                misses[c] += weight[i]
        for j in range(m):
            c = touched[j]
            out_cell[n] = c
            out_clicks[n] = hits[c]
            out_skips[n] = misses[c]
            n += 1
            hits[c] = 0.0
            misses[c] = 0.0
            seen[c] = False
    new_starts[starts.size - 1] = n
    return n


def count_cells(log: ClickLog, cell: np.ndarray, n_cells: int) -> CellCounts:
    """Counts of a log whose rows are in the given cells."""
    shown = np.bincount(log.pair, minlength=log.n_pairs)
    starts = np.concatenate(([0], np.cumsum(shown))).astype(np.int64)
    by_cell, hit = np.empty(log.n_rows, np.int32), np.empty(log.n_rows, bool)
    weight = np.empty(log.n_rows, np.float32 if log.weight is None else np.float64)
    _sort_by_pair(
        log.pair, cell, log.clicked, log.page_weight, log.page, starts, starts[:-1].copy(), by_cell, hit, weight
    )
    new_starts = np.empty_like(starts)
    clicks, skips = np.empty(log.n_rows), np.empty(log.n_rows)
    n = _merge_cells(starts, by_cell, hit, weight, n_cells, new_starts, by_cell, clicks, skips)
    cells, clicks, skips = by_cell[:n].copy(), clicks[:n].copy(), skips[:n].copy()
    pair_of = np.repeat(np.arange(log.n_pairs), np.diff(new_starts))
    return CellCounts(
        starts=new_starts,
        cell=cells,
        clicks=clicks,
        skips=skips,
        pair_clicks=np.bincount(pair_of, clicks, minlength=log.n_pairs),
        pair_shown=np.bincount(pair_of, clicks + skips, minlength=log.n_pairs),
        cell_clicks=np.bincount(cells, clicks, minlength=n_cells),
        cell_shown=np.bincount(cells, clicks + skips, minlength=n_cells),
    )
