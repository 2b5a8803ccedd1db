"""LambdaMARTs for clicks beside XGBoost's ``lambdarank_unbiased`` and LightGBM's ``position``, on simulated clicks.

Same trees for all: 50 rounds, 15 leaves, learning rate 0.1. Judged by the true labels of other queries.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import lightgbm as lgb
import numpy as np
import xgboost as xgb

import plackett as pk
from plackett.losses import UnbiasedLambda
from plackett.rankers import PositionBiasLambdaMART, UnbiasedLambdaMART

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from click_simulation import looks, simulate

TREES = {"n_estimators": 50, "num_leaves": 15, "min_child_weight": 1.0, "reg_lambda": 1.0, "n_jobs": 1}


def xgboost_scores(data: pk.RankingDataset, test: pk.RankingDataset, unbiased: bool) -> np.ndarray:
    rows = np.lexsort((data.positions, data.query_of_row))  # the order of the rows is that of the positions
    options = {
        "objective": "rank:ndcg",
        "lambdarank_unbiased": unbiased,
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 30,
        "max_leaves": 15,
        "grow_policy": "lossguide",
        "max_depth": 0,
        "eta": 0.1,
        "nthread": 1,
    }
    table = xgb.DMatrix(data.X[rows], data.y[rows], qid=data.query_of_row[rows])
    return xgb.train(options, table, 50).predict(xgb.DMatrix(test.X)).astype(float)


def lightgbm_scores(data: pk.RankingDataset, test: pk.RankingDataset, position: bool) -> np.ndarray:
    table = lgb.Dataset(data.X, data.y, group=data.group, position=data.positions if position else None)
    options = {"objective": "lambdarank", "num_leaves": 15, "min_sum_hessian_in_leaf": 1.0, "lambda_l2": 1.0}
    return lgb.train(options | {"verbosity": -1, "num_threads": 1}, table, 50).predict(test.X)


def contestants(eta: float) -> dict:
    known = pk.GradientRanker(
        loss=UnbiasedLambda(click_bias=tuple(looks(10, eta))), model=pk.Trees(**TREES), random_state=0
    )
    rankers = {
        "LambdaMART": pk.LambdaMART(**TREES),
        "PositionBiasLambdaMART": PositionBiasLambdaMART(**TREES),
        "UnbiasedLambdaMART": UnbiasedLambdaMART(**TREES),
        "UnbiasedLambdaMART, learn_skip_bias": UnbiasedLambdaMART(learn_skip_bias=True, **TREES),
        "true probabilities": known,
    }
    return {
        **{name: lambda data, test, r=ranker: r.fit(data).predict(test) for name, ranker in rankers.items()},
        "XGBoost": lambda data, test: xgboost_scores(data, test, False),
        "XGBoost, lambdarank_unbiased": lambda data, test: xgboost_scores(data, test, True),
        "LightGBM": lambda data, test: lightgbm_scores(data, test, False),
        "LightGBM, position": lambda data, test: lightgbm_scores(data, test, True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--eta", type=float, default=1.0, help="a look at position i has the probability 1 / i^eta")
    parser.add_argument("--seeds", type=int, default=5, help="how many datasets")
    parser.add_argument("--first", type=int, default=0, help="seed of the first of them")
    options = parser.parse_args()
    first = options.first
    orders = {"useless feature": "noise_0", "good feature": "match_1", "random": None}
    found = {name: {} for name in contestants(options.eta)}
    for order, shown_by in orders.items():
        tasks = [
            simulate(eta=options.eta, shown_by=shown_by, seed=seed) for seed in range(first, first + options.seeds)
        ]
        for name, scores in contestants(options.eta).items():
            values = [pk.evaluate(test, scores(data, test), ["nDCG@10"]).mean["nDCG@10"] for data, test in tasks]
            found[name][order] = f"{np.mean(values):.3f}"
    print(f"{'nDCG@10':36}", *(f"{order:>16}" for order in orders))
    for name, row in found.items():
        print(f"{name:36}", *(f"{value:>16}" for value in row.values()))


if __name__ == "__main__":
    main()
