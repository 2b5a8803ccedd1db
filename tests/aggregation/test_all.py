"""What every aggregation method must do, whatever it is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plackett.aggregation as aggregation
from plackett.aggregation import RankLists, aggregate

METHODS = sorted(aggregation())
#: Where a document that all complete lists put above another one comes out above it.
PARETO = [name for name in METHODS if name not in ("CombMIN", "CombMAX", "CombMED", "Genetic", "MallowsConsensus")]
SEEDED = ("Genetic",)
#: Which give an order, and must decide between documents that are alike.
BY_ROW = ("MallowsConsensus", "Condorcet")


def method(name):
    fast = {"Genetic": {"population": 20, "generations": 20}}
    return aggregation()[name](**fast.get(name, {}))


def orders(n_lists=5, n_documents=6):
    return st.integers(2, n_documents).flatmap(
        lambda n: st.lists(st.permutations(range(n)), min_size=1, max_size=n_lists).map(np.array)
    )


def of(permutations):
    """Lists of permutations, best document first; document i is row i."""
    return RankLists.from_orders(permutations.tolist(), documents=range(permutations.shape[1]))


@pytest.mark.parametrize("name", METHODS)
def test_unanimous_lists_come_out_unchanged(name):
    rng = np.random.default_rng(0)
    queries = {q: [rng.permutation(n).tolist()] * 3 for q, n in enumerate((1, 2, 5, 9))}
    lists = RankLists.from_orders(queries)
    run = method(name).run(lists)
    for q, same in queries.items():
        assert run.filter(qid=str(q))["docid"].cast(int).to_list() == same[0]


@pytest.mark.parametrize("name", PARETO)
@settings(max_examples=30)
@given(permutations=orders())
def test_what_all_lists_prefer_is_preferred(name, permutations):
    lists = of(permutations)
    scores, ranks = method(name).scores(lists), lists.ranks
    for i in range(lists.n_rows):
        for j in range(lists.n_rows):
            if (ranks[i] < ranks[j]).all():
                assert scores[i] > scores[j]


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=15)
@given(permutations=orders(), random=st.randoms())
def test_the_order_of_the_lists_does_not_matter(name, permutations, random):
    if name in SEEDED:
        pytest.skip("parents are drawn by number")
    shuffled = list(permutations)
    random.shuffle(shuffled)
    first, second = (method(name).scores(of(np.array(p))) for p in (permutations, shuffled))
    assert np.allclose(first, second, atol=1e-8)


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=15)
@given(permutations=orders(), random=st.randoms())
def test_the_names_of_the_documents_do_not_matter(name, permutations, random):
    if name in SEEDED or name in BY_ROW:
        pytest.skip("equal documents are told apart by their place")
    names = list(range(permutations.shape[1]))
    random.shuffle(names)
    renamed = method(name).scores(of(np.array(names)[permutations]))
    assert np.allclose(renamed[names], method(name).scores(of(permutations)), atol=1e-8)


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=15)
@given(permutations=orders())
def test_a_list_of_weight_two_is_the_same_as_two_lists(name, permutations):
    if name in ("CombMIN", "CombMAX", "CombMED", "CombMNZ", "CombANZ", "ISR", "LogISR", "Genetic", "MallowsConsensus"):
        pytest.skip("counts lists, or learns from them")
    twice = np.concatenate([permutations, permutations[:1]])
    weights = (2.0,) + (1.0,) * (len(permutations) - 1)
    weighted = dataclasses.replace(method(name), weights=weights).scores(of(permutations))
    assert np.allclose(weighted, method(name).scores(of(twice)), atol=1e-7)


@pytest.mark.parametrize("name", METHODS)
def test_one_query_alone_and_among_others_and_any_number_of_threads(name):
    rng = np.random.default_rng(1)
    ranks = rng.permuted(np.tile(np.arange(1.0, 13.0)[:, None], (1, 4)), axis=0)
    ranks[rng.random(ranks.shape) < 0.3] = np.nan
    table, qid = np.tile(ranks, (400, 1)), np.repeat(np.arange(400), 12)
    if name == "MallowsConsensus":
        pytest.skip("learns over all queries")
    alone = method(name).scores(RankLists.from_arrays(ranks))
    for n_jobs in (1, 3):
        many = method(name).scores(RankLists.from_arrays(table, qid), n_jobs=n_jobs)
        assert np.array_equal(many, np.tile(alone, 400))


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("unranked", ["below", "unknown"])
@settings(max_examples=15)
@given(data=st.data())
def test_partial_lists_with_ties_give_finite_scores(name, unranked, data):
    n = data.draw(st.integers(1, 6))
    cell = st.one_of(st.none(), st.integers(1, 4))
    table = data.draw(st.lists(st.lists(cell, min_size=3, max_size=3), min_size=n, max_size=n))
    ranks = np.array(table, float)
    if np.isnan(ranks).all(axis=0).any():
        ranks[0] = 1.0
    chosen = method(name)
    if hasattr(chosen, "unranked"):
        chosen = dataclasses.replace(chosen, unranked=unranked)
    assert np.isfinite(chosen.scores(RankLists.from_arrays(ranks))).all()


@pytest.mark.parametrize("name", METHODS)
def test_by_name_in_any_spelling_and_by_its_other_names(name):
    table = [[1, 2, 1], [2, 1, 3], [3, 3, 2]]
    expected = aggregate(table, aggregation()[name]())
    for spelling in (name.lower(), name.upper(), *aggregation()[name].aliases):
        assert np.array_equal(aggregate(table, spelling), expected)
