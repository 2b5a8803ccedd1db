"""The planner where the truth is known, and on MQ2008 with labels hidden."""

from __future__ import annotations

import json
import xml.etree.ElementTree as tree

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.theory.planner.learning_curve import LearningCurve, hide_documents, learning_curve
from plackett.theory.planner.plan import Answer, _edge_notes, _sentence, plan
from plackett.theory.planner.simulation import simulate_labelling
from plackett.theory.planner.splits import splits_of
from plackett.theory.risks.planted_world import PlantedWorld


def test_splits_spend_the_budget_inside_the_limits():
    for budget, queries, documents in ((1000, None, None), (1000, 100, 50), (37, None, 5)):
        n, m = splits_of(budget, max_queries=queries, max_documents=documents)
        assert (n * m <= budget).all() and (n * (m + 1) > budget).all() and (m >= 2).all()
        assert queries is None or n.max() <= queries
        assert documents is None or m.max() <= documents
    with pytest.raises(pk.DataError, match="do not fit"):
        splits_of(1000, max_queries=10, max_documents=20)


def test_both_ends_are_worse_than_the_middle():
    result = simulate_labelling(
        600, world=PlantedWorld(n_features=20, query_noise=1.0), queries=[1, 20, 60, 300], n_repeats=6
    )
    inner = result.risk[1:3].min()
    spread = 2 * result.error.max()
    assert result.risk[0] > inner + spread and result.risk[3] > inner
    assert result.best in (1, 2)
    assert (result.gap <= result.bound).all() and result.gap[0] > result.gap[2]
    assert result.documents.tolist() == [600, 30, 10, 2]


def test_documents_are_hidden_and_nothing_else():
    data = PlantedWorld(n_features=3).sample(20, 9, random_state=0)
    data = data.replace(y=np.where(np.arange(data.n_rows) % 9 == 0, -1.0, data.y))
    part = hide_documents(data, 5, np.random.default_rng(0))
    assert (part.group == 5).all() and (part.y >= 0).all()
    rows = {tuple(x) for x in data.X[data.y >= 0].tolist()}
    assert all(tuple(x) in rows for x in part.X.tolist())
    whole = hide_documents(data, 50, np.random.default_rng(0))
    assert whole.n_rows == (data.y >= 0).sum()


def test_a_curve_that_follows_the_law_is_carried_on_rightly():
    n, m = (v.ravel() for v in np.meshgrid([20, 40, 80, 160], [4, 8, 16]))
    truth = 0.8 - 0.9 * n**-0.5 - 0.5 * m**-1.0
    rng = np.random.default_rng(0)
    curve = LearningCurve(n.astype(float), m.astype(float), truth + 0.005 * rng.standard_normal((8, n.size)))
    result = curve.predict(1000, 30)
    exact = 0.8 - 0.9 * 1000**-0.5 - 0.5 / 30
    assert result.value == pytest.approx(exact, abs=0.02)
    assert result.low <= exact <= result.high and result.high - result.low < 0.1
    assert curve.predict(1000, 30).value > curve.predict(100, 30).value


def test_the_plan_is_good_where_the_truth_is_known():
    """A pilot of 80 queries; the split that it recommends is nearly the best of all splits, tried out."""
    world = PlantedWorld(n_features=6, query_noise=1.0, seed=3)
    pilot = world.sample(80, 20, random_state=0)
    found = plan(1500, documents=100, pilot=pilot, measure="nDCG@10", n_repeats=4)
    assert [a.method for a in found.answers] == ["bound", "simulation", "pilot"]
    n, _ = found.curves["pilot"]
    truth = simulate_labelling(1500, world=world, queries=n.tolist(), n_repeats=6, random_state=9)
    chosen = int(np.flatnonzero(n == found.recommended.queries)[0])
    assert truth.risk[chosen] <= truth.risk.min() + 0.01
    assert f"about {found.recommended.queries:,} queries" in found.sentence
    measured = found.learning_curve.documents
    assert 4 == measured.min() <= found.recommended.documents <= measured.max() == 20  # only depths that were measured
    bound = found.answers[0]
    closed = pk.theory.labelling_budget(1500, 6)
    assert (bound.queries, bound.documents) == (closed.bound.queries, closed.bound.documents)
    assert tree.fromstring(found.to_svg()).tag.endswith("svg") and "pilot" in str(found)
    assert found.to_frame().height == 3


