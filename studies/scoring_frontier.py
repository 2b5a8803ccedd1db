"""Quality against the time of scoring: the whole ensemble, fewer trees, early exits and cascades."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.splits import Fold
from plackett.datasets.generate import make_ranking
from plackett.plot.chart import line_chart
from plackett.rankers.cascade import Cascade
from plackett.rankers.early_exit import RULES, early_exit
from plackett.rankers.pairwise.lambdamart import LambdaMART
from plackett.scorers.trees.scorer import TreeScorer
from studies.base import Study, named_folds_of, per_query
from studies.what_to_label import difference

_SHARES = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5)


def scoring_frontier(
    data: Any = None,
    *,
    n_estimators: int = 1000,
    num_leaves: int = 64,
    learning_rate: float = 0.05,
    max_loss: float = 0.001,
    n_queries: int = 400,
    n_docs: int = 150,
    repeats: int = 5,
    random_state: int = 0,
) -> Study:
    """How much faster can LambdaMART score with the same nDCG@10?

    An ensemble is trained, exits of each rule are chosen on validation data so that the upper end of the interval of
    the loss is at most ``max_loss``, and both are measured on test data, on one core. Compared with them: the first
    trees of the ensemble alone, and cascades whose last stage is such an ensemble, with a linear ranker or a small
    ensemble first.

    Parameters
    ----------
    data
        A dataset, or folds, over which figures are averaged; None generates data.
    n_estimators, num_leaves, learning_rate
        Parameters of LambdaMART.
    max_loss
        How much nDCG@10 an exit or a cascade may lose on validation data.
    n_queries, n_docs
        Size of the generated data; half of the queries are for training, a quarter each for validation and test.
    repeats
        Each time is the minimum over this many runs.

    References
    ----------
    Cambazoglu, Zaragoza, Chapelle, Chen, Liao, Zheng, Degenhardt: Early exit optimizations for additive machine learned
    ranking systems. WSDM 2010.
    Wang, Lin, Metzler: A cascade ranking model for efficient ranked retrieval. SIGIR 2011.
    """
    import polars as pl

    folds = _generated(n_queries, n_docs, random_state) if data is None else list(named_folds_of(data)[1].values())
    measurements: dict[tuple[str, str], list[tuple[np.ndarray, float, float]]] = {}
    for fold in folds:
        train, valid, test = (fold.train, fold.valid, fold.test)
        parameters: dict[str, Any] = {"n_estimators": n_estimators, "num_leaves": num_leaves, "n_jobs": 1}
        parameters["learning_rate"] = learning_rate
        full = LambdaMART(**parameters).fit(train)
        for (way, setting), score in _ways(full, train, valid, max_loss, parameters).items():
            values = per_query(test, score(test), "nDCG@10")
            whole, single = _seconds(score, test, repeats)
            measurements.setdefault((way, setting), []).append((values, whole, single))
    plain = measurements["all trees", ""]
    rows = []
    for (way, setting), parts in measurements.items():
        if len(parts) < len(folds):
            continue  # no exit was good enough in some fold
        values, reference = (np.concatenate([each[0] for each in some]) for some in (parts, plain))
        known = ~np.isnan(values)
        gain = difference(values[known], reference[known])
        whole, single = (1e6 * float(np.mean([each[i] for each in parts])) for i in (1, 2))
        base = 1e6 * float(np.mean([each[1] for each in plain]))
        rows.append((way, setting, float(values[known].mean()), *gain, whole, whole / base, single))
    columns = ["scoring", "setting", "nDCG@10", "minus all", "from", "to", "µs", "of the time", "µs, list by list"]
    frame = pl.DataFrame(rows, columns, orient="row")
    lines: dict[str, tuple[list[float], list[float]]] = {}
    for row in frame.sort("µs").rows(named=True):
        xs, ys = lines.setdefault(row["scoring"], ([], []))
        xs.append(row["µs"])
        ys.append(row["nDCG@10"])
    good = frame.filter((pl.col("minus all").abs() < 0.001) & (pl.col("of the time") < 1)).sort("of the time")
    note = "Nothing is within .001 of all trees in less time."
    if good.height:
        best = good.row(0, named=True)
        note = (
            f"Within .001 of all trees, the fastest is {best['scoring']} ({best['setting']}), in "
            f"{best['of the time']:.0%} of the time."
        )
    return Study(
        frame,
        f"LambdaMART with {n_estimators} trees of {num_leaves} leaves; microseconds per document on one core",
        (note,),
        picture=line_chart(
            lines, title="Quality against time", x_label="µs per document", y_label="nDCG@10", log_x=True
        ),
    )


Score = Callable[[RankingDataset], np.ndarray]


def _ways(
    full: LambdaMART, train: RankingDataset, valid: RankingDataset, max_loss: float, parameters: dict[str, Any]
) -> dict[tuple[str, str], Score]:
    """Ways to score, by name and setting."""
    ways: dict[tuple[str, str], Score] = {("all trees", ""): full.predict}
    total = full.scorer_.trees.n_trees
    for share in _SHARES:
        part = TreeScorer.of(full.scorer_.trees.head(max(1, round(share * total))))
        ways["fewer trees", f"{share:.0%} of them"] = partial(_by, part)
    for rule in RULES:
        for loss in (max_loss, 5 * max_loss):
            exit_ = early_exit(full, valid, rule=rule, max_loss=loss, sure=True, n_jobs=1)
            if exit_.trees is not None:
                ways[f"exit, {rule}", f"loss ≤ {loss:g}"] = exit_.ranker.predict
    small = f"LambdaMART(n_estimators={max(parameters['n_estimators'] // 30, 1)}, num_leaves=16)"
    last = LambdaMART(**parameters)
    for name, first in (("linear first", "ListNet"), ("small ensemble first", small)):
        cascade = Cascade(stages=(first, last), max_loss=max_loss, n_jobs=1).fit(train, eval_set=valid)
        ways["cascade", f"{name}, loss ≤ {max_loss:g}"] = cascade.predict
    return ways


def _by(scorer: TreeScorer, data: RankingDataset) -> np.ndarray:
    return scorer.predict(data.X, data.offsets, 1)


def _seconds(score: Score, test: RankingDataset, repeats: int) -> tuple[float, float]:
    """Seconds per document, for all lists in one call and list by list; the minimum over several runs."""
    lists = [test.select(np.array([q])) for q in range(min(test.n_queries, 50))]

    def least(parts: list[RankingDataset]) -> float:
        times = []
        for _ in range(repeats):
            start = time.process_time()
            for part in parts:
                score(part)
            times.append(time.process_time() - start)
        return min(times) / max(sum(part.n_rows for part in parts), 1)

    return least([test]), least(lists)


def _generated(n_queries: int, n_docs: int, random_state: int) -> list[Fold]:
    whole: Any = make_ranking(n_queries, n_docs, 40, random_state=random_state)
    half, rest = n_queries // 2, n_queries // 4
    ends = (0, half, half + rest, n_queries)
    return [Fold(*(whole.select(np.arange(a, b)) for a, b in itertools.pairwise(ends)))]
