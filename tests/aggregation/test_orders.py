"""Kemeny's order, the genetic search and Markov chains against brute force and plain linear algebra."""

from __future__ import annotations

from functools import cmp_to_key
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plackett import DataError
from plackett.aggregation import (
    MC1,
    MC2,
    MC3,
    MC4,
    Borda,
    Condorcet,
    Fuzzy,
    Genetic,
    Kemeny,
    MallowsConsensus,
    RankLists,
)
from plackett.permutation_models.moves import improve


def _partial(n, n_lists, rng, missing=0.3):
    ranks = rng.permuted(np.tile(np.arange(1.0, n + 1)[:, None], (1, n_lists)), axis=0)
    ranks[rng.random(ranks.shape) < missing] = np.nan
    ranks[0, np.isnan(ranks).all(axis=0)] = 1.0
    return ranks


def _against(ranks, weights, below):
    """Weight of the lists that have v before u, for each pair (u, v): what an order pays for u before v."""
    filled = np.nan_to_num(ranks, nan=1e9) if below else ranks
    with np.errstate(invalid="ignore"):
        return ((filled[None, :, :] < filled[:, None, :]) * np.asarray(weights)).sum(axis=2)


def _paid(order, against):
    return against[np.ix_(order, order)][np.triu_indices(len(order), 1)].sum()


@pytest.mark.parametrize("unranked", ["below", "unknown"])
@pytest.mark.parametrize("seed", range(6))
def test_kemeny_is_the_best_of_all_permutations(seed, unranked):
    rng = np.random.default_rng(seed)
    n = 6
    ranks = _partial(n, 4, rng)
    weights = tuple(rng.integers(1, 4, 4).astype(float))
    lists = RankLists.from_arrays(ranks)
    method = Kemeny(weights=weights, unranked=unranked)
    scores = method.scores(lists)
    if lists.unlisted.size:
        pytest.skip("a document in no list is put last by rule")
    against = _against(ranks, weights, unranked == "below")
    least = min(_paid(p, against) for p in permutations(range(n)))
    assert _paid(np.argsort(-scores), against) == least
    assert method.distance(lists, scores).tolist() == [least]


@given(st.lists(st.permutations(range(5)), min_size=1, max_size=5))
def test_a_condorcet_winner_comes_first(orders):
    lists = RankLists.from_orders(orders, documents=range(5))
    ranks = lists.ranks
    wins = (ranks[:, None, :] < ranks[None, :, :]).sum(axis=2)
    for winner in np.flatnonzero(((wins > wins.T) | np.eye(5, dtype=bool)).all(axis=1)):
        for method in (Condorcet(), Kemeny(), Kemeny(exact=0), MC4(), MC4(teleport=0.5), MallowsConsensus(max_iter=0)):
            scores = method.scores(lists)
            assert (np.delete(scores, winner) < scores[winner]).all()


def test_local_search_is_no_worse_than_its_start_and_near_the_optimum():
    rng = np.random.default_rng(7)
    ranks = rng.permuted(np.tile(np.arange(1.0, 11.0)[:, None], (20, 5)), axis=0)  # noisy: no blocks to cut
    for q in range(20):
        ranks[q * 10 : q * 10 + 10] = rng.permuted(np.tile(np.arange(1.0, 11.0)[:, None], (1, 5)), axis=0)
    lists = RankLists.from_arrays(ranks, np.repeat(np.arange(20), 10))
    best = Kemeny(exact=12).distance(lists, Kemeny(exact=12).scores(lists))
    local = Kemeny().distance(lists, Kemeny(exact=0).scores(lists))
    assert (local >= best).all()
    assert local.sum() <= 1.03 * best.sum()


def test_exact_is_bounded():
    with pytest.raises(DataError, match="exact=40"):
        Kemeny(exact=40)


# ---------------------------------------------------------------------------------------------------- Markov chains


