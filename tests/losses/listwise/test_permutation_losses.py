"""ListNet of whole orders, ListMLE over permutation sets and with a prior, StructRank, BoltzRank: by enumeration."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from plackett import LossError, RankingDataset
from plackett.data.permutations import PermutationSet
from plackett.losses import (
    BoltzRankLoss,
    ListMLEBest,
    ListMLEGamma,
    ListMLELoss,
    ListMLESet,
    ListNetLoss,
    ListNetTopKLoss,
    Logistic,
    StructRankLoss,
)

SCORES = np.array([0.3, 1.2, -0.5, 0.1, 2.0])


def one_list(labels):
    return RankingDataset.from_arrays(None, labels)


def log_probability(order, scores, k=None):
    return sum(scores[j] - logsumexp(scores[list(order[r:])]) for r, j in enumerate(order[:k]))


# ----------------------------------------------------------------------------------------------------------- ListNet


@pytest.mark.parametrize("k", [1, 2, 3, None])
def test_listnet_by_enumeration(k):
    """Divergence of the top-k distributions, summed over the first k ranks of all orders."""
    labels = np.array([2.0, 0.0, 1.0, 1.0, 3.0])
    tops = sorted({order[:k] for order in permutations(range(5))})
    expected = 0.0
    for top in tops:
        order = (*top, *(j for j in range(5) if j not in top))
        p, q = (log_probability(order, s, k) for s in (labels, SCORES))
        expected += np.exp(p) * (p - q)
    assert ListNetTopKLoss(k=k)(SCORES, one_list(labels)) == pytest.approx(expected)
    full = ListNetTopKLoss(k=5)(SCORES, one_list(labels))
    assert full == pytest.approx(ListNetTopKLoss()(SCORES, one_list(labels)))


def test_listnet_special_cases():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 11).astype(float)
    data, scores = one_list(labels), rng.normal(size=11)
    assert ListNetTopKLoss(k=1)(scores, data) == pytest.approx(ListNetLoss()(scores, data))
    for max_exact in (0, 12):  # a perfect fit, exactly and by drawn orders
        loss = ListNetTopKLoss(max_exact=max_exact)
        assert loss(labels + 5.0, data) == pytest.approx(0.0, abs=1e-12)
        np.testing.assert_allclose(loss.gradient(labels, data)[0], 0.0, atol=1e-12)
        assert loss(scores, data) > 0
    drawn = [ListNetTopKLoss(max_exact=0, random_state=seed, n_samples=50)(scores, data) for seed in range(20)]
    exact = ListNetTopKLoss()(scores, data)
    assert abs(np.mean(drawn) - exact) < 4 * np.std(drawn) / np.sqrt(20) < 0.2 * exact


def test_listmle_is_listnet_with_one_order():
    """A target that has all but one order ruled out; two documents are RankNet's."""
    labels = np.array([2.0, 0.0, 1.0, 4.0, 3.0])
    sharp = ListNetTopKLoss(temperature=0.01)(SCORES, one_list(labels))
    assert sharp == pytest.approx(ListMLELoss()(SCORES, one_list(labels)))
    assert sharp == pytest.approx(-log_probability((3, 4, 0, 2, 1), SCORES))
    assert ListMLELoss(k=2)(SCORES, one_list(labels)) == pytest.approx(-log_probability((3, 4, 0, 2, 1), SCORES, 2))
    pair = one_list([1.0, 0.0])
    assert ListMLELoss()(SCORES[:2], pair) == pytest.approx(Logistic()(SCORES[:2], pair))
    assert ListMLELoss()(SCORES + 1e4, one_list(labels)) == pytest.approx(ListMLELoss()(SCORES, one_list(labels)))


