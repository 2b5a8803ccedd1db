"""RankLib's files: hand-written ones with scores worked out by hand, and ours written and read again."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plackett as pk
from plackett._load import foreign_reader
from plackett.export._lines import below32
from plackett.export._ranklib_rule import score_ranklib
from plackett.export.ranklib import _ALGORITHMS, read_ranklib, write_ranklib

#: As RankLib's `-save` writes them: tabs, spaces inside tags, settings in comments.
ENSEMBLE = """<ensemble>
\t<tree id="1" weight="0.5">
\t\t<split>
\t\t\t<feature>2 </feature>
\t\t\t<threshold> 1.5 </threshold>
\t\t\t<split pos="left">
\t\t\t\t<feature>1 </feature>
\t\t\t\t<threshold> -0.25 </threshold>
\t\t\t\t<split pos="left">
\t\t\t\t\t<output>4.0 </output>
\t\t\t\t</split>
\t\t\t\t<split pos="right">
\t\t\t\t\t<output>-2.0 </output>
\t\t\t\t</split>
\t\t\t</split>
\t\t\t<split pos="right">
\t\t\t\t<output>8.0 </output>
\t\t\t</split>
\t\t</split>
\t</tree>
\t<tree id="2" weight="0.25">
\t\t<split>
\t\t\t<output>1.0 </output>
\t\t</split>
\t</tree>
</ensemble>
"""
LAMBDAMART = f"""## LambdaMART
## No. of trees = 2
## No. of leaves = 10
## No. of threshold candidates = 256
## Learning rate = 0.1
## Stop early = 100

{ENSEMBLE}"""

X = np.array([[0.0, 1.5], [-0.25, 1.5], [-1.0, 2.0], [3.0, np.nan]], np.float32)
#: Left where the value is at most the threshold; a missing value is 0.
TREE_SCORES = [0.5 * -2 + 0.25, 0.5 * 4 + 0.25, 0.5 * 8 + 0.25, 0.5 * -2 + 0.25]


def written(tmp_path, text):
    path = tmp_path / "model.txt"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["LambdaMART", "MART", "Random Forests"])
def test_trees_by_hand(tmp_path, name):
    ranker = read_ranklib(written(tmp_path, LAMBDAMART.replace("LambdaMART", name)))
    assert type(ranker).__name__ == {"Random Forests": "RandomForest"}.get(name, name)
    assert ranker.predict(X).tolist() == TREE_SCORES
    assert ranker.num_leaves == 10 and ranker.n_features_in_ == 2
    if name != "Random Forests":
        assert ranker.n_estimators == 2 and ranker.learning_rate == 0.1


def test_a_forest_is_the_mean_of_its_bags(tmp_path):
    stump = ENSEMBLE.replace("8.0", "40.0")
    ranker = read_ranklib(written(tmp_path, f"## Random Forests\n## No. of bags = 2\n\n{ENSEMBLE}\n{stump}\n"))
    assert ranker.n_estimators == 2
    assert ranker.predict([[0.0, 9.0]]).tolist() == [(4.25 + 20.25) / 2]


def test_thresholds_are_float32_as_in_java(tmp_path):
    """0.1 of the file is the float32 next to 0.1, which the value 0.1 of a float32 table equals: it goes left."""
    path = written(tmp_path, LAMBDAMART.replace("1.5", "0.1"))
    assert read_ranklib(path).predict(np.array([[-1.0, 0.1]], np.float32)).tolist() == [2.25]
    above = np.nextafter(np.float32(0.1), np.float32(1))
    assert read_ranklib(path).predict(np.array([[-1.0, above]], np.float32)).tolist() == [4.25]


def test_numbers_next_to_zero_are_not_zero(tmp_path):
    """LightGBM takes them for 0, RankLib does not."""
    path = written(tmp_path, LAMBDAMART.replace("1.5", "0.0"))
    rows = np.array([[-1.0, -1e-44], [-1.0, 0.0], [-1.0, 1e-44]], np.float32)
    assert read_ranklib(path).predict(rows).tolist() == [2.25, 2.25, 4.25]


def test_lines_by_hand(tmp_path):
    rows = np.array([[2.0, 0.0, 1.0], [0.5, 3.0, -1.0]], np.float32)
    boost = "## RankBoost\n## Iteration = 300\n## No. of threshold candidates = 10\n1:0.5:0.25 3:-2.0:1.0 1:1.5:2.0"
    ranker = read_ranklib(written(tmp_path, boost))
    assert ranker.predict(rows).tolist() == [0.25 + 1.0 + 2.0, 1.0]
    assert ranker.n_estimators == 300
    assert ranker.predict([[np.nan, 0.0, np.nan]]).tolist() == [1.0]  # 0 is above -2 only
    ada = "## AdaRank\n## Iteration = 500\n## Train with enqueue: Yes\n## Tolerance = 0.002\n1:0.5 3:2.0 1:0.25"
    ranker = read_ranklib(written(tmp_path, ada))
    assert ranker.predict(rows).tolist() == [0.75 * 2 + 2, 0.375 - 2]  # a feature picked twice counts twice
    assert ranker.tol == 0.002
    ascent = "## Coordinate Ascent\n## Restart = 5\n## MaxIteration = 25\n\n2:-1.5 1:0.5 # comment\n"
    assert read_ranklib(written(tmp_path, ascent), n_features=3).predict(rows).tolist() == [1.0, 0.25 - 4.5]
    line = "## Linear Regression\n## Lambda = 1.0E-10\n0:0.25 1:1.0 2:2.0"
    assert read_ranklib(written(tmp_path, line), n_features=3).predict(rows).tolist() == [2.25, 6.75]


def test_networks_by_hand(tmp_path):
    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    rows = np.array([[2.0, 7.0, 1.0], [0.5, 7.0, -1.0]], np.float32)
    text = """## RankNet
