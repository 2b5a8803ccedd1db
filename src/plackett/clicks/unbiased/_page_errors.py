"""Covariance of harvested propensities: what they would be without each page."""

from __future__ import annotations

import numpy as np

from plackett.clicks.log import ClickLog

__all__ = ["Cells", "left_out_pages"]

#: Pair, rank from 0, clicks and impressions of each pair at each rank where it was shown, by pair and rank.
Cells = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

#: Numbers of a table of pages × ranks that is filled at once.
_BLOCK = 4_000_000


def left_out_pages(log: ClickLog, cells: Cells, weight: np.ndarray) -> np.ndarray:
    r"""Sum over pages of :math:`d d^\top`, where d is what the normal equations of the logarithms lose without the page.

    A page has clicks at several ranks, and a click takes part in the ratios to all ranks at which the document was
    shown: neither is independent of the other. So the page is the unit, and is left out as a whole (jackknife).
    The same query has to be on other pages for that, and :math:`(n - 1) / n` for a document on n pages makes up for
    those that lose all they have been compared with.

    Parameters
    ----------
    weight
        Ranks × ranks: weight of the logarithm of the ratio of ranks k and l, divided by the sum over pairs
        :math:`\sum_p c_{pk}\, n_{pl} / (n_{pk} + n_{pl})`; 0 for ratios that are not used.
    """
    from scipy.sparse import csr_array

    pair, rank, _, shown = cells
    m, pages = weight.shape[0], log.page_weight
    unit = min(1.0, float(pages[pages > 0].min()))  # a page of weight 3 is three pages, one of weight .1 is one
    row, column, value = _changes(cells, weight, unit)
    total = np.bincount(pair, shown)[pair]
    value *= np.sqrt((total - unit) / total)[row // 2]
    changes = csr_array((value, (row, column)), shape=(2 * pair.size, m))
    found, step = np.zeros((m, m)), max(1, _BLOCK // m)
    keys = pair.astype(np.int64) * m + rank
    for start in range(0, log.n_pages, step):
        stop = min(start + step, log.n_pages)
        rows = slice(log.offsets[start], log.offsets[stop])
        cell = np.searchsorted(keys, log.pair[rows].astype(np.int64) * m + log.rank[rows] - 1)
        which = 2 * cell + log.clicked[rows]
        starts = log.offsets[start : stop + 1] - log.offsets[start]
        on_page = csr_array((np.ones(which.size), which, starts), shape=(stop - start, 2 * pair.size))
        lost = (on_page @ changes).toarray()
        found += lost.T @ (lost * (pages[start:stop] / unit)[:, None])
    return found


def _changes(cells: Cells, weight: np.ndarray, unit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What an impression less in each cell, without (even rows) and with a click (odd), changes: row, rank, value."""
    pair, rank, clicks, shown = cells
    rows, columns, values = [], [], []
    for own, other in compared(pair):
        for a, b in ((own, other), (other, own)):
            k, l_ = rank[a], rank[b]
            both = shown[a] + shown[b]
            fewer = both - unit
            theirs = clicks[b] * (shown[a] / both - (shown[a] - unit) / fewer)
            for click in (0, 1):
                ours = shown[b] * (clicks[a] / both - (clicks[a] - click * unit) / fewer)
                change = weight[k, l_] * ours - weight[l_, k] * theirs
                rows += [2 * a + click, 2 * a + click]
                columns += [k, l_]
                values += [change, -change]
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def compared(pair: np.ndarray):
    """Entries of the same pair, two by two."""
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, pair.size), bool), np.diff(pair) > 0)))
    sizes = np.diff(np.append(starts, pair.size))
    for gap in range(1, int(sizes.max(initial=1))):
        first = np.flatnonzero(np.arange(pair.size) + gap < np.repeat(starts + sizes, sizes))
        yield first, first + gap
