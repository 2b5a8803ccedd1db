"""Five-fold LETOR figures beside the published ones: ``python benchmarks/letor.py [--ranker NAME]… [--dataset NAME]…``.

Needs the folder that the environment variable PLACKETT_DATA names. Settings are chosen by MAP on each fold's validation
part, as in the published tables; the measures are those of the official scripts (presets letor3 and letor4); figures
are means over folds. The tables are printed in Markdown.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import plackett as pk

MEASURES = ["nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10", "P@1", "P@3", "P@5", "P@10", "AP"]

NONE = float("nan")
#: Name of the set, official rules, and the published figures in the order of `MEASURES`.
DATASETS: dict[str, tuple[str, dict[str, tuple[float, ...]]]] = {
    "ohsumed": (
        "letor3",
        {
            "LinearRegression": (0.446, 0.443, NONE, 0.411, 0.597, 0.577, NONE, 0.466, 0.422),
            "RankSVM": (0.496, 0.421, NONE, 0.414, 0.597, 0.543, NONE, 0.486, 0.433),
            "ListNet": (0.533, 0.473, NONE, 0.441, 0.652, 0.602, NONE, 0.497, 0.446),
        },
    ),
    "mq2008": (
        "letor4",
        {
            "RankSVM": (0.363, 0.429, NONE, 0.228, 0.427, 0.390, NONE, 0.249, 0.470),
            "ListNet": (0.375, 0.432, NONE, 0.230, 0.445, 0.384, NONE, 0.248, 0.478),
        },
    ),
    "ohsumed-letor2": (
        "letor3",
        {
            "RankSVM": (0.495, 0.465, 0.458, NONE, 0.634, 0.592, 0.577, NONE, 0.447),
            "ListNet": (0.523, 0.478, 0.466, NONE, 0.643, 0.602, 0.575, NONE, 0.450),
            "QBRank": (0.563, 0.483, 0.463, NONE, 0.708, 0.624, 0.570, NONE, 0.452),
            "IsoRank": (0.565, 0.520, 0.488, NONE, 0.653, 0.643, 0.588, NONE, 0.457),
        },
    ),
}

#: What is tried by the kind of model; small data is fastest on one thread.
STOP = {"early_stopping_rounds": 40, "eval_measure": "AP"}
BY_MODEL: dict[type, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    pk.Linear: ({}, {"alpha": [1e-3, 1e-2, 1e-1]}),
    pk.Trees: ({"n_estimators": 300, **STOP}, {"learning_rate": [0.05], "num_leaves": [4, 8]}),
    pk.Neural: ({"max_epochs": 60, **STOP}, {"learning_rate": [1e-3, 1e-2]}),
}
#: What is tried for some rankers instead.
BY_NAME: dict[str, tuple[dict[str, Any], dict[str, list[Any]]]] = {
    "LinearRegression": ({}, {"alpha": [0.0, 1e-3, 1e-2, 1e-1, 1.0]}),
    "ListNet": ({}, {"alpha": [1e-4, 1e-3, 1e-2], "temperature": [0.25, 0.5, 1.0]}),
    "RankNet": ({"max_epochs": 60, **STOP}, {"hidden": [(), (10,)], "learning_rate": [1e-3, 1e-2]}),
    "RankSVM": ({}, {"C": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]}),
    "IRSVM": ({}, {"C": [1e-3, 1e-2, 1e-1, 1.0, 10.0]}),
    "KernelRankSVM": (
        {"n_components": 300, "loss": "squared_hinge"},
        {"C": [1e-5, 1e-4, 1e-3], "gamma": [0.003, 0.02]},
    ),
    "OnlineRankSVM": ({"n_steps": 50_000}, {"alpha": [1e-3, 1e-2, 1e-1]}),
    "PointwiseSVM": ({}, {"C": [1e-4, 1e-3, 1e-2, 1e-1]}),
    "LambdaMART": (
        {"n_estimators": 300, **STOP},
        {"learning_rate": [0.03, 0.1], "num_leaves": [4, 8], "measure": ["nDCG", "AP"]},
    ),
}


def settings_of(name: str) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Fixed parameters and those to choose from."""
    if name in BY_NAME:
        return BY_NAME[name]
    cls = pk.rankers()[name]
    return next((found for model, found in BY_MODEL.items() if issubclass(cls, model)), ({}, {}))


def run(dataset: str, ranker: str) -> tuple[pk.experiments.cross_validation.CrossValidation, float]:
    fixed, settings = settings_of(ranker)
    folds = {f"Fold{fold}": pk.datasets.load(dataset, fold=fold) for fold in range(1, 6)}
    start = time.perf_counter()
    found = pk.cross_validate(
        folds,
        pk.rankers()[ranker](n_jobs=1, **fixed),
        MEASURES,
        settings=settings or None,
        select="AP",
        preset=DATASETS[dataset][0],
        early_stopping="early_stopping_rounds" in fixed,
    )
    return found, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranker", action="append", choices=list(pk.rankers()))
    parser.add_argument("--dataset", action="append", choices=list(DATASETS))
    arguments = parser.parse_args()
    for dataset in arguments.dataset or DATASETS:
        preset, published = DATASETS[dataset]
        print(f"\n### {dataset} (preset `{preset}`)\n")
        print(f"| ranker | {' | '.join(MEASURES)} | seconds |")
        print("|---" * (len(MEASURES) + 2) + "|")
        for ranker in arguments.ranker or sorted(set(pk.rankers()) - {"GradientRanker"}):
            found, seconds = run(dataset, ranker)
            cells = " | ".join(f"{found.mean[m]:.3f}" for m in MEASURES)
            print(f"| {ranker} | {cells} | {seconds:.0f} |", flush=True)
            if ranker in published:
                cells = " | ".join("" if value != value else f"{value:.3f}" for value in published[ranker])
                print(f"| {ranker}, published | {cells} | |", flush=True)


if __name__ == "__main__":
    main()