def test_position_weights():
    labels = np.array([2.0, 0.0, 1.0, 4.0, 3.0])
    data, order = one_list(labels), (3, 4, 0, 2, 1)
    stages = np.diff([0.0] + [-log_probability(order, SCORES, k) for k in range(1, 6)])
    eta = 1 / np.log2(np.arange(2, 7))
    assert ListMLELoss(discount="log2")(SCORES, data) == pytest.approx(eta @ stages)
    assert ListMLELoss(discount=[1, 1])(SCORES, data) == pytest.approx(ListMLELoss(k=2)(SCORES, data))
    assert ListMLELoss(discount=[1] * 5)(SCORES, data) == pytest.approx(ListMLELoss()(SCORES, data))
    assert ListNetTopKLoss(discount=[1, 1])(SCORES, data) == pytest.approx(ListNetTopKLoss(k=2)(SCORES, data))
    sharp = ListNetTopKLoss(discount="log2", temperature=0.01)(SCORES, data)
    assert sharp == pytest.approx(eta @ stages)


def test_top_one_and_whole_orders_can_disagree():
    """Four orders of three documents: by the first rank document 0 is best, by whole orders document 2."""
    orders = {(0, 2, 1): 0.52, (1, 2, 0): 0.33, (2, 0, 1): 0.10, (2, 1, 0): 0.05}

    def expected(s, k):
        return -sum(p * log_probability(order, s, k) for order, p in orders.items())

    whole = minimize(expected, np.zeros(3), args=(3,)).x
    first = minimize(expected, np.zeros(3), args=(1,)).x
    assert whole.argmax() == 2
    np.testing.assert_allclose(np.exp(first - logsumexp(first)), [0.52, 0.33, 0.15], atol=1e-4)


# ----------------------------------------------------------------------------------------------- permutation sets


@pytest.mark.parametrize("labels", [[1, 0, 1, 0, 1], [2, 1, 0, 1, 2], [0, 0, 0, 0, 3], [4, 3, 2, 1, 0]])
def test_listmle_over_all_allowed_orders(labels):
    allowed = [log_probability(order, SCORES) for order in PermutationSet(labels)]
    data = one_list(labels)
    assert ListMLESet()(SCORES, data) == pytest.approx(-logsumexp(allowed), rel=1e-10)
    assert ListMLEBest()(SCORES, data) == pytest.approx(-max(allowed))
    if len(allowed) == 1:
        assert ListMLESet()(SCORES, data) == pytest.approx(ListMLELoss()(SCORES, data))
        np.testing.assert_allclose(ListMLESet().gradient(SCORES, data)[0], ListMLELoss().gradient(SCORES, data)[0])


def test_descent_on_the_best_order():
    """Alternating between the best order and a step on its likelihood never raises the loss."""
    rng = np.random.default_rng(4)
    data, scores = one_list(rng.integers(0, 3, 12).astype(float)), rng.normal(size=12)
    values = []
    for _ in range(50):
        values.append(ListMLEBest()(scores, data))
        scores = scores - 0.05 * ListMLEBest().gradient(scores, data)[0]
    assert (np.diff(values) < 1e-12).all() and values[-1] < 0.8 * values[0]


def test_gamma_prior():
    data = one_list([2.0, 1.0, 0.0, 1.0, -1.0])
    assert ListMLEGamma(shape=1.0, rate=0.0)(SCORES, data) == pytest.approx(ListMLELoss()(SCORES, data))
    at_mode = ListMLEGamma(shape=3.0, rate=4.0)(np.full(5, np.log(0.5)), data)
    assert at_mode == pytest.approx(ListMLELoss()(np.zeros(5), data))
    loss = ListMLEGamma()
    result = minimize(lambda s: (loss(s, data), loss.gradient(s, data)[0]), np.zeros(5), jac=True)
    assert result.success and np.abs(result.x).max() < 5  # finite, though the first never loses
    with pytest.raises(LossError, match="shape"):
        ListMLEGamma(shape=0.5)


# ---------------------------------------------------------------------------------------------------- StructRank