## Epochs = 100
## No. of features = 2
## No. of hidden layers = 1
## Layer 1: 2 neurons
1 3
1
2
0 0 0.5 -1.0
0 1 0.25 2.0
0 2 0.1 0.2 0.3
1 0 1.5
1 1 -0.5
"""
    ranker = read_ranklib(written(tmp_path, text))
    hidden = [[sigmoid(0.5 * a + 0.25 * c + 0.1), sigmoid(-a + 2 * c + 0.2)] for a, _, c in rows.tolist()]
    np.testing.assert_allclose(ranker.predict(rows), [sigmoid(1.5 * h[0] - 0.5 * h[1] + 0.3) for h in hidden])
    assert ranker.max_epochs == 100
    listnet = "## ListNet\n## Epochs = 1500\n## No. of features = 2\n1 3\n0\n0 0 0.5\n0 1 -1.0\n0 2 0.25\n"
    ranker = read_ranklib(written(tmp_path, listnet))
    np.testing.assert_allclose(ranker.predict(rows), [sigmoid(1 - 1 + 0.25), sigmoid(0.25 + 1 + 0.25)])
    ranker.save(tmp_path / "net.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "net.plackett").predict(rows), ranker.predict(rows))


# ------------------------------------------------------------------------------------------------------ round trips


def task():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2], [-0.3, 0.8]).astype(float)
    return pk.RankingDataset.from_arrays(X, y, np.arange(200) // 10)


SMALL = {
    "LambdaMART": {"n_estimators": 20, "min_child_samples": 2},
    "MART": {"n_estimators": 20},
    "RandomForest": {"n_estimators": 10},
    "ObliviousLambdaMART": {"n_estimators": 10, "depth": 3},
    "RankBoost": {"n_estimators": 30},
    "AdaRank": {},
    "CoordinateAscent": {},
    "LinearRegression": {},
    "RankSVM": {},
    "ListNet": {},
}


@pytest.mark.parametrize("name", SMALL)
def test_round_trip(tmp_path, name):
    data = task()
    ranker = pk.rankers()[name](n_jobs=1, **SMALL[name]).fit(data)
    write_ranklib(ranker, tmp_path / "model.txt")
    again = read_ranklib(tmp_path / "model.txt", n_features=5)
    new = np.random.default_rng(1).normal(size=(500, 5)).astype(np.float32)
    new[::7] = data.X[: len(new[::7])]  # values on which training put its thresholds
    np.testing.assert_allclose(again.predict(new), ranker.predict(new), rtol=2e-7 * 20, atol=1e-7)
    if ranker.scorer_.kind == "linear":
        np.testing.assert_array_equal(again.predict(new), ranker.predict(new))
    write_ranklib(again, tmp_path / "twice.txt")
    np.testing.assert_array_equal(read_ranklib(tmp_path / "twice.txt", n_features=5).predict(new), again.predict(new))
    again.save(tmp_path / "model.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "model.plackett").predict(new), again.predict(new))


def test_round_trip_of_networks(tmp_path):
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    data = task()
    for hidden in ((6,), (4, 3), ()):
        ranker = pk.RankNet(hidden=hidden, max_epochs=3, device="cpu", n_jobs=1).fit(data)
        write_ranklib(ranker, tmp_path / "net.txt")
        result = read_ranklib(tmp_path / "net.txt").predict(data)
        np.testing.assert_allclose(result, 1 / (1 + np.exp(-ranker.predict(data))), rtol=1e-5)  # its output is logistic
    other = pk.RankNet(architecture="mlp", hidden=(4,), max_epochs=1, device="cpu", n_jobs=1).fit(data)
    with pytest.raises(ValueError, match="sigmoid"):
        write_ranklib(other, tmp_path / "net.txt")


NETWORK = """1 3
1
2
0 0 0.5 -1.0
0 1 0.25 2.0
0 2 0.1 0.2 0.3
1 0 1.5
1 1 -0.5
"""
#: A model of each kind, as RankLib writes it, and its scores of the rows by hand.
KINDS = {
    "LambdaMART": (ENSEMBLE, lambda a, b, c: 0.25 + 0.5 * (8 if b > 1.5 else 4 if a <= -0.25 else -2)),
    "MART": (ENSEMBLE, lambda a, b, c: 0.25 + 0.5 * (8 if b > 1.5 else 4 if a <= -0.25 else -2)),
    "Random Forests": (ENSEMBLE * 2, lambda a, b, c: 0.25 + 0.5 * (8 if b > 1.5 else 4 if a <= -0.25 else -2)),
    "RankBoost": ("1:0.5:0.25 3:-2.0:1.0 1:1.5:2.0", lambda a, b, c: 0.25 * (a > 0.5) + (c > -2) + 2.0 * (a > 1.5)),
    "AdaRank": ("1:0.5 3:2.0 1:0.25", lambda a, b, c: 0.75 * a + 2 * c),
    "Coordinate Ascent": ("2:-1.5 1:0.5 3:0.1", lambda a, b, c: 0.5 * a - 1.5 * b + 0.1 * c),
    "Linear Regression": ("0:0.25 1:1.0 2:2.0 3:-0.3", lambda a, b, c: 0.25 + a + 2 * b - 0.3 * c),
    "RankNet": (NETWORK, lambda a, b, c: _net(a, c)),
    "LambdaRank": (NETWORK, lambda a, b, c: _net(a, c)),
    "ListNet": ("1 3\n0\n0 0 0.5\n0 1 -1.0\n0 2 0.25\n", lambda a, b, c: 1 / (1 + np.exp(-0.5 * a + c - 0.25))),
}


def _net(a, c):
    hidden = 1 / (1 + np.exp(-np.array([0.5 * a + 0.25 * c + 0.1, -a + 2 * c + 0.2])))
    return 1 / (1 + np.exp(-(1.5 * hidden[0] - 0.5 * hidden[1] + 0.3)))


@pytest.mark.parametrize("name", _ALGORITHMS)
def test_every_kind_both_ways(tmp_path, name):
    body, by_hand = KINDS[name]
    path = written(tmp_path, f"## {name}\n## Epochs = 7\n{body}")
    rows = np.random.default_rng(0).normal(scale=2.0, size=(200, 3)).astype(np.float32)
    ranker = read_ranklib(path, n_features=3)
    expected = [by_hand(*row) for row in rows.astype(float).tolist()]
    np.testing.assert_allclose(ranker.predict(rows), expected, rtol=1e-6, atol=1e-7)
    write_ranklib(ranker, path)
    assert path.read_text().startswith(f"## {name}\n")
    np.testing.assert_allclose(read_ranklib(path, n_features=3).predict(rows), expected, rtol=1e-6, atol=1e-7)


NAMES = ['a "quoted" name', "Länge\u2028</ensemble>", "## c", "1:0.5", "e"]


@pytest.mark.parametrize("name", ["LambdaMART", "RandomForest", "RankBoost", "ListNet", "RankSVM"])
def test_names_are_comments(tmp_path, name):
    """RankLib skips the lines that begin with ##; without them the file is the one without names."""
    data = task()
    named = data.replace(feature_names=NAMES)
    plain, ranker = (pk.rankers()[name](n_jobs=1, **SMALL[name]).fit(each) for each in (data, named))
    write_ranklib(plain, tmp_path / "plain.txt")
    write_ranklib(ranker, tmp_path / "named.txt")
    text = (tmp_path / "named.txt").read_bytes().decode("ascii")
    comments = [line for line in text.splitlines() if line.startswith("## Feature ")]
    assert len(comments) == 5 and '## Feature 5 = "e"' in comments
    without = [line for line in text.splitlines() if line not in comments]
    assert without == (tmp_path / "plain.txt").read_text().splitlines()
    again = read_ranklib(tmp_path / "named.txt")
    assert again.feature_names_in_.tolist() == NAMES and again.n_features_in_ == 5
    assert again.get_params() == read_ranklib(tmp_path / "plain.txt").get_params()
    turned = named.replace(X=named.X[:, ::-1].copy(), feature_names=NAMES[::-1])
    np.testing.assert_allclose(again.predict(turned), again.predict(named), rtol=1e-12)
    engine = score_ranklib(tmp_path / "named.txt", named.X, NAMES)
    np.testing.assert_allclose(engine, again.predict(named), rtol=1e-5, atol=1e-6)
    assert not hasattr(read_ranklib(tmp_path / "named.txt", n_features=6), "feature_names_in_")
    write_ranklib(plain, tmp_path / "given.txt", feature_names=NAMES)
    assert (tmp_path / "given.txt").read_text() == text
    with pytest.raises(ValueError, match="2 feature names for a model of 5"):
        write_ranklib(plain, tmp_path / "given.txt", feature_names=["a", "b"])