def true_value(world, queries, documents, length, seed):
    fresh = world.sample(600, length, random_state=[seed, 1])
    values = []
    for r in range(2):
        fitted = pk.RankSVM(n_jobs=1).fit(world.sample(queries, documents, random_state=[seed, 2, r]))
        values.append(pk.evaluate(fresh, fitted.predict(fresh), ["nDCG@10"]).mean["nDCG@10"])
    return float(np.mean(values))


def test_intervals_hold_the_truth_of_planted_worlds():
    """Three times as many queries as the pilot has: 90 % intervals, so that one miss in five is no surprise."""
    hits = 0
    for seed in range(5):
        world = PlantedWorld(n_features=8, query_noise=0.5 + 0.1 * seed, seed=seed)
        curve = learning_curve(world.sample(50, 15, random_state=100 + seed), n_repeats=4, random_state=seed)
        p = curve.predict(150, 15)
        assert p.low < p.value < p.high < 1 and p.high - p.low > 0.03  # not as sure as the spread of repetitions
        hits += p.low <= true_value(world, 150, 15, 15, seed) <= p.high
    assert hits >= 4


def test_no_prediction_reaches_a_perfect_measure():
    """Values that rise steadily: the curve through them used to end at 1.000."""
    n, m = (v.ravel() for v in np.meshgrid([5.0, 10.0, 20.0, 40.0], [4.0, 8.0, 15.0]))
    values = 0.95 - 1.4 * n**-0.5 + 0.01 * np.random.default_rng(0).standard_normal((3, n.size))
    curve = LearningCurve(n, m, values, level_error=0.02)
    p = curve.predict(10_000, 15)
    assert p.value < 0.995 and p.high <= 1.0 and p.high - p.low > 0.02
    assert curve.reach(80, 30) == (2.0, 2.0)


def test_notes_say_what_was_not_measured():
    pilot = PlantedWorld(n_features=4).sample(40, 12, random_state=1)
    far = plan(4000, queries=900, pilot=pilot, n_repeats=1)
    assert any("times as many, so the value is extrapolated far" in note for note in far.notes)
    assert 4 <= far.recommended.documents <= 12
    deep = plan(600, queries=20, pilot=pilot, n_repeats=1)  # 30 documents each, where the pilot has 12
    assert deep.recommended.documents == 30 and any("leave no split of 4 to 12" in note for note in deep.notes)
    assert "cannot tell" not in deep.sentence and "comes close" not in deep.sentence  # there is one split only
    near = plan(300, pilot=pilot, n_repeats=1)
    assert not any("extrapolated far" in note for note in near.notes)
    assert all(note in str(near) for note in near.notes)


def test_words_follow_the_numbers():
    bound, simulation = Answer("bound", 20, 50, "", 20, 20), Answer("simulation", 90, 11, "", 60, 120)
    for pilot, text in (
        (Answer("pilot", 100, 10, "", 50, 200), "From 50 to 200 queries it cannot tell the splits apart. "
         "The simulation (90 queries) agrees with that. The bound (20 queries) differs; trust your own data."),
        (Answer("pilot", 100, 10, "", 10, 500), "The bound (20 queries) and the simulation (90 queries) agree with"),
        (Answer("pilot", 100, 10, "", 100, 100), "No other split tried comes close. The bound (20 queries) and the "
         "simulation (90 queries) differ; trust your own data."),
    ):  # fmt: skip
        assert text in _sentence(1000, [bound, simulation, pilot], 10)
    assert "agree" not in _sentence(1000, [bound, simulation], 10)


