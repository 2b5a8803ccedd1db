"""Learners among simulated users: curves of what users see, of what was learned, and of how much changes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, kernel_from, over_queries, template
from plackett.data.dataset import RankingDataset
from plackett.online._lists import best_first, click, dcg, uniform
from plackett.online.learners.base import OnlineLearner
from plackett.online.users import user_model

if TYPE_CHECKING:
    import polars as pl

__all__ = ["simulate_online"]


class _Served(NamedTuple):
    """The documents that users see; gains, attraction and stop have a row per phase."""

    X: np.ndarray
    offsets: np.ndarray
    gains: np.ndarray
    attraction: np.ndarray
    stop: np.ndarray
    #: The first interaction at which each document exists.
    arrival: np.ndarray


class _Reading(NamedTuple):
    """How users read, see `UserModel`."""

    look: np.ndarray
    right: np.ndarray
    wrong: np.ndarray
    leave: float


class _Tested(NamedTuple):
    """The documents on which the model is measured."""

    X: np.ndarray
    offsets: np.ndarray
    gains: np.ndarray


class _Results(NamedTuple):
    """What is written: a row per run."""

    online: np.ndarray
    offline: np.ndarray
    churn: np.ndarray
    clicks: np.ndarray


@kernel
def _ideal(rows, n, k, gains, keys, order):
    """The largest DCG of a list of these rows."""
    for j in range(n):
        keys[j] = gains[rows[j]]
    return dcg(rows, order, best_first(keys, n, k, order), gains)


@template
def _interaction(t, phase, w, kept, served, reading, k, parameters, state, rows, work, order, team, clicks):
    """One page for one user: the number of clicks, and nDCG, below 0 if there was no document to show."""
    q = int(uniform(state) * (served.offsets.size - 1))
    n = 0
    for row in range(served.offsets[q], served.offsets[q + 1]):
        if served.arrival[row] <= t:
            rows[n] = row
            n += 1
    if n == 0:
        return 0, -1.0
    gains = served.gains[phase]
    size = show(w, kept, served.X, rows, n, k, parameters, state, work, order, team)  # type: ignore[name-defined]  # noqa: F821
    n_clicks = click(
        rows, order, size, served.attraction[phase], served.stop[phase], reading.look, reading.right, reading.wrong,
        reading.leave, state, clicks,
    )  # fmt: skip
    for j in range(n):
        work[0, j] = gains[rows[j]]
    shown = dcg(rows, order, size, gains)
    if n_clicks > 0:
        learn(w, kept, served.X, rows, n, size, parameters, state, work, order, team, clicks)  # type: ignore[name-defined]  # noqa: F821
    best = _ideal(rows, n, k, gains, work[0], order)
    return n_clicks, shown / best if best > 0.0 else 0.0


@template
def _measure(phase, w, tested, k, parameters, rows, keys, order, before):
    """NDCG of the model's own order of the test queries, and the share of documents that are new in it."""
    good, changed, n_shown = 0.0, 0, 0
    n_test, gains = tested.offsets.size - 1, tested.gains[phase]
    for q in range(n_test):
        n = tested.offsets[q + 1] - tested.offsets[q]
        for j in range(n):
            rows[j] = tested.offsets[q] + j
        score(w, tested.X, rows, n, parameters, keys)  # type: ignore[name-defined]  # noqa: F821
        size = best_first(keys, n, k, order)
        shown = dcg(rows, order, size, gains)
        for i in range(size):
            same = False
            for j in range(size):
                same |= before[q, j] == order[i]
            changed += not same
        n_shown += size
        before[q, :size] = order[:size]
        best = _ideal(rows, n, k, gains, keys, order)
        if best > 0.0:
            good += shown / best
    return good / max(n_test, 1), changed / max(n_shown, 1)


