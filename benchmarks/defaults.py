"""Defaults: every ranker as it comes, on many sets, next to the defaults of LightGBM, XGBoost and CatBoost.

``python benchmarks/defaults.py --data DIR [--set NAME]… [--ranker NAME]… [--folds N] [--trials N] [--budget SECONDS]``

Part one, defaults: each contestant is made without any parameter but the seed and one thread, and is trained on the
training and validation part together. Part two, with ``--trials N``: the same contestants with N settings each, drawn
from a space of the same three or fewer parameters, up to 300 rounds, settings and rounds chosen by nDCG@10 on the
validation part. Cost is processor time of training, with one thread.

Finished cells are kept in ``--out``, so that a run that was stopped, or ended by ``--budget``, goes on from there. The
tables take the place of those between the two marks in ``docs/defaults.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _sets import SETS, Split

import plackett as pk
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when the libraries start their threads, which is later

MEASURE = parse("nDCG@10")
ROUNDS, PATIENCE = 300, 50
BEGIN, END = "<!-- defaults: begin -->", "<!-- defaults: end -->"

#: A contestant: training data, validation data or None, parameters; gives back a function from data to scores.
Contestant = Callable[[RankingDataset, RankingDataset | None, dict[str, Any]], Callable[[RankingDataset], np.ndarray]]


def ours(cls: Any) -> Contestant:
    """One of our rankers."""

    def train(data: RankingDataset, valid: RankingDataset | None, words: dict[str, Any]) -> Any:
        if valid is not None and hasattr(cls(), "n_estimators"):
            words = {"n_estimators": ROUNDS, "early_stopping_rounds": PATIENCE, **words}
        ranker = cls(n_jobs=1, random_state=0, **words)
        stops = valid is not None and "early_stopping_rounds" in words
        return (ranker.fit(data, eval_set=valid) if stops else ranker.fit(data)).predict

    return train


def lightgbm(data: RankingDataset, valid: RankingDataset | None, words: dict[str, Any]) -> Any:
    """LightGBM's ranker."""
    import lightgbm as lgb

    extra: dict[str, Any] = {}
    if valid is not None:
        words = {"n_estimators": ROUNDS, "early_stopping_rounds": PATIENCE, **words}
        extra = {"eval_set": [(valid.X, valid.y)], "eval_group": [valid.group], "eval_at": (10,)}
    ranker = lgb.LGBMRanker(n_jobs=1, random_state=0, verbosity=-1, **words)
    ranker.fit(data.X, data.y, group=data.group, **extra)
    return lambda new: ranker.predict(new.X)


def xgboost(data: RankingDataset, valid: RankingDataset | None, words: dict[str, Any]) -> Any:
    """XGBoost's ranker."""
    import xgboost as xgb

    extra: dict[str, Any] = {}
    if valid is not None:
        words = {"n_estimators": ROUNDS, "early_stopping_rounds": PATIENCE, "eval_metric": "ndcg@10", **words}
        extra = {"eval_set": [(valid.X, valid.y)], "eval_qid": [valid.query_of_row], "verbose": False}
    ranker = xgb.XGBRanker(n_jobs=1, random_state=0, **words)
    ranker.fit(data.X, data.y, qid=data.query_of_row, **extra)
    return lambda new: ranker.predict(new.X)


def catboost(data: RankingDataset, valid: RankingDataset | None, words: dict[str, Any]) -> Any:
    """CatBoost's ranker; its default loss is YetiRank."""
    from catboost import CatBoostRanker, Pool

    def pool(part: RankingDataset) -> Any:
        return Pool(part.X, part.y, group_id=part.query_of_row)

    if valid is not None:
        words = {
            "iterations": ROUNDS,
            "early_stopping_rounds": PATIENCE,
            "eval_metric": "NDCG:top=10;type=Exp",
            **words,
        }
    ranker = CatBoostRanker(thread_count=1, random_seed=0, verbose=False, allow_writing_files=False, **words)
    ranker.fit(pool(data), eval_set=None if valid is None else pool(valid))
    return lambda new: ranker.predict(pool(new))


