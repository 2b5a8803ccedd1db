"""Models on disk: what is kept, and that no file can do harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import plackett as pk
from plackett._files import storage as _storage
from plackett._load import load
from plackett.measures.language import parse
from plackett.models.trees.model import Trees
from plackett.rankers import packing, storage
from plackett.rankers.display import card_rows
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.scorers.model import digest
from plackett.scorers.trees.text import parse_trees, write_text
from plackett.testing.rankers import easy_task


def task():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[:, 2] = rng.integers(0, 6, 60)
    return X, 2 * np.isin(X[:, 2], [1, 4]) + (X[:, 0] > 0), np.repeat(np.arange(6), 10)


@pytest.fixture(scope="module")
def trees():
    X, y, qid = task()
    options = {"min_data_per_group": 1, "cat_smooth": 0}
    ranker = pk.rankers.LambdaMART(
        n_estimators=3, num_leaves=5, min_child_samples=1, n_jobs=1, categorical_features=(2,), lightgbm_params=options
    )
    return ranker.fit(X, y, qid=qid)


def test_auto_is_in_the_card(tmp_path):
    X, y, qid = task()
    ranker = pk.LambdaMART(n_estimators=2, num_leaves="auto", n_jobs=1).fit(X, y, qid=qid)
    ranker.save(tmp_path / "m")
    again = storage.load(tmp_path / "m")
    assert again.num_leaves == "auto" and again.card_["chosen"]["num_leaves"] == 4
    assert ("chosen for the data", "num_leaves=4, min_child_samples=6") in card_rows(again)
    with pytest.raises(ValueError, match="num_leaves='many'"):
        pk.LambdaMART(num_leaves="many").fit(X, y, qid=qid)


def rewritten(path, change, arrays=None):
    """The file with another description, and a digest that fits: what an attacker would write."""
    result, metadata = _storage.read(path, mmap=False)
    header = json.loads(metadata["ranker"])
    text = json.dumps(change(header))
    result = result if arrays is None else arrays(result)
    _storage.write(path, result, {**metadata, "ranker": text, "digest": digest(text, result)})


def test_parameters_survive(tmp_path):
    X, y, qid = task()
    ranker = GradientRanker(
        loss=pk.losses.Lambda(measure="AP", truncation=None),
        model=Trees(n_estimators=3, monotone_constraints=(1, 0, 0), lightgbm_params={"max_bin": 63}, n_jobs=1),
        random_state=np.int64(7),
    ).fit(X, y, qid=qid)
    ranker.save(tmp_path / "m")
    again = storage.load(tmp_path / "m")
    assert again.loss == ranker.loss and again.random_state == 7
    assert vars(again.model) == vars(ranker.model)
    mcrank = pk.rankers.LambdaMART(n_estimators=2, measure=parse("nDCG@5"), n_jobs=1).fit(X, y, qid=qid)
    mcrank.save(tmp_path / "m")
    assert storage.load(tmp_path / "m").measure == parse("nDCG@5")
    for bad, match in ((lambda: 0, "target=<function"), ({1: object()}, "target=<object")):
        ranker = pk.rankers.ListNet().fit(X, y, qid=qid)
        ranker.target = bad
        with pytest.raises(ValueError, match=match):
            ranker.save(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_names_and_distributions_that_do_not_fit(tmp_path):
    """A service reads both for all models at once, long after the file was loaded."""
    X, y, qid = task()
    path = tmp_path / "m.plackett"
    pk.ListNet().fit(X, y, qid=qid).save(path)
    sound = path.read_bytes()

    def fitted(**learned):
        return lambda header: header | {"fitted": header["fitted"] | learned}

    rewritten(path, fitted(feature_names_in_=["a", "b"]))
    with pytest.raises(pk.DataError, match=rf"m\.plackett: 2 feature names for {X.shape[1]} features"):
        storage.load(path)
    for change in (lambda table: table[:0], lambda table: table[:-1], lambda table: table[:, 1:], np.ravel):
        path.write_bytes(sound)
        rewritten(
            path,
            dict,
            lambda result, change=change: result | {"learned/reference_": change(result["learned/reference_"])},
        )
        with pytest.raises(pk.DataError, match=r"m\.plackett: array 'reference_' of shape .* is not a distribution"):
            storage.load(path)


def test_user_defined_loss(tmp_path):
    """Known: trains on. Unknown: predicts, saves again, and refuses to train by name."""
    code = """
import sys, numpy as np, plackett as pk
from plackett.losses.custom import loss
from plackett.rankers.gradient_ranker import GradientRanker
@loss(shift_invariant=False)
def towards(scores, labels, gradient, curvature, scale=1.0):
    total = 0.0
    for i in range(scores.size):
        miss = scores[i] - scale * labels[i]
        total += 0.5 * miss**2
        gradient[i] = miss
        curvature[i] = 1.0
    return total
