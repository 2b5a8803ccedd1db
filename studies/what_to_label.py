"""Strategies for choosing documents to judge, compared with a random choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.some_rows import some_rows
from plackett.datasets.generate import make_ranking
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.measures.kendall_tau import kendall_tau
from plackett.plot.chart import line_chart
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.selection.active.expected_change import expected_change
from plackett.selection.active.queries import k_center, queries_by_change
from plackett.selection.active.windows import svm_sampling
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import find_pool
from plackett.selection.simulate import judge_in_rounds, system_values
from studies.base import Study, named_folds_of, per_query

#: Strategy, the measure that belongs to it, and rounds of judging.
_POOLS = (
    ("uniform", "statAP", 1),
    ("uniform", "infAP", 1),
    ("statap", "statAP", 1),
    ("depth", "AP", 1),
    ("letor", "AP", 1),
    ("hedge", "AP", 5),
    ("mtc", "AP", 5),
)


def what_to_label(
    runs: Sequence[Any] | None = None,
    qrels: Any = None,
    *,
    budgets: Sequence[int] = (5, 20),
    n_queries: int = 20,
    n_repeats: int = 10,
    data: Any = None,
    random_state: int = 0,
) -> Study:
    """Which documents should be judged: does any strategy beat a random choice?

    First table: a few documents of each query are judged by each strategy, the systems are ranked by the estimate of
    average precision that belongs to it, and Kendall's τ to the ranking with full judgements is taken. Each repetition
    draws other queries. Second table: a linear ranker is trained on documents chosen in rounds, and tested on other
    queries; third table: on whole queries that are chosen after a few random ones. The last columns are the difference
    from the random choice of the same repetition and its 95 % interval.

    Parameters
    ----------
    runs, qrels
        Runs of real systems with their judgements; without them, 12 made-up systems of increasing noise.
    budgets
        Judgements per query.
    n_queries
        Queries of each repetition.
    data
        For the second and third table: a dataset, or folds (the first is used); None generates data.
    """
    import polars as pl

    if runs is None:
        runs, qrels = _made_up(random_state)
    whole = Candidates.from_runs(runs, qrels)
    exact_values = np.array([_exact(run, qrels, whole.qids) for run in runs])
    rows, lines = [], {}
    taus: dict[tuple[str, str, int], list[float]] = {}
    for repeat in range(n_repeats):
        rng = np.random.default_rng((random_state, repeat))
        chosen = np.sort(rng.choice(whole.n_queries, min(n_queries, whole.n_queries), replace=False))
        part = _queries(whole, chosen)
        exact = exact_values[:, chosen].mean(axis=1)
        for budget in budgets:
            for name, measure, rounds in _POOLS:
                total = min(budget * part.n_queries, part.n_rows)
                if name == "letor":
                    total = min(total, int((part.rank[0] > 0).sum()))
                judged, chance = judge_in_rounds(
                    find_pool(name), part, budget=total, rounds=rounds, random_state=repeat
                )
                guess = system_values(judged, measure, chance if measure == "statAP" else None)
                tau = float(kendall_tau(guess, exact))
                taus.setdefault((name, measure, budget), []).append(0.0 if np.isnan(tau) else tau)
    for (name, measure, budget), values in taus.items():
        rows.append(
            (name, measure, budget, float(np.mean(values)), *difference(values, taus["uniform", "statAP", budget]))
        )
    for name, measure, _ in _POOLS:
        points = [float(np.mean(taus[name, measure, budget])) for budget in budgets]
        lines[f"{name}, {measure}"] = (list(budgets), points)
    frame = pl.DataFrame(
        rows, ["strategy", "estimate", "per query", "Kendall's τ", "minus random", "from", "to"], orient="row"
    )
    lost = frame.filter(pl.col("to") < 0)
    notes = [
        f"{r['strategy']} ({r['estimate']}) loses to random at {r['per query']} per query." for r in lost.to_dicts()
    ]
    return Study(
        frame,
        f"Ranking of {len(whole.rank)} systems, {n_repeats} repetitions with {n_queries} queries each",
        tuple(notes),
        _active(data, n_repeats, random_state),
        picture=line_chart(lines, title="τ to full judgements", x_label="judgements per query", y_label="Kendall's τ"),
    )


def difference(values: Sequence[float], reference: Sequence[float]) -> tuple[float, float, float]:
    """Mean difference of paired values, and its 95 % interval by Student's t."""
    from scipy.stats import t

    gap = np.asarray(values) - np.asarray(reference)
    error = float(gap.std(ddof=1) / np.sqrt(gap.size) * t.ppf(0.975, gap.size - 1)) if gap.size > 1 else np.nan
    return float(gap.mean()), float(gap.mean()) - error, float(gap.mean()) + error


def _exact(run: Any, qrels: Any, qids: np.ndarray) -> np.ndarray:
    """Average precision of each query with all judgements, 0 for queries without any."""
    evaluation = evaluate_run(qrels, run, ["AP"], preset="trec")
    values = dict(zip(evaluation.qids.tolist(), evaluation.values["AP"].tolist(), strict=True))
    return np.array([values.get(qid, 0.0) for qid in qids.tolist()])


def _queries(whole: Candidates, chosen: np.ndarray) -> Candidates:
    sizes = np.diff(whole.offsets)[chosen]
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    rows = np.arange(offsets[-1]) + np.repeat(whole.offsets[chosen] - offsets[:-1], sizes)
    return Candidates(whole.qids[chosen], whole.docids[rows], offsets, whole.rank[:, rows], whole.labels[rows])


