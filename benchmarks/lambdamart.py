"""LambdaMART beside LightGBM's ``lambdarank`` and XGBoost's ``rank:ndcg``: time to train, quality on held-out queries.

Same trees for all: 100 rounds, 31 leaves, 255 bins, learning rate 0.1, two threads. Each time is that of the whole
training from arrays, binning included; the rounds of measuring take turns, and the best of each counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from _common import print_table

import plackett as pk

ROUNDS, LEAVES, BINS, RATE, THREADS = 100, 31, 255, 0.1, 2


def ours(data: pk.RankingDataset) -> Callable[[Any], np.ndarray]:
    ranker = pk.LambdaMART(
        n_estimators=ROUNDS, num_leaves=LEAVES, max_bin=BINS, learning_rate=RATE, n_jobs=THREADS
    ).fit(data)
    return lambda X: ranker.predict(X)


def lightgbm(data: pk.RankingDataset, objective: str = "lambdarank") -> Callable[[Any], np.ndarray]:
    parameters = {
        "objective": objective,
        "num_leaves": LEAVES,
        "max_bin": BINS,
        "learning_rate": RATE,
        "num_threads": THREADS,
        "verbosity": -1,
    }
    booster = lgb.train(parameters, lgb.Dataset(data.X, data.y, group=data.group), ROUNDS)
    return lambda X: booster.predict(X)


def xgboost(data: pk.RankingDataset) -> Callable[[Any], np.ndarray]:
    parameters = {
        "objective": "rank:ndcg",
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": LEAVES,
        "max_depth": 0,
        "max_bin": BINS,
        "eta": RATE,
        "nthread": THREADS,
    }
    matrix = xgb.QuantileDMatrix(data.X, data.y, qid=np.repeat(np.arange(data.n_queries), data.group), max_bin=BINS)
    booster = xgb.train(parameters, matrix, ROUNDS)
    return lambda X: booster.predict(xgb.DMatrix(X))


TOOLS = {"plackett LambdaMART": ours, "LightGBM lambdarank": lightgbm, "XGBoost rank:ndcg": xgboost}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=2000, help="training queries of about 120 documents")
    parser.add_argument("--repeat", type=int, default=2)
    arguments = parser.parse_args()
    sizes = {"docs_per_query": (60, 180), "n_features": 136}
    data = pk.datasets.make_ranking(n_queries=arguments.queries * 5 // 4, random_state=0, **sizes)
    train, test = data.select(np.arange(arguments.queries)), data.select(np.arange(arguments.queries, data.n_queries))
    print(f"{train.n_rows:,} rows × {train.n_features} features to train on, {test.n_queries} queries to test")
    pk.LambdaMART(n_estimators=2).fit(train.select(np.arange(10)))  # compile
    times = {name: float("inf") for name in TOOLS}
    models = {}
    for _ in range(arguments.repeat):
        for name, tool in TOOLS.items():
            start = time.perf_counter()
            models[name] = tool(train)
            times[name] = min(times[name], time.perf_counter() - start)
    print_table("training", times, "s", larger_is_better=False)
    models["LightGBM regression"] = lightgbm(train, "regression")
    quality = {name: pk.evaluate(test, model(test.X), "nDCG@10").mean["nDCG@10"] for name, model in models.items()}
    print("nDCG@10 on held-out queries")
    for name, value in quality.items():
        print(f"  {name:<28} {value:.4f}")


if __name__ == "__main__":
    main()