rng = np.random.default_rng(0)
X = rng.normal(size=(40, 2))
ranker = GradientRanker(loss=towards.replace(scale=3.0)).fit(X, X[:, 0] > 0, qid=np.repeat(np.arange(4), 10))
ranker.save(sys.argv[1])
from plackett.rankers.storage import load
again = load(sys.argv[1])
assert again.loss.parameters == (("scale", 3.0),)
np.testing.assert_array_equal(again.fit(X, X[:, 0] > 0, qid=np.repeat(np.arange(4), 10)).predict(X), ranker.predict(X))
np.save(sys.argv[2], ranker.predict(X))
"""
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}  # compiling the loss takes seconds, and is tested with the losses
    subprocess.run([sys.executable, "-c", code, tmp_path / "m", tmp_path / "s.npy"], env=plain, check=True)
    ranker = storage.load(tmp_path / "m")
    X = np.random.default_rng(0).normal(size=(40, 2))
    np.testing.assert_array_equal(ranker.predict(X), np.load(tmp_path / "s.npy"))
    ranker.save(tmp_path / "again")
    assert storage.load(tmp_path / "again").loss.parameters == (("scale", 3.0),)
    with pytest.raises(ValueError, match="'towards' is not defined here"):
        ranker.fit(X, X[:, 0] > 0, qid=np.repeat(np.arange(4), 10))


def test_load_opens_models_and_datasets(trees, tmp_path):
    X, y, qid = task()
    trees.save(tmp_path / "m.plackett")
    data = pk.RankingDataset.from_arrays(X, y, qid)
    pk.write(data, tmp_path / "d.plackett")
    np.testing.assert_array_equal(load(tmp_path / "m.plackett").predict(data), trees.predict(data))
    np.testing.assert_array_equal(load(tmp_path / "d.plackett").X, data.X)
    with pytest.raises(ValueError, match="holds a dataset, not a model"):
        storage.load(tmp_path / "d.plackett")
    _storage.write(tmp_path / "x", {}, {"kind": "cake"})
    with pytest.raises(ValueError, match="'cake'"):
        load(tmp_path / "x")


def test_damaged_files(trees, tmp_path):
    """Any changed byte is noticed; so is a file that ends early."""
    path = tmp_path / "m.plackett"
    trees.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for position in rng.integers(0, len(whole), 150):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            result = load(path)
        except ValueError as error:
            assert "m.plackett" in str(error)  # noqa: PT017 - most changes are refused, all by name
        else:  # spaces that pad the header, or words about the format
            assert result.scorer_.text == write_text(parse_trees(trees.scorer_.text))
    for size in (0, 7, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="plackett"):
            load(path)


HOSTILE = {
    "class outside the catalogue": {"algorithm": "os.system"},
    "class of another kind": {"algorithm": "RankingDataset"},
    "no string": {"algorithm": ["LambdaMART"]},
    "scorer": {"scorer": "builtins.eval"},
    "scorer of another kind": {"scorer": "linear"},
    "parameter": {"parameters": {"__class__": "os.system"}},
    "parameters": {"parameters": [1, 2]},
    "loss": {"parameters": {"measure": {"loss": "os.system", "fields": {"command": "echo"}}}},
    "model": {"parameters": {"measure": {"model": "subprocess.Popen", "fields": {}}}},
    "bad fields": {"parameters": {"measure": {"model": "Trees", "fields": {"nothing": 1}}}},
    "empty object": {"parameters": {"measure": {}}},
    "measure": {"parameters": {"measure": {"measure": "__import__('os').system('echo')"}}},
    "parameter of another type": {"parameters": {"n_jobs": "all"}},
    "fitted": {"fitted": None},
    "card": {"card": 3},
    "transformer": {
        "pipeline": [{"step": "a", "transformer": "os.system", "parameters": {}, "fitted": {}}, {"step": "b"}]
    },
    "attribute": {
        "pipeline": [
            {"step": "a", "transformer": "QueryNormalizer", "parameters": {}, "fitted": {"transform": ["x"]}},
            {"step": "b"},
        ]
    },
    "pipeline": {"pipeline": []},
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_hostile_descriptions(trees, tmp_path, change):
    path = tmp_path / "m.plackett"
    trees.save(path)
    rewritten(path, lambda header: header | change)
    with pytest.raises(ValueError, match="m.plackett"):
        load(path)


def test_description_that_is_no_object(trees, tmp_path):
    path = tmp_path / "m.plackett"
    trees.save(path)
    for text in ("[]", "[" * 100_000, "{", "null"):
        result, metadata = _storage.read(path, mmap=False)
        _storage.write(path, result, {**metadata, "ranker": text, "digest": digest(text, result)})
        with pytest.raises(ValueError, match="damaged"):
            load(path)


TREE_CHANGES = [
    ("split_feature=", "split_feature=99 "),
    ("left_child=", "left_child=77 "),
    ("left_child=", "left_child=0 "),
    ("right_child=", "right_child=-99 "),
    ("num_leaves=5", "num_leaves=50000000"),
    ("num_leaves=5", "num_leaves=-5"),
    ("leaf_value=", "leaf_value=1 "),
    ("threshold=", "threshold=1e400x "),
    ("tree_sizes=", "tree_sizes=99999999 "),
    ("max_feature_idx=2", "max_feature_idx=2000000000"),
    ("num_tree_per_iteration=1", "num_tree_per_iteration=2"),
    ("cat_boundaries=0", "cat_boundaries=7"),
    ("num_cat=", "num_cat=9"),
    ("is_linear=0", "is_linear=1"),
    ("version=v4", "version=v3"),
    ("end of trees", "end of all"),
]


@pytest.mark.parametrize(("old", "new"), TREE_CHANGES)
def test_hostile_trees(trees, tmp_path, old, new):
    """LightGBM would read outside its arrays, or never end; it must not get to see such a text."""
    path = tmp_path / "m.plackett"
    trees.save(path)
    text = trees.scorer_.text
    assert old in text
    changed = text.replace(old, new)
    if "tree_sizes" not in old:  # sizes that fit, so that it is the tree that is refused
        sizes = [len(part) for part in changed.split("Tree=")[1:]]
        sizes = [size + len("Tree=") for size in sizes]
        sizes[-1] -= len(changed[changed.find("end of ") :])
        changed = "\n".join(
            "tree_sizes=" + " ".join(map(str, sizes)) if line.startswith("tree_sizes=") else line
            for line in changed.split("\n")
        )
    rewritten(path, lambda h: h, lambda _: {"lightgbm": np.frombuffer(changed.encode(), np.uint8)})
    with pytest.raises(ValueError, match="tree ensemble is damaged|description of the model"):
        load(path)


def test_sound_trees_pass(trees, tmp_path):
    """The rewriting above refuses nothing by itself."""
    path = tmp_path / "m.plackett"
    trees.save(path)
    rewritten(path, lambda h: h)
    X, _, qid = task()
    np.testing.assert_array_equal(load(path).predict(X, qid=qid), trees.predict(X, qid=qid))
    assert "cat_threshold" in trees.scorer_.text and "parameters:" not in trees.scorer_.text


def test_linear_weights_are_checked(tmp_path):
    X, y, qid = task()
    path = tmp_path / "m.plackett"
    pk.rankers.ListNet().fit(X, y, qid=qid).save(path)
    for arrays in (
        {},
        {"weights": np.zeros(3), "intercept": np.zeros(1)},
        {"weights": np.zeros((3, 1)), "intercept": np.zeros(2)},
        {"weights": np.zeros((3, 1), np.int64), "intercept": np.zeros(1)},
    ):
        rewritten(path, lambda h: h, lambda _, arrays=arrays: arrays)
        with pytest.raises(ValueError, match=r"m\.plackett"):
            load(path)
    for bad in (np.nan, np.inf):
        rewritten(path, lambda h: h, lambda _, bad=bad: {"weights": np.full((3, 1), bad), "intercept": np.zeros(1)})
        with pytest.raises(ValueError, match="array 'weights' has an entry that is not finite"):
            load(path)


def test_what_a_ranker_says_of_itself_is_kept(tmp_path):
    """Numbers and arrays learned beside the scorer, such as proved gaps and thresholds."""
    X, y, qid = easy_task()
    for cls, names in (
        (pk.SVORImplicit, ("objective_", "gap_", "thresholds_", "grades_")),
        (pk.RankSVM, ("objective_", "gap_", "n_iter_")),
    ):
        ranker = cls(n_jobs=1).fit(X, y, qid=qid)
        ranker.save(tmp_path / "model")
        again = pk.load(tmp_path / "model")
        for name in names:
            np.testing.assert_array_equal(getattr(again, name), getattr(ranker, name))


def test_learned_attributes_of_a_file_replace_nothing(tmp_path):
    """A file cannot put a value in the place of a method, the scorer or anything private."""
    X, y, qid = easy_task()
    ranker = pk.rankers.ListNet(n_jobs=1).fit(X, y, qid=qid)
    ranker.harmless_ = 1.5
    vars(ranker)["_hidden_"] = 2
    numbers, tables = packing.learned_attributes(ranker)
    assert numbers["harmless_"] == 1.5 and "_hidden_" not in numbers and "scorer_" not in numbers
    assert set(tables) == {"reference_"}
    ranker.save(tmp_path / "model")
    again = pk.load(tmp_path / "model")
    assert again.harmless_ == 1.5 and not hasattr(again, "_hidden_")