def test_an_answer_at_the_edge_says_so():
    n = np.array([10, 20, 40])
    assert _edge_notes(Answer("simulation", 20, 5, "", 20, 20), n) == []
    assert "most queries of those tried; more might" in _edge_notes(Answer("simulation", 40, 2, "", 40, 40), n)[0]
    assert "longest lists" in _edge_notes(Answer("pilot", 10, 10, "", 10, 10), n)[0]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.nan,), {}, "judgements=nan; give a whole number of 4 or more"),
        ((100.5,), {}, "judgements=100.5; give a whole number"),
        ((100,), {"documents": 1}, "documents=1; give 2 or more: a single document cannot be ranked"),
        ((100,), {"queries": 0}, "queries=0"),
        ((100,), {"n_repeats": 0}, "n_repeats=0"),
        ((100,), {"delta": 2.0}, "delta=2.0"),
        ((100,), {"n_features": np.nan}, "n_features=nan"),
        ((1000,), {"queries": 5, "documents": 2, "n_repeats": 1, "n_features": 2}, None),
    ],
)
def test_bad_numbers_are_named(arguments, options, message):
    if message is None:
        assert plan(*arguments, **options).budget == 10
        return
    with pytest.raises(pk.DataError) as error:
        plan(*arguments, **options)
    assert message in str(error.value)


def test_limits_are_kept_and_bad_ones_refused():
    result = plan(400, queries=30, documents=50, n_features=3, n_repeats=1)
    assert all(a.queries <= 30 and a.documents <= 50 for a in result.answers)
    assert plan(queries=20, documents=10, n_features=2, n_repeats=1).budget == 200
    with pytest.raises(pk.DataError, match="give the number of judgements"):
        plan(queries=20)
    with pytest.raises(pk.DataError, match="10 or more"):
        learning_curve(PlantedWorld().sample(5, 5, random_state=0))


def test_command_line(tmp_path):
    path, out = tmp_path / "pilot.txt", tmp_path / "plan.svg"
    pk.write_letor(PlantedWorld(n_features=3).sample(30, 8, random_state=0), path)
    runner = CliRunner()
    arguments = ["plan", "-j", "300", "--documents", "30", "--pilot", str(path), "--repeats", "1"]
    shown = runner.invoke(app, [*arguments, "--out", str(out)])
    assert shown.exit_code == 0, shown.output
    assert "300 judgements" in shown.output and "By your pilot, spend" in shown.output
    assert out.read_text("utf-8").startswith("<svg")
    record = json.loads(
        runner.invoke(app, ["plan", "-j", "100", "--n-features", "2", "--repeats", "1", "--json"]).stdout
    )
    assert record["judgements"] == 100 and [a["method"] for a in record["answers"]] == ["bound", "simulation"]
    for bad, message in (
        (["plan"], "give --judgements"),
        (["plan", "-j", "100", "--out", "x.png"], "written as .svg"),
        ([*arguments, "-a", "Nothing"], "unknown ranker"),
        (["plan", "-j", "1000", "--queries", "5", "--documents", "2", "--repeats", "1"], ""),
    ):
        result = runner.invoke(app, bad)
        assert (result.exit_code == 2) == bool(message) and message in result.output


@pytest.mark.full
@pytest.mark.golden
def test_mq2008_with_labels_hidden(data_dir):
    """A curve from 150 queries, carried on to all of them, and compared with training on all of them."""
    fold = pk.datasets.load("mq2008", fold=1, root=data_dir)
    train, test = fold.train, fold.test
    rng = np.random.default_rng(0)
    pilot = train.select(np.sort(rng.permutation(train.n_queries)[:150]))
    curve = learning_curve(pilot, pk.RankSVM(), "nDCG@10", n_repeats=10)
    depth = float(np.mean(train.group))
    predicted = curve.predict(train.n_queries, depth)
    # on the same kind of queries: those of the training part that the pilot has not seen, and the test part
    measured = pk.evaluate(test, pk.RankSVM().fit(train).predict(test), ["nDCG@10"]).mean["nDCG@10"]
    assert predicted.low - 0.05 <= measured <= predicted.high + 0.05
    assert curve.predict(300, depth).value >= curve.predict(30, depth).value


def test_more_judgements_than_can_be_simulated_are_refused():
    with pytest.raises(pk.DataError, match="999,999,999,999 judgements; the simulation trains on all of them"):
        plan(999_999_999_999)
