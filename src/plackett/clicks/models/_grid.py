"""Posteriors of one probability per pair on a grid: products of one factor per impression."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.clicks.models.log_parts import part_starts

#: Midpoints of equal steps: the ends, where a factor may be 0, are left out.
GRID = (np.arange(200) + 0.5) / 200


@kernel
def density_moments(level, top, grid, tail):
    """Mean, variance, lower and upper end of an interval of a density on a grid of the unit interval.

    ``level`` is its logarithm, up to a constant, and ``top`` the largest of them; the levels become densities.
    """
    n = grid.size
    total = 0.0
    first = 0.0
    second = 0.0
    for g in range(n):
        level[g] = np.exp(level[g] - top)
        total += level[g]
        first += level[g] * grid[g]
        second += level[g] * grid[g] * grid[g]
    low = -1.0
    high = 1.0
    run = 0.0
    for g in range(n):
        before = run
        run += level[g] / total
        if low < 0.0 and run >= tail:
            low = (g + (tail - before) / max(run - before, 1e-300)) / n
        if run >= 1.0 - tail:
            high = (g + (1.0 - tail - before) / max(run - before, 1e-300)) / n
            break
    return first / total, second / total - (first / total) ** 2, max(low, 0.0), high


@kernel
def _moments(lo, hi, part_entries, part_pairs, starts, cell, count, hits, table, log_grid, grid, tail, out):
    n = grid.size
    level = np.empty(n)
    for p in range(part_pairs[lo], part_pairs[hi]):
        for g in range(n):
            level[g] = hits[p] * log_grid[g]
        for i in range(starts[p], starts[p + 1]):
            if count[i] != 0.0:
                row = table[cell[i]]
                for g in range(n):
                    level[g] += count[i] * row[g]
        top = -np.inf
        for g in range(n):
            top = max(top, level[g])
        out[0, p], out[1, p], out[2, p], out[3, p] = density_moments(level, top, grid, tail)


def grid_moments(
    starts: np.ndarray,
    cell: np.ndarray,
    count: np.ndarray,
    hits: np.ndarray,
    table: np.ndarray,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Mean, variance, lower and upper end of an interval of each pair, as four rows.

    The log-density of pair p at grid point R is ``hits[p] log R`` plus the sum over its entries of
    ``count · table[cell]``.
    """
    out = np.zeros((4, hits.size))
    part_pairs, part_entries = part_starts(starts)
    over_queries(
        _moments,
        part_entries,
        part_pairs,
        starts,
        cell,
        count,
        hits,
        table,
        np.log(GRID),
        GRID,
        (1 - level) / 2,
        out,
        n_jobs=n_jobs,
        rows_per_thread=1000,
    )
    return out


def grid_weights(
    pair: int, starts: np.ndarray, cell: np.ndarray, count: np.ndarray, hits: np.ndarray, table: np.ndarray
) -> np.ndarray:
    """Posterior of one pair on the grid, summing to 1."""
    chosen = slice(starts[pair], starts[pair + 1])
    level = hits[pair] * np.log(GRID) + count[chosen] @ table[cell[chosen]]
    weights = np.exp(level - level.max())
    return weights / weights.sum()
