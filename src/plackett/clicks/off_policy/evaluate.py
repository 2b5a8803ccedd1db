"""Clicks per page of a new ranker, estimated from the log of an old one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._names.nearest import hint
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel
from plackett.clicks.off_policy.lists import NewLists, new_lists, run_of
from plackett.clicks.off_policy.worth import ClickWorth
from plackett.data.dataset import RankingDataset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["compare_off_policy", "evaluate_off_policy", "safe_choices"]

#: An answer from fewer effective pages should not be trusted.
FEW_PAGES = 100
#: Minimum number of resamples for a meaningful spread.
FEW_RESAMPLES = 20


@dataclass(frozen=True)
class OffPolicyEstimate:
    """Estimated clicks (or actions) per page of a new ranker.

    Attributes
    ----------
    value, error
        Estimate and its standard error.
    lower, upper
        Ends of the interval.
    logged
        Clicks per page of the log itself, at the same ranks.
    effective_pages
        Pages that would carry as much information if they had been shown by the new ranker: (Σw)² / Σw².
    matched
        Share of the entries of the new lists whose document the log has shown at the same rank at least once.
    doubts
        Why the answer may be wrong; empty if nothing speaks against it.
    """

    method: str
    value: float
    error: float
    lower: float
    upper: float
    logged: float
    effective_pages: float
    matched: float
    doubts: tuple[str, ...] = ()
    page_values: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    #: Numbers of the log's pages that the estimate and ``page_values`` are about: those whose query has a new list.
    pages: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    #: The estimate on each resample of the pages; empty without ``n_bootstrap``.
    resampled: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)


@dataclass(frozen=True)
class _Case:
    log: ClickLog
    new: NewLists
    model: ClickModel | None
    k: int
    clip: float
    reward: np.ndarray
    #: What a click is worth if the reward is actions.
    worth: ClickWorth | None = None

    @property
    def match(self) -> np.ndarray:
        """Whether each row shows what the new ranker would show at its rank."""
        return (self.new.row_rank == self.log.rank) & (self.log.rank <= self.k)

    def chances(self, kind: str) -> np.ndarray:
        propensities = getattr(self.log, kind)
        if propensities is None:
            others = {"propensities": "item-position", "conditional_propensities": "cascade"}
            ways = [f"'{method}'" for other, method in others.items() if getattr(self.log, other, None) is not None]
            raise DataError(
                f"this method needs {kind} of the logging ranker, which the log does not have; log them, or use the "
                f"method {' or '.join([*ways, repr('model')])}"
            )
        return np.maximum(propensities, self.clip)

    def page_sum(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.log.page, values, minlength=self.log.n_pages)

    def predicted(self) -> tuple[np.ndarray, np.ndarray]:
        """Model's reward of each logged row, and of the new list of each page."""
        if self.model is None:
            raise DataError("this method needs a fitted click model: model=PBM().fit(log)")
        expected = self.model.click_probabilities(self.log)
        return expected if self.worth is None else expected * self.worth.of(self.log), _new_rewards(self)


