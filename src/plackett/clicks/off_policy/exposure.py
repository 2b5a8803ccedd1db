"""A bound of the value of a new ranker by how differently it exposes documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.off_policy.lists import NewLists, new_lists, run_of
from plackett.clicks.unbiased.weights import examination_of
from plackett.data.dataset import RankingDataset
from plackett.data.frame_columns import id_series

if TYPE_CHECKING:
    import polars as pl

__all__ = ["exposure_bound"]


@dataclass(frozen=True)
class ExposureBound:
    """Result of `exposure_bound`.

    Attributes
    ----------
    value, lower
        Estimated clicks per page of the new ranker, and its lower bound. Minus infinity if the new ranker shows
        documents that the log has never exposed.
    logged
        Clicks per page of the log.
    divergence
        How different the exposure is; 1 is the same.
    safe
        Whether the bound is above what was logged.
    queries
        The same for each query: query, pages, value, lower, logged, divergence, new.
    """

    value: float
    lower: float
    logged: float
    divergence: float
    safe: bool
    queries: pl.DataFrame


def exposure_bound(
    log: ClickLog,
    run: Any,
    propensities: Any,
    *,
    data: RankingDataset | None = None,
    k: int = 10,
    confidence: float = 0.95,
) -> ExposureBound:
    r"""Lower bound of the clicks per page of a new ranker, by the exposure of documents.

    With the exposure :math:`\omega(d)` that the new ranker gives to a document (the propensity of its rank),
    :math:`\omega_0(d)` its mean exposure in the log, :math:`\rho, \rho_0` both divided by their sum Z, and n pages,
    with probability :math:`1 - \delta`

    .. math:: U \ge \frac1n \sum_{i,d} \frac{\omega(d)}{\omega_0(d)} c_{i,d}
              - \sqrt{\frac Z n\, \frac{1 - \delta}{\delta}\, d_2(\rho \| \rho_0)}, \qquad
              d_2 = \mathbf{E}_q \sum_d \rho(d)^2 / \rho_0(d)

    A ranker that exposes documents as the log did has :math:`d_2 = 1`: few pages suffice. The further it moves, the
    more pages it needs, and documents that were never exposed provide no evidence at all. The bound assumes the
    position-based model with these propensities.

    Parameters
    ----------
    run, data
        Lists of the new ranker, as in `evaluate_off_policy`.
    propensities
        `Propensities`, or the examination of each rank.
    k
        Ranks that are seen.
    confidence
        :math:`1 - \delta`.

    Examples
    --------
    >>> from plackett.clicks import simulate_log
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=5, docs_per_query=4, random_state=0)
    >>> log = simulate_log(data, n_pages=20_000, k=4, random_state=0)
    >>> run = {str(q): {str(d): float(data.y[d]) for d in range(*data.offsets[i : i + 2])}
    ...        for i, q in enumerate(data.qids)}
    >>> exposure_bound(log, run, 1 / np.arange(1, 5)).safe
    True

    References
    ----------
    Gupta, Oosterhuis, de Rijke: Safe deployment for counterfactual learning to rank with exposure-based risk
    minimization. SIGIR 2023.
    """
    import polars as pl

    number("confidence", confidence, above=0, below=1)
    log, new = _covered(log, run_of(run, data), k)
    table = examination_of(propensities)
    needed = min(k, max(log.longest, int(new.rank.max(initial=1))))
    if table.ndim != 1 or table.size < needed or not (table[:needed] > 0).all():
        raise DataError(f"propensities: give a positive number for each of the ranks 1 to {needed}")
    seen = np.where(log.rank <= k, _at_rank(table, log.rank), 0.0)
    pages = np.bincount(log.query, log.page_weight, minlength=log.n_queries)
    exposed = np.bincount(log.pair, log.row_weight * seen, minlength=log.n_pairs) / pages[log.pair_query]
    weight = np.where(
        (new.row_rank > 0) & (new.row_rank <= k), _at_rank(table, np.maximum(new.row_rank, 1)), 0.0
    ) / np.maximum(exposed[log.pair], 1e-300)
    inside = log.row_weight * (log.clicked & (log.rank <= k))
    row_query = log.query[log.page]
    clicks = np.bincount(row_query, inside * weight, minlength=log.n_queries)
    own = np.bincount(row_query, inside, minlength=log.n_queries)
    # exposure of the new list: entries that the log has exposed, and those that it has not
    look = np.where(new.rank <= k, _at_rank(table, new.rank), 0.0)
    before = _exposure_before(log, new, exposed)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(look > 0, look**2 / before, 0.0)
    total = np.bincount(new.query, look, minlength=log.n_queries)
    logged_total = np.bincount(log.pair_query, exposed, minlength=log.n_queries)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.bincount(new.query, ratio, minlength=log.n_queries) * logged_total / total**2
        scale = np.bincount(new.query, ratio, minlength=log.n_queries)  # Z d₂: the variance of a page at most
        asked = np.flatnonzero(pages > 0)
        share = pages[asked] / pages[asked].sum()
        odds = confidence / (1.0 - confidence)
        value = clicks[asked] / pages[asked]
        lower = value - np.sqrt(scale[asked] / pages[asked] * odds)
        logged = own[asked] / pages[asked]
        whole = float((share * value).sum())
        bound = whole - float(np.sqrt((share * scale[asked]).sum() / pages.sum() * odds))
    frame = pl.DataFrame(
        [
            id_series("query", log.queries).gather(asked),
            pl.Series("pages", pages[asked]),
            pl.Series("value", value),
            pl.Series("lower", lower),
            pl.Series("logged", logged),
            pl.Series("divergence", divergence[asked]),
            pl.Series("new", lower > logged),
        ]
    )
    past = float((share * logged).sum())
    return ExposureBound(whole, bound, past, float((share * divergence[asked]).sum()), bound > past, frame)


def _covered(log: ClickLog, run: Any, k: int) -> tuple[ClickLog, NewLists]:
    """The pages whose queries have new lists, and these lists."""
    new = new_lists(log, run, k)
    if new.covered.all():
        return log, new
    log = log.select(new.covered)
    return log, new_lists(log, run, k)


def _exposure_before(log: ClickLog, new: NewLists, exposed: np.ndarray) -> np.ndarray:
    """The exposure in the log of each entry of the new lists, given that of each pair; 0 if it was never shown."""
    key = log.pair_query.astype(np.int64) * log.documents.size + log.pair_document
    order = np.argsort(key, kind="stable")
    wanted = new.query.astype(np.int64) * log.documents.size + new.document
    candidate = np.minimum(np.searchsorted(key[order], wanted), max(key.size - 1, 0))
    known = (new.document >= 0) & (key[order][candidate] == wanted)
    return np.where(known, exposed[order][candidate], 0.0)


def _at_rank(table: np.ndarray, rank: np.ndarray) -> np.ndarray:
    return table[np.minimum(rank, table.size) - 1]
