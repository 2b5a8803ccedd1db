"""Strategies that choose documents to judge from runs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett._names.catalogue import items
from plackett.selection import Candidates, DepthPool, HedgePool, LETORPool, MTCPool, UniformPool, find_pool
from plackett.selection.budget import share
from plackett.selection.pools.hedge import hedge_weights
from plackett.selection.pools.mtc import ap_difference_bounds
from plackett.selection.pools.statap import APPriorPool, ap_prior, strata

NAMES = [item.name for item in items("pool")]


def make_runs(n_runs=3, n_queries=3, n_docs=12, seed=0, keep=0.8):
    rng = np.random.default_rng(seed)
    return [
        {f"q{q}": {f"d{d:02}": rng.normal() for d in range(n_docs) if rng.random() < keep} for q in range(n_queries)}
        for _ in range(n_runs)
    ]


RUNS = make_runs()
TRUTH = {f"q{q}": {f"d{d:02}": int((d * 7 + q) % 3 == 0) for d in range(12)} for q in range(3)}
SO_FAR = {q: dict(list(documents.items())[:3]) for q, documents in TRUTH.items()}


def test_there_are_six():
    assert sorted(NAMES) == ["depth", "hedge", "letor", "mtc", "statap", "uniform"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("budget", [1, 5, 14])
def test_budget_seed_and_judged_ones(name, budget):
    pool = find_pool(name)
    first = pool.select(RUNS, SO_FAR, budget=budget, random_state=3).frame
    assert first.equals(pool.select(RUNS, SO_FAR, budget=budget, random_state=3).frame)
    pairs = set(first.select("qid", "docid").rows())
    assert first.height == budget == len(pairs)
    assert not pairs & {(q, d) for q, documents in SO_FAR.items() for d in documents}
    assert first["reason"].str.len_chars().min() > 5
    chance = first["inclusion"].drop_nulls()
    assert ((chance > 0) & (chance <= 1)).all()


@pytest.mark.parametrize("name", NAMES)
def test_all_that_there_is(name):
    runs = [RUNS[0], RUNS[0]]
    total = sum(map(len, RUNS[0].values()))
    assert len(find_pool(name).select(runs, budget=total)) == total
    with pytest.raises(DataError, match=f"only {total} unjudged"):
        find_pool(name).select(runs, budget=total + 1)


@pytest.mark.parametrize(("budget", "message"), [(0, "1 or more"), (-3, "1 or more"), (2.5, "whole number")])
def test_impossible_budgets(budget, message):
    with pytest.raises(DataError, match=message):
        DepthPool().select(RUNS, budget=budget)


def test_no_runs():
    with pytest.raises(DataError, match="no runs"):
        DepthPool().select([], budget=1)
    with pytest.raises(DataError, match="list of runs"):
        DepthPool().select({"q": {"d": 1}}, budget=1)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_depth_is_the_union_of_the_tops(depth):
    expected = pk.pool(RUNS, depth=depth)
    result = DepthPool().select(RUNS, budget=expected.height).frame
    assert set(result.select("qid", "docid").rows()) == set(expected.select("qid", "docid").rows())


def test_uniform_sample():
    result = Candidates.from_runs([{"q": {f"d{i}": -i for i in range(8)}}])
    counts = np.zeros(8)
    for seed in range(2000):
        choice = UniformPool().choose(result, 3, np.random.default_rng(seed))
        counts[choice.rows] += 1
    assert choice.inclusion.tolist() == [3 / 8] * 8
    assert ((counts - 750) ** 2 / 750).sum() < 24.3  # the 0.1% point of chi-squared with 7 degrees


def test_the_budget_is_spread_evenly():
    counts = UniformPool().select(RUNS, budget=10).frame["qid"].value_counts()["count"]
    assert sorted(counts) == [3, 3, 4]
    assert share(9, np.array([1, 100, 2])).tolist() == [1, 6, 2]


def test_prior_sums_to_one():
    runs = make_runs(keep=1.0)
    prior = ap_prior(Candidates.from_runs(runs))
    np.testing.assert_allclose(prior.reshape(3, 12).sum(axis=1), 1.0)


@pytest.mark.parametrize("n", range(1, 13))
def test_strata(n):
    rng = np.random.default_rng(n)
    prior = rng.pareto(1.0, 12)
    member, size = strata(prior, n)
    whole = np.bincount(member, minlength=size.size)
    assert size.sum() == n
    assert (size >= 1).all()
    assert (size <= whole).all()
    assert np.unique(size / whole).size == size.size  # strata are known by their rates
    if n >= 2:
        assert ((size >= 2) | (whole == size)).all()  # every pair has a chance


def test_inclusion_frequencies_are_those_declared():
    result = Candidates.from_runs([{"q": {f"d{i:02}": -i for i in range(15)}}])
    counts = np.zeros(15)
    for seed in range(1500):
        choice = APPriorPool().choose(result, 6, np.random.default_rng(seed))
        counts[choice.rows] += 1
    declared = choice.inclusion
    error = np.sqrt(declared * (1 - declared) / 1500)
    assert np.all(np.abs(counts / 1500 - declared) <= 4 * error + 1e-12)
    assert declared[0] > declared[-1]


def test_hedge_trusts_the_run_that_finds_relevant_documents():
    good = {"q": {f"d{i}": -i for i in range(6)}}
    bad = {"q": {f"d{i}": i for i in range(6)}}
    weights = [
        hedge_weights(Candidates.from_runs([good, bad], {"q": {f"d{i}": 1 for i in range(n)}}))[0, 0] for n in range(4)
    ]
    assert weights[0] == 0.5
    assert np.all(np.diff(weights) > 0)
    same = hedge_weights(Candidates.from_runs([good, good, good], {"q": {"d0": 1, "d3": 0}}))
    np.testing.assert_allclose(same, 1 / 3)
    with pytest.raises(DataError, match="base"):
        HedgePool(base=1.5)


def test_letor_is_the_top_of_one_run():
    chosen = LETORPool(run=1).select(RUNS, budget=6).frame
    for q, documents in RUNS[1].items():
        expected = sorted(documents, key=lambda d: -documents[d])[:2]
        assert chosen.filter(qid=q)["docid"].to_list() == expected
    with pytest.raises(DataError, match="3 runs"):
        LETORPool(run=3).select(RUNS, budget=1)


def _c(ranks, i, j):
    one, two = (1 / max(r[i] or np.inf, r[j] or np.inf) for r in ranks)
    return one - two


def test_mtc_weights_by_their_definition():
    result = Candidates.from_runs(RUNS, SO_FAR)
    relevant = result.labels >= 1
    expected = np.zeros((2, result.n_rows))
    for a, b in itertools.combinations(range(3), 2):
        ranks = result.rank[[a, b]].astype(float)
        for i in range(result.n_rows):
            same = (result.query_of_row == result.query_of_row[i]) & (np.arange(result.n_rows) != i)
            for case, members in enumerate((relevant, relevant | result.open)):
                total = sum(_c(ranks, i, j) for j in np.flatnonzero(same & members))
                expected[case, i] += abs(_c(ranks, i, i) + total)
    np.testing.assert_allclose(MTCPool().weights(result), expected, atol=1e-12)


def test_mtc_bounds():
    two = RUNS[:2]
    final = ap_difference_bounds(two, TRUTH)
    np.testing.assert_allclose(final[:, 0], final[:, 1])
    ap = [pk.evaluate_run(TRUTH, run, ["AP"]).values["AP"] for run in two]
    n_relevant = [sum(documents.values()) for documents in TRUTH.values()]
    np.testing.assert_allclose(final[:, 0], (ap[0] - ap[1]) * n_relevant, atol=1e-12)
    wide = ap_difference_bounds(two)
    some = ap_difference_bounds(two, SO_FAR)
    assert np.all(wide[:, 0] <= some[:, 0])
    assert np.all(some[:, 0] <= final[:, 0])
    assert np.all(final[:, 1] <= some[:, 1])
    assert np.all(some[:, 1] <= wide[:, 1])


def test_equal_runs_cannot_be_told_apart():
    result = Candidates.from_runs([RUNS[0], RUNS[0]])
    assert np.all(np.abs(MTCPool().weights(result)) < 1e-12)


def test_files(tmp_path):
    import polars as pl

    chosen = UniformPool().select(RUNS, budget=4)
    chosen.write_csv(tmp_path / "x.csv")
    chosen.write_qrels(tmp_path / "x.qrels")
    table = pl.read_csv(tmp_path / "x.csv")
    assert table.columns == ["qid", "docid", "reason", "priority", "inclusion", "label"]
    assert pk.read_qrels(tmp_path / "x.qrels")["label"].to_list() == [-1] * 4


def test_hedge_names_a_run_that_has_the_document():
    runs = [{"q": {"a": 3, "b": 2}}, {"q": {"a": 3, "z": 2}}]  # z is last in the second run, and not in the first
    frame = HedgePool().select(runs, budget=3).frame
    reasons = dict(frame.select("docid", "reason").rows())
    assert reasons["z"].startswith("rank 2 in run 2") and reasons["b"].startswith("rank 2 in run 1")


def test_mtc_refuses_a_single_run():
    with pytest.raises(DataError, match="two runs or more"):
        MTCPool().select([{"q": {"a": 2, "b": 1}}], budget=1)
