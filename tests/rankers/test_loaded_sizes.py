"""A model file whose arrays fit each other, but not the ranker, is refused when it is loaded."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plackett as pk
from plackett._files import storage as _storage
from plackett.models.trees.model import Trees
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.scorers.base import Size
from plackett.scorers.model import digest
from plackett.scorers.nested import NestedScorer
from plackett.testing.rankers import easy_task

TREES = Trees(n_estimators=4, num_leaves=4, min_child_samples=1, n_jobs=1)


def columns(name, times, axis=-1):
    """Repeat the last axis of some arrays."""
    return lambda arrays: arrays | {key: np.concatenate([arrays[key]] * times, axis) for key in name.split()}


def rows(name, times):
    return columns(name, times, 0)


def outputs(number, prefix=""):
    return lambda arrays: arrays | {f"{prefix}n_outputs": np.array([number])}


def one_output(arrays):
    return arrays | {key: arrays[key][..., :1] for key in ("outputs.weights", "outputs.intercept")}


def no_output(arrays):
    return arrays | {"weights": arrays["weights"][:, :0], "intercept": arrays["intercept"][:0]}


def wider_network(arrays):
    network = json.loads(arrays["network"].tobytes()) | {"n_outputs": 2}
    changed = {"network": np.frombuffer(json.dumps(network).encode(), np.uint8)}
    return arrays | changed | {k: np.concatenate([arrays[k]] * 2) for k in arrays if k.startswith("weights.output.")}


def wider_member(arrays):
    """A member that fits its own number of features, which is not that of the others or of the data."""
    members = json.loads(arrays["members"].tobytes())
    members[0]["fitted"]["n_features_in_"] = 5
    changed = {"members": np.frombuffer(json.dumps(members).encode(), np.uint8), "0.weights": np.zeros((5, 1))}
    return arrays | changed | {"0.learned/reference_": np.zeros((6, 20))}


# ranker, change of its arrays, the array that the error names
CASES = {
    "linear": (pk.ListNet(alpha=1.0), columns("weights intercept", 3), "weights"),
    "no output": (pk.ListNet(alpha=1.0), no_output, "weights"),
    "features": (pk.ListNet(alpha=1.0), rows("weights", 2), "weights"),
    "linear SVM": (pk.RankSVM(C=1e-3), columns("weights intercept", 2), "weights"),
    "classes to one score": (
        GradientRanker(loss="Softmax"),
        one_output,
        "weights",
    ),
    "settled classes": (
        GradientRanker(loss=pk.losses.Softmax(n_classes=3)),
        columns("outputs.weights outputs.intercept", 2),
        "weights",
    ),
    "questions": (
        GradientRanker(loss=pk.losses.Cumulative(n_classes=3)),
        columns("outputs.weights outputs.intercept", 2),
        "weights",
    ),
    "inner loss": (
        GradientRanker(loss=pk.losses.QueryMean(loss="Softmax", per="documents")),
        one_output,
        "weights",
    ),
    "trees": (GradientRanker(loss="Logistic", model=TREES), outputs(2), "n_outputs"),
    "trees of classes": (GradientRanker(loss="Softmax", model=TREES), outputs(1, "outputs."), "n_outputs"),
    "blend": (pk.Blend(members=(pk.ListNet(alpha=1.0),)), columns("0.weights 0.intercept", 2), "weights"),
    "member": (pk.Blend(members=(pk.ListNet(alpha=1.0),)), wider_member, "members"),
    "members": (pk.Blend(members=(pk.ListNet(alpha=1.0), pk.ListNet(alpha=0.1))), wider_member, "members"),
    "relational": (pk.RelationalFeedback(relation=pk.Neighbours(k=2), beta=0.5), wider_member, "members"),
    "two layers": (pk.TwoLayer(base=pk.ListNet(alpha=1.0)), columns("projection", 2), "projection"),
    "query features": (
        pk.CoupleNet(query_features=[3], max_iter=2),
        lambda a: a | {"z.columns": a["z.columns"] + 4},
        r"z\.columns",
    ),
    "stages": (
        pk.Cascade(stages=(pk.ListNet(alpha=1.0), pk.ListNet(alpha=1.0)), keep=(3,), features=([0, 1], None)),
        lambda a: a | {"flat": a["flat"] + 4},
        "flat",
    ),
    "training data": (pk.KNNOnline(base="LinearRegression", k=3), columns("X", 2), "X"),
    "factors": (pk.Blend(members=(pk.ListNet(alpha=1.0),)), lambda a: a | {"factors": np.full(1, np.nan)}, "factors"),
    "support": (pk.KernelRankSVM(C=0.1), lambda a: a | {"support": np.full_like(a["support"], np.inf)}, "support"),
    "ordinal": (pk.PRank(), rows("weights", 2), "weights"),
    "class thresholds": (pk.GPOrdinal(max_iter=3), rows("thresholds", 2), "thresholds"),
    "kernel": (pk.KernelRankSVM(C=0.1), lambda a: a | {"weights": a["weights"][:, None]}, "support"),
    "densities": (pk.GenerativeRanker(), lambda a: a | {"gains": a["gains"][:, None]}, "gains"),
    "Bayesian": (pk.DecisionTheoretic(max_iter=3), columns("weights", 2), "intercept"),
    "pairs": (pk.PairClassifier(), columns("comparator.scorer.weights comparator.scorer.intercept", 2), "weights"),
    "features of pairs": (pk.PairClassifier(), rows("comparator.scorer.weights", 3), "comparator.scorer.weights"),
    "experts": (pk.HedgeRanker(), lambda a: a | {"comparator.weights": np.zeros(7)}, "comparator.weights"),
}


def task():
    X, y, qid = easy_task(n_queries=12)
    X[:, 3] = np.random.default_rng(0).normal(size=12)[qid]  # describes the query
    return X, y, qid


def saved(ranker, path, change):
    ranker.save(path)
    result, metadata = _storage.read(path, mmap=False)
    arrays = change(dict(result))
    hashed = digest(metadata["ranker"], arrays)
    _storage.write(path, arrays, {**metadata, "digest": hashed})


@pytest.mark.parametrize(("ranker", "change", "array"), CASES.values(), ids=CASES)
def test_arrays_that_do_not_fit(ranker, change, array, tmp_path):
    X, y, qid = task()
    ranker.fit(X, y, qid=qid)
    path = tmp_path / "m.plackett"
    saved(ranker, path, lambda arrays: arrays)
    np.testing.assert_array_equal(pk.load(path).predict(X, qid=qid), ranker.predict(X, qid=qid))
    saved(ranker, path, change)
    with pytest.raises(pk.DataError, match=rf"m\.plackett: .*{array}"):
        pk.load(path)


def test_networks(tmp_path):
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    X, y, qid = task()
    ranker = pk.RankNet(alpha=0.01, max_epochs=1, hidden=(4,), n_jobs=1, device="cpu").fit(X, y, qid=qid)
    path = tmp_path / "m.plackett"
    for change, array in (
        (wider_network, "network"),
        (rows("features.mean", 2), r"features\.mean"),
        (rows("features.scale", 2), r"features\.scale"),
    ):
        saved(ranker, path, change)
        with pytest.raises(pk.DataError, match=rf"m\.plackett: array '{array}'"):
            pk.load(path)


def test_stages_of_a_nested_ranker():
    one = {"weights": np.zeros((3, 1)), "intercept": np.zeros(1)}
    two = {"weights": np.zeros((3, 2)), "intercept": np.zeros(2)}
    wide = {"weights": np.zeros((4, 1)), "intercept": np.zeros(1)}
    linear = np.frombuffer(b"linear", np.uint8)
    head = {"stages": np.array([2]), "stages.0.kind": linear, "stages.1.kind": linear, "keep": np.array([9, 2])}
    for second, match in ((one, None), (two, "'weights' gives 2"), (wide, "'weights' is for 4 features")):
        arrays = head | {f"stages.0.{k}": v for k, v in one.items()} | {f"stages.1.{k}": v for k, v in second.items()}
        if match is None:
            assert NestedScorer.from_arrays(arrays).size == Size("weights", 3, 1)
            with pytest.raises(pk.DataError, match="keep"):
                NestedScorer.from_arrays(arrays | {"keep": np.array([9, -2])})
            continue
        with pytest.raises(pk.DataError, match=match):
            NestedScorer.from_arrays(arrays)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_orders_built_from_the_top_stay_in_their_lists(bad, tmp_path):
    """Weights that are no numbers, or too large, are refused or give some order: never memory of others."""
    X, y, qid = task()
    ranker = pk.PointerRanker(max_iter=2).fit(X, y, qid=qid)
    path = tmp_path / "m.plackett"
    saved(
        ranker, path, lambda arrays: arrays | {name: np.full_like(arrays[name], bad) for name in ("weights", "matrix")}
    )
    if bad == 1e300:
        scores = pk.load(path).predict(1e8 * X, qid=qid)
        for q in np.unique(qid):
            assert scores[qid == q].min() >= 1 and scores[qid == q].max() <= (qid == q).sum()
    else:
        with pytest.raises(pk.DataError, match="not finite"):
            pk.load(path)


def test_diverse_orders_of_scores_that_are_no_numbers():
    from plackett.scorers.sequential_diversity import _decode

    n = 4
    for relevance in (np.full(n, np.nan), np.full(n, -np.inf), np.array([np.nan, 1.0, -np.inf, 2.0])):
        out = np.zeros(n + 2)
        none = np.zeros(0, np.int64)
        _decode(0, 1, np.array([0, n]), relevance, np.zeros(2), np.zeros(n + 1, np.int64), none, np.zeros(0), out)
        assert sorted(out[:n]) == sorted(set(out[:n])) or len(set(out[:n])) == 1
        assert out[:n].min() >= 1 and not out[n:].any()
