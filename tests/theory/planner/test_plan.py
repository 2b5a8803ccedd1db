"""The planner where the truth is known, and on MQ2008 with labels hidden."""

from __future__ import annotations

import json
import xml.etree.ElementTree as tree

import numpy as np
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.studies.labelling_tradeoff import labelling_tradeoff
from plackett.theory.planner.learning_curve import LearningCurve, hide_documents, learning_curve
from plackett.theory.planner.plan import plan
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


@pytest.mark.spec("D-07")
def test_both_ends_are_worse_than_the_middle():
    found = simulate_labelling(
        600, world=PlantedWorld(n_features=20, query_noise=1.0), queries=[1, 20, 60, 300], n_repeats=6
    )
    inner = found.risk[1:3].min()
    spread = 2 * found.error.max()
    assert found.risk[0] > inner + spread and found.risk[3] > inner
    assert found.best in (1, 2)
    assert (found.gap <= found.bound).all() and found.gap[0] > found.gap[2]
    assert found.documents.tolist() == [600, 30, 10, 2]


@pytest.mark.full
@pytest.mark.spec("D-07")
def test_the_best_number_of_queries_falls_with_the_number_of_features():
    study = labelling_tradeoff(n_features=(3, 30))
    best = [study.frame.filter(features=str(d)).sort("pair error")["queries"][0] for d in (3, 30)]
    assert best[0] > best[1]


@pytest.mark.spec("D-07")
def test_the_study_has_a_row_for_every_split_and_a_chart():
    study = labelling_tradeoff(budget=40, n_features=(2, 3), n_repeats=2)
    assert study.frame.height == 2 * splits_of(40)[0].size and len(study.notes) == 2
    assert tree.fromstring(study.to_svg()).tag.endswith("svg")


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
    found = curve.predict(1000, 30)
    exact = 0.8 - 0.9 * 1000**-0.5 - 0.5 / 30
    assert found.value == pytest.approx(exact, abs=0.02)
    assert found.low <= exact <= found.high and found.high - found.low < 0.1
    assert curve.predict(1000, 30).value > curve.predict(100, 30).value


@pytest.mark.spec("C-07", "D-07")
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
    assert truth.risk[chosen] < truth.risk[0]
    assert f"about {found.recommended.queries:,} queries" in found.sentence
    assert found.recommended.documents >= found.learning_curve.documents.min() == 4  # no further down than was tried
    bound = found.answers[0]
    closed = pk.theory.labelling_budget(1500, 6)
    assert bound.queries == round(closed.queries)
    assert tree.fromstring(found.to_svg()).tag.endswith("svg") and "pilot" in str(found)
    assert found.to_frame().height == 3


def test_limits_are_kept_and_bad_ones_refused():
    found = plan(400, queries=30, documents=50, n_features=3, n_repeats=1)
    assert all(a.queries <= 30 and a.documents <= 50 for a in found.answers)
    assert plan(queries=20, documents=10, n_features=2, n_repeats=1).budget == 200
    with pytest.raises(pk.DataError, match="give the number of judgements"):
        plan(queries=20)
    with pytest.raises(pk.DataError, match="10 or more"):
        learning_curve(PlantedWorld().sample(5, 5, random_state=0))


def test_command_line(tmp_path):
    path, out = tmp_path / "pilot.txt", tmp_path / "plan.svg"
    pk.write_letor(PlantedWorld(n_features=3).sample(30, 8, random_state=0), path)
    runner = CliRunner()
    words = ["plan", "-j", "300", "--documents", "30", "--pilot", str(path), "--repeats", "1"]
    shown = runner.invoke(app, [*words, "--out", str(out)])
    assert shown.exit_code == 0, shown.output
    assert "300 judgements" in shown.output and "By your pilot, spend" in shown.output
    assert out.read_text("utf-8").startswith("<svg")
    record = json.loads(runner.invoke(app, ["plan", "-j", "100", "--features", "2", "--repeats", "1", "--json"]).stdout)
    assert record["judgements"] == 100 and [a["method"] for a in record["answers"]] == ["bound", "simulation"]
    for bad, message in (
        (["plan"], "give --judgements"),
        (["plan", "-j", "100", "--out", "x.png"], "written as .svg"),
        ([*words, "-a", "Nothing"], "no ranker is called"),
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
