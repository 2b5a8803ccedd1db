"""Time of evaluation, side by side: ``python benchmarks/evaluate.py``.

10,000 queries of about 120 documents of unequal number. plackett is given arrays and sorts; pytrec_eval and ranx are
given their own structures, whose making is not counted; LightGBM evaluates two measures on scores that it has.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _common import best_of, print_table

MEASURES = ["nDCG@10", "AP", "RR", "P@10", "ERR@10"]


def make(n_queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores, query ids and list lengths."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(20, 221, n_queries)
    n = int(sizes.sum())
    labels = rng.choice(5, n, p=[0.5, 0.3, 0.12, 0.05, 0.03]).astype(float)
    return labels, rng.normal(size=n), np.repeat(np.arange(n_queries), sizes), sizes


def plackett(labels: np.ndarray, scores: np.ndarray, qid: np.ndarray) -> Callable[[], Any]:
    from plackett import evaluate

    return lambda: evaluate(labels, scores, MEASURES, qid=qid)


def as_dicts(values: np.ndarray, sizes: np.ndarray, kind: type) -> dict[str, dict[str, Any]]:
    parts = np.split(values, np.cumsum(sizes)[:-1])
    return {f"q{q}": {f"d{i}": kind(v) for i, v in enumerate(part)} for q, part in enumerate(parts)}


def pytrec_eval(qrels: dict, run: dict) -> Callable[[], Any]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map", "recip_rank", "P.10"})
    return lambda: evaluator.evaluate(run)


def ranx(qrels: dict, run: dict) -> Callable[[], Any]:
    import ranx

    judged, ranked = ranx.Qrels(qrels), ranx.Run(run)
    return lambda: ranx.evaluate(judged, ranked, ["ndcg_burges@10", "map", "mrr", "precision@10"])


def lightgbm(labels: np.ndarray, scores: np.ndarray, sizes: np.ndarray) -> Callable[[], Any]:
    import lightgbm

    noise = np.random.default_rng(1).random((labels.size, 1))
    parameters = {
        "objective": lambda scores, _: (np.zeros(scores.size), np.ones(scores.size)),
        "metric": ["ndcg", "map"],
        "eval_at": [10],
        "verbose": -1,
    }
    train = lightgbm.Dataset(noise, labels, group=sizes, init_score=scores)
    valid = train.create_valid(noise, labels, group=sizes, init_score=scores)
    booster = lightgbm.train(parameters, train, 1, valid_sets=[valid], keep_training_booster=True)
    return booster.eval_valid


def main(n_queries: int = 10_000, repeat: int = 7) -> None:
    labels, scores, qid, sizes = make(n_queries)
    start = time.perf_counter()
    ours = plackett(labels, scores, qid)
    ours()
    print(f"plackett, first call (imports, compiled code from the cache or made): {time.perf_counter() - start:.2f} s")
    shuffled = np.random.default_rng(2).permutation(labels.size)
    qrels, run = as_dicts(labels, sizes, int), as_dicts(scores, sizes, float)
    calls = {
        "plackett, 5 measures": ours,
        "plackett, rows in any order": plackett(labels[shuffled], scores[shuffled], qid[shuffled]),
    }
    for name, peer in (
        ("LightGBM, 2 measures", lambda: lightgbm(labels, scores, sizes)),
        ("pytrec_eval, 4 measures", lambda: pytrec_eval(qrels, run)),
        ("ranx, 4 measures", lambda: ranx(qrels, run)),
    ):
        with contextlib.suppress(ImportError):
            calls[name] = peer()
    times = {}
    for name, call in calls.items():
        call()
        times[name] = 1e3 * best_of(repeat, call)
    print_table(f"evaluate {n_queries:,} queries, {labels.size:,} documents", times, "ms", larger_is_better=False)


if __name__ == "__main__":
    main()
