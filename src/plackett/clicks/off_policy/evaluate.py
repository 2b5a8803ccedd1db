"""Clicks per page of a new ranker, estimated from the log of an old one."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._names.nearest import hint
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel
from plackett.clicks.off_policy.doubts import doubts_about, effective_pages, matched_share
from plackett.clicks.off_policy.lists import new_lists, run_of
from plackett.clicks.off_policy.methods import METHODS, WITH_MODEL, Case, normalised
from plackett.clicks.off_policy.worth import ClickWorth
from plackett.data.dataset import RankingDataset

__all__ = ["evaluate_off_policy"]

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
) -> tuple[OffPolicyEstimate, Case]:
    """The estimate with the error over pages, and what it was computed from."""
    if not isinstance(method, str) or method not in METHODS:
        raise DataError(f"unknown method {method!r:.60}; {hint(str(method), METHODS, 'the methods are')}")
    if reward not in ("clicks", "actions") or (reward == "actions" and log.actions is None):
        raise DataError(f"reward={reward!r}; give 'clicks', or 'actions' for a log that has them")
    worth = ClickWorth(log) if reward == "actions" and method in WITH_MODEL else None
    if normalise and method in WITH_MODEL:
        raise DataError(f"normalise=True is for the methods item-position, cascade and list, not for {method!r}")
    new = new_lists(log, run, k)
    covered = new.covered
    pages = log.select(covered)
    if pages.n_pages < log.n_pages:
        new = new_lists(pages, run, k)
    gains = pages.clicked if reward == "clicks" else pages.actions
    gain = np.where(pages.rank <= k, np.asarray(gains, np.float64), 0.0)
    case = Case(pages, new, model, k, clip, gain, worth)
    values, weight = METHODS[method](case)
    if normalise:
        values = normalised(case, weight)
    share = pages.page_weight / pages.page_weight.sum()
    value = float((share * values).sum())
    error = mean_error(values, pages.page_weight)
    from scipy.special import ndtri

    half = float(ndtri((1 + level) / 2)) * error
    effective = effective_pages(case, weight) if method != "model" else float(pages.page_weight.sum())
    matched = matched_share(case)
    lost = log.n_pages - pages.n_pages
    example = log.queries[log.query[~covered][:1]].tolist()[0] if lost else None
    doubts = tuple(doubts_about(case, method, effective, matched, lost, log.n_pages, example))
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
    log: ClickLog, case: Case, pages: np.ndarray, method: str, n_bootstrap: int, random_state: int
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


def mean_error(values: np.ndarray, weight: np.ndarray) -> float:
    """Standard error of the mean of page values; a weight is how often the page was seen."""
    total = weight.sum()
    mean = (weight * values).sum() / total
    return float(np.sqrt((weight * (values - mean) ** 2).sum()) / total)
