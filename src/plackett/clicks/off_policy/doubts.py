"""How much a log can say about new lists, and why the answer may be wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.clicks.off_policy.methods import WITH_MODEL, Case

#: An answer from fewer effective pages should not be trusted.
FEW_PAGES = 100


def effective_pages(case: Case, weight: np.ndarray) -> float:
    """Smallest over ranks of (Σw)² / Σw²."""
    log, rank = case.log, case.log.rank - 1
    inside = log.rank <= case.k
    first = np.bincount(rank[inside], (weight * log.row_weight)[inside])
    second = np.bincount(rank[inside], (weight**2 * log.row_weight)[inside])
    return float(np.min(np.divide(first**2, second, out=np.zeros_like(first), where=second > 0), initial=np.inf))


def matched_share(case: Case) -> float:
    """Share of entries of the new lists, weighted by pages of the query, that the log has shown at the same rank."""
    log, new = case.log, case.new
    n, m = log.documents.size, case.k + 1
    within = log.rank <= case.k
    shown = np.unique(((log.query[log.page].astype(np.int64) * (n + 1) + log.document) * m + log.rank)[within])
    pages = np.bincount(log.query, log.page_weight, minlength=log.n_queries)[new.query]
    key = (new.query.astype(np.int64) * (n + 1) + np.where(new.document >= 0, new.document, n)) * m + new.rank
    hit = np.isin(key, shown) & (new.document >= 0)
    return float((pages * hit).sum() / max(pages.sum(), 1e-12))


def doubts_about(
    case: Case, method: str, effective: float, matched: float, lost: int, pages: int, example: Any
) -> list[str]:
    """Sentences for what speaks against an estimate."""
    doubts = []
    if lost:
        doubts.append(f"{lost} of {pages} pages have a query without a new list, such as {example!r}")
    if method in WITH_MODEL:
        below = int(case.new.rank.max(initial=0))
        if below > case.log.longest:
            doubts.append(
                f"the log shows ranks up to {case.log.longest}, the new lists go down to {below}: the click model "
                f"extrapolates (k={case.log.longest} leaves those out)"
            )
    if case.worth is not None:
        doubts += case.worth.doubts()
    if method == "model":
        if matched < 0.5:
            doubts.append(f"only {matched:.0%} of the new lists was ever shown: the click model extrapolates")
        return doubts
    if effective < FEW_PAGES:
        doubts.append(f"it has the information of {effective:.0f} pages only")
    if method not in WITH_MODEL and matched < 0.9:
        doubts.append(
            f"{1 - matched:.0%} of the new lists was never shown: these clicks are missing from the estimate, "
            "which is too low"
        )
    return doubts
