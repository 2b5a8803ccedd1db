"""Which ranker learns best from live clicks, and how many pages does a comparison on live traffic need?"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett._progress import progress
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.datasets.generate import make_ranking
from plackett.evaluation.evaluate import evaluate
from plackett.experiments.data import folds_by_dataset
from plackett.online._lists import click
from plackett.online.interleaving.interleave import METHODS
from plackett.online.interleaving.optimised import Optimised
from plackett.online.learners.base import OnlineLearner
from plackett.online.learners.dbgd import DBGD
from plackett.online.learners.pdgd import PDGD
from plackett.online.power import sample_size
from plackett.online.simulate import simulate_online
from plackett.online.users import user_model
from plackett.studies.base import Study

__all__ = ["online"]

#: The optimised mixtures choose among fewer lists than by default: a program is solved for almost every page.
_COMPARISONS = METHODS | {"optimised": Optimised(most_lists=32)}
_USERS = ("perfect", "navigational", "informational")


def _learners(n_features: int) -> dict[str, OnlineLearner]:
    return {
        "PDGD": PDGD(n_features),
        "DBGD": DBGD(n_features),
        "DBGD, 9 candidates": DBGD(n_features, n_candidates=9),
        "DBGD, null space": DBGD(n_features, null_space=10),
        "DBGD, projected": DBGD(n_features, project=True),
    }


@fulfils()
def online(
    data: Any = None,
    *,
    users: Sequence[str] = _USERS,
    n_interactions: int = 10_000,
    runs: int = 10,
    pairs: int = 20,
    pages: int = 500,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> Study:
    """Which ranker learns best from live clicks, and how many pages does a comparison on live traffic need?

    The first table: linear rankers serve simulated users from zero weights; nDCG@10 of their own order on the test
    queries at the end, and the mean nDCG@10 of the pages that users saw, with half-widths of 95 % intervals over runs.
    The second: pairs of linear rankers are compared by interleaving and by an A/B test on as many pages.
    ``agreement`` is the share of pairs in which the sign is that of the difference of their true nDCG@10. ``pages
    needed`` is for a power of 80 % at the 5 % level and an effect of the root mean square over all pairs, in standard
    deviations, less what noise adds to the squares; it is missing where nothing is left.

    Parameters
    ----------
    data
        A dataset with grades in any form that `plackett.experiment` accepts, scaled within queries as LETOR 4.0 is;
        None generates one. The first fold is used.
    users
        Kinds of users, see `plackett.online.user_model`.
    n_interactions, runs
        Pages per run, and runs, of the first table.
    pairs, pages
        Pairs of rankers, and pages per pair, of the second.
    """
    import polars as pl

    if runs < 2 or pairs < 1 or pages < 2:
        raise DataError(f"runs={runs}, pairs={pairs}, pages={pages}: at least 2 runs, 1 pair and 2 pages are needed")
    users = [users] if isinstance(users, str) else list(users)
    whole = make_ranking(150, (10, 20), 20, random_state=random_state) if data is None else data
    fold = next(iter(next(iter(folds_by_dataset(whole, 5).values())).values()))
    train, test = _scaled(fold.train), _scaled(fold.test)
    rows: list[dict[str, Any]] = []
    cells = [(kind, name) for kind in users for name in _learners(1)]
    for kind, name in progress(cells, "learners", len(cells), verbose=verbose):
        learner = _learners(train.X.shape[1])[name]
        curves = simulate_online(
            learner, train, test, users=kind, n_interactions=n_interactions, runs=runs, marks=10,
            random_state=random_state, n_jobs=n_jobs,
        )  # fmt: skip
        last = curves.frame.row(-1, named=True)
        seen, wide = curves.area(), 1.96 / np.sqrt(runs)
        rows.append(
            {"users": kind, "learner": name, "offline": last["offline"], "offline ±": last["offline ±"]}
            | {"online": float(seen.mean()), "online ±": float(wide * seen.std(ddof=1)), "churn": last["churn"]}
        )
    compared = [row for kind in users for row in _compared(train, kind, pairs, pages, random_state)]
    notes = (f"{n_interactions:,} pages in each of {runs} runs",)
    part = Study(
        pl.DataFrame(compared, infer_schema_length=None),
        "How many pages does a comparison need?",
        (f"{pairs} pairs of rankers, {pages} pages each",),
    )
    return Study(pl.DataFrame(rows), "Which ranker learns best from live clicks?", notes, (part,))


def _scaled(data: RankingDataset) -> RankingDataset:
    """Features between 0 and 1 within each query."""
    from dataclasses import replace

    X = np.array(data.X if isinstance(data.X, np.ndarray) else data.X.toarray(), np.float64)
    starts = np.asarray(data.offsets[:-1])
    sizes = np.diff(data.offsets)
    low, high = (np.repeat(f.reduceat(X, starts, axis=0), sizes, axis=0) for f in (np.minimum, np.maximum))
    return replace(data, X=((X - low) / np.where(high > low, high - low, 1.0)).astype(np.float32))


def _compared(data: RankingDataset, kind: str, pairs: int, pages: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    model = user_model(kind, data, 10)
    learned = simulate_online(
        PDGD(data.X.shape[1]), data, users="perfect", n_interactions=2000, runs=1, marks=1, random_state=seed
    ).weights[0]
    X = np.asarray(data.X, np.float64)
    signs: dict[str, list[bool]] = {}
    squares: dict[str, list[float]] = {}  # of the effects in standard deviations, without what noise adds
    for _ in range(pairs):
        scores = [X @ (learned + np.linalg.norm(learned) * rng.uniform(0, 1) * _unit(rng, learned)) for _ in "ab"]
        true = [evaluate(data, each, ["nDCG@10"]).mean["nDCG@10"] for each in scores]
        lists = [_lists(data, each) for each in scores]
        query = rng.integers(data.n_queries, size=pages)
        for name, gap in _gaps(lists, query, model, Random(int(rng.integers(2**31)))).items():
            groups = _groups(name)
            parts = [gap[i::groups] for i in range(groups)]
            effect = parts[0].mean() - (parts[1].mean() if groups == 2 else 0.0)
            variance = float(np.mean([part.var(ddof=1) for part in parts]))
            signs.setdefault(name, []).append(bool(effect * (true[0] - true[1]) > 0))
            squares.setdefault(name, []).append(effect**2 / variance - groups**2 / pages if variance > 0 else 0.0)
    return [
        {"users": kind, "comparison": name, "agreement": float(np.mean(found))}
        | {"pages needed": _needed(float(np.mean(squares[name])), _groups(name))}
        for name, found in signs.items()
    ]


def _groups(name: str) -> int:
    return 2 if name == "A/B" else 1


def _needed(square: float, groups: int) -> int | None:
    return sample_size(float(np.sqrt(square)), groups=groups) if square > 0 else None


def _unit(rng: np.random.Generator, like: np.ndarray) -> np.ndarray:
    u = rng.normal(size=like.size)
    return u / np.linalg.norm(u)


def _lists(data: RankingDataset, scores: np.ndarray) -> list[list[int]]:
    query = np.repeat(np.arange(data.n_queries), np.diff(data.offsets))
    order = np.lexsort((-scores, query))
    return [order[a : min(b, a + 10)].tolist() for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]


def _gaps(lists: list[list[list[int]]], query: np.ndarray, model: Any, rng: Random) -> dict[str, np.ndarray]:
    """Credit of the first ranker less that of the second on each page, by method; for A/B the clicks on each page."""
    state, clicks, every = np.array([rng.getrandbits(63)], np.uint64), np.zeros(10, bool), np.arange(10)

    def clicked(documents: list[int]) -> list[int]:
        rows = np.array(documents, np.int64)
        click(
            rows, every, rows.size, model.attraction, model.stop, model.look, model.right, model.wrong, model.leave,
            state, clicks,
        )  # fmt: skip
        return [document for document, hit in zip(documents, clicks, strict=False) if hit]

    found: dict[str, np.ndarray] = {}
    for name, method in _COMPARISONS.items():
        gap = np.zeros(query.size)
        for page, q in enumerate(query):
            shown = method.make([lists[0][q], lists[1][q]], 10, rng)
            score = shown.score(clicked(shown.documents))
            gap[page] = score[0] - score[1]
        found[name] = gap
    found["A/B"] = np.array([float(len(clicked(lists[page % 2][q]))) for page, q in enumerate(query)])
    return found