def _transitions(chain, ranks, weights):
    """The chains as the paper words them, entry by entry."""
    n, n_lists = ranks.shape
    T = np.zeros((n, n))
    for p in range(n):
        having = [m for m in range(n_lists) if not np.isnan(ranks[p, m])]
        total = sum(weights[m] for m in having)
        if chain == 4:
            for q in range(n):
                both = [m for m in having if not np.isnan(ranks[q, m])]
                for_q = sum(weights[m] for m in both if ranks[q, m] < ranks[p, m])
                for_p = sum(weights[m] for m in both if ranks[p, m] < ranks[q, m])
                T[p, q if for_q > for_p else p] += 1 / n
            continue
        pool = sum(weights[m] * (ranks[:, m] <= ranks[p, m]).sum() for m in having)
        for m in having:
            at_or_above = np.flatnonzero(ranks[:, m] <= ranks[p, m])
            listed = np.flatnonzero(~np.isnan(ranks[:, m]))
            if chain == 1:
                T[p, at_or_above] += weights[m] / pool
            elif chain == 2:
                T[p, at_or_above] += weights[m] / total / at_or_above.size
            else:
                for q in listed:
                    T[p, q if ranks[q, m] < ranks[p, m] else p] += weights[m] / total / listed.size
        if not having:
            T[p, p] = 1.0
    return T


@pytest.mark.parametrize(("chain", "method"), [(1, MC1), (2, MC2), (3, MC3), (4, MC4)])
@pytest.mark.parametrize("seed", range(4))
def test_stationary_distribution_is_the_left_eigenvector(chain, method, seed):
    rng = np.random.default_rng(seed)
    n, delta = 7, 0.1
    ranks = _partial(n, 4, rng)
    ranks[0] = rng.integers(1, n, 4)  # ties, and no document without a list
    ranks[np.isnan(ranks).all(axis=1), 0] = 3.0
    weights = rng.integers(1, 4, 4).astype(float)
    T = (1 - delta) * _transitions(chain, ranks, weights) + delta / n
    assert np.allclose(T.sum(axis=1), 1)
    values, vectors = np.linalg.eig(T.T)
    stationary = np.real(vectors[:, np.argmax(np.real(values))])
    result = method(teleport=delta, unranked="unknown", weights=tuple(weights), tol=1e-14)
    assert np.allclose(result.scores(RankLists.from_arrays(ranks)), stationary / stationary.sum(), atol=1e-10)


def test_teleport_must_be_a_share():
    with pytest.raises(DataError, match="MC2: teleport=0"):
        MC2(teleport=0)


# -------------------------------------------------------------------------------------------------- genetic, fuzzy


def _footrule(order, ranks):
    position = np.empty(len(order))
    position[list(order)] = np.arange(1, len(order) + 1)
    return np.abs(position[:, None] - ranks).sum()


@pytest.mark.parametrize("seed", range(4))
def test_genetic_search_finds_the_best_order_of_few_documents(seed):
    rng = np.random.default_rng(seed)
    ranks = rng.permuted(np.tile(np.arange(1.0, 7.0)[:, None], (1, 5)), axis=0)
    lists = RankLists.from_arrays(ranks)
    order = np.argsort(-Genetic().scores(lists))
    assert _footrule(order, ranks) == min(_footrule(p, ranks) for p in permutations(range(6)))
    kendall = Genetic(distance="kendall").scores(lists)
    assert Kemeny().distance(lists, kendall) == Kemeny().distance(lists, Kemeny().scores(lists))


def test_genetic_search_is_never_worse_than_borda_or_a_list():
    rng = np.random.default_rng(5)
    ranks = rng.permuted(np.tile(np.arange(1.0, 31.0)[:, None], (1, 6)), axis=0)
    lists = RankLists.from_arrays(ranks)
    result = _footrule(np.argsort(-Genetic(generations=3).scores(lists)), ranks)
    start = [np.argsort(-Borda().scores(lists), kind="stable"), *(np.argsort(ranks[:, m]) for m in range(6))]
    assert result <= min(_footrule(order, ranks) for order in start)
    assert _footrule(np.argsort(-Genetic().scores(lists)), ranks) <= result