def test_names_of_networks(tmp_path):
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    data = task().replace(feature_names=NAMES)
    ranker = pk.RankNet(hidden=(3,), max_epochs=1, device="cpu", n_jobs=1, alpha=0.01).fit(data)
    write_ranklib(ranker, tmp_path / "net.txt")
    assert read_ranklib(tmp_path / "net.txt").feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize(
    "comments",
    [
        '## Feature 2 = "a"',
        '## Feature 1 = "a"\n## Feature 2 = "a"',
        '## Feature 1 = "a"\n## Feature 1 = "b"',
        '## Feature 1 = "a',
        '## Feature 1 = "\\x"',
        '## Feature 1 = ""',
        '## Feature 1 = "\\ud800"',
        "## Feature 1 = a",
        "## Feature 1 = 3",
    ],
)
def test_other_comments_are_no_names(tmp_path, comments):
    ranker = read_ranklib(written(tmp_path, f"## AdaRank\n{comments}\n1:0.5 3:2.0"))
    assert not hasattr(ranker, "feature_names_in_") and ranker.n_features_in_ == 3


def test_the_epochs_of_listnet_are_its_iterations(tmp_path):
    assert read_ranklib(written(tmp_path, f"## ListNet\n## Epochs = 7\n{KINDS['ListNet'][0]}")).max_iter == 7