def single_feature(data: RankingDataset, valid: RankingDataset | None, words: dict[str, Any]) -> Any:
    """The feature that is best on the training data, up or down."""
    best = (-1.0, 0, 1.0)
    for j in range(data.n_features):
        column = np.nan_to_num(_column(data, j))
        for sign in (1.0, -1.0):
            best = max(best, (value(data, sign * column), j, sign))
    _, j, sign = best
    return lambda new: sign * np.nan_to_num(_column(new, j))


def _column(data: RankingDataset, j: int) -> np.ndarray:
    return np.asarray(data.X[:, j], np.float64).ravel()


def value(data: RankingDataset, scores: np.ndarray) -> float:
    """Mean nDCG@10."""
    return float(np.nanmean(per_query(data, scores)))


def per_query(data: RankingDataset, scores: np.ndarray) -> np.ndarray:
    """nDCG@10 of each query."""
    return MEASURE.per_query(Scored(data, np.asarray(scores, np.float64), n_jobs=1))


OURS = ("LambdaMART", "YetiRank", "XENDCG", "LambdaLossMART", "MART", "ListNet", "RankSVM", "RankNet")
#: Rankers that take no missing values see 0 in their place.
DENSE = ("ListNet", "RankSVM", "RankNet")
CONTESTANTS: dict[str, Contestant] = {
    **{name: ours(getattr(pk, name)) for name in OURS},
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
    "CatBoost": catboost,
    "best feature": single_feature,
}
#: What is tuned in part two, in the names of each.
SPACES: dict[str, dict[str, Any]] = {
    **{name: getattr(pk, name).search_space for name in OURS},
    "LightGBM": {
        "learning_rate": pk.Real(0.02, 0.2, log=True),
        "num_leaves": pk.Integer(4, 32, log=True),
        "min_child_samples": pk.Integer(5, 80, log=True),
    },
    "XGBoost": {
        "learning_rate": pk.Real(0.02, 0.3, log=True),
        "max_depth": pk.Integer(2, 6),
        "min_child_weight": pk.Real(0.1, 20.0, log=True),
    },
    "CatBoost": {
        "learning_rate": pk.Real(0.02, 0.2, log=True),
        "depth": pk.Integer(2, 7),
        "l2_leaf_reg": pk.Real(1.0, 10.0, log=True),
    },
    "best feature": {},
}


def settings(name: str, trials: int) -> list[dict[str, Any]]:
    """The default, and settings drawn from the space of a contestant."""
    from plackett._base.search_space import value_at

    rng = np.random.default_rng(0)
    space = SPACES[name]
    drawn = [{key: value_at(space[key], rng.random()) for key in space} for _ in range(trials - 1)]
    return [{}, *(drawn if space else [])]


def cell(name: str, split: Split, trials: int) -> dict[str, Any]:
    """One contestant on one split: nDCG@10 of the test queries, processor seconds of training."""
    if name in DENSE:
        split = Split(*(part.replace(X=np.nan_to_num(part.X)) for part in split))
    start = time.process_time()
    if trials == 0:
        scores = CONTESTANTS[name](pk.concat([split.train, split.valid]), None, {})
    else:
        tried = [CONTESTANTS[name](split.train, split.valid, words) for words in settings(name, trials)]
        scores = max(tried, key=lambda scored: value(split.valid, scored(split.valid)))
    cost = time.process_time() - start
    found = np.nan_to_num(per_query(split.test, scores(split.test)))
    return {"values": found.round(6).tolist(), "cpu": round(cost, 3), "rows": split.train.n_rows + split.valid.n_rows}