def test_genetic_search_is_seeded():
    rng = np.random.default_rng(6)
    lists = RankLists.from_arrays(rng.permuted(np.tile(np.arange(1.0, 31.0)[:, None], (1, 6)), axis=0))
    first = Genetic(generations=60, random_state=1).scores(lists)
    assert np.array_equal(first, Genetic(generations=60, random_state=1).scores(lists))
    assert not np.array_equal(first, Genetic(generations=60, random_state=2).scores(lists))


@settings(max_examples=20)
@given(st.lists(st.permutations(range(5)), min_size=1, max_size=5), st.sampled_from([0.5, 1.0, 2.0, 60.0]))
def test_fuzzy_scores_against_the_definition(orders, alpha):
    lists = RankLists.from_orders(orders, documents=range(5))
    ranks = lists.ranks
    expected = []
    for u in range(5):
        members = []
        for v in set(range(5)) - {u}:
            better, worse = (ranks[u] < ranks[v]).sum(), (ranks[v] < ranks[u]).sum()
            members.append(better / max(better, worse))
        share = np.diff((np.arange(5) / 4) ** alpha)
        expected.append(share @ np.sort(members)[::-1])
    assert np.allclose(Fuzzy(alpha=alpha).scores(lists), expected)


@pytest.mark.parametrize("unranked", ["below", "unknown"])
@pytest.mark.parametrize("seed", range(8))
def test_condorcet_sorts_by_majority(seed, unranked):
    """No document is beaten by the next one; and without contradictions it is a plain sort by votes."""
    rng = np.random.default_rng(seed)
    ranks = _partial(9, 5, rng)
    weights = tuple(rng.integers(1, 4, 5).astype(float))
    lists = RankLists.from_arrays(ranks)
    scores = Condorcet(weights=weights, unranked=unranked).scores(lists)
    if lists.unlisted.size:
        pytest.skip("a document in no list is put last by rule")
    assert sorted(scores) == list(range(1, 10))
    order = np.argsort(-scores)
    lead = _against(ranks, weights, unranked == "below").T
    lead = lead - lead.T
    assert (lead[order[:-1], order[1:]] >= 0).all()
    better = lead > 0
    beaten = better.sum(axis=1) + 0.5 * ((lead == 0).sum(axis=1) - 1)
    for size in range(1, 9):  # those who all beat all others come first
        group = np.argsort(-beaten, kind="stable")[:size]
        rest = np.setdiff1d(np.arange(9), group)
        if better[np.ix_(group, rest)].all():
            assert set(order[:size]) == set(group)


def test_condorcet_is_a_sort_where_majorities_agree():
    rng = np.random.default_rng(0)
    truth, compared = np.arange(12), 0
    for _ in range(30):
        noisy = np.argsort(truth + rng.normal(scale=1.5, size=(7, 12)), axis=1)
        ranks = np.argsort(noisy, axis=1).T + 1.0
        lead = (ranks[:, None, :] < ranks[None, :, :]).sum(axis=2) - 3.5
        beats = lead > 0
        if sorted(beats.sum(axis=1)) != list(range(12)):  # contradictions
            continue
        compared += 1
        expected = sorted(range(12), key=cmp_to_key(lambda u, v, b=beats: -1 if b[u, v] else 1))
        assert Condorcet().order(RankLists.from_arrays(ranks, docids=np.arange(12))) == expected
    assert compared > 5


def test_local_search_ends_where_no_move_of_a_document_helps():
    """All moves of all documents, tried; passes are bounded."""
    rng = np.random.default_rng(4)
    before = rng.integers(0, 6, (30, 30)).astype(float)
    order = rng.permutation(30)
    bounded = order.copy()
    assert improve(bounded, before, 1) == 1
    assert improve(order, before, 1000) < 1000
    against = before.T
    assert _paid(order, against) <= _paid(bounded, against)
    for start in range(30):
        rest = np.delete(order, start)
        for to in range(30):
            assert _paid(np.insert(rest, to, order[start]), against) >= _paid(order, against)