def test_load_knows_it(tmp_path):
    assert pk.load(written(tmp_path, LAMBDAMART)).predict(X).tolist() == TREE_SCORES
    for name in _ALGORITHMS:
        assert foreign_reader(written(tmp_path, f"## {name}\n")) is read_ranklib
    for text in ("## a comment above data\n1 qid:1 1:0.5\n", "1 qid:1 1:0.5\n", ""):
        assert foreign_reader(written(tmp_path, text)) is None


@given(st.floats(-1e38, 1e38), st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_threshold_below_splits_float32_the_same_way(threshold, value):
    for t in (threshold, value, np.nextafter(value, -np.inf), np.nextafter(value, np.inf)):
        assert (value <= t) == (value <= below32(float(t)))
    assert float(np.float32(below32(threshold))) == below32(threshold)


# --------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (":1: not a RankLib model", "## Neural Gas\n1:2"),
        (":1: not a RankLib model", ""),
        (":9: expected <tree>", LAMBDAMART.replace("<ensemble>", "<ensemble>\n<split>", 1).replace("\t<tree", "<tree")),
        (":11: expected a feature number", LAMBDAMART.replace("<feature>2 ", "<feature>0 ")),
        (":12: expected a threshold", LAMBDAMART.replace(" 1.5 ", " NaN ")),
        (":12: a threshold beyond", LAMBDAMART.replace(" 1.5 ", " 1e39 ")),
        (':13: expected <split pos="left">', LAMBDAMART.replace('pos="left"', 'pos="right"', 1)),
        (":9: a <tree> without weight", LAMBDAMART.replace(' weight="0.5"', "")),
        ("ends inside a tree", LAMBDAMART.split("</tree>")[0]),
        ("no <tree>", "## MART\n<ensemble></ensemble>"),
        (
            ":1: not a RankLib model|:2: expected a tag",
            '## MART\n<!DOCTYPE a [<!ENTITY b "c">]>\n<ensemble></ensemble>',
        ),
        (":2: expected", "## MART\n<ensemble>&lt;</ensemble>"),
        (
            "deeper than",
            '## MART\n<ensemble><tree id="1" weight="1"><split>'
            + '<feature>1</feature><threshold>0</threshold><split pos="left">' * 2000,
        ),
        (":2: expected feature:weight", "## AdaRank\n1:0.5 nonsense"),
        (":2: expected the weight of feature 1", "## AdaRank\n1:x"),
        (":2: expected feature:threshold:weight", "## RankBoost\n1:0.5"),
        ("ends before the weights", "## AdaRank\n## Tolerance = 1\n"),
        (":5: neuron 0 of layer 0 has 3 weights instead of 2", "## RankNet\n1\n1\n2\n0 0 1 2 3"),
        ("no weights of neuron 1 of layer 0", "## ListNet\n1\n0\n0 0 1"),
        (":4: the network has no neuron 2", "## ListNet\n1\n0\n0 2 1"),
        (":3: expected the number of hidden layers", "## ListNet\n1\n101\n"),
        (
            "more than can be held",
            "## RankNet\n9999999\n1\n99\n0 0"
            + " 1" * 99
            + "\n0 1"
            + " 1" * 100
            + "\n"
            + "".join(f"1 {k} 1\n" for k in range(99)),
        ),
        ("from 1 to 1000000", LAMBDAMART.replace("<feature>2 ", "<feature>1000001 ")),
    ],
)
def test_damaged_files_are_refused_by_line(tmp_path, match, text):
    with pytest.raises(ValueError, match=match):
        read_ranklib(written(tmp_path, text))


