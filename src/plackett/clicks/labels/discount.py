"""Discounted clicks: what unclicked documents would get if the log were longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plackett.clicks.log import ClickLog

if TYPE_CHECKING:
    import polars as pl

__all__ = ["discount_clicks"]


def good_turing(counts: np.ndarray, *, smooth: bool = True) -> np.ndarray:
    r"""Good and Turing's discounted counts: :math:`r^* = (r+1) N_{r+1} / N_r`, with :math:`N_r` items of count r.

    Parameters
    ----------
    counts
        Whole numbers, 0 for items that were not seen. Each of them gets :math:`N_1 / N_0`.
    smooth
        Take :math:`N_r` from a straight line through :math:`\log N_r` against :math:`\log r` (Gale and Sampson), and
        scale what is above 0 so that the sum stays. Otherwise counts are used as they are, and a count whose
        :math:`N_{r+1}` is 0 stays as it is.

    Examples
    --------
    >>> good_turing(np.array([0, 0, 1, 1, 2]), smooth=False).tolist()
    [1.0, 1.0, 1.0, 1.0, 2.0]
    """
    counts = np.asarray(counts)
    whole = np.maximum(np.rint(counts), 0).astype(np.int64)
    n = np.bincount(whole, minlength=2).astype(np.float64)
    out = counts.astype(np.float64).copy()
    if n[1] == 0:
        return out
    if n[0] > 0:
        out[whole == 0] = n[1] / n[0]
    seen = np.flatnonzero(n[1:]) + 1
    if not smooth:
        above = np.append(n, 0.0)
        changed = (n > 0) & (above[1:] > 0)
        changed[0] = False
        better = np.where(changed, (np.arange(n.size) + 1) * above[1:] / np.maximum(n, 1e-12), np.arange(n.size))
        out[whole > 0] = better[whole[whole > 0]]
        return out
    rest = whole > 0
    if seen.size >= 2:
        # averaged over the gap to the next count, without which the tail looks flat
        after, before = np.append(seen[1:], 2 * seen[-1] - seen[-2]), np.append(0, seen[:-1])
        slope, _ = np.polyfit(np.log(seen), np.log(n[seen] / (0.5 * (after - before))), 1)
        if slope < -1:
            out[rest] = whole[rest] * (1.0 + 1.0 / whole[rest]) ** (slope + 1.0)
    target = whole.sum() - (n[1] if n[0] > 0 else 0.0)
    if out[rest].sum() > 0 and target > 0:
        out[rest] *= target / out[rest].sum()
    return out


def discount_clicks(log: ClickLog, *, smooth: bool = True) -> pl.DataFrame:
    """Clicks of shown pairs, discounted so that pairs without a click get their share: query, document, label, weight.

    A log is a sample: a pair that was shown but not clicked may still deserve some clicks. `good_turing` moves as many
    clicks to these pairs as there are pairs with one click. The sum of all clicks stays the same.

    References
    ----------
    Gao, Yuan, Li, Deng, Nie: Smoothing clickthrough data for web search ranking. SIGIR 2009.

    Examples
    --------
    >>> log = ClickLog.from_arrays(["q"] * 3, [["a", "b", "c"]] * 3, [[1, 0, 0], [1, 1, 0], [0, 0, 0]])
    >>> discount_clicks(log)["label"].round(2).to_list()
    [1.33, 0.67, 1.0]
    """
    import polars as pl

    frame = log.pair_frame()
    label = good_turing(frame["clicked"].to_numpy(), smooth=smooth)
    return frame.select("query", "document", pl.Series("label", label), pl.col("shown").alias("weight"))
