"""Rank aggregation: quality of every method on LETOR's MQ2007-agg, and the speed of fusing runs beside ranx.

    PLACKETT_DATA=… python benchmarks/aggregation.py quality     # Markdown table: five folds, LETOR 4.0's rules
    python benchmarks/aggregation.py speed [QUERIES [DOCUMENTS [RUNS]]]

Supervised rows are fitted on the training part of each fold (weights by coordinate ascent on AP; CPS by likelihood) and
measured on its test part. Nothing is chosen on test figures.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from _common import best_of, print_table

import plackett as pk
from plackett import aggregation
from plackett.aggregation import RankLists
from plackett.aggregation.fusing import fuse

_MEASURES = ["AP", "nDCG@10"]
#: Methods whose weights are tuned as well; the others are slow in hundreds of trials or have weights of their own.
_TUNED = ("Borda", "RRF", "CombSUM", "CombMNZ")


def quality() -> None:
    """Mean over the test parts of the five folds of each method."""
    folds = [pk.datasets.load("mq2007-agg", fold=fold) for fold in range(1, 6)]
    lists = [(RankLists.from_dataset(fold.train), RankLists.from_dataset(fold.test)) for fold in folds]

    def row(name: str, scores) -> None:
        start = time.perf_counter()
        found = [scores(*pair, fold) for pair, fold in zip(lists, folds, strict=True)]
        taken = time.perf_counter() - start
        results = [pk.evaluate(f.test, s, _MEASURES, preset="letor4") for f, s in zip(folds, found, strict=True)]
        values = [np.mean([result.mean[measure] for result in results]) for measure in _MEASURES]
        print(f"| {name} | {values[0]:.4f} | {values[1]:.4f} | {taken:.1f} |", flush=True)

    print("| method | MAP | nDCG@10 | seconds |\n|---|---|---|---|")

    def best_single(train, test, fold):
        figures = [
            pk.evaluate(fold.train, one, "AP", preset="letor4").mean["AP"]
            for one in (np.nan_to_num(column, nan=-1e9) for column in train.values.T)
        ]
        return np.nan_to_num(test.values[:, int(np.argmax(figures))], nan=-1e9)

    row("best single list (chosen on training queries)", best_single)
    for name, method in sorted(aggregation().items(), key=lambda item: item[0].lower()):
        if name != "CPS":
            method().scores(lists[0][1].select([0, 1]))  # compiled outside the clock
            row(name, lambda train, test, fold, method=method: method().scores(test))
    for name in _TUNED:
        method = aggregation()[name]()
        row(
            f"{name}, weights fitted",
            lambda train, test, fold, method=method: method.fit(train, fold.train.y, "AP").scores(test),
        )
    cps = aggregation()["CPS"]()
    cps.fit(lists[0][0].select([0, 1]), folds[0].train.y[: lists[0][0].offsets[2]])
    row("CPS, fitted", lambda train, test, fold: cps.fit(train, fold.train.y).scores(test))


def _runs(n_queries: int, n_documents: int, n_runs: int) -> list[dict[str, dict[str, float]]]:
    """Runs of the best documents out of twice as many, each in a noisy order of its own."""
    rng = np.random.default_rng(0)
    names = np.array([f"doc{i:07d}" for i in range(100_000)])
    runs: list[dict[str, dict[str, float]]] = [{} for _ in range(n_runs)]
    for q in range(n_queries):
        pool = rng.choice(names, 2 * n_documents, replace=False)
        quality = rng.normal(size=pool.size)
        for run in runs:
            scores = quality + rng.normal(size=pool.size)
            best = np.argsort(-scores)[:n_documents]
            run[f"q{q}"] = dict(zip(pool[best].tolist(), scores[best].tolist(), strict=True))
    return runs


def speed(n_queries: int = 1000, n_documents: int = 1000, n_runs: int = 5) -> None:
    """Time from runs in memory (frames here, ranx's Run there) to a fused run."""
    import ranx

    from plackett.data.trec import as_run

    runs = _runs(n_queries, n_documents, n_runs)
    frames = [as_run(run) for run in runs]
    theirs = [ranx.Run(run, name=str(i)) for i, run in enumerate(runs)]
    for name, other, norm in (("RRF", "rrf", None), ("CombSUM", "sum", "min-max"), ("CombMNZ", "mnz", "min-max")):
        options = {} if norm is None else {"normalize": norm}
        ours = fuse(frames, name, **options)
        fused = ranx.fuse(theirs, norm=norm, method=other)
        sample = dict(ours.filter(qid="q0").select("docid", "score").iter_rows())
        assert all(abs(sample[d] - s) < 1e-9 for d, s in fused["q0"].items()), "the two disagree"
        table = {
            f"plackett {name}": best_of(3, lambda name=name, options=options: fuse(frames, name, **options)),
            f"ranx {other}": best_of(2, lambda norm=norm, other=other: ranx.fuse(theirs, norm=norm, method=other)),
        }
        print_table(
            f"{n_runs} runs of {n_queries} queries × {n_documents} documents", table, "s", larger_is_better=False
        )


if __name__ == "__main__":
    what, *numbers = sys.argv[1:] or ["quality"]
    {"quality": quality, "speed": speed}[what](*map(int, numbers))
