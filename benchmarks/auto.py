"""AutoRanker next to LightGBM, XGBoost and CatBoost tuned by Optuna for the same time, on held-out queries.

Every tool gets the same training queries, the same seconds of processor time and one thread. The peers are tuned by
Optuna's TPE on a fifth of the training queries (rounds by early stopping), and the best setting is trained on all
training queries for as many rounds as were best. Nothing is chosen by the test queries. Each figure is a mean over the
folds of a set; the sign tells which differences are significant (Fisher's randomisation test over the test queries of
all folds, Holm's correction over the peers of a set).

    python benchmarks/auto.py --seconds 60 --data ../data --sets mq2008:1 ohsumed:1 generated:0
    python benchmarks/auto.py --seconds 60 --data ../data --json out.json        # all sets

Sets are ``name:fold``; of a generated set ``name:shape.seed``. A set whose files are not there is skipped. With
``--json`` results are kept as they come, and those that are there are not computed again.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from _sets import SETS as OTHER_SETS

import plackett as pk
from plackett._files.atomic import replacing

MEASURES = ("nDCG@10", "AP")
MOST_ROUNDS, PATIENCE = 1000, 50
clock = time.process_time


# ---------------------------------------------------------------------------------------------------------------- data

#: Folders of sets with LETOR's five folds.
FOLDERS = {
    "mq2008": "LETOR4.0-MQ2008",
    "ohsumed": "LETOR3.0-OHSUMED/QueryLevelNorm",
    "ohsumed2": "LETOR2.0-OHSUMED",
}
#: Sets that the benchmark of defaults deals out.
SPLIT = {"lightgbm": "LightGBM example", "movies": "movies", "shop": "shop"}
#: Shapes of generated sets: queries, documents a query, features.
SHAPES = {"0": (400, (5, 40), 20), "1": (150, (20, 120), 60), "2": (2000, (5, 20), 30)}


def parts(name: str, fold: str, root: Path) -> tuple[pk.RankingDataset, pk.RankingDataset] | None:
    """Training and test part; the validation part of a fold is training data here."""
    if name == "generated":
        shape, _, seed = fold.partition(".")
        n, docs, features = SHAPES[shape]
        made = pk.datasets.make_ranking(
            n_queries=2 * n, docs_per_query=docs, n_features=features, random_state=int(seed or shape)
        )
        return made.select(np.arange(n)), made.select(np.arange(n, 2 * n))
    if name in SPLIT:
        splits = OTHER_SETS[SPLIT[name]](root)
        try:
            train, valid, test = next(split for number, split in enumerate(splits, start=1) if str(number) == fold)
        except FileNotFoundError:
            return None
        return pk.concat([train, valid]), test
    if name == "mslr":
        folder = root / "MSLR-WEB-10K-sample-rankeval"
        files = [folder / f"msn1.fold1.{part}.5k.txt" for part in ("train", "test")]
        if fold == "2":
            files.reverse()
    else:
        folder = root / FOLDERS[name] / f"Fold{fold}"
        files = [folder / f"{part}.txt" for part in ("train", "vali", "test")]
    if not all(path.exists() for path in files):
        return None
    *train, test = (pk.read_letor(path) for path in files)
    return pk.concat(train), test


SETS = [
    *(f"mq2008:{fold}" for fold in range(1, 6)),
    *(f"ohsumed:{fold}" for fold in range(1, 6)),
    *(f"ohsumed2:{fold}" for fold in range(1, 6)),
    *(f"mslr:{fold}" for fold in (1, 2)),
    *(f"{name}:{fold}" for name in SPLIT for fold in range(1, 6)),
    *(f"generated:{shape}{seed}" for shape in SHAPES for seed in ("", ".10")),
]


# ------------------------------------------------------------------------------------------------------------- systems


def ours(train: pk.RankingDataset, seconds: float, measure: str) -> Callable[[pk.RankingDataset], np.ndarray]:
    ranker = pk.AutoRanker(time_budget=seconds, eval_measure=measure, clock="cpu", n_jobs=1).fit(train)
    print(f"    estimate {ranker.estimate_['value']:.4f}; {ranker.reasons_[-2]}")
    return ranker.predict


def lightgbm(trial: Any, measure: str) -> Any:
    import lightgbm as lgb

    return lgb.LGBMRanker(
        objective=trial.suggest_categorical("objective", ["lambdarank", "rank_xendcg"]),
        learning_rate=trial.suggest_float("learning_rate", 0.02, 0.3, log=True),
        num_leaves=trial.suggest_int("num_leaves", 3, 64, log=True),
        min_child_samples=trial.suggest_int("min_child_samples", 5, 80, log=True),
        colsample_bytree=trial.suggest_float("colsample_bytree", 0.3, 1.0),
        reg_lambda=trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
        n_jobs=1,
        verbosity=-1,
        random_state=0,
    )


def xgboost(trial: Any, measure: str) -> Any:
    import xgboost as xgb

    return xgb.XGBRanker(
        objective=trial.suggest_categorical("objective", ["rank:ndcg", "rank:pairwise"]),
        learning_rate=trial.suggest_float("learning_rate", 0.02, 0.3, log=True),
        max_depth=trial.suggest_int("max_depth", 2, 8),
        min_child_weight=trial.suggest_float("min_child_weight", 0.1, 10.0, log=True),
        colsample_bytree=trial.suggest_float("colsample_bytree", 0.3, 1.0),
        reg_lambda=trial.suggest_float("reg_lambda", 1e-3, 30.0, log=True),
        tree_method="hist",
        n_jobs=1,
        random_state=0,
    )


def catboost(trial: Any, measure: str) -> Any:
    import catboost as cb

    return cb.CatBoostRanker(
        loss_function=trial.suggest_categorical("loss_function", ["YetiRank", "QueryRMSE"]),
        learning_rate=trial.suggest_float("learning_rate", 0.02, 0.3, log=True),
        depth=trial.suggest_int("depth", 2, 8),
        l2_leaf_reg=trial.suggest_float("l2_leaf_reg", 0.1, 30.0, log=True),
        thread_count=1,
        random_seed=0,
        verbose=False,
        allow_writing_files=False,
    )


PEERS = {"LightGBM": lightgbm, "XGBoost": xgboost, "CatBoost": catboost}


class Rounds:
    """How each library is trained for a number of rounds, with early stopping on a validation part."""

    @staticmethod
    def lightgbm(ranker: Any, train: Any, valid: Any, n: int) -> int:
        """Train; the number of rounds that was best."""
        import lightgbm as lgb

        ranker.set_params(n_estimators=n)
        if valid is None:
            ranker.fit(train.X, train.y, group=train.group)
            return n
        ranker.fit(train.X, train.y, group=train.group, eval_set=[(valid.X, valid.y)], eval_group=[valid.group],
                   eval_at=[10], callbacks=[lgb.early_stopping(PATIENCE, verbose=False)])  # fmt: skip
        return ranker.best_iteration_ or n

    @staticmethod
    def xgboost(ranker: Any, train: Any, valid: Any, n: int) -> int:
        """Train; the number of rounds that was best."""
        ranker.set_params(
            n_estimators=n, eval_metric="ndcg@10", early_stopping_rounds=None if valid is None else PATIENCE
        )
        if valid is None:
            ranker.fit(train.X, train.y, qid=train.query_of_row)
            return n
        ranker.fit(train.X, train.y, qid=train.query_of_row, eval_set=[(valid.X, valid.y)],
                   eval_qid=[valid.query_of_row], verbose=False)  # fmt: skip
        return ranker.best_iteration + 1

    @staticmethod
    def catboost(ranker: Any, train: Any, valid: Any, n: int) -> int:
        """Train; the number of rounds that was best."""
        from catboost import Pool

        pool = Pool(train.X, train.y, group_id=train.query_of_row)
        ranker.set_params(iterations=n, eval_metric="NDCG:top=10;type=Exp")
        if valid is None:
            ranker.fit(pool)
            return n
        watched = Pool(valid.X, valid.y, group_id=valid.query_of_row)
        ranker.fit(pool, eval_set=watched, early_stopping_rounds=PATIENCE, use_best_model=True)
        return (ranker.best_iteration_ or 0) + 1


def tuned(name: str) -> Callable[[Any, float, str], Callable[[Any], np.ndarray]]:
    """The peer, tuned by Optuna for the time less what the last training will take."""
    make, rounds = PEERS[name], getattr(Rounds, name.lower())

    def run(train: pk.RankingDataset, seconds: float, measure: str) -> Callable[[Any], np.ndarray]:
        import optuna

        began = clock()
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        fitted, valid = pk.split_queries(train, (0.8, 0.2), random_state=0)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=0))
        best: tuple[float, Any, int] = (-np.inf, None, 0)
        longest, trials = 0.0, 0
        while trials == 0 or clock() - began + 1.3 * longest < seconds:
            start, trial = clock(), study.ask()
            ranker = make(trial, measure)
            n = rounds(ranker, fitted, valid, MOST_ROUNDS)
            value = pk.evaluate(valid, np.asarray(ranker.predict(valid.X), float), measure).mean[measure]
            study.tell(trial, value)
            if value > best[0]:
                best = value, trial, n
            longest, trials = max(longest, clock() - start), trials + 1
        ranker = make(optuna.trial.FixedTrial(best[1].params), measure)
        rounds(ranker, train, None, best[2])
        print(f"    {name}: {trials} trials, {clock() - began:.0f} s, best {best[0]:.4f}")
        return lambda data: np.asarray(ranker.predict(data.X), float)

    return run


SYSTEMS = {"AutoRanker": ours, **{name: tuned(name) for name in PEERS}}


# ----------------------------------------------------------------------------------------------------------------- run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="processor time for each tool and set")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("PLACKETT_DATA", "../data")))
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--measure", default="nDCG@10", help="what is optimised")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--json", type=Path, help="keep results in this file")
    arguments = parser.parse_args()
    kept: dict[str, Any] = json.loads(arguments.json.read_text()) if arguments.json and arguments.json.exists() else {}
    warm = pk.datasets.make_ranking(n_queries=10, random_state=0)
    pk.AutoRanker(n_trials=9, n_folds=2, n_repeats=1, n_jobs=1).fit(warm)  # compile
    for text in arguments.sets:
        name, _, fold = text.partition(":")
        found = parts(name, fold or "1", arguments.data)
        if found is None:
            print(f"{text}: not there, skipped")
            continue
        train, test = found
        print(f"{text}: {train.n_queries} queries, {train.n_rows} documents to train on, {test.n_queries} to test")
        for system in arguments.systems:
            key = f"{text} {arguments.measure} {arguments.seconds:g} {system}"
            if key in kept:
                continue
            start = clock()
            scores = SYSTEMS[system](train, arguments.seconds, arguments.measure)(test)
            spent = clock() - start
            values = pk.evaluate(test, scores, list(MEASURES)).per_query
            kept[key] = {"seconds": spent} | {m: values[m].to_list() for m in MEASURES}
            print(
                f"  {system:<12} {' '.join(f'{m} {np.mean(kept[key][m]):.4f}' for m in MEASURES)}  {spent:.0f} s",
                flush=True,
            )
            if arguments.json:
                with replacing(arguments.json) as file:
                    file.write(json.dumps(kept).encode())
    report(kept, arguments)


def dataset(text: str) -> str:
    """The set that a fold, or a seed of a generated set, belongs to."""
    name, _, fold = text.partition(":")
    return f"{name}:{fold.partition('.')[0]}" if name == "generated" else name


def report(kept: dict[str, Any], arguments: Any) -> None:
    """One row per set, with the mean over its folds, and the wins over all peers."""
    from plackett.evaluation.significance import correct, fisher

    measure, peers = arguments.measure, [name for name in arguments.systems if name != "AutoRanker"]
    if not peers or "AutoRanker" not in arguments.systems:
        return
    folds: dict[str, list[dict[str, np.ndarray]]] = {}
    for text in arguments.sets:
        rows = {s: kept.get(f"{text} {measure} {arguments.seconds:g} {s}") for s in arguments.systems}
        if all(row is not None for row in rows.values()):
            values = {s: np.array(row[measure]) for s, row in rows.items()}
            folds.setdefault(dataset(text), []).append(values)
    print(f"\n{measure} on test queries, mean over folds; * significantly below, ° significantly above AutoRanker")
    wins = 0
    for name, parts_of in folds.items():
        means = {s: float(np.mean([values[s].mean() for values in parts_of])) for s in arguments.systems}
        queries = {s: np.concatenate([values[s] for values in parts_of]) for s in arguments.systems}
        p = correct([fisher(queries["AutoRanker"], queries[peer]).pvalue for peer in peers], "holm")
        line = f"{name:<14} {len(parts_of)} folds  AutoRanker {means['AutoRanker']:.4f}"
        for peer, adjusted in zip(peers, p, strict=True):
            below = means[peer] < means["AutoRanker"]
            line += f"  {peer} {means[peer]:.4f}" + ("" if adjusted > 0.05 else "*" if below else "°")
        wins += all(means["AutoRanker"] > means[peer] for peer in peers)
        print(line)
    print(f"AutoRanker is above all peers on {wins} of {len(folds)} sets")


if __name__ == "__main__":
    main()
