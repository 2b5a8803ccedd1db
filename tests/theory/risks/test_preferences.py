"""Losses and regrets of preferences and orders, and the bounds between them."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.aggregation.orderings import GreedyOrder, QuickSort, SortByDegree
from plackett.data.contradictions import contradictions
from plackett.theory.bounds.auc_deviation import auc_deviation
from plackett.theory.bounds.cohen_ranker_bound import cohen_ranker_bound
from plackett.theory.consistency.pairwise_01 import pair_loss_curve, pair_loss_shape
from plackett.theory.risks.deterministic_rules import worst_case_of_rule
from plackett.theory.risks.emphasis import emphasis_axioms, partite_emphasis, top_k_emphasis
from plackett.theory.risks.pair_errors import misranking_error, pair_margin_loss
from plackett.theory.risks.preference_losses import preference_loss, ranking_loss
from plackett.theory.risks.preference_regrets import independent_preferences, regrets, two_stage_bound


def random_table(rng, n):
    h = np.triu(rng.random((n, n)), 1)
    return h + np.tril(1.0 - h.T, -1) + 0.5 * np.eye(n)


# ------------------------------------------------------------------------------------------------------------- losses


def test_losses_against_the_double_sum():
    rng = np.random.default_rng(0)
    for n in (2, 5, 8):
        h, labels, order = random_table(rng, n), rng.integers(0, 3, n), rng.permutation(n)
        position = np.argsort(order)
        pairs = [(u, v) for u in range(n) for v in range(n) if labels[v] > labels[u]]
        share = 2 / (n * (n - 1))
        assert preference_loss(h, labels) == pytest.approx(share * sum(h[u, v] for u, v in pairs))
        assert ranking_loss(order, labels) == pytest.approx(share * sum(position[u] < position[v] for u, v in pairs))
        of_order = np.where(np.eye(n) > 0, 0.5, position[:, None] < position)
        assert preference_loss(of_order, labels) == pytest.approx(ranking_loss(order, labels))
    assert ranking_loss([3, 2, 1, 0], [4, 3, 2, 1]) == 1.0
    assert ranking_loss([0], [1]) == 0.0
    with pytest.raises(DataError, match="once"):
        ranking_loss([0, 0], [1, 0])


def test_emphasis():
    rng = np.random.default_rng(1)
    for k in range(1, 8):
        assert all(emphasis_axioms(top_k_emphasis(k), 7))
    for _ in range(10):
        labels = rng.permutation([0, 0, 1, 1, 1, 2, 3])
        weight = partite_emphasis(labels)
        assert all(emphasis_axioms(weight, 7))
        order = rng.permutation(7)
        position = np.argsort(order)
        pairs = [(u, v) for u in range(7) for v in range(7) if labels[u] > labels[v]]
        wrong = np.mean([position[u] > position[v] for u, v in pairs])
        assert ranking_loss(order, labels, weight) == pytest.approx(wrong)
        binary = (labels > 1).astype(int)
        auc = pk.evaluate(binary, -position, ["AUC"]).mean["AUC"]
        assert ranking_loss(order, binary, partite_emphasis(binary)) == pytest.approx(1 - auc)
    # only the pairs of the true best count
    assert ranking_loss([0, 3, 2, 1], [3, 2, 1, 0], top_k_emphasis(1)) == 0.0
    assert not emphasis_axioms(lambda i, j: 1.0 * (i < j), 4).symmetric
    assert not emphasis_axioms(lambda i, j: 1.0 / np.maximum(abs(i - j), 1), 4).monotone
    with pytest.raises(DataError, match="equal"):
        partite_emphasis([1, 1])


# ------------------------------------------------------------------------------------------------------------ regrets


def quicksort_rule(h):
    runs = 200
    orders = Counter(tuple(QuickSort(decide="draw", random_state=s).order(h).tolist()) for s in range(runs))
    return [(times / runs, order) for order, times in orders.items()]


def bipartite_cases(rng, sets):
    """Relevance drawn for each document on its own, whatever the set: independent of irrelevant alternatives."""
    chance = rng.random(1 + max(map(max, sets)))
    cases = []
    for each in sets:
        for bits in range(2 ** len(each)):
            labels = tuple(bits >> i & 1 for i in range(len(each)))
            p = np.prod([chance[d] if y else 1 - chance[d] for d, y in zip(each, labels, strict=True)])
            cases.append((p / len(sets), each, labels))
    return cases


def test_regrets_of_two_stages():
    rng = np.random.default_rng(2)
    sets = [(0, 1, 2), (1, 2, 3), (0, 3)]
    for _ in range(5):
        cases = bipartite_cases(rng, sets)
        assert independent_preferences(cases)
        h = random_table(rng, 4)
        result = regrets(cases, h, SortByDegree().order)
        assert result.preference >= -1e-12
        assert result.preference_each == pytest.approx(result.preference)
        assert result.ranking <= result.ranking_each + 1e-12
        assert result.ranking <= two_stage_bound(result.preference, "degree") + 1e-12
        drawn = regrets(cases, h, quicksort_rule)
        assert drawn.ranking <= two_stage_bound(result.preference) + 0.05  # 200 runs stand for the expectation


def test_a_rule_that_sees_the_set_can_have_negative_regret():
    """The truth between 0 and 1 depends on whether 2 is there; a rule may follow, one order for all sets cannot."""
    cases = [(0.5, (0, 1), (1, 0)), (0.5, (0, 1, 2), (0, 1, 0))]
    assert not independent_preferences(cases)
    h = np.full((3, 3), 0.5)

    def rule(table):
        return [0, 1] if len(table) == 2 else [1, 0, 2]

    result = regrets(cases, h, rule)
    assert result.ranking == pytest.approx(-1 / 6)  # the best single order (0, 1, 2) has one of three pairs wrong
    assert result.ranking_each == pytest.approx(0.0)
    assert result.preference < result.preference_each
    for bad, match in (([(0.5, (0, 1), (1, 0))], "sum to 1"),):
        with pytest.raises(DataError, match=match):
            regrets(bad, h, rule)


def test_bounds_as_numbers():
    assert two_stage_bound(0.25, "degree") == 0.5
    assert two_stage_bound(0.25, "quicksort", bipartite=False) == 0.5
    assert two_stage_bound(0.25, "degree", bipartite=False) == np.inf
    with pytest.raises(DataError, match="order"):
        two_stage_bound(0.1, "bubble")


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_no_deterministic_rule_is_better_than_two(order):
    result = worst_case_of_rule(lambda h: order)
    assert result.preference == pytest.approx(1 / 3) and result.ranking == pytest.approx(2 / 3)


# -------------------------------------------------------------------------------------------------------------- bounds


def test_bound_of_cohen_holds_for_any_order():
    rng = np.random.default_rng(3)
    for _ in range(200):
        n = int(rng.integers(2, 7))
        h = random_table(rng, n)
        pairs = np.argwhere(np.triu(np.ones((n, n)), 1) > 0)[:, :: int(rng.choice([1, -1]))]
        pairs = pairs[rng.random(len(pairs)) < 0.7]
        if len(pairs) == 0:
            continue
        for order in (rng.permutation(n), GreedyOrder().order(h)):
            tight, loose = (cohen_ranker_bound(order, h, pairs, tight=t) for t in (True, False))
            position = np.argsort(order)
            assert tight.violated == np.mean([position[u] > position[v] for u, v in pairs])
            assert tight.violated <= tight.bound + 1e-12 <= loose.bound + 2e-12
    # attained: preferences that follow the order and contradict the truth
    assert cohen_ranker_bound([0, 1], [[0.5, 1.0], [0.0, 0.5]], [(1, 0)]) == (1.0, 1.0)
    with pytest.raises(DataError, match="two columns"):
        cohen_ranker_bound([0, 1], np.full((2, 2), 0.5), [])


def test_pair_errors():
    rng = np.random.default_rng(4)
    first, second, sign = rng.normal(size=50), rng.normal(size=50), rng.integers(-1, 2, 50)
    error = misranking_error(first, second, sign)
    assert error == np.mean([y != 0 and y * (b - a) <= 0 for a, b, y in zip(first, second, sign, strict=True)])
    assert misranking_error(np.zeros(50), np.zeros(50), sign) == (sign != 0).mean()
    losses = [pair_margin_loss(first, second, sign, rho) for rho in (0.1, 0.5, 1.0, 3.0)]
    assert error <= losses[0] and (np.diff(losses) >= 0).all()
    for rho, loss in zip((0.1, 0.5, 1.0, 3.0), losses, strict=True):
        assert loss <= ((sign != 0) & (sign * (second - first) <= rho)).mean()
    with pytest.raises(DataError, match="rho"):
        pair_margin_loss(first, second, sign, 0.0)


def test_contradictions():
    rng = np.random.default_rng(5)
    data = pk.RankingDataset.from_arrays(None, rng.integers(0, 3, 30), np.repeat(np.arange(3), 10))
    pairs = pk.Preferences.from_labels(data)
    assert not contradictions(pairs).cyclic.any()  # labels are an order
    cycle = pk.Preferences.from_pairs([(0, 1), (1, 2), (2, 0)])
    assert contradictions(cycle).cyclic.all() and not contradictions(cycle).opposed.any()
    # every scorer has at least one of the three wrong
    for scores in permutations(range(3)):
        s = np.array(scores)
        assert misranking_error(s[cycle.loser], s[cycle.winner], np.ones(3)) >= 1 / 3
    # a pair is on a cycle just where there is a way back: against Warshall's closure
    random = pk.Preferences.from_pairs([(int(u), int(v)) for u, v in rng.integers(0, 9, (15, 2)) if u != v])
    reach = np.zeros((9, 9), bool)
    reach[random.winner, random.loser] = True
    for m in range(9):
        reach |= reach[:, [m]] & reach[[m]]
    result = contradictions(random)
    np.testing.assert_array_equal(result.cyclic, reach[random.loser, random.winner])
    assert 0 < result.cyclic.sum() < len(random)
    with pytest.raises(DataError, match="no preferences"):
        contradictions(data)


def test_auc_deviation_covers():
    assert auc_deviation(100, 400, method="mcdiarmid") == pytest.approx(0.1518404, abs=5e-8)
    assert auc_deviation(100, 400) == pytest.approx(0.1358102, abs=5e-8)
    rng = np.random.default_rng(6)
    m, n, runs = 20, 30, 300
    aucs = [(rng.normal(1, 1, m)[:, None] > rng.normal(0, 1, n)).mean() for _ in range(runs)]
    from scipy.stats import norm

    far = np.abs(np.array(aucs) - norm.cdf(1 / np.sqrt(2)))
    for method in ("hoeffding", "mcdiarmid"):
        assert (far <= auc_deviation(m, n, 0.1, method)).mean() >= 0.9
    with pytest.raises(DataError, match="delta"):
        auc_deviation(3, 3, 1.5)


def test_which_pair_losses_bound_the_zero_one_loss():
    from plackett.losses.pairwise.exponential import Exponential
    from plackett.losses.pairwise.fidelity import Fidelity
    from plackett.losses.pairwise.hinge import Hinge
    from plackett.losses.pairwise.hinge_magnitude import HingeMagnitude
    from plackett.losses.pairwise.logistic import Logistic
    from plackett.losses.pairwise.magnitude_preserving import MagnitudePreserving
    from plackett.losses.pairwise.pair_svr import PairSVR
    from plackett.losses.pairwise.ramp import Ramp
    from plackett.losses.pairwise.sigmoid import Sigmoid
    from plackett.losses.pairwise.squared_hinge import SquaredHinge

    for loss in (Hinge(), Exponential()):
        assert pair_loss_shape(loss) == (True, True)
    assert pair_loss_shape(Logistic()) == (False, True)
    assert pair_loss_shape(Logistic(), scale=1 / np.log(2)) == (True, True)
    assert pair_loss_shape(SquaredHinge(margin=0.0)) == (False, True)
    for loss in (Fidelity(), Sigmoid()):
        assert pair_loss_shape(loss) == (False, False)
    for loss in (Ramp(), HingeMagnitude()):
        assert not pair_loss_shape(loss).convex
    for loss in (MagnitudePreserving(), PairSVR()):
        assert pair_loss_shape(loss).convex
    np.testing.assert_allclose(pair_loss_curve(Exponential(), np.array([-1.0, 2.0])), np.exp([1.0, -2.0]), rtol=1e-9)