NETWORK = "## RankNet\n1 3\n1\n2\n0 0 0.5 -1.0\n0 1 0.25 2.0\n0 2 0.1 0.2 0.3\n1 0 1.5\n1 1 -0.5\n"
BOOST = "## RankBoost\n1:0.5:0.25 3:-2.0:1.0 1:1.5:2.0\n"


@given(
    st.sampled_from([LAMBDAMART, NETWORK, BOOST]),
    st.integers(0, 1000),
    st.integers(0, 12),
    st.text('<>/"=:.01 \nae-#', max_size=8),
)
def test_any_damage_is_a_model_or_an_error_of_ours(text, place, gone, new):
    """Part of a file taken out and something else put in: a ranker that scores, or a DataError that names the file."""
    place %= len(text)
    damaged = text[:place] + new + text[place + gone :]
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), damaged)
        ranker, message = _read(path)
        if ranker is None:
            assert str(path) in message
        elif ranker.n_features_in_ < 1000:
            assert np.isfinite(ranker.predict(np.zeros((2, ranker.n_features_in_), np.float32))).all()


def _read(path):
    try:
        return read_ranklib(path), ""
    except pk.DataError as error:
        return None, str(error)


def test_too_few_features_are_refused(tmp_path):
    for text in (LAMBDAMART, "## AdaRank\n2:1.0", "## RankBoost\n2:1.0:1.0", "## ListNet\n2\n0\n0 0 1\n0 1 1"):
        with pytest.raises(ValueError, match="uses feature 2, and n_features=1"):
            read_ranklib(written(tmp_path, text), n_features=1)


def test_what_the_format_cannot_say_is_refused(tmp_path):
    data = task()
    blank = data.replace(X=np.where(data.X > 1.2, np.nan, data.X))
    for match, ranker in (
        ("missing values", pk.LambdaMART(n_estimators=20, n_jobs=1, min_child_samples=2).fit(blank)),
        ("engines expect one score", pk.McRank(n_estimators=2, n_jobs=1).fit(data)),
        ("cannot be exported", pk.KernelSVM().fit(data)),
        ("weak='threshold'", pk.rankers()["RankBoost"](weak="real", n_estimators=3).fit(data)),
    ):
        with pytest.raises(ValueError, match=match):
            write_ranklib(ranker, tmp_path / "model.txt")
    assert not (tmp_path / "model.txt").exists()
