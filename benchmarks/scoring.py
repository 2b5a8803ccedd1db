"""Scoring tree ensembles: ours next to LightGBM, onnxruntime and XGBoost, the same trees in all, one thread.

Every call scores other rows, so that no processor learns the answers by heart. CPU time, best of several rounds over
all rows; the scorer alone, without what `predict` of a ranker adds (a query of 100 documents has its own line).
Ours must equal LightGBM bit for bit, the others to 1e-4, or there is no figure.

    python benchmarks/scoring.py --models DIR     # keeps the grown ensembles there
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

import plackett as pk
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import trees_only

ENSEMBLES = {"100x31": (100, 31), "1000x64": (1000, 64), "2000x255": (2000, 255)}
BATCHES = (1, 10, 100, 1000)
Score = Callable[[np.ndarray], Any]


def table(n: int = 20_000, n_features: int = 136) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, n_features)).astype(np.float32)
    X[:, ::3] = np.round(X[:, ::3], 1)
    X[:, 1::7] = np.exp(X[:, 1::7])
    weights = rng.normal(size=n_features) * (rng.random(n_features) < 0.4)
    return X, X @ weights + 2 * np.sin(X[:, 0] * X[:, 5]) + 2 * rng.normal(size=n)


def grown(folder: Path, name: str, X: np.ndarray, y: np.ndarray) -> str:
    """LightGBM's text of an ensemble, grown unless the folder has it."""
    path = folder / f"{name}.txt"
    if not path.exists():
        rounds, leaves = ENSEMBLES[name]
        large = leaves == 255
        parameters = {
            "num_leaves": leaves, "learning_rate": 0.05, "num_threads": 1, "verbosity": -1, "min_data_in_leaf": 5,
            "feature_fraction": 0.2 if large else 0.5, "bagging_fraction": 0.5 if large else 1.0, "bagging_freq": 1,
        }  # fmt: skip
        lgb.train(parameters, lgb.Dataset(X, y), rounds).save_model(str(path))
    return trees_only(path.read_text())


