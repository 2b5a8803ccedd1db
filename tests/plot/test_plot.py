"""Plots: what they draw is what was measured, text is shown as it is, and errors say what to do."""

from __future__ import annotations

import json

import numpy as np
import pytest

import plackett as pk
from plackett import DataError

pytest.importorskip("plotly", reason="plots need the extra 'report'")


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(20, n_features=4, random_state=0)


@pytest.fixture(scope="module")
def rankers(data):
    small = {"n_estimators": 6, "num_leaves": 4, "n_jobs": 1}
    return {
        "a <b>line</b>": pk.ListNet(validation_fraction=0.3).fit(data),
        "trees": pk.LambdaMART(**small, validation_fraction=0.3).fit(data),
    }


@pytest.fixture(scope="module")
def compared(data, rankers):
    scores = {name: ranker.predict(data) for name, ranker in rankers.items()}
    return pk.compare(data, scores, ["nDCG@10", "ARP"])


def test_learning_curves_are_the_history(rankers):
    figure = pk.plot.learning_curve(rankers)
    lines, rings = figure.data[::2], figure.data[1::2]
    for ranker, line, ring in zip(rankers.values(), lines, rings, strict=True):
        np.testing.assert_allclose(line.y, ranker.history_, rtol=1e-4)
        assert ring.x == (ranker.best_iteration_,)
    assert lines[0].name == "a &lt;b&gt;line&lt;/b&gt;"
    assert len(pk.plot.learning_curve(rankers["trees"]).data) == 2
    with pytest.raises(DataError, match="validation_fraction"):
        pk.plot.learning_curve(pk.ListNet().fit([[0.0], [1.0]], [0, 1], qid=[1, 1]))


def test_rankers_of_one_class_are_numbered(rankers):
    figure = pk.plot.learning_curve([rankers["trees"], rankers["trees"]])
    assert [trace.name for trace in figure.data[::2]] == ["LambdaMART 1", "LambdaMART 2"]


def test_measures_that_differ_are_not_mixed(data, rankers):
    other = pk.ListNet(validation_fraction=0.3, eval_measure="AP").fit(data)
    with pytest.raises(DataError, match=r"AP, nDCG@10"):
        pk.plot.learning_curve({"one": rankers["trees"], "other": other})


def test_importances(data, rankers):
    trees, line = rankers["trees"], rankers["a <b>line</b>"]
    bars = pk.plot.importances(trees).data[0]
    np.testing.assert_allclose(bars.x, np.sort(trees.feature_importances_)[::-1], rtol=1e-4)
    assert bars.y[0] == trees.feature_names_in_[trees.feature_importances_.argmax()]
    np.testing.assert_allclose(pk.plot.importances(line).data[0].x, np.sort(np.abs(line.coef_))[::-1], rtol=1e-4)
    own = pk.model_importance(line, data)
    np.testing.assert_allclose(
        pk.plot.importances(line, data, n_features=2).data[0].x, own["importance"][:2], rtol=1e-4
    )
    permuted = pk.permutation_importance(trees, data, n_repeats=2)
    shuffled = pk.plot.importances(permuted).data[0]
    np.testing.assert_allclose(shuffled.error_x.array, permuted["std"], rtol=1e-4)
    with pytest.raises(DataError, match="permutation_importance"):
        pk.plot.importances(pk.Blend.of(list(rankers.values()), data))


def test_measure_curve(data, rankers):
    figure = pk.plot.measure_curve(data, rankers, "P", range(1, 6))
    expected = pk.measure_curve(data, rankers["trees"].predict(data), "P", range(1, 6))
    np.testing.assert_allclose(figure.data[1].y, expected, rtol=1e-4)
    assert [note.text for note in figure.layout.annotations].count("trees") == 1
    np.testing.assert_allclose(pk.plot.measure_curve(data, data.X[:, 0], "P", [1]).data[0].x, [1])


def test_comparison_is_sorted_best_first(compared):
    for measure, sign in (("nDCG@10", -1), ("ARP", 1)):
        points = pk.plot.comparison(compared, measure).data[0]
        rows = {row["system"]: row for row in compared.table.iter_rows(named=True) if row["measure"] == measure}
        assert list(points.x) == sorted((row["mean"] for row in rows.values()), key=lambda mean: sign * mean)
        best = rows["trees" if points.y[0] == "trees" else "a <b>line</b>"]
        assert points.error_x.array[0] == pytest.approx(best["high"] - best["mean"])
        assert points.error_x.arrayminus[0] == pytest.approx(best["mean"] - best["low"])
    with pytest.raises(DataError, match=r"measure='AP'; give one of 'nDCG@10', 'ARP'"):
        pk.plot.comparison(compared, "AP")
    with pytest.raises(DataError, match=r"plackett\.compare"):
        pk.plot.comparison({"a": 1})


def test_differences_turn_the_sign_where_small_is_good(compared):
    values = compared.values["ARP"]
    bars = pk.plot.differences(compared, "trees", "a <b>line</b>", "ARP").data[0]
    by_system = dict(zip(compared.systems, values.T, strict=True))
    expected = np.sort(by_system["a <b>line</b>"] - by_system["trees"])[::-1]
    np.testing.assert_allclose(bars.y, expected, rtol=1e-4, atol=1e-12)
    assert pk.plot.differences(compared).data[0].y[0] >= 0
    with pytest.raises(DataError, match="unknown system 'nobody'"):
        pk.plot.differences(compared, "nobody")
    with pytest.raises(DataError, match="two different"):
        pk.plot.differences(compared, "trees", "trees")


def test_colours_and_font_are_the_reports(rankers):
    text = pk.plot.learning_curve(rankers).to_json()
    assert '"--' not in text  # every name of a colour has become one
    assert json.loads(text)["layout"]["font"]["family"].endswith("sans-serif")
    assert "#0072b2" in text


def test_feature_frontier():
    train, valid = (pk.datasets.make_ranking(15, 6, 3, random_state=seed) for seed in (0, 1))
    result = pk.feature_frontier("LinearRegression", train, valid, costs=[1, 2, 3])
    trace = pk.plot.feature_frontier(result).data[1]
    assert list(trace.x) == result.frame["cost"].to_list()
    assert list(trace.marker.symbol).count("diamond") == 1
    with pytest.raises(pk.DataError, match="feature_frontier"):
        pk.plot.feature_frontier(train)


def test_modules_do_not_hide_their_functions():
    import importlib

    for name in pk.plot.__all__:
        setattr(pk.plot, name, importlib.import_module(f"plackett.plot.{name}"))  # as an import of the module does
        assert callable(getattr(pk.plot, name))
