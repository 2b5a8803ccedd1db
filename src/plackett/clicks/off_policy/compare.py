"""Several new rankers on one log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.off_policy.evaluate import evaluate_off_policy, mean_error

if TYPE_CHECKING:
    import polars as pl

__all__ = ["compare_off_policy"]


def compare_off_policy(
    log: ClickLog, runs: dict[str, Any], method: str = "item-position", **options: Any
) -> pl.DataFrame:
    """Estimates of several rankers, and their differences from the first one with intervals on the same pages.

    Parameters
    ----------
    runs
        Lists by name; with ``data``, fitted rankers or scores. All must have lists for the same queries of the log.
    options
        As in `evaluate_off_policy`.
    """
    import polars as pl
    from scipy.special import ndtri

    estimates = {name: evaluate_off_policy(log, run, method, **options) for name, run in runs.items()}
    first = next(iter(estimates.values()))
    if not all(np.array_equal(each.pages, first.pages) for each in estimates.values()):
        raise DataError("the runs have lists for different queries of the log; give them the same queries")
    half = float(ndtri((1 + options.get("level", 0.95)) / 2))
    weight = log.page_weight[first.pages]
    rows = []
    for name, each in estimates.items():
        gap = each.page_values - first.page_values
        mean = float((weight * gap).sum() / weight.sum())
        # resamples have the same seed, so all use the same pages
        moved = each.resampled - first.resampled
        error = float(np.std(moved, ddof=1)) if moved.size else mean_error(gap, weight)
        rows.append(
            {
                "ranker": name,
                f"{options.get('reward', 'clicks')}_per_page": each.value,
                "lower": each.lower,
                "upper": each.upper,
                "difference": mean,
                "difference_lower": mean - half * error,
                "difference_upper": mean + half * error,
                "effective_pages": each.effective_pages,
                "matched": each.matched,
                "doubts": "; ".join(each.doubts),
            }
        )
    return pl.DataFrame(rows)