@template
def _runs(lo, hi, starts, seeds, served, reading, k, marks, tested, parameters, weights, memory, results):
    """Whole runs; ``interact`` and ``measure`` are those of a learner."""
    longest = 1
    for offsets in (served.offsets, tested.offsets):
        for q in range(offsets.size - 1):
            longest = max(longest, offsets[q + 1] - offsets[q])
    rows, order, team = np.empty(longest, np.int64), np.empty(k, np.int64), np.zeros(k, np.int64)
    clicks, work = np.zeros(k, np.bool_), np.empty((6, longest))
    phases, total = served.gains.shape[0], marks[marks.size - 1]
    before = np.empty((tested.offsets.size - 1, k), np.int64)
    state = np.empty(1, np.uint64)
    for run in range(lo, hi):
        state[0] = seeds[run]
        w, kept = weights[run], memory[run]
        before[:] = -1
        t = 0
        for mark in range(marks.size):
            seen, pages = 0.0, 0
            while t < marks[mark]:
                phase = t * phases // total
                n_clicks, quality = interact(  # type: ignore[name-defined]  # noqa: F821
                    t, phase, w, kept, served, reading, k, parameters, state, rows, work, order, team, clicks
                )
                t += 1
                if quality >= 0.0:
                    results.clicks[run] += n_clicks
                    seen += quality
                    pages += 1
            results.online[run, mark] = seen / max(pages, 1)
            phase = min(t * phases // total, phases - 1)
            results.offline[run, mark], changed = measure(phase, w, tested, k, parameters, rows, work[0], order, before)  # type: ignore[name-defined]  # noqa: F821
            results.churn[run, mark] = changed if mark > 0 else 0.0


@cache
def _kernel_for(kind: type[OnlineLearner]) -> Any:
    interact = kernel_from(_interaction, show=kind.show_kernel, learn=kind.learn_kernel)
    return kernel_from(_runs, interact=interact, measure=kernel_from(_measure, score=kind.score_kernel))


@dataclass(frozen=True, eq=False)
class OnlineCurves:
    """Result of `simulate_online`; arrays have a row per run and a column per mark.

    Attributes
    ----------
    marks
        Number of interactions at each mark.
    online
        Mean nDCG of the pages that users saw since the previous mark.
    offline
        nDCG of the model's own order on the test queries.
    churn
        Share of the documents at the top of the test queries that were not there at the previous mark.
    clicks
        Clicks of each run.
    weights
        Final model of each run.
    """

    marks: np.ndarray
    online: np.ndarray
    offline: np.ndarray
    churn: np.ndarray
    clicks: np.ndarray
    weights: np.ndarray

    @property
    def regret(self) -> np.ndarray:
        """Sum of 1 − nDCG over all pages shown, up to each mark."""
        return np.cumsum((1 - self.online) * np.diff(self.marks, prepend=0), axis=1)

    def area(self, curve: str = "online") -> np.ndarray:
        """Mean height of a curve over the interactions, for each run."""
        return (getattr(self, curve) * np.diff(self.marks, prepend=0)).sum(axis=1) / self.marks[-1]

    @property
    def frame(self) -> pl.DataFrame:
        """One row per mark: means over runs, with half-widths of 95 % intervals."""
        import polars as pl
        from scipy.stats import t

        runs = len(self.online)
        wide = t.ppf(0.975, runs - 1) / np.sqrt(runs) if runs > 1 else np.nan
        columns: dict[str, Any] = {"interactions": self.marks}
        for name in ("online", "offline", "churn", "regret"):
            values = getattr(self, name)
            columns[name] = values.mean(axis=0)
            columns[f"{name} ±"] = wide * values.std(axis=0, ddof=1) if runs > 1 else np.full(self.marks.size, np.nan)
        return pl.DataFrame(columns)


def simulate_online(
    learner: OnlineLearner,
    data: RankingDataset,
    test: RankingDataset | None = None,
    *,
    users: Any = "perfect",
    n_interactions: int = 10_000,
    runs: int = 10,
    marks: int = 20,
    drift: Any = None,
    arrival: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> OnlineCurves:
    """Let a learner serve simulated users, in several independent runs.

    Each interaction draws a query, shows a page, draws the clicks and learns from them, all compiled. A run depends on
    ``random_state`` and its number alone, not on threads or on other runs. Documents of a query are shuffled first, so
    that models that score them equally gain nothing from the order of the file.

    Parameters
    ----------
    learner
        Settings and starting weights; it is not changed.
    data, test
        Judged queries to serve, and to measure the model on (the same ones by default).
    users
        See `user_model`.
    n_interactions, runs, marks
        Pages per run, number of runs, points on the curves.
    drift
        Further labels for ``data``, one array per phase: relevance changes after equal parts of the run. The test
        queries must then be those of ``data``.
    arrival
        The first interaction at which each document exists.

    Examples
    --------
    >>> from plackett.datasets import make_ranking
    >>> from plackett.online import PDGD
    >>> data = make_ranking(n_queries=50, docs_per_query=10, n_features=5, random_state=0)
    >>> learner = PDGD(5, k=5, learning_rate=0.01)
    >>> curves = simulate_online(learner, data, users="perfect", n_interactions=2000, runs=4, marks=4)
    >>> curves.marks.tolist(), round(float(curves.offline[:, -1].mean()), 1)  # nDCG@5; a random order has .48
    ([500, 1000, 1500, 2000], 0.7)
    >>> bool(curves.online[:, -1].mean() < curves.offline[:, -1].mean())  # exploration costs
    True
    >>> curves.frame.columns[:5]
    ['interactions', 'online', 'online ±', 'offline', 'offline ±']
    """
    if n_interactions < 1 or runs < 1 or marks < 1:
        raise DataError(f"n_interactions={n_interactions}, runs={runs}, marks={marks}: give at least 1 of each")
    if drift is not None and test is not None:
        raise DataError("drift changes the labels of data: leave test out")
    rng = np.random.default_rng(random_state)
    served, reading = _served(learner, data, users, drift, arrival, rng)
    if test is None:
        tested = _Tested(served.X, served.offsets, served.gains)
    else:
        rows = _shuffled(test, rng)
        gains = _gains(test.labels)[None, rows]
        tested = _Tested(_dense(test, learner.n_features)[rows], np.asarray(test.offsets, np.int64), gains)
    at = np.unique(np.linspace(n_interactions / marks, n_interactions, marks).astype(np.int64))
    shape = runs, at.size
    curves = OnlineCurves(
        at, np.zeros(shape), np.zeros(shape), np.zeros(shape), np.zeros(runs), np.tile(learner.weights, (runs, 1))
    )
    memory = np.tile(learner.new_memory(), (runs, 1, 1))
    seeds = np.random.SeedSequence(random_state).generate_state(runs, np.uint64)
    kind: Any = type(learner)
    over_queries(
        _kernel_for(kind),
        np.arange(runs + 1),
        seeds,
        served,
        reading,
        learner.k,
        at,
        tested,
        learner.parameters(),
        curves.weights,
        memory,
        _Results(curves.online, curves.offline, curves.churn, curves.clicks),
        n_jobs=n_jobs,
        rows_per_thread=1,
    )
    return curves


def _served(
    learner: OnlineLearner, data: RankingDataset, users: Any, drift: Any, arrival: Any, rng: np.random.Generator
) -> tuple[_Served, _Reading]:
    """The documents as users see them, shuffled inside each query, and how users read."""
    rows = _shuffled(data, rng)
    labels = [data.labels, *(np.asarray(each, np.float64) for each in (drift if drift is not None else ()))]
    for i, each in enumerate(labels):
        if each.shape != (data.n_rows,):
            raise DataError(
                f"drift[{i - 1}] has shape {each.shape}; one label per document ({data.n_rows}) was expected"
            )
    X = _dense(data, learner.n_features)[rows]
    models = [user_model(users, data, learner.k)]
    if len(labels) > 1 and not isinstance(users, str):
        raise DataError("drift needs users by name: their clicks follow the labels")
    models += [user_model(users, replace(data, y=each), learner.k) for each in labels[1:]]
    exists_from = np.zeros(data.n_rows, np.int64) if arrival is None else np.asarray(arrival, np.int64)
    if exists_from.shape != (data.n_rows,):
        raise DataError(f"arrival has shape {exists_from.shape}; one number per document ({data.n_rows}) was expected")
    first = models[0]
    documents = _Served(
        X=X,
        offsets=np.asarray(data.offsets, np.int64),
        gains=np.array([_gains(each) for each in labels])[:, rows],
        attraction=np.array([each.attraction for each in models])[:, rows],
        stop=np.array([each.stop for each in models])[:, rows],
        arrival=exists_from[rows],
    )
    return documents, _Reading(first.look, first.right, first.wrong, float(first.leave))


def _gains(labels: np.ndarray) -> np.ndarray:
    return np.exp2(np.maximum(labels, 0.0)) - 1


def _shuffled(data: RankingDataset, rng: np.random.Generator) -> np.ndarray:
    """Rows in random order inside each query."""
    query = np.repeat(np.arange(data.n_queries), np.diff(data.offsets))
    return np.lexsort((rng.random(data.n_rows), query))


def _dense(data: RankingDataset, n_features: int) -> np.ndarray:
    if data.X.shape[1] != n_features:
        raise DataError(f"the data have {data.X.shape[1]} features, the learner {n_features}")
    X = data.X if isinstance(data.X, np.ndarray) else data.X.toarray()
    X = np.ascontiguousarray(X, np.float64)
    if not np.isfinite(X).all():
        raise DataError("the data have missing or infinite features; impute them first")
    return X
