"""Weighted Kendall's τ and the surrogates made for it."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Exponential, Hinge, ListMLELoss, Logistic, Sigmoid
from plackett.theory.consistency.generalised_listwise import weighted_list_surrogate
from plackett.theory.consistency.generalised_pairwise import pair_surrogate_conditions, weighted_pair_surrogate
from plackett.theory.consistency.minimiser import expected_minimiser
from plackett.theory.consistency.order_losses import order_loss
from plackett.theory.consistency.pairwise_01 import pair_loss_curve
from plackett.theory.consistency.permutation_space import PermutationSpace, all_orders
from plackett.theory.consistency.separability import separability
from plackett.theory.consistency.true_risks import true_risks
from plackett.theory.consistency.weighted_kendall_loss import WeightedKendall, kendall_dcg_gap

DISCOUNT = (1.0, 0.5, 0.2, 0.0)


def logistic(weights=None):
    return weighted_pair_surrogate(lambda z: np.logaddexp(0, -z), lambda z: -1 / (1 + np.exp(z)), weights)


def brute(s, y, D):
    """Σ D(u, v) 1[s(u) ≤ s(v)] over true ranks u < v of distinct labels."""
    order = np.argsort(-y)
    return sum(D(u, v) for u in range(len(s)) for v in range(u + 1, len(s)) if s[order[u]] <= s[order[v]])


def test_weighted_kendall_is_the_double_loop():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 12, 40)
    qid = np.repeat(np.arange(40), sizes)
    y = np.concatenate([rng.permutation(m) for m in sizes]).astype(float)
    s = rng.integers(0, 5, qid.size).astype(float)  # with many ties, which are errors
    data = pk.RankingDataset.from_arrays(None, y, qid)
    rows = [slice(a, b) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)]
    d = 1 / np.log2(np.arange(2, 14))
    table = rng.random((12, 12))
    for weights, D in (
        (None, lambda u, v: 1.0),
        (tuple(d), lambda u, v: d[u] - d[v]),
        (table, lambda u, v: table[u, v]),
    ):
        assert WeightedKendall(weights).sums(s, data) == pytest.approx([brute(s[r], y[r], D) for r in rows])
    assert WeightedKendall().sums(s, data) == pytest.approx(pk.theory.PairZeroOne("loss").sums(s, data))


def test_equal_labels_are_no_pair_and_rows_may_come_in_any_order():
    rng = np.random.default_rng(1)
    y, s = np.array([2.0, 2, 1, 1, 0, 0, -1]), rng.permutation(7).astype(float)
    loss = WeightedKendall((3.0, 2.0, 1.5, 1.0, 0.5, 0.0))
    d = np.array([2.5, 2.5, 1.25, 1.25, 0.25, 0.25])
    expected = sum(d[u] - d[v] for u in range(6) for v in range(6) if y[u] > y[v] and s[u] <= s[v])
    for _ in range(3):
        rows = rng.permutation(7)
        assert loss.sums(s[rows], pk.RankingDataset.from_arrays(None, y[rows])) == pytest.approx([expected])


def test_difference_weights_are_dcg_with_linear_discounts():
    rng = np.random.default_rng(0)
    for _ in range(100):
        m = rng.integers(1, 10)
        gains = rng.choice([0.0, 1.0, 3.0, 7.0], m) if rng.random() < 0.5 else rng.random(m)
        lost, kendall = kendall_dcg_gap(rng.standard_normal(m), gains)
        assert lost == pytest.approx(kendall, abs=1e-10)


def test_conditions_on_pair_losses():
    for loss, fits in ((Logistic(), True), (Exponential(), True), (Sigmoid(), True), (Hinge(), False)):
        assert pair_surrogate_conditions(lambda z, loss=loss: pair_loss_curve(loss, z)).all == fits
    assert not pair_surrogate_conditions(lambda z: np.maximum(0, -z) ** 2).falls_at_zero
    assert not pair_surrogate_conditions(lambda z: (1 - z) ** 2).non_increasing
    assert not pair_surrogate_conditions(lambda z: -z).non_negative


def test_surrogates_without_weights_are_the_losses_of_the_library():
    rng = np.random.default_rng(0)
    orders = all_orders(4)
    for own, loss in ((logistic(), Logistic()), (weighted_list_surrogate(), ListMLELoss())):
        s = rng.standard_normal(4)
        value, gradient = own(s, orders)
        expected, slopes = order_loss(loss, 4)(s)
        assert value == pytest.approx(expected) and gradient == pytest.approx(slopes)
    discount = weighted_list_surrogate(DISCOUNT)
    value, gradient = discount(s, orders)
    expected, slopes = order_loss(ListMLELoss(discount=list(DISCOUNT)), 4)(s)
    assert value == pytest.approx(expected) and gradient == pytest.approx(slopes)
    for surrogate in (logistic(DISCOUNT), discount):  # finite differences
        step = 1e-6 * rng.standard_normal(4)
        slope = (surrogate(s + step, orders)[0] - surrogate(s - step, orders)[0]) / 2
        assert slope == pytest.approx(surrogate(s, orders)[1] @ step, rel=1e-4, abs=1e-11)


def test_weights_make_surrogates_agree_with_weighted_kendall():
    """On order-preserving spaces, all of them."""
    true = WeightedKendall(DISCOUNT[:3])
    for seed in range(30):
        space = PermutationSpace.order_preserving(3, random_state=seed, noise=1.0)
        best = space.orders[int(np.argmin(true_risks(true, space)))].tolist()
        for surrogate in (logistic(DISCOUNT[:3]), weighted_list_surrogate(DISCOUNT[:3])):
            result = expected_minimiser(surrogate, space, n_starts=1)
            assert np.argsort(-result.scores).tolist() == best


def test_unweighted_surrogates_miss_weighted_optima():
    """On separable, transitive spaces that are not order preserving; weights help there, but are no guarantee."""
    weights = (1.0, 0.1, 0.0)
    true = WeightedKendall(weights)
    missed = {"plain": 0, "weighted": 0}
    tried = 0
    for seed in range(90):
        space = PermutationSpace.random(3, random_state=seed)
        result = separability(space, weights)
        if not result.transitive:
            continue
        tried += 1
        risks = true_risks(true, space)
        for name, given in (("plain", None), ("weighted", weights)):
            scores = expected_minimiser(logistic(given), space, n_starts=1).scores
            ranking = [o == np.argsort(-scores).tolist() for o in space.orders.tolist()].index(True)
            missed[name] += risks[ranking] > risks.min() + 1e-9
    assert tried > 50
    assert missed["plain"] > 2 * missed["weighted"]
    assert missed["weighted"] < 0.1 * tried