def test_structures():
    distinct, tied = one_list([4.0, 2.0, 0.0, 3.0, 1.0]), one_list([1.0, 0.0, 0.0, 1.0, 2.0])
    document = StructRankLoss(structure="document", normalize=False)
    assert document(SCORES, distinct) == pytest.approx(ListMLELoss()(SCORES, distinct))
    edge = StructRankLoss(structure="edge", normalize=False)
    assert edge(SCORES, tied) == pytest.approx(Logistic()(SCORES, tied))
    # one winner over two others: all pairs of its edges, written out
    s = np.array([0.5, 0.1, -0.3])
    a, b = np.exp(-(s[0] - s[1])), np.exp(-(s[0] - s[2]))
    expected = np.log(1 + 2 * a) + np.log(1 + 2 * b) + 2 * np.log(1 + a + b)
    data = one_list([1.0, 0.0, 0.0])
    assert StructRankLoss(normalize=False)(s, data) == pytest.approx(expected)
    assert StructRankLoss()(s, data) == pytest.approx(expected / 4)


@pytest.mark.parametrize("structure", ["edges", "document", "edge"])
def test_factors_are_distribution_functions(structure):
    """Each margin that grows makes the likelihood larger; it comes to 1 for large margins and to 0 for small ones."""
    loss, data = StructRankLoss(structure=structure), one_list([1.0, 0.0, 0.0])
    likelihood = [np.exp(-loss(np.array([x, 0.0, 0.3]), data)) for x in np.linspace(-60, 60, 200)]
    assert (np.diff(likelihood) >= 0).all()
    assert likelihood[0] < 1e-10 and likelihood[-1] > 1 - 1e-10


def test_many_edges_are_drawn():
    rng = np.random.default_rng(5)
    data, scores = one_list(rng.integers(0, 3, 300).astype(float)), rng.normal(size=300)
    exact, drawn = (StructRankLoss(max_edges=n) for n in (300, 64))
    assert drawn(scores, data) == pytest.approx(exact(scores, data), rel=0.01)
    result = [loss.gradient(scores, data)[0] for loss in (exact, drawn)]
    assert np.corrcoef(*result)[0, 1] > 0.99


# ----------------------------------------------------------------------------------------------------- BoltzRank


def boltzmann(scores, alpha=1.0):
    """All orders with their probabilities, from the energy as a sum over pairs of ranks."""
    m = len(scores)
    orders = np.array(list(permutations(range(m))))
    s = scores[orders]
    energy = sum(2 / (m * (m - 1)) * alpha * (v - u) * (s[:, v] - s[:, u]) for u in range(m) for v in range(u + 1, m))
    return orders, np.exp(-energy - logsumexp(-energy))


def test_boltzrank_by_enumeration():
    labels = np.array([2.0, 0.0, 1.0, 1.0, 3.0])
    data = one_list(labels)
    orders, q = boltzmann(SCORES, 2.0)
    _, p = boltzmann(labels, 2.0)
    assert orders[q.argmax()].tolist() == np.argsort(-SCORES).tolist()
    gains, discounts = 2.0**labels - 1, 1 / np.log2(np.arange(2, 7))
    ndcg = gains[orders] @ discounts / (np.sort(gains)[::-1] @ discounts)
    assert BoltzRankLoss(mix=1.0, alpha=2.0)(SCORES, data) == pytest.approx(1 - q @ ndcg)
    assert BoltzRankLoss(mix=0.0, alpha=2.0)(SCORES, data) == pytest.approx(p @ np.log(p / q))
    # the slope of an expectation is minus the covariance with the coefficient of a document's rank
    rank = np.argsort(orders, axis=1)
    coefficient = 2 * 2.0 / 4 * (rank - 2)
    covariance = (q * ndcg) @ coefficient - (q @ ndcg) * (q @ coefficient)
    np.testing.assert_allclose(BoltzRankLoss(mix=1.0, alpha=2.0).gradient(SCORES, data)[0], covariance, atol=1e-12)
    assert BoltzRankLoss(mix=0.0)(labels + 3.0, data) == pytest.approx(0.0, abs=1e-12)


