from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

import plackett as pk
from plackett import DataError
from plackett.feature_selection.greedy import greedy_choice, selection_objective
from plackett.rankers import storage


def problem(seed, f=7):
    rng = np.random.default_rng(seed)
    e = rng.uniform(-1, 1, (f, f))
    e = (e + e.T) / 2
    np.fill_diagonal(e, 1.0)
    return rng.random(f), e


def best(w, e, t, c):
    return max(selection_objective(w, e, s, redundancy=c) for s in combinations(range(len(w)), t))


def test_the_worked_example():
    e = [[1, 0.95, 0.1], [0.95, 1, 0.2], [0.1, 0.2, 1]]
    chosen, value = greedy_choice([0.9, 0.85, 0.5], e, n_features=2, redundancy=0.25)
    assert chosen.tolist() == [0, 2]
    assert value == pytest.approx(0.9 + 0.5 - 2 * 0.25 * 0.1)


@pytest.mark.parametrize("seed", range(5))
def test_against_the_objective_and_exhaustive_search(seed):
    w, e = problem(seed)
    for t in (1, 3, 7):
        chosen, value = greedy_choice(w, e, n_features=t, redundancy=0.2)
        assert len(set(chosen.tolist())) == t
        assert value == pytest.approx(selection_objective(w, e, chosen, redundancy=0.2))
        exact = best(w, e, t, 0.2)
        assert value <= exact + 1e-12
        if t in (1, 7):
            assert value == pytest.approx(exact)
    top, value = greedy_choice(w, e, n_features=3, redundancy=0)
    assert top.tolist() == np.argsort(-w)[:3].tolist()
    assert value == pytest.approx(best(w, e, 3, 0.0))


def test_the_usual_redundancy_is_one_over_the_number_of_features():
    w, e = problem(9)
    usual, same = (greedy_choice(w, e, n_features=4, redundancy=c) for c in (None, 0.25))
    assert usual[0].tolist() == same[0].tolist() and usual[1] == same[1]


@pytest.fixture(scope="module")
def data():
    made = pk.datasets.make_ranking(25, 8, 4, random_state=0)
    X = np.hstack([made.X, -2 * made.X[:, :2]])  # the last two repeat the first two
    return made.replace(X=X.astype(np.float32), feature_names=tuple("abcdef"))


def test_repeated_features_are_left_out(data):
    plain = pk.GreedySelector(3, redundancy=0, measure="nDCG").fit(data)
    careful = pk.GreedySelector(3, redundancy=0.5, measure="nDCG").fit(data)
    assert careful.similarities_[0, 4] == pytest.approx(1)  # turned in its better direction
    for pair in ({0, 4}, {1, 5}):
        assert not pair <= set(careful.selected_.tolist())
    assert any(pair <= set(plain.selected_.tolist()) for pair in ({0, 4}, {1, 5}))


def test_arrays_frames_and_datasets_agree(data):
    selector = pk.GreedySelector(3, redundancy=0.5)
    kept = selector.fit(data).get_support(indices=True)
    names = [data.feature_names[j] for j in kept]
    out = selector.transform(data)
    assert list(out.feature_names) == names
    np.testing.assert_array_equal(out.X, data.X[:, kept])
    qid = data.qids[data.query_of_row]
    array = pk.GreedySelector(3, redundancy=0.5).fit_transform(data.X, data.y, qid=qid)
    np.testing.assert_array_equal(array, data.X[:, kept])
    for frame in (pd.DataFrame, pl.DataFrame):
        table = frame({"qid": qid} | {name: data.X[:, j] for j, name in enumerate(data.feature_names)})
        result = pk.GreedySelector(3, redundancy=0.5).fit(table, data.y)
        assert list(result.transform(table).columns) == ["qid", *names]
        assert result.get_feature_names_out().tolist() == ["qid", *names]


def test_in_a_pipeline_saved_without_pickle(data, tmp_path):
    qid = data.qids[data.query_of_row]
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(pk.Imputer(), pk.GreedySelector(2), pk.LinearRegression())
        pipeline.fit(data.X, data.y, qid=qid)
        wanted = pipeline.predict(data.X)
    storage.save(pipeline, tmp_path / "m.plackett")
    result = pk.load(tmp_path / "m.plackett")
    np.testing.assert_allclose(result.predict(data.X), wanted)
    assert result.steps[1][1].selected_.tolist() == pipeline[1].selected_.tolist()


@pytest.mark.parametrize("parameters", [{"n_features": 0}, {"n_features": 7}, {"n_features": 1.5}, {"redundancy": -1}])
def test_impossible_requests(data, parameters):
    with pytest.raises(DataError, match=next(iter(parameters))):
        pk.GreedySelector(**parameters).fit(data)


def test_labels_are_needed(data):
    with pytest.raises(DataError, match="y"):
        pk.GreedySelector().fit(np.asarray(data.X))


@pytest.mark.filterwarnings("ignore:no qid")
def test_check_estimator():
    check_estimator(pk.GreedySelector())
