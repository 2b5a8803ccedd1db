"""The studies of what to label and what to train on."""

from __future__ import annotations

import xml.etree.ElementTree as tree

import numpy as np
import pytest

import plackett as pk
from plackett.rankers.early_exit import RULES
from plackett.selection import Candidates, DepthPool, HedgePool, UniformPool
from plackett.selection.simulate import judge_in_rounds, system_values
from plackett.theory.planner.splits import splits_of
from studies.deep_or_shallow import deep_or_shallow
from studies.labelling_tradeoff import labelling_tradeoff
from studies.scoring_frontier import scoring_frontier
from studies.what_to_label import _made_up, difference, what_to_label
from studies.what_to_train_on import what_to_train_on


def test_everything_judged_is_the_truth():
    runs, qrels = _made_up(0, n_runs=3, n_queries=4, n_docs=20, depth=10)
    truth = Candidates.from_runs(runs, qrels)
    exact = system_values(truth, "AP")
    for pool, rounds in ((DepthPool(), 1), (HedgePool(), 3), (UniformPool(), 1)):
        got, _ = judge_in_rounds(pool, truth, budget=truth.n_rows, rounds=rounds)
        np.testing.assert_allclose(system_values(got, "AP"), exact)
    got, _ = judge_in_rounds(HedgePool(), truth, budget=11, rounds=4)
    assert (~got.open).sum() == 11


def test_rows_of_what_to_label():
    result = what_to_label(budgets=(4,), n_queries=5, n_repeats=2)
    assert result.frame.height == 7
    assert result.frame["Kendall's τ"].is_between(-1, 1).all()
    assert result.parts[0].frame["choice of documents"].to_list() == ["random", "svm_sampling", "expected_change"]
    assert result.parts[1].frame["choice of queries"].to_list() == ["random", "k-centre", "expected change"]
    assert result.frame.equals(what_to_label(budgets=(4,), n_queries=5, n_repeats=2).frame)


@pytest.mark.full
def test_rows_of_what_to_train_on():
    result = what_to_train_on(n_repeats=2)
    assert result.frame.height == 5
    assert [part.frame.height >= 3 for part in result.parts] == [True, True]


def test_intervals():
    mean, low, high = difference([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert mean == 2.0
    assert (high - low) / 2 == pytest.approx(4.302652729911275 / np.sqrt(3))


def test_rows_of_the_scoring_frontier():
    result = scoring_frontier(n_estimators=12, num_leaves=4, n_queries=24, n_docs=14, repeats=1, max_loss=0.05)
    frame = result.frame
    first = frame.row(0, named=True)
    assert (first["scoring"], first["minus all"], first["of the time"]) == ("all trees", 0.0, 1.0)
    ways = set(frame["scoring"])
    assert {"all trees", "fewer trees", "cascade"} <= ways
    assert ways <= {"all trees", "fewer trees", "cascade", *(f"exit, {rule}" for rule in RULES)}
    assert frame.filter(frame["scoring"] == "fewer trees").height == 6
    np.testing.assert_allclose(frame["nDCG@10"] - first["nDCG@10"], frame["minus all"], atol=1e-12)
    assert (frame["from"] <= frame["minus all"]).all() and (frame["minus all"] <= frame["to"]).all()
    assert frame["nDCG@10"].is_between(0, 1).all()
    assert "<svg" in result.picture


@pytest.mark.full
def test_the_best_number_of_queries_falls_with_the_number_of_features():
    study = labelling_tradeoff(n_features=(3, 30))
    best = [study.frame.filter(features=str(d)).sort("pair error")["queries"][0] for d in (3, 30)]
    assert best[0] > best[1]


def test_the_study_has_a_row_for_every_split_and_a_chart():
    study = labelling_tradeoff(budget=40, n_features=(2, 3), n_repeats=2)
    assert study.frame.height == 2 * splits_of(40)[0].size and len(study.notes) == 2
    assert tree.fromstring(study.to_svg()).tag.endswith("svg")


def test_the_study_with_everything_is_full_training():
    data = pk.datasets.make_ranking(20, 8, 3, random_state=0)
    result = deep_or_shallow(data, ranker="LinearRegression(max_iter=5)", shares=(0.3, 1.0), n_repeats=2)
    row = result.frame.row(1, named=True)
    assert row["deep"] == row["shallow"] and f"{row['deep']:.4f}" in result.question
