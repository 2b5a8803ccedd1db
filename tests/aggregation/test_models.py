"""Mallows, Plackett–Luce and CPS: against the permutation models, enumeration and finite differences."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from plackett.aggregation import CPS, RRF, BayesianPlackettLuce, Kemeny, MallowsConsensus, RankLists, fuse
from plackett.aggregation.cps import log_likelihood
from plackett.aggregation.judged import judge
from plackett.aggregation.mallows import _distances
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.measures.language import parse
from plackett.permutation_models import Mallows, PlackettLuce


def _noisy(theta, n_queries, n, seed=0):
    """Lists around a random order per query, each with its concentration; and the place of each document in it."""
    rng = np.random.default_rng(seed)
    ranks, truth = [], []
    for _ in range(n_queries):
        center = rng.permutation(n)
        table = np.empty((n, len(theta)))
        for m, t in enumerate(theta):
            table[Mallows(center, t).sample(1, random_state=rng)[0], m] = np.arange(1, n + 1)
        position = np.empty(n)
        position[center] = np.arange(n)
        ranks.append(table)
        truth.append(position)
    return RankLists.from_arrays(np.concatenate(ranks), np.repeat(np.arange(n_queries), n)), np.concatenate(truth)


# ------------------------------------------------------------------------------------------------------------ Mallows


def test_concentrations_of_known_lists_are_found():
    theta = np.array([2.0, 1.0, 0.5, 0.0])
    lists, _ = _noisy(theta, 300, 8)
    result = MallowsConsensus().concentrations(lists)
    assert (np.diff(result) < 0).all()
    assert result[1] == pytest.approx(1.0, abs=0.25) and result[3] < 0.15


def test_weighing_lists_by_their_concentration_beats_equal_weights():
    lists, truth = _noisy([2.0, 0.1, 0.1, 0.1], 200, 7, seed=1)
    equal, learned = MallowsConsensus(max_iter=0).scores(lists), MallowsConsensus().scores(lists)
    assert np.corrcoef(learned, -truth)[0, 1] > np.corrcoef(equal, -truth)[0, 1] + 0.02


def test_equal_concentrations_are_kemenys_order():
    lists, _ = _noisy([1.0] * 5, 20, 6, seed=2)
    assert np.array_equal(MallowsConsensus(max_iter=0).scores(lists), Kemeny().scores(lists))


def test_distances_are_the_pairs_the_other_way_round():
    """Against a loop over all pairs, with ties and documents that a list lacks."""
    rng = np.random.default_rng(5)
    group = np.array([1, 7, 12, 0, 5])
    offsets = np.concatenate(([0], np.cumsum(group)))
    before = np.empty((group.sum(), 4), np.int64)
    for a, b in pairwise(offsets):
        for m in range(4):
            values = rng.integers(0, 5, b - a)  # with ties
            before[a:b, m] = [np.count_nonzero(values < value) for value in values]
            before[a:b, m][rng.random(b - a) < 0.3] = -1
    scores = rng.permutation(group.sum()).astype(float)
    out = np.empty((group.size, 4))
    _distances(0, group.size, offsets, before, scores, out)
    for q, (a, b) in enumerate(pairwise(offsets)):
        for m in range(4):
            position = np.where(before[a:b, m] < 0, 99, before[a:b, m])
            pairs = [(i, j) for i in range(b - a) for j in range(b - a) if scores[a + i] > scores[a + j]]
            assert out[q, m] == sum(position[j] < position[i] for i, j in pairs)


def test_theta_given_the_orders_is_that_of_the_model_with_known_centers():
    n = 6
    center = np.arange(n)
    orders = Mallows(center, 0.8).sample(50, 3, random_state=0)  # the first three ranks of each
    ranks = np.full((50, n), np.nan)
    np.put_along_axis(ranks, orders, np.arange(1.0, 4.0)[None, :], axis=1)
    table = np.column_stack([ranks.ravel()] + [np.tile(np.arange(1.0, n + 1), 50)] * 2)
    lists = RankLists.from_arrays(table, np.repeat(np.arange(50), n))
    result = MallowsConsensus(prior=1e-9).concentrations(lists)  # two equal lists hold the orders in place
    assert result[0] == pytest.approx(Mallows.fit(orders, n_items=n, center=center).theta, abs=1e-6)


# ----------------------------------------------------------------------------------------------------- Plackett–Luce


@pytest.mark.parametrize(("unranked", "among"), [("below", "all"), ("unknown", "listed")])
def test_most_probable_strengths_are_those_of_the_model(unranked, among):
    orders = [[0, 1, 2, 3], [1, 0], [2, 0, 3], [3, 1]]
    lists = RankLists.from_orders(orders, documents=range(5))
    scores = BayesianPlackettLuce(unranked=unranked, tol=1e-12, weights=(1, 2, 1, 1)).scores(lists)[:4]
    model = PlackettLuce.fit(orders, n_items=5, among=among, prior=(2.0, 1.0), weights=[1, 2, 1, 1], tol=1e-12)
    assert np.allclose(np.diff(scores), np.diff(model.scores[:4]), atol=1e-6)


def test_with_next_to_no_prior_the_likelihood_is_stationary():
    """Of log-strengths: wins less expected wins, draw by draw."""
    orders = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]]
    result = BayesianPlackettLuce(prior=(1.0 + 1e-9, 1e-9), tol=1e-13, max_iter=100_000)
    v = np.exp(result.scores(RankLists.from_orders(orders, documents=range(3))))
    gradient = np.zeros(3)
    for order in orders:
        for position in range(2):
            rest = order[position:]
            gradient[order[position]] += 1.0
            gradient[rest] -= v[rest] / v[rest].sum()
    assert np.abs(gradient).max() < 1e-6 and np.ptp(v) > 0.1 * v.mean()


def test_posterior_mean_by_sampling_against_quadrature():
    lists = RankLists.from_orders([["a", "b"], ["a", "b"], ["b", "a"]])
    a, b = 2.0, 1.0
    grid = np.exp(np.linspace(-8, 4, 600))
    x, y = np.meshgrid(grid, grid, indexing="ij")
    # density over log-strengths: Gamma priors (v^a e^(−bv) dlog v) times the probability of the three lists
    density = (x * y) ** a * np.exp(-b * (x + y)) * (x / (x + y)) ** 2 * (y / (x + y))
    expected = (density * np.log(x / y)).sum() / density.sum()
    result = BayesianPlackettLuce(samples=40_000, random_state=3).scores(lists)
    assert result[0] - result[1] == pytest.approx(expected, abs=0.02)


def test_with_few_lists_the_strengths_stay_near_to_each_other():
    one = BayesianPlackettLuce().scores(RankLists.from_orders([list("abc")]))
    many = BayesianPlackettLuce().scores(RankLists.from_orders([list("abc")] * 50))
    assert one[0] > one[1] > one[2]
    assert np.ptp(one) < np.ptp(many) / 3


# ---------------------------------------------------------------------------------------------------------------- CPS


def _likelihood_of(order, ranks, theta):
    lists = RankLists.from_arrays(ranks)
    labels = np.empty(len(order))
    labels[list(order)] = np.arange(len(order))[::-1]
    return log_likelihood(lists, labels, theta)[0][0]


def test_one_list_is_the_mallows_model():
    center = np.array([2, 0, 3, 1])
    ranks = np.empty((4, 1))
    ranks[center, 0] = np.arange(1, 5)
    model = Mallows(center, 0.7)
    for order in permutations(range(4)):
        assert _likelihood_of(order, ranks, np.array([0.7])) == pytest.approx(model.log_prob([list(order)])[0])


def test_two_lists_are_not_the_product_of_two_mallows_models():
    """Normalised stage by stage, not over all orders: the difference of the logarithms is not the same throughout."""
    ranks = np.array([[1.0, 4.0], [2.0, 1.0], [3.0, 2.0], [4.0, 3.0]])
    theta = np.array([0.7, 0.4])
    centers = [np.argsort(ranks[:, m]) for m in range(2)]
    apart = [
        _likelihood_of(order, ranks, theta)
        - sum(Mallows(c, t).log_prob([list(order)])[0] for c, t in zip(centers, theta, strict=True))
        for order in permutations(range(4))
    ]
    assert np.ptp(apart) > 0.05


def test_probabilities_of_all_orders_sum_to_one():
    rng = np.random.default_rng(0)
    ranks = rng.permuted(np.tile(np.arange(1.0, 6.0)[:, None], (1, 3)), axis=0)
    total = sum(np.exp(_likelihood_of(p, ranks, np.array([0.5, -0.2, 1.0]))) for p in permutations(range(5)))
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("unranked", ["below", "unknown"])
def test_gradient_against_finite_differences(unranked):
    rng = np.random.default_rng(1)
    ranks = rng.permuted(np.tile(np.arange(1.0, 9.0)[:, None], (1, 3)), axis=0)
    ranks[rng.random(ranks.shape) < 0.2] = np.nan
    lists = RankLists.from_arrays(ranks, [0, 1] * 4)
    labels = np.array([2.0, 0, 1, 1, 0, -1, 2, 0])
    theta = np.array([0.3, -0.1, 0.2])
    numeric = approx_fprime(theta, lambda t: log_likelihood(lists, labels, t, unranked)[0].sum(), 1e-7)
    assert np.allclose(log_likelihood(lists, labels, theta, unranked)[1].sum(axis=0), numeric, atol=1e-5)


def test_the_first_choice_is_the_most_probable_one_at_every_stage():
    rng = np.random.default_rng(2)
    ranks = rng.permuted(np.tile(np.arange(1.0, 6.0)[:, None], (1, 3)), axis=0)
    theta = np.array([0.5, 0.3, 0.9])
    scores = CPS(weights=tuple(theta)).scores(RankLists.from_arrays(ranks))
    left = list(range(5))
    while left:
        costs = [sum(theta[m] * (ranks[left, m] < ranks[d, m]).sum() for m in range(3)) for d in left]
        first = left[int(np.argmin(costs))]
        assert scores[first] == len(left)
        left.remove(first)


def test_fitting_tells_good_lists_from_bad_ones_and_upside_down_ones():
    lists, truth = _noisy([1.5, 0.5, 0.0], 100, 8, seed=3)
    labels = (truth < 2).astype(float) + (truth < 5)
    model = CPS().fit(lists, labels)
    assert model.weights[0] > model.weights[1] > abs(model.weights[2])
    flipped = RankLists(-lists.values, lists.offsets, lists.qids, None, lists.names)
    assert CPS().fit(flipped, labels).weights[0] < 0


# --------------------------------------------------------------------------------------------------- weights, judging


@pytest.mark.parametrize("measure", ["AP", "nDCG@5", "RR"])
def test_fitted_weights_do_better_on_the_queries_they_saw(measure):
    lists, truth = _noisy([1.5, 0.0, 0.0, 0.0], 60, 10, seed=4)
    labels = (truth < 3).astype(float)
    model = RRF().fit(lists, labels, measure)
    judged = judge(lists, labels)
    assert judged.value(model.scores(lists), parse(measure)) > judged.value(RRF().scores(lists), parse(measure)) + 0.02
    assert model.weights[0] == max(model.weights)


def test_values_of_judged_lists_are_those_of_evaluate_run():
    runs = [{"q": {"a": 3.0, "b": 2.0}, "r": {"a": 1.0}}, {"q": {"c": 1.0, "a": 0.5}, "s": {"x": 1.0}}]
    qrels = {"q": {"a": 1, "z": 2, "c": 0}, "r": {"b": 1}, "t": {"a": 1}}
    lists = RankLists.from_runs(runs)
    scores = RRF().scores(lists)
    for measure in ("AP", "nDCG@10", "P@1"):
        expected = evaluate_run(qrels, lists.run(scores), [measure]).mean[measure]
        assert judge(lists, qrels).value(scores, parse(measure)) == pytest.approx(expected)


def test_fuse_with_judgements_weighs_the_better_run_more():
    good = {f"q{i}": {"a": 2.0, "b": 1.0} for i in range(4)}
    bad = {f"q{i}": {"c": 2.0, "b": 1.0, "a": 0.5} for i in range(4)}
    qrels = {f"q{i}": {"a": 1} for i in range(4)}
    assert (
        fuse([bad, good], "rrf", qrels=qrels, measure="RR")
        .group_by("qid", maintain_order=True)
        .first()["docid"]
        .to_list()
        == ["a"] * 4
    )