def with_onnxruntime(trees: TreeArrays) -> Score:
    import onnxruntime
    from onnx import TensorProto, helper

    n_splits = np.diff(trees.split_offsets)
    tree = np.repeat(np.arange(trees.n_trees), n_splits)
    leaf_tree = np.repeat(np.arange(trees.n_trees), n_splits + 1)
    own = np.arange(tree.size) - trees.split_offsets[tree]
    own_leaf = np.arange(leaf_tree.size) - trees.leaf_offsets[leaf_tree]

    def child(side: np.ndarray) -> np.ndarray:
        return np.where(side >= 0, side, n_splits[tree] + ~side)

    none = np.zeros(leaf_tree.size)
    by_tree = np.argsort(np.concatenate((tree, leaf_tree)), kind="stable")  # onnxruntime wants trees in one piece

    def nodes(splits: np.ndarray, leaves: np.ndarray) -> list[Any]:
        return np.concatenate((splits, leaves))[by_tree].tolist()

    with np.errstate(over="ignore"):
        limit = trees.threshold.astype(np.float32)
    limit = np.where(limit > trees.threshold, np.nextafter(limit, np.float32(-np.inf)), limit)
    node = helper.make_node(
        "TreeEnsembleRegressor", ["X"], ["Y"], domain="ai.onnx.ml", n_targets=1, aggregate_function="SUM",
        nodes_treeids=nodes(tree, leaf_tree), nodes_nodeids=nodes(own, n_splits[leaf_tree] + own_leaf),
        nodes_featureids=nodes(trees.feature, none.astype(int)), nodes_values=nodes(limit.astype(float), none),
        nodes_modes=nodes(np.array(["BRANCH_LEQ"] * tree.size), np.array(["LEAF"] * leaf_tree.size)),
        nodes_truenodeids=nodes(child(trees.left), none.astype(int)),
        nodes_falsenodeids=nodes(child(trees.right), none.astype(int)),
        target_treeids=leaf_tree.tolist(), target_nodeids=(n_splits[leaf_tree] + own_leaf).tolist(),
        target_ids=none.astype(int).tolist(), target_weights=trees.leaf_value.tolist(),
    )  # fmt: skip
    rows = helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, trees.n_features])
    scores = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [None, 1])
    opsets = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 18)]
    model = helper.make_model(helper.make_graph([node], "trees", [rows], [scores]), opset_imports=opsets, ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda X: session.run(None, {"X": X})[0][:, 0]


def with_xgboost(trees: TreeArrays) -> Score:
    """The same trees in XGBoost's JSON; it goes left below a threshold, so that is the next larger number."""
    import xgboost as xgb

    small = xgb.train({"max_depth": 1, "base_score": 0.0}, xgb.DMatrix(np.eye(2, trees.n_features), [0.0, 1.0]), 1)
    model = json.loads(small.save_raw("json"))
    inside = model["learner"]["gradient_booster"]["model"]
    example = inside["trees"][0]
    with np.errstate(over="ignore"):
        limit = trees.threshold.astype(np.float32)
    limit = np.where(limit > trees.threshold, limit, np.nextafter(limit, np.float32(np.inf)))
    made = []
    for t in range(trees.n_trees):
        splits = slice(trees.split_offsets[t], trees.split_offsets[t + 1])
        n = splits.stop - splits.start
        values = trees.leaf_value[trees.leaf_offsets[t] : trees.leaf_offsets[t + 1]]
        sides = [np.where(side[splits] >= 0, side[splits], n + ~side[splits]) for side in (trees.left, trees.right)]
        number = np.zeros(2 * n + 1, int)  # XGBoost wants the right child next to the left one
        number[sides[0]], number[sides[1]] = 2 * np.arange(n) + 1, 2 * np.arange(n) + 2

        def at(splits_have: Any, leaves_have: Any, number: np.ndarray = number) -> list[Any]:
            found = np.empty(number.size)
            found[number] = np.concatenate((splits_have, np.broadcast_to(leaves_have, number.size // 2 + 1)))
            return found.tolist()

        parents = np.full(2 * n + 1, 2**31 - 1)
        parents[1:] = np.repeat(number[:n], 2)
        zeros = [0] * (2 * n + 1)
        made.append(example | {
            "id": t, "left_children": [int(v) for v in at(number[sides[0]], -1)],
            "right_children": [int(v) for v in at(number[sides[1]], -1)], "parents": parents.tolist(),
            "split_indices": [int(v) for v in at(trees.feature[splits], 0)],
            "split_conditions": at(limit[splits], values), "base_weights": [0.0] * len(zeros),
            "loss_changes": [0.0] * len(zeros), "sum_hessian": [0.0] * len(zeros), "default_left": zeros,
            "split_type": zeros, "tree_param": example["tree_param"] | {"num_nodes": str(len(zeros))},
        })  # fmt: skip
    inside |= {"trees": made, "tree_info": [0] * len(made), "iteration_indptr": list(range(len(made) + 1))}
    inside["gbtree_model_param"]["num_trees"] = str(len(made))
    booster = xgb.Booster({"nthread": 1})
    booster.load_model(bytearray(json.dumps(model).encode()))
    booster.set_param({"nthread": 1})
    return booster.inplace_predict


def seconds_per_call(score: Score, batches: list[np.ndarray], budget: float) -> float:
    """CPU time of a call: the best round over all batches, after one to warm up."""
    best, spent, rounds = np.inf, 0.0, 0
    while spent < budget or rounds < 3:
        start = time.process_time()
        for batch in batches:
            score(batch)
        took = time.process_time() - start
        spent, rounds = spent + took, rounds + 1
        if rounds > 1:
            best = min(best, took / len(batches))
    return float(best)


def measure(name: str, text: str, X: np.ndarray, budget: float) -> None:
    booster, scorer = lgb.Booster(model_str=text), TreeScorer(text)
    tools: dict[str, Score] = {
        "plackett": lambda rows: scorer.predict(rows, np.array([0, len(rows)]), 1),
        "LightGBM": lambda rows: booster.predict(rows, num_threads=1),
    }
    for title, make in (("onnxruntime", with_onnxruntime), ("XGBoost", with_xgboost)):
        try:
            tools[title] = make(scorer.trees)
        except ImportError:
            print(f"{title} is not installed")
    expected = tools["LightGBM"](X[:500])
    np.testing.assert_array_equal(tools["plackett"](X[:500]), expected)
    for title in tools:
        np.testing.assert_allclose(tools[title](X[:500]), expected, rtol=1e-4, atol=1e-4, err_msg=title)
    print(f"\n{name}: documents a second (ratio of ours)")
    print(f"  {'batch':<8}" + "".join(f"{title:>26}" for title in tools))
    for size in BATCHES:
        batches = [X[i : i + size].copy() for i in range(0, max(size, min(2000, 100 * size)), size)]
        speed = {title: size / seconds_per_call(score, batches, budget) for title, score in tools.items()}
        cells = (f"{v:>14,.0f} ({speed['plackett'] / v:>6.1f}x)" for v in speed.values())
        print(f"  {size:<8}" + "".join(f"{cell:>26}" for cell in cells), flush=True)
    threads(scorer, X)


def threads(scorer: TreeScorer, X: np.ndarray) -> None:
    """Wall clock with one and two threads; only an idle machine tells."""
    offsets, best = np.array([0, len(X)]), {}
    for n in (1, 2, 1, 2, 1, 2):
        start = time.perf_counter()
        scorer.predict(X, offsets, n)
        best[n] = min(best.get(n, np.inf), time.perf_counter() - start)
    print(f"  two threads, {len(X):,} rows, wall clock: {best[1] / best[2]:.2f}x one thread")


def query_of_100(text: str, X: np.ndarray) -> None:
    data = pk.RankingDataset.from_arrays(X[:200], np.arange(200) % 3, np.arange(200) // 20)
    ranker = pk.LambdaMART(n_estimators=1, n_jobs=1).fit(data)
    ranker.scorer_ = TreeScorer(text)
    calls = [X[i : i + 100].copy() for i in range(0, 5000, 100)]
    times = []
    for _ in range(6):
        for rows in calls:
            start = time.process_time()
            ranker.predict(rows)
            times.append(time.process_time() - start)
    times = times[len(calls) :]
    print(
        f"\nranker.predict, 100 documents, 1000x64: p50 {1e3 * np.median(times):.2f} ms, best {1e3 * min(times):.2f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, default=None, help="folder of the grown ensembles")
    parser.add_argument("--ensembles", nargs="+", choices=list(ENSEMBLES), default=list(ENSEMBLES))
    parser.add_argument("--budget", type=float, default=1.0, help="CPU seconds for each figure")
    options = parser.parse_args()
    folder = options.models or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    X, y = table()
    for name in options.ensembles:
        text = grown(folder, name, X, y)
        measure(name, text, X, options.budget)
        if name == "1000x64":
            query_of_100(text, X)


if __name__ == "__main__":
    main()