def _item_position(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    weight = np.where(case.match, 1.0 / case.chances("propensities"), 0.0)
    return case.page_sum(weight * case.reward), weight


def _cascade_weight(case: _Case) -> np.ndarray:
    step = np.where(case.match, 1.0 / case.chances("conditional_propensities"), 0.0)
    return _running_product(step, case.log)


def _running_product(values: np.ndarray, log: ClickLog) -> np.ndarray:
    out = values.copy()
    for i in range(1, int(log.lengths.max(initial=0))):
        rows = log.offsets[:-1][log.lengths > i] + i
        out[rows] *= out[rows - 1]
    return out


def _cascade(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    weight = _cascade_weight(case)
    return case.page_sum(weight * case.reward), weight


def _list(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    log = case.log
    within = np.flatnonzero(log.rank <= case.k)
    running = _cascade_weight(case)
    last = np.zeros(log.n_pages)
    last[log.page[within]] = running[within]  # the last row of the page that counts is written last
    weight = last[log.page] * (log.rank <= case.k)
    return case.page_sum(weight * case.reward), weight


def _doubly_robust(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    expected, fresh = case.predicted()
    weight = np.where(case.match, 1.0 / case.chances("propensities"), 0.0)
    return fresh + case.page_sum(weight * (case.reward - expected * (case.log.rank <= case.k))), weight


def _cascade_doubly_robust(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    expected, fresh = case.predicted()
    weight = _cascade_weight(case)
    return fresh + case.page_sum(weight * (case.reward - expected * (case.log.rank <= case.k))), weight


def _model(case: _Case) -> tuple[np.ndarray, np.ndarray]:
    return case.predicted()[1], np.ones(case.log.n_rows)


def _new_rewards(case: _Case) -> np.ndarray:
    """Clicks that the model expects on the new list of each page's query, or what they are worth."""
    log, new = case.log, case.new
    queries = np.flatnonzero(np.diff(new.offsets) > 0)
    sizes = np.diff(new.offsets)[queries]
    documents = np.append(log.documents, _unknown_id(log.documents))
    names = documents[new.document]
    # a page may have several documents that the log never showed: each of them is just "unknown"
    pages = ClickLog(
        offsets=np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        query=queries.astype(np.int32),
        document=np.where(new.document >= 0, new.document, log.documents.size).astype(np.int32),
        clicks=np.zeros(names.size, np.int32),
        queries=log.queries,
        documents=documents,
    )
    assert case.model is not None
    chance = case.model.click_probabilities(pages) * (pages.rank <= case.k)
    if case.worth is not None:
        chance = chance * case.worth.of(pages)
    per_query = np.zeros(log.n_queries)
    per_query[queries] = np.bincount(pages.page, chance, minlength=queries.size)
    return per_query[log.query]


def _unknown_id(ids: np.ndarray) -> np.ndarray:
    if ids.dtype.kind == "i":
        return np.array([int(ids.max(initial=0)) + 1])
    return np.array(["\uffff never shown"], ids.dtype)


#: Name to estimator: contribution of each page, and the weight of each row.
METHODS: dict[str, Callable[[_Case], tuple[np.ndarray, np.ndarray]]] = {
    "item-position": _item_position,
    "cascade": _cascade,
    "list": _list,
    "doubly-robust": _doubly_robust,
    "cascade-doubly-robust": _cascade_doubly_robust,
    "model": _model,
}


#: The methods that need a click model.
WITH_MODEL = ("doubly-robust", "cascade-doubly-robust", "model")


def evaluate_off_policy(
    log: ClickLog,
    run: Any,
    method: str = "item-position",
    *,
    data: RankingDataset | None = None,
    model: ClickModel | None = None,
    k: int = 10,
    normalise: bool = False,
    clip: float = 1e-3,
    level: float = 0.95,
    reward: str = "clicks",
    warn: bool = True,
    n_bootstrap: int = 0,
    random_state: int = 0,
) -> OffPolicyEstimate:
    r"""Estimate the clicks per page of a new ranker from a log of another one.

    Parameters
    ----------
    run
        Lists of the new ranker: a TREC run, a frame with qid, docid and score, or nested dicts. With ``data``, a fitted
        ranker or scores of its documents.
    data
        The documents of the queries, with the ids that they have in the log.
    method
        ``"item-position"``: a click depends on the document and its rank alone; a shown document counts
        :math:`1 / P(\text{document at rank})` where the new ranker would show it there too. ``"cascade"``: it depends
        on the documents above as well; the weight is the running product of conditional probabilities. ``"list"``: it
        may depend on the whole page, which must match: no assumptions, but high variance. ``"doubly-robust"`` and
        ``"cascade-doubly-robust"``: a click model predicts, and the weighted log corrects it. ``"model"``: the click
        model alone, without propensities, and without protection if the model is wrong.
    model
        Fitted click model for the last three.
    k
        Ranks that count.
    normalise
        Divide by the sum of the weights of each rank instead of the number of pages (self-normalised): a little bias
        for much less variance. For the methods without a click model.
    clip
        Smaller propensities are raised to this value.
    level
        Probability that the interval has the true value; normal approximation over pages. The interval of ``"model"``
        takes the click model as given: it says how queries vary, not how wrong the model may be, and is too short
        (``n_bootstrap`` corrects the part that is due to the number of pages).
    reward
        ``"clicks"``, or ``"actions"`` for the weights of other actions, such as purchases. The methods with a click
        model then multiply the probability of a click at the new rank by what a click on this document for this query
        is worth: the mean of the actions after its clicks in the log, pulled towards the mean of the document and of
        all clicks where clicks are few. This assumes that an action follows a click on the same page, and that a click
        is worth the same at every rank and next to any other documents. Actions without a click are no part of the
        prediction, and a doubt if they are many.
    warn
        Warn when the log cannot answer; the reasons are in ``doubts`` in any case.
    n_bootstrap
        For the methods with a click model: resample the pages of the log this many times with replacement, fit the
        model again to each sample, and take the error from the spread of the estimates. It then includes the error of
        the model's parameters, but not that of its assumptions. 100 is enough; 0 means no resampling.
    random_state
        Seed of the draws.

    Examples
    --------
    >>> from plackett.clicks import simulate_log
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=5, docs_per_query=4, random_state=0)
    >>> log = simulate_log(data, n_pages=4000, k=4, random_state=0)  # random lists: propensities are known
    >>> run = {str(q): {str(d): float(data.y[d]) for d in range(*data.offsets[i : i + 2])}
    ...        for i, q in enumerate(data.qids)}
    >>> estimate = evaluate_off_policy(log, run)
    >>> estimate.value > estimate.logged
    True

    References
    ----------
    Li, Abbasi-Yadkori, Kveton, Muthukrishnan, Vinay, Wen: Offline evaluation of ranking policies with click models. KDD
    2018. McInerney, Brost, Chandar, Mehrotra, Carterette: Counterfactual evaluation of slate recommendations with
    sequential reward interactions. KDD 2020.
    """
    estimate, case = _estimate(log, run_of(run, data), method, model, k, normalise, clip, level, reward)
    if n_bootstrap:
        estimate = _with_error(
            estimate, _resampled(log, case, estimate.pages, method, n_bootstrap, random_state), level
        )
    if warn and estimate.doubts:
        warnings.warn("this log cannot answer well: " + "; ".join(estimate.doubts), PlackettWarning, stacklevel=2)
    return estimate


def _estimate(
    log: ClickLog,
    run: Any,
    method: str,
    model: ClickModel | None,
    k: int,
    normalise: bool,
    clip: float,
    level: float,
    reward: str,
) -> tuple[OffPolicyEstimate, _Case]:
    """The estimate with the error over pages, and what it was computed from."""
    if not isinstance(method, str) or method not in METHODS:
        raise DataError(f"unknown method {method!r:.60}; {hint(str(method), METHODS, 'the methods are')}")
    if reward not in ("clicks", "actions") or (reward == "actions" and log.actions is None):
        raise DataError(f"reward={reward!r}; give 'clicks', or 'actions' for a log that has them")
    worth = ClickWorth(log) if reward == "actions" and method in WITH_MODEL else None
    if normalise and method not in ("item-position", "cascade", "list"):
        raise DataError(f"normalise=True is for the methods item-position, cascade and list, not for {method!r}")
    new = new_lists(log, run, k)
    covered = new.covered
    pages = log.select(covered)
    if pages.n_pages < log.n_pages:
        new = new_lists(pages, run, k)
    gains = pages.clicked if reward == "clicks" else pages.actions
    gain = np.where(pages.rank <= k, np.asarray(gains, np.float64), 0.0)
    case = _Case(pages, new, model, k, clip, gain, worth)
    values, weight = METHODS[method](case)
    if normalise:
        values = _normalised(case, weight)
    share = pages.page_weight / pages.page_weight.sum()
    value = float((share * values).sum())
    error = _error(values, pages.page_weight)
    from scipy.special import ndtri

    half = float(ndtri((1 + level) / 2)) * error
    effective = _effective_pages(case, weight) if method != "model" else float(pages.page_weight.sum())
    matched = _matched(case)
    lost = log.n_pages - pages.n_pages
    example = log.queries[log.query[~covered][:1]].tolist()[0] if lost else None
    doubts = tuple(_doubts(case, method, effective, matched, lost, log.n_pages, example))
    logged = float((share * case.page_sum(gain)).sum())
    estimate = OffPolicyEstimate(
        method,
        value,
        error,
        value - half,
        value + half,
        logged,
        effective,
        matched,
        doubts,
        values,
        np.flatnonzero(covered),
    )
    return estimate, case


def _resampled(
    log: ClickLog, case: _Case, pages: np.ndarray, method: str, n_bootstrap: int, random_state: int
) -> np.ndarray:
    """Estimates on pages drawn with replacement, by a model that is fitted again to each draw."""
    if method not in WITH_MODEL:
        raise DataError(f"n_bootstrap={n_bootstrap}: method={method!r} has no click model to fit again; leave it out")
    if n_bootstrap < FEW_RESAMPLES:
        raise DataError(f"n_bootstrap={n_bootstrap}; give at least {FEW_RESAMPLES}, or 0 for none")
    rng, total = np.random.default_rng(random_state), log.page_weight.sum()
    estimates = np.empty(n_bootstrap)
    for i in range(n_bootstrap):
        times = rng.multinomial(round(total), log.page_weight / total).astype(np.float64)
        seen = times > 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PlackettWarning)  # the first fit has warned already
            drawn = log.select(seen).replace(weight=times[seen])
            model = copy(case.model).fit(drawn)  # type: ignore[union-attr]
            worth = None if case.worth is None else ClickWorth(drawn)
        share = times[pages] / max(times[pages].sum(), 1.0)
        estimates[i] = (share * METHODS[method](replace(case, model=model, worth=worth))[0]).sum()
    return estimates


def _with_error(estimate: OffPolicyEstimate, draws: np.ndarray, level: float) -> OffPolicyEstimate:
    """The estimate with the error of its resamples."""
    from scipy.special import ndtri

    error = float(draws.std(ddof=1))
    half = float(ndtri((1 + level) / 2)) * error
    return replace(estimate, error=error, lower=estimate.value - half, upper=estimate.value + half, resampled=draws)


def _error(values: np.ndarray, weight: np.ndarray) -> float:
    """Standard error of the mean of page values; a weight is how often the page was seen."""
    total = weight.sum()
    mean = (weight * values).sum() / total
    return float(np.sqrt((weight * (values - mean) ** 2).sum()) / total)


def _normalised(case: _Case, weight: np.ndarray) -> np.ndarray:
    """Page values whose mean is the self-normalised estimate, and whose spread is that of its linearisation."""
    log, rank = case.log, case.log.rank - 1
    share = log.page_weight / log.page_weight.sum()
    total = np.bincount(rank, weight * share[log.page], minlength=log.longest)
    hits = np.bincount(rank, weight * case.reward * share[log.page], minlength=log.longest)
    means = np.divide(hits, total, out=np.zeros_like(hits), where=total > 0)
    scale = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    return means.sum() + case.page_sum(scale[rank] * weight * (case.reward - means[rank]))


def _effective_pages(case: _Case, weight: np.ndarray) -> float:
    """Smallest over ranks of (Σw)² / Σw²."""
    log, rank = case.log, case.log.rank - 1
    inside = log.rank <= case.k
    first = np.bincount(rank[inside], (weight * log.row_weight)[inside])
    second = np.bincount(rank[inside], (weight**2 * log.row_weight)[inside])
    return float(np.min(np.divide(first**2, second, out=np.zeros_like(first), where=second > 0), initial=np.inf))


def _matched(case: _Case) -> float:
    """Share of entries of the new lists, weighted by pages of the query, that the log has shown at the same rank."""
    log, new = case.log, case.new
    n, m = log.documents.size, case.k + 1
    within = log.rank <= case.k
    shown = np.unique(((log.query[log.page].astype(np.int64) * (n + 1) + log.document) * m + log.rank)[within])
    pages = np.bincount(log.query, log.page_weight, minlength=log.n_queries)[new.query]
    key = (new.query.astype(np.int64) * (n + 1) + np.where(new.document >= 0, new.document, n)) * m + new.rank
    hit = np.isin(key, shown) & (new.document >= 0)
    return float((pages * hit).sum() / max(pages.sum(), 1e-12))


def _doubts(
    case: _Case, method: str, effective: float, matched: float, lost: int, pages: int, example: Any
) -> list[str]:
    doubts = []
    if lost:
        doubts.append(f"{lost} of {pages} pages have a query without a new list, such as {example!r}")
    if "model" in method or "robust" in method:
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
    if method in ("item-position", "cascade", "list") and matched < 0.9:
        doubts.append(
            f"{1 - matched:.0%} of the new lists was never shown: these clicks are missing from the estimate, "
            "which is too low"
        )
    return doubts


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
        error = float(np.std(each.resampled - first.resampled, ddof=1)) if each.resampled.size else _error(gap, weight)
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

    from plackett.data._tables import id_series

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
