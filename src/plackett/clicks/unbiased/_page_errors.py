"""Covariance of harvested propensities: what they would be without each page."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.clicks.log import ClickLog
from plackett.clicks.models.log_parts import part_starts


def left_out_pages(
    log: ClickLog, cells: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray], weight: np.ndarray
) -> np.ndarray:
    r"""Sum over pages of :math:`d d^\top`: d is what the normal equations of the logarithms lose without the page.

    A page has clicks at several ranks, and a click takes part in the ratios to all ranks at which the document was
    shown: neither is independent of the other. So the page is the unit, and is left out as a whole (jackknife).
    A document that was shown n times counts :math:`(n - 1) / n`: of two pages, either takes away all that it tells.

    Parameters
    ----------
    cells
        Pair, rank from 0, clicks and impressions, as `plackett.clicks.models.cells.rank_counts` has them.
    weight
        Ranks × ranks: weight of the logarithm of the ratio of ranks k and l, divided by the sum over pairs
        :math:`\sum_p c_{pk}\, n_{pl} / (n_{pk} + n_{pl})`; 0 for ratios that are not used.
    """
    pages, rows = part_starts(log.offsets)
    sums = np.zeros((pages.size - 1, *weight.shape))
    given = log.page_weight
    unit = min(1.0, float(given.min(initial=1.0, where=given > 0)))
    starts = np.searchsorted(cells[0], np.arange(log.n_pairs + 1))
    table = (log.offsets, log.pair, log.rank, log.clicked, given)
    over_queries(_leave_out, rows, pages, table, (starts, *cells[1:]), weight, unit, sums)
    return sums.sum(axis=0)


@kernel
def _leave_out(lo, hi, part_rows, part_pages, table, cells, weight, unit, sums):
    offsets, pair, ranks, clicked, given = table
    starts, rank, clicks, shown = cells
    lost = np.zeros(weight.shape[0])
    for part in range(lo, hi):
        for page in range(part_pages[part], part_pages[part + 1]):
            if given[page] <= 0.0:
                continue
            lost[:] = 0.0
            for row in range(offsets[page], offsets[page + 1]):
                k = ranks[row] - 1
                first, last = starts[pair[row]], starts[pair[row] + 1]
                at = first
                total = 0.0
                for b in range(first, last):
                    total += shown[b]
                    if rank[b] == k:
                        at = b
                share = np.sqrt(max(total - unit, 0.0) / total)
                click = unit if clicked[row] else 0.0
                for b in range(first, last):
                    l_ = rank[b]
                    if l_ == k or shown[b] <= 0.0:
                        continue
                    both = shown[at] + shown[b]
                    own = shown[b] * (clicks[at] / both - (clicks[at] - click) / (both - unit))
                    other = clicks[b] * (shown[at] / both - (shown[at] - unit) / (both - unit))
                    change = share * (weight[k, l_] * own - weight[l_, k] * other)
                    lost[k] += change
                    lost[l_] -= change
            # a page of weight 3 is three pages; one of weight .1 is one, though smaller
            times = max(given[page], 1.0) * (min(given[page], 1.0) / unit) ** 2
            for k in range(lost.size):
                for l_ in range(lost.size):
                    sums[part, k, l_] += times * lost[k] * lost[l_]
