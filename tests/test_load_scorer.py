"""What a model file says about scoring is enough to score, whatever the ranker that learned it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import plackett as pk
from plackett import DataError, load_scorer
from plackett.experiments.auto.ranker import AutoRanker
from plackett.rankers.base import Ranker
from plackett.scorers import model as model_file
from plackett.scorers.model import ScoringModel
from plackett.scorers.plain_values import to_plain

#: Rankers that train while they predict.
EXCEPTIONS = {"KNNOnline", "KernelFeatures"}
#: Settings that say more than those of the battery: outputs that are combined, divided, taken from members.
MORE = {
    "GBRank": [{"update": "blend", "n_estimators": 4}, {"update": "average", "n_estimators": 4}],
    "McRank": [{"n_estimators": 3}, {"n_estimators": 3, "ordinal": True}],
    "GradientRanker": [{"loss": "Cumulative"}, {"loss": pk.losses.QueryMean(loss="Softmax", per="documents")}],
    "RelationalRanker": [{"similar": {"similarity": 0.3}, "parents": {"parent": 0.1}}],
    "RelationalFeedback": [{"beta": 0.0}, {"base": "McRank(n_estimators=2)", "beta": 0.2}],
    "ScorePropagation": [{"relation": "parent"}],
    "ContinuousCRF": [{"parents": ("parent",), "max_iter": 3}],
    "Blend": [{"members": ("ListNet", "McRank(n_estimators=2)", "RelationalFeedback(beta=0.3)")}],
}


def task(seed):
    rng = np.random.default_rng(seed)
    n, size = 12, 7
    X = rng.standard_normal((n * size, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(n * size), [0.0, 0.9])
    starts = np.repeat(np.arange(n) * size, size - 1)
    later = np.tile(np.arange(1, size), n)
    relations = {
        "similarity": pk.Relation.from_pairs(np.stack([starts + later, starts + later - 1], axis=1)),
        "parent": pk.Relation.from_pairs(np.stack([starts + later, starts + (later - 1) // 2], axis=1)),
    }
    subtopics = (rng.random((n * size, 2)) < 0.4).astype(float)
    data = pk.RankingDataset.from_arrays(X, y, np.arange(n * size) // size, subtopics=subtopics, relations=relations)
    shares = rng.random(n)
    data = data.replace(query_features=np.stack([shares, 1.0 - shares], axis=1).astype(np.float32))
    return data.replace(relations={**relations, "hyperedge": pk.hyperedges(data, np.arange(n * size) % 4)})


TRAIN, TEST = task(0), task(1)
CASES = [
    pytest.param(cls, settings, id=f"{name}-{number}")
    for name, cls in sorted(pk.rankers().items())
    if cls is not AutoRanker  # its scorer is a blend, with features relative to the list; see its own tests
    for number, settings in enumerate([cls._test_settings, *MORE.get(name, ())])
]


@pytest.mark.parametrize(("cls", "settings"), CASES)
def test_every_model_scores_alike_when_loaded(cls, settings, tmp_path):
    ranker = cls(**settings)
    ranker.n_jobs = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ranker.fit(TRAIN)
        except ImportError as error:
            pytest.skip(str(error))
        path = tmp_path / "m.plackett"
        ranker.save(path)
        scores = ranker.predict(TEST)
        loaded = pk.load(path)
        assert type(loaded) is cls and to_plain(loaded, "ranker") == to_plain(ranker, "ranker")
        assert all(isinstance(member, Ranker) for member in loaded.scorer_.members)
        np.testing.assert_array_equal(loaded.predict(TEST), scores)
        if cls.__name__ in EXCEPTIONS:
            with pytest.raises(DataError, match=rf"{cls.__name__} trains while it predicts.*plackett\.load"):
                load_scorer(path)
            return
        model = load_scorer(path)
        assert isinstance(model, ScoringModel) and model.algorithm == cls.__name__ and model.card_ == ranker.card_
        assert all(type(member) is ScoringModel for member in model.scorer_.members)
        np.testing.assert_array_equal(model.predict(TEST), scores)


def test_a_member_that_trains_is_refused_too(tmp_path):
    path = tmp_path / "m.plackett"
    pk.Blend(members=("ListNet", pk.rankers.KNNOnline(base="LinearRegression", k=3))).fit(TRAIN).save(path)
    with pytest.raises(DataError, match="trains while it predicts"):
        load_scorer(path)


def frame(data):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({f"c{j}": data.X[:, j] for j in range(data.n_features)})


def test_everything_that_a_ranker_says_about_scores(tmp_path):
    X, qid, path = frame(TRAIN), TRAIN.query_of_row, tmp_path / "m.plackett"
    ranker = pk.LambdaMART(n_estimators=5, min_child_samples=1, calibration="isotonic", validation_fraction=0.3)
    ranker.fit(X, TRAIN.y, qid=qid).save(path)
    model, other = load_scorer(path), frame(TEST).select("c4", "c3", "c2", "c1", "c0")
    np.testing.assert_array_equal(model.predict(other), ranker.predict(frame(TEST)))
    np.testing.assert_array_equal(model.rank(other, qid=qid), ranker.rank(other, qid=qid))
    np.testing.assert_array_equal(model.predict_relevance(other), ranker.predict_relevance(other))
    np.testing.assert_array_equal(model.predict(other, pred_contrib=True), ranker.predict(other, pred_contrib=True))
    assert model.feature_names_in_.tolist() == ["c0", "c1", "c2", "c3", "c4"]
    assert str(model.explain(TEST, 3)) == str(pk.explain(ranker, TEST, 3))
    with pytest.raises(DataError, match="lacks the column 'c4'"):
        model.predict(other.drop("c4"))
    assert repr(model) == "<SavedScorer of LambdaMART, 5 features>"
    plain = pk.LambdaMART(n_estimators=5, min_child_samples=1).fit(TRAIN)
    plain.save(path)
    np.testing.assert_array_equal(load_scorer(path).predict(TEST, exit=(2, 1)), plain.predict(TEST, exit=(2, 1)))


@pytest.mark.parametrize("ranker", [pk.ListNet(), pk.LambdaMART(n_estimators=3, min_child_samples=1)])
def test_missing_values_are_refused_as_by_the_ranker(ranker, tmp_path):
    path = tmp_path / "m.plackett"
    ranker.fit(TRAIN).save(path)
    holes = TEST.X.copy()
    holes[3, 2] = np.nan
    if type(ranker) is pk.ListNet:
        with pytest.raises(DataError, match="NaN.*ListNet does not accept"):
            load_scorer(path).predict(holes)
    else:
        np.testing.assert_array_equal(load_scorer(path).predict(holes), ranker.predict(holes))


def test_pipelines(tmp_path):
    path = tmp_path / "m.plackett"
    pipeline = make_pipeline(pk.Imputer(), pk.QueryNormalizer("zscore"), pk.ListNet())
    holes = TRAIN.X.copy()
    holes[::9, 1] = np.nan
    train = TRAIN.replace(X=holes)
    for _, step in pipeline.steps[:-1]:
        train = step.fit_transform(train)
    pipeline[-1].fit(train)
    pk.save(pipeline, path)
    model = load_scorer(path)
    expected = pk.load(path).predict(TEST)
    np.testing.assert_array_equal(model.predict(TEST), expected)
    np.testing.assert_array_equal(model.predict(TEST.X, qid=TEST.query_of_row), expected)
    np.testing.assert_array_equal(model.rank(TEST), pk.load(path)[-1].rank(pipeline[:-1].transform(TEST)))
    assert [name for name, _ in model.steps] == ["imputer", "querynormalizer", "listnet"]
    total = model.explain(TEST, 2)
    np.testing.assert_allclose(total.contributions.sum(axis=1) + total.base, expected[14:21])


def test_no_ranker_is_imported(tmp_path):
    """In a fresh process; scikit-learn and LightGBM are not either."""
    path = tmp_path / "m.plackett"
    pk.Blend(members=(pk.LambdaMART(n_estimators=3, min_child_samples=1), "ListNet", "PRank")).fit(TRAIN).save(path)
    program = f"""
        import sys, numpy as np
        import plackett as pk
        pk.load_scorer({str(path)!r}).predict(np.zeros((3, 5), np.float32), qid=[1, 1, 2])
        rankers = [name for name in sys.modules if name.startswith("plackett.rankers.")]
        print([*rankers, *(name for name in ("sklearn", "lightgbm") if name in sys.modules)])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "d.plackett"
    pk.write(TRAIN, path)
    with pytest.raises(DataError, match=r"d\.plackett"):
        load_scorer(path)
    ranker = pk.ListNet().fit(TRAIN)
    ranker.save(path)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"d\.plackett"):
        load_scorer(path)


