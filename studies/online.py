"""Which ranker learns best from live clicks, and how many pages does a comparison on live traffic need?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plackett import DataError
from plackett._base.progress import progress
from plackett.data.dataset import RankingDataset
from plackett.datasets.generate import make_ranking
from plackett.online.comparisons import Comparisons, simulate_comparisons
from plackett.online.learners.base import OnlineLearner
from plackett.online.learners.dbgd import DBGD
from plackett.online.learners.network import NetworkPDGD
from plackett.online.learners.pdgd import PDGD
from plackett.online.simulate import simulate_online
from plackett.online.users import USERS
from plackett.plot.chart import line_chart
from studies.base import Study, named_folds_of, per_query

#: Pages after which the agreement is shown.
_SHOWN = (100, 1_000, 10_000, 100_000)


def _learners(n_features: int) -> dict[str, OnlineLearner]:
    return {
        "PDGD": PDGD(n_features),
        "PDGD, network": NetworkPDGD(n_features),
        "DBGD": DBGD(n_features),
        "DBGD, 9 candidates": DBGD(n_features, n_candidates=9),
        "DBGD, null space": DBGD(n_features, null_space=10),
        "DBGD, projected": DBGD(n_features, project=True),
    }


def online(
    data: Any = None,
    *,
    users: Sequence[str] = USERS,
    folds: int | None = None,
    learners: Sequence[str] = tuple(_learners(1)),
    n_interactions: int = 10_000,
    runs: int = 8,
    rankers: int = 12,
    queries: int = 50,
    pages: int = 100_000,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Study:
    """Which ranker learns best from live clicks, and how many pages does a comparison on live traffic need?

    In the first table, rankers serve simulated users. It has the nDCG@10 of their own order on the test queries at the
    end and the mean nDCG@10 of the pages that users saw, averaged over folds, with half-widths of 95 % intervals over
    runs.
    ``folds behind`` counts the folds in which the final model is worse than that of the first learner.

    In the second, all pairs of some linear rankers are compared by interleaving and by A/B tests of two measures.
    Agreement is the share of pairs in which the sign is that of the difference of their true nDCG@10. ``pages needed``
    is the median over pairs for a power of 80 % at the 5 % level, by the effect seen on all pages, and ``of A/B`` the
    median over pairs of the ratio to the pages of the A/B test of first clicks, with a 95 % interval (bootstrap over
    rankers).
    The chart shows the agreement for growing numbers of pages, averaged over users.

    Parameters
    ----------
    data
        A dataset with grades in any form that `plackett.experiment` accepts; None generates one. Features are scaled
        within queries.
    users
        Kinds of users, see `plackett.online.user_model`.
    folds
        Folds of the first table; None for all. The second table uses the first fold.
    learners
        Of the first table.
    n_interactions, runs
        Pages per run, and runs in each fold, of the first table.
    rankers, queries, pages
        Rankers (of which all pairs are compared), queries, and pages per pair and method, of the second table.
    """
    import polars as pl

    if runs < 2 or rankers < 2 or pages < 100:
        raise DataError(f"runs={runs}, rankers={rankers}, pages={pages}: at least 2 runs, 2 rankers and 100 pages")
    users = [users] if isinstance(users, str) else list(users)
    learners = [learners] if isinstance(learners, str) else list(learners)
    unknown = [name for name in learners if name not in _learners(1)]
    if unknown:
        raise DataError(f"learner {unknown[0]!r}; give {', '.join(_learners(1))}")
    whole = make_ranking(150, (10, 20), 20, random_state=random_state) if data is None else data
    parts = [(_scaled(fold.train), _scaled(fold.test)) for fold in named_folds_of(whole)[1].values()][:folds]
    rows = []
    cells = [(kind, name) for kind in users for name in learners]
    first = np.zeros(0)
    for kind, name in progress(cells, "learners", len(cells), verbose=verbose):
        curves = [
            simulate_online(
                _learners(train.X.shape[1])[name], train, test, users=kind, n_interactions=n_interactions, runs=runs,
                marks=10, random_state=random_state, n_jobs=n_jobs,
            )
            for train, test in parts
        ]  # fmt: skip
        last, seen = np.array([each.offline[:, -1] for each in curves]), np.array([each.area() for each in curves])
        first = last.mean(axis=1) if name == learners[0] else first
        rows.append(
            {"users": kind, "learner": name, "offline": float(last.mean()), "offline ±": _half_width(last)}
            | {"online": float(seen.mean()), "online ±": _half_width(seen)}
            | {"folds behind": f"{int((last.mean(axis=1) < first).sum())} of {len(parts)}"}
        )
    sample, scores, truth, pairs = _rankers(parts[0][0], rankers, queries, random_state)
    compared, lines = [], dict[str, list[np.ndarray]]()
    for kind in progress(users, "comparisons", len(users), verbose=verbose):
        comparisons = simulate_comparisons(
            sample, scores, pairs, users=kind, pages=pages, marks=13, random_state=random_state, n_jobs=n_jobs
        )
        compared += _figures(kind, comparisons, truth, pairs, random_state)
        for name, curve in comparisons.agreement(truth).items():
            lines.setdefault(name, []).append(curve)
    gap = np.abs(truth)
    part = Study(
        pl.DataFrame(compared, infer_schema_length=None),
        "How many pages does a comparison need?",
        (
            f"{len(pairs)} pairs of {rankers} rankers on {sample.n_queries} queries, {pages:,} pages each",
            f"true differences of nDCG@10: median {np.median(gap):.3f}, from {gap.min():.3f} to {gap.max():.3f}",
        ),
    )
    chart = line_chart(
        {name: (comparisons.marks.tolist(), np.mean(each, axis=0).tolist()) for name, each in lines.items()},
        title="Agreement with the true difference of nDCG@10",
        x_label="pages",
        y_label="share of pairs with the right sign",
        log_x=True,
    )
    notes = (f"{n_interactions:,} pages in each of {runs} runs, {len(parts)} folds",)
    return Study(pl.DataFrame(rows), "Which ranker learns best from live clicks?", notes, (part,), picture=chart)


def _half_width(values: np.ndarray) -> float:
    """Half-width of the 95 % interval of the mean over runs, for these folds (rows)."""
    from scipy.stats import t

    n_folds, runs = values.shape
    error = np.sqrt(values.var(axis=1, ddof=1).sum() / runs) / n_folds
    return float(t.ppf(0.975, n_folds * (runs - 1)) * error)


def _scaled(data: RankingDataset) -> RankingDataset:
    """Features between 0 and 1 within each query."""
    X = np.array(data.X if isinstance(data.X, np.ndarray) else data.X.toarray(), np.float64)
    starts = np.asarray(data.offsets[:-1])
    sizes = np.diff(data.offsets)
    low, high = (np.repeat(f.reduceat(X, starts, axis=0), sizes, axis=0) for f in (np.minimum, np.maximum))
    return replace(data, X=((X - low) / np.where(high > low, high - low, 1.0)).astype(np.float32))


def _rankers(
    data: RankingDataset, n: int, queries: int, seed: int
) -> tuple[RankingDataset, Any, np.ndarray, list[Any]]:
    """Some queries, linear rankers at growing distances from a learned one, the true differences, and all pairs."""
    rng = np.random.default_rng(seed)
    learned = simulate_online(
        PDGD(data.X.shape[1]), data, users="perfect", n_interactions=2000, runs=1, marks=1, random_state=seed
    ).weights[0]
    worth = np.flatnonzero(np.maximum.reduceat(data.labels, np.asarray(data.offsets[:-1])) > 0)
    chosen = np.sort(rng.choice(worth, min(queries, worth.size), replace=False))
    sample = data.select(chosen)
    noise = rng.normal(size=(n, learned.size))
    noise *= np.linspace(0, 1.5, n)[:, None] * np.linalg.norm(learned) / np.linalg.norm(noise, axis=1, keepdims=True)
    scores = (learned + noise) @ np.asarray(sample.X, np.float64).T
    quality = np.array([per_query(sample, each, "nDCG@10").mean() for each in scores])
    pairs = list(itertools.combinations(range(n), 2))
    return sample, scores, np.array([quality[a] - quality[b] for a, b in pairs]), pairs


def _figures(
    kind: str, comparisons: Comparisons, truth: np.ndarray, pairs: list[Any], seed: int
) -> list[dict[str, Any]]:
    agreement, needed = comparisons.agreement(truth), {n: comparisons.pages_needed(n) for n in comparisons.mean}
    columns = {f"{n:,}": comparisons.marks.tolist().index(n) for n in _SHOWN if n in comparisons.marks}
    rows = []
    for name, curve in agreement.items():
        ratio = needed[name] / needed["A/B, first click"]
        low, high = _interval(ratio, pairs, seed)
        rows.append(
            {"users": kind, "comparison": name}
            | {f"agreement, {n} pages": float(curve[at]) for n, at in columns.items()}
            | {"pages needed": float(np.round(np.median(needed[name]))), "of A/B": float(np.median(ratio))}
            | {"from": low, "to": high}
        )
    return rows


def _interval(ratio: np.ndarray, pairs: list[Any], seed: int) -> tuple[float, float]:
    """95 % interval of the median, by drawing rankers: pairs with a common ranker are not independent."""
    rng, ends = np.random.default_rng(seed), np.array(pairs)
    n = int(ends.max()) + 1
    medians = []
    for _ in range(300):
        times = np.bincount(rng.integers(n, size=n), minlength=n)
        weight = times[ends[:, 0]] * times[ends[:, 1]]
        if weight.any():
            medians.append(np.median(np.repeat(ratio, weight)))
    return float(np.quantile(medians, 0.025)), float(np.quantile(medians, 0.975))