def test_boltzrank_of_drawn_orders():
    """Nearly the whole distribution when there are many; the KL part is 0 for a perfect fit there too."""
    labels = np.array([2.0, 0.0, 1.0, 1.0, 3.0])
    data = one_list(labels)
    drawn = BoltzRankLoss(max_exact=0, n_samples=4000)
    assert drawn.replace(mix=0.0)(labels - 1.0, data) == pytest.approx(0.0, abs=1e-12)
    slopes = [loss.gradient(SCORES, data)[0] for loss in (drawn, BoltzRankLoss())]
    assert np.corrcoef(*slopes)[0, 1] > 0.9
    with pytest.raises(LossError, match="max_exact"):
        BoltzRankLoss(max_exact=40)


@pytest.mark.parametrize(("distribution", "theta"), [("uniform", np.inf), ("mallows", 0.8), ("mallows", 0.0)])
def test_listnet_targets_by_order_are_divergences_over_all_orders(distribution, theta):
    """P_y ∝ e^(−θ d) with d the pairs of unequal labels turned round; θ = ∞ leaves the orders that labels allow."""
    rng = np.random.default_rng(0)
    for labels in ([2, 1, 1, 0, 0], [3, 2, 1, 0], [1, 1, 1, 0]):
        y, s = np.array(labels, float), rng.normal(size=len(labels))
        orders = list(permutations(range(y.size)))
        turned = np.array([sum(y[o[v]] > y[o[u]] for v in range(y.size) for u in range(v)) for o in orders])
        weight = np.array([1.0 if d == 0 else np.exp(-theta * d) for d in turned])
        p = weight / weight.sum()
        log_q = np.array([sum(s[o[r]] - logsumexp(s[list(o[r:])]) for r in range(y.size)) for o in orders])
        expected = sum(a * (np.log(a) - b) for a, b in zip(p, log_q, strict=True) if a > 0)
        loss = ListNetTopKLoss(distribution=distribution, theta=min(theta, 9.0))
        assert loss(s, RankingDataset.from_arrays(None, y)) == pytest.approx(expected, rel=1e-10)


def test_long_lists_draw_from_their_target():
    """The mean number of pairs turned round is that of the Mallows distribution; none under the uniform target."""
    y = np.arange(6.0)
    data, theta = RankingDataset.from_arrays(None, y), 0.6
    known = {"max_exact": 0, "n_samples": 4000}
    none = ListNetTopKLoss(distribution="uniform", **known).bind(data).constants.orders
    assert (none == [5, 4, 3, 2, 1, 0]).all()
    orders = ListNetTopKLoss(distribution="mallows", theta=theta, **known).bind(data).constants.orders
    turned = sum(orders[:, u] < orders[:, v] for v in range(6) for u in range(v))
    # Σ over ranks of E[V], with P(V = v) ∝ e^(−θ v) for v below the number of documents left
    v = np.arange(6)
    expected = sum((v[:n] * np.exp(-theta * v[:n])).sum() / np.exp(-theta * v[:n]).sum() for n in range(1, 7))
    assert turned.mean() == pytest.approx(expected, abs=4 * turned.std() / np.sqrt(4000))


def test_drawn_pairs_of_edges_estimate_all_of_them():
    rng = np.random.default_rng(1)
    data = RankingDataset.from_arrays(None, rng.integers(0, 3, 12).astype(float))
    s = rng.normal(size=12)
    exact = StructRankLoss(structure="all", max_edges=1000)(s, data)
    drawn = [StructRankLoss(structure="all", max_edges=6, random_state=seed)(s, data) for seed in range(400)]
    assert np.mean(drawn) == pytest.approx(exact, abs=4 * np.std(drawn) / 20)