def test_files_for_other_functions_are_named(tmp_path):
    data = task(0)
    pk.write_svm_rank(pk.RankSVM().fit(data), tmp_path / "line.txt")
    (tmp_path / "data.csv").write_text("qid,label,f\n1,0,2\n")
    with pytest.raises(DataError, match="of another tool; read it with plackett.load"):
        load_scorer(tmp_path / "line.txt")
    with pytest.raises(DataError, match=r"not a model; read it with plackett\.read"):
        load_scorer(tmp_path / "data.csv")


@pytest.mark.parametrize("name", ["strict_part", "algorithm"])
def test_a_description_without_a_part_is_refused_when_read(name, tmp_path):
    path = tmp_path / "model.plackett"
    pk.ListNet().fit(task(0)).save(path)
    header, arrays = model_file.read(path)
    for damaged in ({key: value for key, value in header.items() if key != name}, header | {name: [1]}):
        model_file.write(path, damaged, arrays)
        for load in (pk.load, load_scorer):
            with pytest.raises(DataError, match=name):
                load(path)


def test_scorers_deep_inside_one_another_are_refused(tmp_path):
    path = tmp_path / "model.plackett"
    pk.ListNet().fit(task(0)).save(path)
    header, arrays = model_file.read(path)
    inside = {name: array for name, array in arrays.items() if "/" not in name} | {
        "kind": np.frombuffer(b"linear", "u1")
    }
    for _ in range(60):
        inside = {f"stages.0.{name}": array for name, array in inside.items()}
        inside |= {"kind": np.frombuffer(b"nested", "u1"), "stages": np.array([1]), "keep": np.array([2])}
    del inside["kind"]
    model_file.write(path, header | {"scorer": "nested"}, inside)
    for load in (pk.load, load_scorer):
        with pytest.raises(DataError, match="inside one another"):
            load(path)


def test_names_of_features_in_a_step_are_texts(tmp_path):
    path = tmp_path / "m.plackett"
    normalizer = pk.QueryNormalizer("zscore")
    ranker = pk.ListNet().fit(normalizer.fit_transform(TRAIN))
    pk.save(make_pipeline(normalizer, ranker), path)
    header, arrays = model_file.read(path)
    header["pipeline"][0]["fitted"]["_columns_in"] = [["x0"]]
    model_file.write(path, header, arrays)
    for load in (pk.load, load_scorer):
        with pytest.raises(DataError, match="names of the features"):
            load(path)
