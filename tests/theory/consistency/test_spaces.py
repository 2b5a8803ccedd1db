"""Order-preserving spaces, sensitive losses, and the exact minimiser."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Hinge, ListMLELoss, ListNetLoss, Logistic, Square
from plackett.theory.consistency.minimiser import expected_minimiser
from plackett.theory.consistency.order_losses import order_loss
from plackett.theory.consistency.order_sensitive import order_sensitivity
from plackett.theory.consistency.permutation_space import (
    PermutationSpace,
    all_orders,
    exchange_table,
    is_order_preserving,
    preserved_pairs,
)
from plackett.theory.consistency.separability import separability
from plackett.theory.consistency.true_risks import true_risks
from plackett.theory.risks.permutation_zero_one import TopKZeroOne

#: Top-1 winner 0; full ListMLE puts document 1 first.
MIXED = PermutationSpace({(0, 1, 2): 0.20, (0, 2, 1): 0.20, (1, 2, 0): 0.35, (2, 1, 0): 0.25})


def test_spaces_are_distributions_with_the_right_marginals():
    theta = [0.7, -0.2, 0.4, 0.0]
    space = PermutationSpace.plackett_luce(theta)
    assert space.probabilities == pytest.approx(np.exp(pk.PlackettLuce(theta).log_prob(all_orders(4))))
    model = pk.Mallows([0, 1, 2], 0.8)
    assert PermutationSpace.mallows(3, 0.8).probabilities == pytest.approx(np.exp(model.log_prob(all_orders(3))))
    for i, j in ((0, 1), (2, 3)):
        assert space.precedence[i, j] == pytest.approx(1 / (1 + math.exp(theta[j] - theta[i])))
    firsts = dict(zip(space.orders[:, 0].tolist(), space.top(1), strict=True))
    assert [firsts[i] for i in range(4)] == pytest.approx(np.exp(theta) / np.exp(theta).sum())
    assert all_orders(3)[exchange_table(3, 0, 2)].tolist() == [
        [{0: 2, 2: 0}.get(d, d) for d in o] for o in permutations(range(3))
    ]
    with pytest.raises(pk.DataError, match="not an order of the documents"):
        PermutationSpace({(0, 0): 1.0})


def test_plackett_luce_preserves_the_order_of_its_scores_and_uniform_preserves_none():
    theta = np.array([0.5, -1.0, 0.5, 2.0])
    result = preserved_pairs(PermutationSpace.plackett_luce(theta))
    assert (result == (theta[:, None] > theta[None, :])).all()
    assert not preserved_pairs(PermutationSpace.uniform(3)).any()
    for seed in range(10):
        assert is_order_preserving(PermutationSpace.order_preserving(4, random_state=seed))


def test_top_k_conditions_get_weaker_with_smaller_k_and_meet_the_full_one():
    counts = {1: 0, 2: 0, 3: 0, None: 0}
    rng = np.random.default_rng(0)
    for _ in range(60):
        base = PermutationSpace.plackett_luce(rng.normal(0, 1, 4)).probabilities
        space = PermutationSpace(base * np.exp(0.5 * rng.standard_normal(24)))
        for k in counts:
            counts[k] += is_order_preserving(space, k)
        assert (preserved_pairs(space, 4) == preserved_pairs(space)).all()  # k = m
        assert is_order_preserving(space, 3) == is_order_preserving(space)  # three positions decide the fourth
    assert counts[1] == 60 > counts[2] >= counts[3] == counts[None]
    assert counts[2] > 0


def test_true_risks_are_those_of_plain_loops():
    for k in (1, 2, 3):
        risks = true_risks(TopKZeroOne(k), MIXED)
        for ranking, risk in zip(MIXED.orders.tolist(), risks, strict=True):
            right = sum(
                p for o, p in zip(MIXED.orders.tolist(), MIXED.probabilities, strict=True) if o[:k] == ranking[:k]
            )
            assert risk == pytest.approx(1 - right)
    pairs = true_risks("pairwise 0-1", MIXED)
    for ranking, risk in zip(MIXED.orders.tolist(), pairs, strict=True):
        wrong = sum(MIXED.precedence[ranking[v], ranking[u]] for u in range(3) for v in range(u + 1, 3))
        assert risk == pytest.approx(wrong)


def test_listwise_losses_are_order_sensitive_and_blind_ones_are_not():
    for loss in (ListMLELoss(), ListNetLoss()):
        result = order_sensitivity(loss, 4, n_scores=20)
        assert result.holds and result.example is None, result

    def blind(scores, orders):  # does not look at the order
        n = orders.shape[0]
        return np.full(n, scores @ scores), np.tile(2 * scores, (n, 1))

    result = order_sensitivity(blind, 4)
    assert not result.holds
    assert result.violations["exchange"] == 0 < result.violations["lowers"]

    def reversed_loss(scores, orders):
        value, gradient = order_loss(ListMLELoss(), orders.shape[1])(-scores)
        return value, -gradient

    result = order_sensitivity(reversed_loss, 3)
    assert result.violations["exchange"] > 0 and result.example["condition"] == "exchange"


def test_top_k_sensitivity_with_the_equality_clause():
    """Full ListMLE sees how the rest is ordered: 36 pairs of orders at k = 1, 12 at k = 2, none at k = 3."""
    for k, per_point in ((1, 36), (2, 12), (3, 0)):
        full = order_sensitivity(ListMLELoss(), 4, k=k, n_scores=15)
        assert full.violations["blind"] == 15 * per_point
        assert full.violations["exchange"] == full.violations["symmetry"] == 0
        assert order_sensitivity(ListMLELoss(k=k), 4, k=k, n_scores=15).holds


def test_top_k_labels_make_listnet_blind_beyond_k():
    def mapped(k):
        def loss(scores, orders):
            n, m = orders.shape
            labels = np.empty((n, m))
            np.put_along_axis(labels, orders, np.tile(np.arange(m - 1.0, -1, -1), (n, 1)), axis=1)
            data = pk.RankingDataset.from_arrays(None, labels.ravel(), np.repeat(np.arange(n), m))
            bound = ListNetLoss().bind(pk.theory.top_k_labels(data, k))
            value, gradient, _ = bound.evaluate(np.tile(scores, n))
            return value, gradient.reshape(n, m)

        return loss

    for k in (1, 2, 3):
        assert order_sensitivity(mapped(k), 4, k=k, n_scores=8).holds
    assert order_sensitivity(ListNetLoss(), 4, k=1, n_scores=4).violations["blind"] > 0


def test_top_k_labels():
    data = pk.RankingDataset.from_arrays(None, [3, 1, 4, 2, 0, -1, 1, 0, 2, 2, 2], [0] * 6 + [1] * 2 + [2] * 3)
    result = pk.theory.top_k_labels(data, 2).y
    assert result[:6].tolist() == [3, 2, 4, 2, 2, -1]
    assert result[6:8].tolist() == [1, 0]  # as many documents as count
    assert result[8:].tolist() == [2, 2, 2]  # a tie with the k-th stays
    low = pk.RankingDataset.from_arrays(None, [0.5, 0.2, 0.1])
    lifted = pk.theory.top_k_labels(low, 1).y
    assert (lifted >= 0).all() and lifted[1] == lifted[2] == lifted[0] - 1
    whole = pk.theory.top_k_labels(data, 9).y
    assert (whole == data.y).all()


def test_minimiser_of_listmle_is_the_plackett_luce_model():
    theta = np.array([0.9, -0.3, 0.1, -0.7])
    result = expected_minimiser(ListMLELoss(), PermutationSpace.plackett_luce(theta))
    assert result.scores == pytest.approx(theta - theta.mean(), abs=1e-4)
    assert result.spread < 1e-4 and result.gradient < 1e-6


@pytest.mark.parametrize("loss", [ListMLELoss(), ListNetLoss(), Logistic(), Square(), Hinge()], ids=lambda l: l.name)
def test_minimiser_is_not_beaten_nearby_and_not_by_a_grid(loss):
    space = PermutationSpace.random(3, random_state=5, concentration=2.0)
    result = expected_minimiser(loss, space, n_starts=3)
    evaluate = order_loss(loss, 3)
    rng = np.random.default_rng(0)
    for scale in (1e-3, 0.1, 2.0):
        for _ in range(40):
            other = result.scores + scale * rng.standard_normal(3)
            assert space.probabilities @ evaluate(other)[0] >= result.risk - 1e-9


def test_minimiser_of_listmle_sorts_like_the_mode_on_order_preserving_spaces():
    for seed in range(40):
        space = PermutationSpace.order_preserving(3, random_state=seed, noise=1.0)
        result = expected_minimiser(ListMLELoss(), space, n_starts=1)
        assert np.argsort(-result.scores).tolist() == space.mode.tolist()


def test_worked_example_of_the_top_one_loss():
    full = expected_minimiser(ListMLELoss(), MIXED).scores
    assert full == pytest.approx([-0.464, 0.282, 0.182], abs=6e-4)
    top = expected_minimiser(ListMLELoss(k=1), MIXED).scores
    assert top == pytest.approx([0.201, 0.068, -0.269], abs=6e-4)
    one = true_risks(TopKZeroOne(1), MIXED)
    assert MIXED.orders[int(np.argmin(one))][0] == 0
    # the identities of the loss
    rng = np.random.default_rng(0)
    data = pk.RankingDataset.from_arrays(None, [3, 1, 2, 0])
    s = rng.standard_normal(4)
    assert ListMLELoss(k=4)(s, data) == ListMLELoss(k=3)(s, data) == pytest.approx(ListMLELoss()(s, data))
    assert ListMLELoss(k=1)(s, data) == pytest.approx(-s[0] + np.log(np.exp(s).sum()))


def test_order_preserving_spaces_are_separable_and_transitive_with_the_best_order():
    weights = np.array([1.0, 0.6, 0.2, 0.0])
    for seed in range(15):
        space = PermutationSpace.order_preserving(4, random_state=seed)
        for given in (None, weights):
            result = separability(space, given)
            assert result.transitive and result.order.tolist() == space.mode.tolist()
            kendall = pk.theory.WeightedKendall(None if given is None else tuple(given))
            risks = true_risks(kendall, space)
            assert space.orders[int(np.argmin(risks))].tolist() == result.order.tolist()
    cycle = PermutationSpace({(0, 1, 2): 1, (1, 2, 0): 1, (2, 0, 1): 1})
    assert separability(cycle).separable and not separability(cycle).transitive
    assert not separability(PermutationSpace.uniform(3)).separable
