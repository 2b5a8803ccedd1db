"""For which queries a new ranker may replace the logged one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.clicks.log import ClickLog
from plackett.clicks.off_policy.evaluate import evaluate_off_policy
from plackett.data.frame_columns import id_series

if TYPE_CHECKING:
    import polars as pl

__all__ = ["safe_choices"]


def safe_choices(
    log: ClickLog, run: Any, method: str = "item-position", *, confidence: float = 0.95, **options: Any
) -> pl.DataFrame:
    """Decide per query whether the new ranker may replace the logged one: query, pages, difference, lower, new.

    The new list of a query is taken only if the lower end of a one-sided interval of its gain in clicks per page is
    above 0. Queries with little exposure of the new order have wide intervals and keep their old list. Intervals are
    per query: with many queries, some changes will be wrong by chance, at most a share of 1 − ``confidence``.

    Parameters
    ----------
    confidence
        Probability that the gain of a query is real.

    References
    ----------
    Gupta, Oosterhuis, de Rijke: Safe deployment for counterfactual learning to rank with exposure-based risk
    minimization. SIGIR 2023.
    """
    import polars as pl
    from scipy.special import stdtrit

    estimate = evaluate_off_policy(log, run, method, warn=False, **options)
    pages = log.select(estimate.pages)
    gains = pages.actions if options.get("reward") == "actions" else pages.clicked
    own = np.bincount(pages.page, gains * (pages.rank <= options.get("k", 10)), minlength=pages.n_pages)
    gap = estimate.page_values - own

    def per_query(values: np.ndarray) -> np.ndarray:
        return np.bincount(pages.query, values * pages.page_weight, minlength=pages.n_queries)

    n = per_query(np.ones(pages.n_pages))
    asked = np.flatnonzero(n > 0)
    n = n[asked]
    mean = per_query(gap)[asked] / n
    square = per_query(gap**2)[asked] / n
    spread = np.sqrt(np.maximum(square - mean**2, 0.0) / np.maximum(n - 1, 1))
    # if no page supports the new order, the spread is 0 by chance, which is not evidence
    support = per_query(estimate.page_values != 0)[asked]
    lower = np.where((n > 1) & (support > 1), mean - stdtrit(np.maximum(n - 1, 1), confidence) * spread, -np.inf)
    return pl.DataFrame(
        [
            id_series("query", pages.queries).gather(asked),
            pl.Series("pages", n),
            pl.Series("difference", mean),
            pl.Series("lower", lower),
            pl.Series("new", lower > 0),
        ]
    )