def _made_up(random_state: int, n_runs: int = 12, n_queries: int = 60, n_docs: int = 150, depth: int = 60) -> Any:
    rng = np.random.default_rng(random_state)
    relevance = rng.normal(size=(n_queries, n_docs))
    qrels = {str(q): {f"d{d}": int(relevance[q, d] > 1.3) for d in range(n_docs)} for q in range(n_queries)}
    runs = []
    for noise in np.linspace(0.8, 2.0, n_runs):
        scores = relevance + noise * rng.normal(size=relevance.shape)
        top = np.argsort(-scores, axis=1)[:, :depth]
        runs.append({str(q): {f"d{d}": float(scores[q, d]) for d in top[q]} for q in range(n_queries)})
    return runs, qrels


def _active(data: Any, n_repeats: int, random_state: int, rounds: int = 4, per_round: int = 3) -> tuple[Study, Study]:
    """A linear ranker, trained on documents that are chosen in rounds, and on queries that are chosen at once."""
    import polars as pl

    by_documents: dict[str, list[float]] = {"random": [], "svm_sampling": [], "expected_change": []}
    by_queries: dict[str, list[float]] = {"random": [], "k-centre": [], "expected change": []}
    fold = next(iter(named_folds_of(data)[1].values())) if data is not None else None
    for repeat in range(n_repeats):
        train, test = _parts(fold, repeat, random_state)
        first = np.sort(np.random.default_rng((random_state, repeat)).choice(train.n_queries, 4, replace=False))
        for name, values in by_queries.items():
            chosen = np.concatenate([first, _next_queries(name, train, first, (random_state, repeat))])
            values.append(_quality(_fit(train.select(np.sort(chosen))), test))
        for name, values in by_documents.items():
            rng = np.random.default_rng((random_state, repeat))
            known = rng.random(train.n_rows) < 0.1  # the same first documents for all
            for _ in range(rounds):
                now = train.replace(y=np.where(known, train.labels, -1.0))
                budget = min(per_round * train.n_queries, int((~known).sum()))
                known[_next(name, now, _fit(now).predict(train), budget, rng)] = True
            values.append(_quality(_fit(train.replace(y=np.where(known, train.labels, -1.0))), test))
    columns = ["nDCG@10", "minus random", "from", "to"]
    studies = []
    for what, parts, title in (
        (
            "documents",
            by_documents,
            f"Training a linear ranker on a tenth and {rounds * per_round} more documents per query",
        ),
        ("queries", by_queries, "Training a linear ranker on 4 random queries and 6 more, of 20"),
    ):
        rows = [(name, float(np.mean(v)), *difference(v, parts["random"])) for name, v in parts.items()]
        lost = tuple(f"{row[0]} loses to random." for row in rows if row[4] < 0)
        studies.append(Study(pl.DataFrame(rows, [f"choice of {what}", *columns], orient="row"), title, lost))
    return studies[0], studies[1]


def _parts(fold: Any, repeat: int, random_state: int) -> tuple[RankingDataset, RankingDataset]:
    """20 queries to choose from, and others to test on; at most 60 documents of a query."""
    if fold is None:
        generated: Any = make_ranking(
            n_queries=50, docs_per_query=30, n_features=12, noise=1.0, random_state=random_state + repeat
        )
        return generated.select(np.arange(20)), generated.select(np.arange(20, 50))
    rng = np.random.default_rng((random_state, repeat, 1))
    train = fold.train.select(np.sort(rng.choice(fold.train.n_queries, min(20, fold.train.n_queries), replace=False)))
    order = np.lexsort((rng.random(train.n_rows), train.query_of_row))
    turn = np.arange(train.n_rows) - train.offsets[train.query_of_row]
    train = some_rows(train, np.sort(order[turn < 60]))
    X = np.asarray(train.dense(), np.float64)
    mean, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    train, test = (part.replace(X=((part.dense() - mean) / spread).astype(np.float32)) for part in (train, fold.test))
    return train, test


def _quality(model: RankSVM, test: RankingDataset) -> float:
    return float(np.nanmean(per_query(test, model.predict(test), "nDCG@10")))


def _next_queries(name: str, train: RankingDataset, first: np.ndarray, seed: Any, n: int = 6) -> np.ndarray:
    if name == "k-centre":
        return k_center(train, n, labelled=first)
    rest = np.setdiff1d(np.arange(train.n_queries), first)
    if name == "random":
        return np.random.default_rng((*seed, 2)).choice(rest, n, replace=False)
    some = train.replace(y=np.where(np.isin(train.query_of_row, first), train.labels, -1.0))
    return queries_by_change(some, _fit(train.select(first)).predict(train), n)


def _fit(data: RankingDataset) -> RankSVM:
    return RankSVM(C=0.01).fit(_judged(data))


def _judged(data: RankingDataset) -> RankingDataset:
    rows = np.flatnonzero(data.labels >= 0)
    return RankingDataset.from_arrays(data.X[rows], data.labels[rows], data.query_of_row[rows])


def _next(name: str, data: RankingDataset, scores: np.ndarray, budget: int, rng: np.random.Generator) -> np.ndarray:
    open_ = np.flatnonzero(data.labels < 0)
    if name == "random":
        return rng.choice(open_, budget, replace=False)
    chosen = {"svm_sampling": svm_sampling, "expected_change": expected_change}[name](
        data.replace(docids=None), scores, budget=budget
    )
    return chosen.frame["docid"].to_numpy()