def run(arguments: argparse.Namespace) -> None:
    """Compute the cells that are missing, until the budget is used up."""
    begin = time.monotonic()
    for set_name in arguments.set or list(SETS):
        splits: list[Split] | None = None
        for fold in range(arguments.folds):
            for name in arguments.ranker or list(CONTESTANTS):
                part = "default" if arguments.trials == 0 else f"tuned{arguments.trials}"
                path = arguments.out / f"{part}--{set_name}--{fold}--{name}.json".replace(" ", "_")
                if path.exists() or (splits is not None and fold >= len(splits)):
                    continue
                if time.monotonic() - begin > arguments.budget:
                    return
                splits = splits or list(SETS[set_name](arguments.data))
                if fold >= len(splits):
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found = cell(name, splits[fold], arguments.trials)
                path.write_text(json.dumps(found))
                mean = float(np.mean(found["values"]))
                print(f"{part} {set_name} fold {fold + 1} {name}: {mean:.4f}, {found['cpu']:.1f} s", flush=True)


def tables(out: Path, part: str) -> str:
    """Tables of all finished sets: mean nDCG@10, ranks, Friedman and Nemenyi, processor time."""
    cells: dict[str, dict[str, dict[int, Any]]] = {}
    for path in sorted(out.glob(f"{part}--*.json")):
        _, set_name, fold, name = path.stem.replace("_", " ").split("--")
        cells.setdefault(set_name, {}).setdefault(name, {})[int(fold)] = json.loads(path.read_text())
    names = [name for name in CONTESTANTS if any(name in found for found in cells.values())]
    results: dict[str, dict[str, float]] = {}
    costs: dict[str, dict[str, float]] = {}
    lines = ["| set | documents | folds | " + " | ".join(names) + " |", "|---|---:|---:|" + "---:|" * len(names)]
    for set_name in (known for known in SETS if known in cells):
        found = cells[set_name]
        folds = set.intersection(*(set(found.get(name, {})) for name in names))
        if not folds:
            continue
        results[set_name] = {n: float(np.mean(np.concatenate([found[n][f]["values"] for f in folds]))) for n in names}
        costs[set_name] = {name: float(np.mean([found[name][f]["cpu"] for f in folds])) for name in names}
        rows = int(np.mean([found[names[0]][f]["rows"] for f in folds]))
        best = max(results[set_name].values())
        shown = [f"**{v:.4f}**" if v == best else f"{v:.4f}" for v in results[set_name].values()]
        lines.append(f"| {set_name} | {rows:,} | {len(folds)} | " + " | ".join(shown) + " |")
    if len(results) < 2:
        return "\n".join(lines)
    test, after = pk.friedman(results), pk.nemenyi(results)
    ranks = after.mean_ranks
    lines.append("| mean rank | | | " + " | ".join(f"{ranks[name]:.2f}" for name in names) + " |")
    seconds = [f"{sum(costs[s][name] for s in costs):.1f}" for name in names]
    lines.append("| processor seconds, one fold of each set | | | " + " | ".join(seconds) + " |")
    lines.append("")
    lines.append(
        f"{len(results)} sets, {len(names)} contestants. Friedman: χ² = {test.chi_square:.1f}, p = {test.pvalue:.2g}. "
        f"Nemenyi's critical difference of mean ranks at 0.05: {after.critical_difference:.2f}."
    )
    return "\n".join(lines)


def main() -> None:
    """Run, print, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PLACKETT_DATA", "data")))
    parser.add_argument("--out", type=Path, default=Path("out/defaults"))
    parser.add_argument("--set", action="append", choices=list(SETS))
    parser.add_argument("--ranker", action="append", choices=list(CONTESTANTS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=0)
    parser.add_argument("--budget", type=float, default=np.inf, help="seconds after which no further cell is begun")
    parser.add_argument("--write", type=Path, help="page whose tables are replaced, docs/defaults.md")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    run(arguments)
    parts = {
        part: tables(arguments.out, part) for part in sorted({p.stem.split("--")[0] for p in arguments.out.iterdir()})
    }
    text = "\n\n".join(f"### {part}\n\n{table}" for part, table in parts.items())
    print(text)
    if arguments.write:
        page = arguments.write.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        arguments.write.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
