"""Blends against sums made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import plackett as pk
from plackett import DataError, PlackettWarning
from plackett.rankers.blend import MEMBERS, Blend
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.testing.rankers import easy_task

TREES = {"n_estimators": 6, "num_leaves": 4, "min_child_samples": 1}


@pytest.fixture(scope="module")
def task():
    X, y, qid = easy_task()
    return pk.RankingDataset.from_arrays(X, y, qid)


@pytest.fixture(scope="module")
def valid():
    X, y, qid = easy_task(seed=5)
    return pk.RankingDataset.from_arrays(X, y, qid)


def spread(scores, data):
    squares = []
    for lo, hi in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        part = scores[lo:hi]
        squares += [(s - part.mean()) ** 2 for s in part]
    return np.sqrt(np.mean(squares))


def members():
    # several outputs, other features than those given, trees, a line
    return [pk.McRank(**TREES), pk.PolynomialRegression(), pk.LambdaMART(**TREES), pk.ListNet()]


def test_sum_of_the_members_trained_alone(task, valid):
    weights = (4.0, 1.0, 2.0, 3.0)
    blend = Blend(members=members(), weights=weights).fit(task, eval_set=valid)
    expected = np.zeros(valid.n_rows)
    for ranker, weight in zip(members(), weights, strict=True):
        scores = ranker.fit(task, eval_set=valid).predict(valid)
        expected += weight / 10.0 * scores / spread(scores, valid)
    np.testing.assert_allclose(blend.predict(valid), expected, rtol=1e-12)
    assert blend.history_ == [pytest.approx(pk.evaluate(valid, expected, "nDCG@10").mean["nDCG@10"])]


def test_spread_of_training_scores_without_validation_data(task):
    scores = pk.ListNet().fit(task).predict(task)
    blend = Blend(members=["listnet"]).fit(task)
    np.testing.assert_allclose(blend.predict(task), scores / spread(scores, task), rtol=1e-12)
    assert blend.history_ == []


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_a_member_without_an_opinion_counts_for_nothing(task):
    tied = pk.LambdaMART(n_estimators=1, num_leaves=2, min_child_samples=10_000)
    blend = Blend(members=[tied, pk.ListNet()]).fit(task)
    assert (blend.rank(task) == pk.ListNet().fit(task).rank(task)).all()


def test_best_members_are_kept(task, valid):
    backwards = pk.RankingDataset.from_arrays(task.X, 2 - task.y, task.qid)
    bad = pk.LinearRegression().fit(backwards)
    good = [pk.ListNet().fit(task), pk.MART(**TREES).fit(task)]
    blend = Blend.of([good[0], bad, good[1]], valid, n_best=2, weights=(1, 5, 3))
    assert [type(ranker).__name__ for ranker in blend.members_] == ["ListNet", "MART"]
    assert blend.weights_.tolist() == [0.25, 0.75]
    trained = Blend(members=members(), n_best=1, eval_measure="AP").fit(task, eval_set=valid)
    values = [pk.evaluate(valid, r.fit(task, eval_set=valid).predict(valid), "AP").mean["AP"] for r in members()]
    assert type(trained.members_[0]) is type(members()[int(np.argmax(values))])


def test_of_equals_fit(task, valid):
    fitted = [ranker.fit(task, eval_set=valid) for ranker in members()]
    blend = Blend(members=members()).fit(task, eval_set=valid)
    np.testing.assert_allclose(Blend.of(fitted, valid).predict(task), blend.predict(task), rtol=1e-12)


def test_saved_and_loaded(task, valid, tmp_path):
    blend = Blend(members=members(), n_best=3).fit(task, eval_set=valid)
    blend.save(tmp_path / "blend.plackett")
    again = pk.load(tmp_path / "blend.plackett")
    np.testing.assert_array_equal(again.predict(valid), blend.predict(valid))
    np.testing.assert_array_equal(again.weights_, blend.weights_)
    assert [repr(ranker) for ranker in again.members_] == [repr(ranker) for ranker in blend.members_]
    assert repr(again) == repr(blend)


def test_missing_values_where_every_member_takes_them(task):
    X = task.X.copy()
    X[::5, 3] = np.nan
    data = task.replace(X=X)
    trees = [pk.LambdaMART(**TREES), pk.MART(**TREES)]
    assert np.isfinite(Blend(members=trees).fit(data).predict(data)).all()
    with pytest.raises(DataError, match="missing values.*ListNet does not accept"):
        Blend(members=[*trees, pk.ListNet()]).fit(data)


def test_looks_at_lists_where_a_member_does(task):
    nested = pk.NestedRanker(keep=(3,), model=pk.Linear())
    assert Blend(members=[nested, pk.ListNet()]).fit(task).scorer_.list_aware
    assert not Blend(members=[pk.ListNet()]).fit(task).scorer_.list_aware


def test_default_members_differ_in_model_and_in_approach():
    modules = {pk.rankers()[name].__module__.split(".")[-2] for name in MEMBERS}
    assert modules == {"pointwise", "pairwise", "listwise"}
    trees = [issubclass(pk.rankers()[name], pk.Trees) for name in MEMBERS]
    assert 0 < sum(trees) < len(trees)


def test_interrupt_keeps_the_members_so_far(task, monkeypatch):
    def stop(self, data, monitor):
        raise KeyboardInterrupt

    monkeypatch.setattr(RankSVM, "_fit", stop)
    with pytest.warns(PlackettWarning, match="interrupted"):
        blend = Blend(members=[pk.ListNet(), pk.LinearRegression(), RankSVM()]).fit(task)
    assert [type(ranker).__name__ for ranker in blend.members_] == ["ListNet", "LinearRegression"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"members": []}, r"members=\[\]; give a list of rankers"),
        ({"members": "ListNet"}, "members='ListNet'; give a list of rankers"),
        ({"members": ["LisNet"]}, "unknown ranker 'LisNet'; did you mean ListNet"),
        ({"members": [3]}, "members: 3 is not a plackett ranker"),
        ({"weights": (1.0, 2.0)}, r"weights=\(1.0, 2.0\); give one number above 0 for each of the 1 members"),
        ({"weights": (0.0,)}, r"weights=\(0.0,\); give one number above 0"),
        ({"n_best": 0}, "n_best=0; give a whole number of 1 or more, or None"),
        ({"n_best": 1}, "n_best needs validation data"),
    ],
)
def test_bad_parameters(task, parameters, message):
    with pytest.raises(DataError, match=message):
        Blend(**({"members": ["ListNet"]} | parameters)).fit(task)


def test_members_keep_their_own_measure_and_calibration(task, valid):
    trees = pk.LambdaMART(**TREES, eval_measure="AP", calibration="logistic")
    blend = Blend(members=[trees, "ListNet"], eval_measure="RR").fit(task, eval_set=valid)
    alone = pk.LambdaMART(**TREES, eval_measure="AP", calibration="logistic").fit(task, eval_set=valid)
    first, second = blend.members_
    assert first.card_ == alone.card_ and first.history_ == alone.history_
    assert first.calibration_ == alone.calibration_
    measured = pk.evaluate(valid, first.predict(valid), ["AP"]).mean["AP"]
    assert first.card_["validation"]["measure"] == "AP"
    assert first.card_["validation"]["value"] == pytest.approx(measured, rel=1e-12)
    assert second.card_["validation"]["measure"] == blend.card_["validation"]["measure"] == "RR"
    with pytest.raises(DataError, match="calibration needs validation data"):
        Blend(members=[trees]).fit(task)


def test_members_set_their_own_share_aside(task, valid):
    member = pk.LambdaMART(**TREES, validation_fraction=0.25, early_stopping_rounds=1)
    alone = pk.LambdaMART(**TREES, validation_fraction=0.25, early_stopping_rounds=1).fit(task)
    inside = Blend(members=[member]).fit(task).members_[0]
    assert inside.card_ == alone.card_ and inside.card_["data"]["queries"] == 18
    with_valid = Blend(members=[member]).fit(task, eval_set=valid).members_[0]  # given validation data come first
    assert with_valid.card_["data"]["queries"] == 24


def test_of_calibrates_or_refuses(task, valid):
    trained = [pk.ListNet().fit(task), pk.LinearRegression().fit(task)]
    blend = Blend.of(trained, valid, calibration="isotonic")
    expected = pk.calibrate(blend.predict(valid), valid.y, "isotonic").probability(blend.predict(valid))
    np.testing.assert_array_equal(blend.predict_relevance(valid), expected)
    for parameters in ({"validation_fraction": 0.2}, {"early_stopping_rounds": 3}):
        with pytest.raises(DataError, match=next(iter(parameters))):
            Blend.of(trained, valid, **parameters)
    with pytest.raises(DataError, match="labels"):
        Blend.of(trained, valid.replace(y=None), calibration="isotonic")


def test_the_card_names_the_members_that_were_kept(tmp_path):
    from typer.testing import CliRunner

    from plackett.cli.app import app

    data = pk.datasets.make_ranking(n_queries=20, random_state=0)
    blend = Blend(members=("ListNet", "LinearRegression", "RankSVM"), weights=(1, 1, 2), n_best=2)
    blend.set_params(validation_fraction=0.3).fit(data)
    kept = [(type(member).__name__, weight) for member, weight in zip(blend.members_, blend.weights_, strict=True)]
    assert [(entry["algorithm"], entry["weight"]) for entry in blend.card_["members"]] == kept and len(kept) == 2
    blend.save(tmp_path / "model.plackett")
    assert pk.load(tmp_path / "model.plackett").card_ == blend.card_
    shown = CliRunner().invoke(app, ["info", str(tmp_path / "model.plackett")]).output
    assert "members" in shown and all(name in shown for name, _ in kept)


@pytest.mark.parametrize("factor", [1.0, 1e-200, 1e200])
def test_scores_standardised_in_each_query(task, factor):
    """Query by query; squares of very large and very small scores would overflow or vanish."""
    blend = Blend(members=(pk.ListNet(alpha=1.0), pk.LinearRegression()), weights=(1, 3), scale="query").fit(task)
    for member in blend.members_:
        member.scorer_ = replace(member.scorer_, weights=factor * member.scorer_.weights)
    flat = task.replace(X=np.where(task.query_of_row[:, None] == 2, 1.0, task.X).astype(np.float32))
    expected = np.zeros(task.n_rows)
    for member, weight in zip(blend.members_, (0.25, 0.75), strict=True):
        scores = member.predict(flat)
        for lo, hi in zip(task.offsets[:-1], task.offsets[1:], strict=True):
            own = scores[lo:hi] / factor
            expected[lo:hi] += weight * (0.0 if np.ptp(own) == 0.0 else (own - own.mean()) / own.std())
    np.testing.assert_allclose(blend.predict(flat), expected, atol=1e-9)
