"""Rank correlations, against SciPy, the definitions written as loops, and enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import plackett as pk
from plackett import RankingDataset
from plackett._base.errors import DataError, MeasureError
from plackett.data.preferences import Preferences
from plackett.measures.kendall_tau import KendallTau, kendall_tau
from plackett.measures.ranking import Scored
from plackett.measures.rbo import rbo
from plackett.measures.rc import RC, weighted_kendall
from plackett.measures.rc_omega import weighted_kendall_omega
from plackett.measures.spearman import Spearman, spearman_rho
from plackett.measures.tau_ap import tau_ap

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=14)
SMALL = st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=1, max_size=6)


def orders(scores):
    """Every order, best first, in which tied documents may stand."""
    blocks = [np.flatnonzero(scores == s) for s in np.unique(scores)[::-1]]
    for choice in itertools.product(*(itertools.permutations(block) for block in blocks)):
        yield np.array([i for block in choice for i in block])


def untied(order):
    scores = np.empty(order.size)
    scores[order] = -np.arange(order.size)
    return scores


@pytest.mark.filterwarnings("ignore")  # SciPy warns of constant lists
@given(PAIRS)
@settings(max_examples=80, deadline=None)
def test_functions_equal_scipys(rows):
    a, b = map(np.array, zip(*rows, strict=True))
    np.testing.assert_allclose(kendall_tau(a, b), stats.kendalltau(a, b).statistic, atol=1e-12)
    reference = stats.spearmanr(a, b).statistic if a.size > 1 else np.nan
    np.testing.assert_allclose(spearman_rho(a, b), reference, atol=1e-12)


def test_functions_take_queries_in_any_order():
    rng = np.random.default_rng(0)
    a, b, qid = rng.integers(0, 9, 300), rng.normal(size=300), rng.integers(0, 7, 300)
    first = list(dict.fromkeys(qid.tolist()))
    for function, reference in ((kendall_tau, stats.kendalltau), (spearman_rho, stats.spearmanr)):
        expected = [reference(a[qid == q], b[qid == q]).statistic for q in first]
        np.testing.assert_allclose(function(a, b, qid), expected, atol=1e-12)
    with pytest.raises(DataError, match="NaN"):
        kendall_tau([1, 2], [1, np.nan])


@pytest.mark.parametrize("measure", [KendallTau, Spearman])
@given(rows=SMALL)
@settings(max_examples=40, deadline=None)
def test_measures_of_tied_scores_are_means_over_orders(measure, rows):
    labels, scores = map(np.array, zip(*rows, strict=True))
    judged = labels >= 0
    reference = stats.kendalltau if measure is KendallTau else stats.spearmanr
    value = measure.values(Scored(RankingDataset.from_arrays(None, labels), scores).ranking("expected"))[0]
    if np.unique(labels[judged]).size < 2:
        assert np.isnan(value)
        return
    means = [reference(untied(order)[judged], labels[judged]).statistic for order in orders(scores)]
    assert value == pytest.approx(np.mean(means), abs=1e-12)
    corrected = measure(corrected=True, empty="skip")
    result = pk.evaluate(labels, scores, corrected).per_query[:, 1].to_list()[0]
    if np.unique(scores[judged]).size > 1:
        assert result == pytest.approx(reference(scores[judged], labels[judged]).statistic, abs=1e-12)
    else:
        assert result is None


# ----------------------------------------------------------------------------------------------------------------- RC


def naive_rc(a, b, weight):
    agreed = total = 0.0
    for u, v in itertools.combinations(range(len(a)), 2):
        agreed += weight[u, v] * (1 + np.sign((a[u] - a[v]) * (b[u] - b[v])))
        total += 2 * weight[u, v]
    return agreed / total


def test_weighted_kendall_of_the_book():
    # the ranking d1, d2, d3; the orders d1, d3, d2 and d3, d1, d2 agree with relevant d1 and d3
    assert weighted_kendall([3, 2, 1], [3, 1, 2]) == pytest.approx(2 / 3)
    assert weighted_kendall([3, 2, 1], [2, 1, 3]) == pytest.approx(1 / 3)
    assert weighted_kendall([1, 5, 7], [2, 3, 4]) == 1.0
    assert weighted_kendall([1, 5, 7], [4, 3, 2]) == 0.0


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_weighted_kendall_equals_the_double_loop(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    a, b, w = rng.integers(0, 6, n), rng.integers(0, 6, n), rng.random(n)
    assert weighted_kendall(a, b, weight=w) == pytest.approx(naive_rc(a, b, np.outer(w, w)))
    table = rng.random((n, n))
    table += table.T
    assert weighted_kendall(a, b, weight=table) == pytest.approx(naive_rc(a, b, table))
    x, y = rng.permutation(n), rng.permutation(n)
    assert 2 * weighted_kendall(x, y) - 1 == pytest.approx(stats.kendalltau(x, y).statistic)
    reference = stats.weightedtau(x, y, rank=np.arange(n), weigher=lambda r: w[r], additive=False).statistic
    assert 2 * weighted_kendall(x, y, weight=w) - 1 == pytest.approx(reference)


def test_weighted_kendall_refuses_a_bad_table():
    with pytest.raises(DataError, match="symmetric"):
        weighted_kendall([1, 2], [1, 2], weight=[[0, 1], [2, 0]])


@given(SMALL, st.booleans())
@settings(max_examples=40, deadline=None)
def test_rc_is_the_best_over_all_orders_that_agree(rows, weighted):
    labels, scores = map(np.array, zip(*rows, strict=True))
    keep = labels >= 0
    labels, scores = labels[keep], scores[keep]
    if np.unique(labels).size < 2:
        return
    weight = 1.0 + np.arange(labels.size) if weighted else np.ones(labels.size)
    data = RankingDataset.from_arrays(None, labels, sample_weight=weight)
    pairs = np.outer(weight, weight)
    best = [max(naive_rc(untied(o), untied(agreeing), pairs) for agreeing in orders(labels)) for o in orders(scores)]
    value = pk.evaluate(data, scores, RC(weight="sample")).mean['RC(weight="sample")']
    assert value == pytest.approx(np.mean(best))
    if not weighted:
        assert pk.evaluate(data, scores, RC).mean["RC"] == pytest.approx(np.mean(best))


def test_rc_of_the_book():
    assert pk.evaluate([1, 0, 1], [3, 2, 1], RC).mean["RC"] == pytest.approx(2 / 3)


def random_preferences(rng, n, share):
    hidden = rng.permutation(n)
    return [(u, v) for u in range(n) for v in range(n) if hidden[u] < hidden[v] and rng.random() < share]


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_rc_of_preferences_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    lists = [(int(n), random_preferences(rng, n, 0.4)) for n in rng.integers(1, 7, 3)]
    begin = np.cumsum([0] + [n for n, _ in lists])
    rows = [(u + a, v + a) for (_, pairs), a in zip(lists, begin, strict=False) for u, v in pairs]
    weight, scores = 1.0 + rng.random(begin[-1]), rng.integers(0, 4, begin[-1])
    qid = np.repeat(np.arange(3), [n for n, _ in lists])
    data = RankingDataset.from_arrays(None, qid=qid, preferences=Preferences.from_pairs(rows))
    exact = weighted_kendall_omega(data, scores, weight=weight)
    greedy = weighted_kendall_omega(data, scores, weight=weight, exact_up_to=0)
    for q, (n, pairs) in enumerate(lists):
        if not pairs:
            assert np.isnan(exact[q]) and np.isnan(greedy[q])
            continue
        s, w = scores[begin[q] : begin[q + 1]], weight[begin[q] : begin[q + 1]]
        places = (np.argsort(order) for order in itertools.permutations(range(n)))
        values = [
            naive_rc(s, -position, np.outer(w, w))
            for position in places
            if all(position[u] < position[v] for u, v in pairs)
        ]
        assert exact[q] == pytest.approx(max(values))
        assert min(abs(greedy[q] - v) for v in values) < 1e-12  # an order that agrees, though perhaps not the best


def test_rc_of_preferences_from_labels_equals_rc():
    rng = np.random.default_rng(1)
    data = RankingDataset.from_arrays(None, rng.integers(0, 3, 90), rng.integers(0, 5, 90))
    data = data.replace(preferences=Preferences.from_labels(data))
    scores = rng.normal(size=90)
    values = weighted_kendall_omega(data, scores)  # more documents than the exact method takes
    np.testing.assert_allclose(values, RC.per_query(Scored(data, scores)))


def test_rc_of_preferences_refuses_cycles():
    pairs = Preferences.from_pairs([(0, 1), (1, 2), (2, 0)])
    data = RankingDataset.from_arrays(None, qid=["x", "x", "x"], preferences=pairs)
    for exact_up_to in (0, 5):
        with pytest.raises(DataError, match="query x contradict"):
            weighted_kendall_omega(data, [1, 2, 3], exact_up_to=exact_up_to)
    with pytest.raises(MeasureError, match="exact_up_to=40"):
        weighted_kendall_omega(data, [1, 2, 3], exact_up_to=40)
    with pytest.raises(DataError, match="needs preferences"):
        weighted_kendall_omega(data.replace(preferences=None), [1, 2, 3])


# ------------------------------------------------------------------------------------------------------ two rankings


def naive_tau_ap(order, truth):
    n = len(order)
    total = sum(
        sum(1.0 if truth[j] > truth[order[i]] else 0.5 * (truth[j] == truth[order[i]]) for j in order[:i]) / i
        for i in range(1, n)
    )
    return 2 / (n - 1) * total - 1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=2, max_size=6))
@settings(max_examples=40, deadline=None)
def test_tau_ap_is_the_mean_over_orders(rows):
    run, truth = map(np.array, zip(*rows, strict=True))
    expected = np.mean([naive_tau_ap(order, truth) for order in orders(run)])
    assert tau_ap(run, truth) == pytest.approx(expected, abs=1e-12)


def test_tau_ap_of_equal_and_reversed_lists():
    x = np.arange(9.0)
    assert tau_ap(x, x) == 1.0
    assert tau_ap(-x, x) == -1.0
    assert np.isnan(tau_ap([1], [2]))


def naive_rbo(a, b, p):
    """RBO_EXT of two lists of ids, equation 32 of the paper."""
    short, long = sorted((len(a), len(b)))
    x = [len(set(a[:d]) & set(b[:d])) for d in range(long + 1)]
    total = sum(x[d] / d * p**d for d in range(1, long + 1))
    total += sum(x[short] * (d - short) / (short * d) * p**d for d in range(short + 1, long + 1))
    return (1 - p) / p * total + ((x[long] - x[short]) / long + x[short] / short) * p**long


@given(st.integers(0, 10**6), st.floats(0.1, 0.95))
@settings(max_examples=60, deadline=None)
def test_rbo_is_the_mean_over_orders(seed, p):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    a, b = rng.integers(0, 3, n).astype(float), rng.integers(0, 3, n).astype(float)
    a[rng.random(n) < 0.2] = np.nan
    b[rng.random(n) < 0.2] = np.nan
    value = rbo(a, b, p=p)
    in_a, in_b = np.flatnonzero(~np.isnan(a)), np.flatnonzero(~np.isnan(b))
    if in_a.size == 0 or in_b.size == 0:
        assert value == 0 or (np.isnan(value) and in_a.size == in_b.size == 0)
        return
    values = [naive_rbo(in_a[x].tolist(), in_b[y].tolist(), p) for x in orders(a[in_a]) for y in orders(b[in_b])]
    assert value == pytest.approx(np.mean(values), abs=1e-12)


def test_rbo_of_long_lists():
    rng = np.random.default_rng(5)
    a, b = rng.permutation(500).astype(float), rng.permutation(500).astype(float)
    b[b < 200] = np.nan
    lists = np.argsort(-a).tolist(), np.argsort(-np.where(np.isnan(b), -1, b))[:300].tolist()
    assert rbo(a, b, p=0.98) == pytest.approx(naive_rbo(*lists, 0.98))
    np.testing.assert_allclose(rbo(np.r_[a, 1, 2], np.r_[b, 1, 2], [1] * 500 + [2] * 2), [rbo(a, b), 1.0])
    with pytest.raises(MeasureError, match="p=1"):
        rbo(a, b, p=1)
