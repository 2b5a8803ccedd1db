"""The demo: make ranking data, rank it in a few ways, and say which way is better and how sure that is.

Run it with ``make demo``; it needs no data and no network.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from rich.console import Console

import plackett as pk

MEASURES = ["nDCG@10", "AP", "RR", "ERR@10"]


def best_features(data: pk.RankingDataset, how_many: int) -> list[int]:
    """The features that rank the training data best on their own."""
    quality = [pk.evaluate(data, data.X[:, f], "nDCG@10").mean["nDCG@10"] for f in range(data.n_features)]
    return np.argsort(quality)[::-1][:how_many].tolist()


def lightgbm_baseline(train: pk.RankingDataset, valid: pk.RankingDataset, objective: str) -> object:
    """LightGBM with default-sized trees and early stopping on the validation queries."""
    import lightgbm as lgb

    warnings.filterwarnings("ignore", module="lightgbm")
    sets = [lgb.Dataset(part.X, part.y, group=part.group) for part in (train, valid)]
    parameters = {"objective": objective, "metric": "ndcg", "eval_at": [10], "learning_rate": 0.1, "verbosity": -1}
    return lgb.train(parameters, sets[0], 100, valid_sets=[sets[1]], callbacks=[lgb.early_stopping(20, verbose=False)])


def main() -> None:
    """Generate, split, rank, compare, print."""
    console = Console(width=None if Console().is_terminal else 110)
    start = time.perf_counter()
    console.rule("[bold]plackett[/bold]: which ranking is better, and can I trust it?")

    data = pk.datasets.make_ranking(n_queries=800, docs_per_query=(20, 100), n_features=40, random_state=7)
    train, valid, test = pk.split_queries(data, (0.6, 0.2, 0.2), random_state=7)
    labels, counts = np.unique(data.y, return_counts=True)
    shares = ", ".join(f"{int(label)}: {count / data.n_rows:.0%}" for label, count in zip(labels, counts, strict=True))
    console.print(f"\n[bold]Data[/bold]  {data!r}; labels {shares}")
    parts = f"{train.n_queries} queries to train on, {valid.n_queries} to stop early, {test.n_queries} to test"
    console.print(f"      {parts}\n")

    scores: dict[str, np.ndarray] = {}
    with console.status("ranking by single features …"):
        for feature in best_features(train, 2):
            scores[f"feature {test.feature_names[feature]}"] = test.X[:, feature]
    for objective in ("regression", "lambdarank"):
        with console.status(f"training LightGBM ({objective}) …"):
            scores[f"LightGBM {objective}"] = lightgbm_baseline(train, valid, objective).predict(test.X)

    with console.status("training LambdaMART …"):
        ranker = pk.LambdaMART(n_estimators=100, early_stopping_rounds=20).fit(train, eval_set=valid)
        scores["LambdaMART"] = ranker.predict(test)

    comparison = pk.compare(test, scores, MEASURES, test="fisher", correction="holm", random_state=7)
    console.print(comparison)
    console.print(f"\n{time.perf_counter() - start:.1f} s. Next: README.md, docs/, `plackett --help`.")


if __name__ == "__main__":
    main()
