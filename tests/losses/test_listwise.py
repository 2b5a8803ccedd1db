"""ListNet, ListMLE and ApproxNDCG: the lecture's example, identities between them, bounds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

from plackett import LossError, RankingDataset, evaluate
from plackett.losses import ApproxNDCGLoss, ListMLELoss, ListNetLoss, Logistic
from plackett.losses.listwise._smooth_ranks import next_ranks


def one_list(labels):
    return RankingDataset.from_arrays(None, labels)


def log_probability(order, scores):
    """Plackett–Luce: each place goes to one of those that are left, in proportion to e^score."""
    return sum(scores[j] - logsumexp(scores[list(order[i:])]) for i, j in enumerate(order))


# ----------------------------------------------------------------------------------------------------------- ListMLE


def test_the_lectures_permutation():
    """P([2, 1, 4, 3]) of four items, written out factor by factor."""
    s = np.array([0.3, 1.2, -0.5, 0.1])
    one, two, three, four = np.exp(s)
    p = two / (one + two + three + four) * one / (one + three + four) * four / (three + four) * three / three
    labels = [2, 3, 0, 1]  # item 2 first, then 1, then 4, then 3
    assert np.exp(-ListMLELoss()(s, one_list(labels))) == pytest.approx(p)


def test_probabilities_of_all_permutations_sum_to_one():
    s = np.array([0.3, 1.2, -0.5, 0.1])
    total = 0.0
    for order in itertools.permutations(range(4)):
        labels = np.empty(4)
        labels[list(order)] = [3, 2, 1, 0]
        total += np.exp(-ListMLELoss()(s, one_list(labels)))
    assert total == pytest.approx(1.0)


def test_label_ties_bound_the_likelihood_of_all_ideal_orders():
    """Exact for single documents; a block of b tied ones has b! orders, each at least as likely as counted."""
    rng = np.random.default_rng(0)
    for labels in ([2, 1, 0, 1, 2], [1, 1, 0], [3, 0, 0, 0], [2, 1, 0]):
        y, s = np.array(labels), rng.normal(size=len(labels))
        ideal = [o for o in itertools.permutations(range(y.size)) if (np.diff(y[list(o)]) <= 0).all()]
        exact = -logsumexp([log_probability(o, s) for o in ideal])
        orders = sum(np.log(np.arange(1, np.sum(y == level) + 1)).sum() for level in np.unique(y) if level > y.min())
        result = ListMLELoss()(s, one_list(y)) - orders
        assert result >= exact - 1e-12
        if max(np.bincount(y)[1:]) == 1:  # only the lowest block is tied, and it adds nothing
            assert result == pytest.approx(exact)


def test_listmle_of_two_documents_is_ranknet():
    data = RankingDataset.from_arrays(None, [1, 0, 0, 3], [1, 1, 2, 2])
    s = np.array([0.2, 0.9, -3.0, 1.0])
    assert ListMLELoss()(s, data) == pytest.approx(Logistic()(s, data), rel=1e-14)
    for mle, ranknet in zip(ListMLELoss().gradient(s, data), Logistic().gradient(s, data), strict=True):
        np.testing.assert_allclose(mle, ranknet, rtol=1e-12)


def test_listmle_gradient_by_the_formula():
    """Per document: −1 and, for each place up to its own, its share of what is left."""
    s = np.random.default_rng(1).normal(size=6)
    gradient, _ = ListMLELoss().gradient(s, one_list([5, 4, 3, 2, 1, 0]))
    for j in range(6):
        expected = sum(np.exp(s[j]) / np.exp(s[t:]).sum() for t in range(j + 1)) - 1
        assert gradient[j] == pytest.approx(expected)


def test_listmle_far_out():
    """The places below a document that is far ahead still count: log 2 for two equal ones, wherever they are."""
    y = [3, 2, 1]
    for far in (1e3, 1e4, 1e6):
        assert ListMLELoss()(np.array([0.0, -far, -far]), one_list(y)) == pytest.approx(np.log(2))
        assert ListMLELoss()(np.array([0.0, -far, -far]) + 1e4, one_list(y)) == pytest.approx(np.log(2))
        _, curvature = ListMLELoss().gradient(np.array([0.0, -far, -far]), one_list(y))
        np.testing.assert_allclose(curvature, [0, 0.25, 0.25], atol=1e-12)


def test_listmle_top_k():
    s = np.random.default_rng(2).normal(size=4)
    first = logsumexp(s) - s[0]
    second = logsumexp(s[1:]) - s[1]
    data = one_list([3, 2, 1, 0])
    assert ListMLELoss(k=1)(s, data) == pytest.approx(first)
    assert ListMLELoss(k=2)(s, data) == pytest.approx(first + second)
    with pytest.raises(LossError, match="k=0"):
        ListMLELoss(k=0)


# ----------------------------------------------------------------------------------------------------------- ListNet


def test_listnet_gradient_is_the_difference_of_two_softmaxes():
    rng = np.random.default_rng(3)
    y, s = rng.integers(0, 5, 9).astype(float), rng.normal(size=9)
    gradient, curvature = ListNetLoss().gradient(s, one_list(y))
    np.testing.assert_allclose(gradient, softmax(s) - softmax(y), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(curvature, softmax(s) * (1 - softmax(s)), rtol=1e-12)
    p = softmax(y)
    assert ListNetLoss()(s, one_list(y)) == pytest.approx(-(p * np.log(softmax(s))).sum() + (p * np.log(p)).sum())


def test_listnet_is_zero_for_the_labels_and_positive_elsewhere():
    y = np.array([2.0, 0.0, 1.0])
    assert ListNetLoss()(y + 5.0, one_list(y)) == pytest.approx(0.0, abs=1e-15)
    assert ListNetLoss(temperature=2.0)(y / 2.0, one_list(y)) == pytest.approx(0.0, abs=1e-15)
    assert ListNetLoss()(2.0 * y, one_list(y)) > 0.01


def test_listnet_with_a_certain_best_document_is_the_first_place_of_listmle():
    s = np.random.default_rng(4).normal(size=4)
    data = one_list([3, 2, 1, 0])
    assert ListNetLoss(temperature=1e-3)(s, data) == pytest.approx(ListMLELoss(k=1)(s, data))


def test_listnet_temperature():
    with pytest.raises(LossError, match="temperature"):
        ListNetLoss(temperature=0.0)


# -------------------------------------------------------------------------------------------------------- ApproxNDCG


def smooth_ranks(scores, alpha):
    """The kernel's own ranks, each document as the first and as the second of two."""
    power = np.exp(alpha * scores)
    g, *ahead = np.zeros((3, scores.size))
    ranks = np.array([[next_ranks(power, p, q, g, *ahead, 0.0, 0.0)[:2] for q in power] for p in power])
    np.testing.assert_allclose(ranks[:, :, 0], ranks[:, :1, 0].repeat(scores.size, axis=1), rtol=1e-13)
    np.testing.assert_allclose(ranks[:, :, 0], ranks[:, :, 1].T, rtol=1e-13)
    return ranks[:, 0, 0]


@pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
def test_smooth_ranks(alpha):
    """They sum to m(m+1)/2, equal scores share their mean, and they miss the ranks by (m−1)/(1+e^(αδ)) at most."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        m = int(rng.integers(2, 9))
        scores = rng.normal(size=m)
        ranks = smooth_ranks(scores, alpha)
        assert ranks.sum() == pytest.approx(m * (m + 1) / 2)
        gap = np.diff(np.sort(scores)).min()
        true = (scores[None, :] > scores[:, None]).sum(axis=1) + 1
        assert np.abs(ranks - true).max() <= (m - 1) / (1 + np.exp(alpha * gap)) + 1e-12
    np.testing.assert_allclose(smooth_ranks(np.zeros(5), alpha), 3.0)


def test_approx_ndcg_error_bound():
    """|AppNDCG − nDCG| ≤ nDCG · err / (2 ln 2) with err the largest error of a rank; nothing is left as α grows."""
    rng = np.random.default_rng(6)
    for _ in range(30):
        m = int(rng.integers(2, 9))
        y, scores = rng.integers(0, 4, m), rng.normal(size=m)
        y[0] = 2
        data = one_list(y)
        ndcg = evaluate(data, scores, ["nDCG"]).mean["nDCG"]
        gap = np.diff(np.sort(scores)).min()
        for alpha in (1.0, 10.0, 100.0):
            error = (m - 1) / (1 + np.exp(alpha * gap))
            assert abs(1 - ApproxNDCGLoss(alpha=alpha)(scores, data) - ndcg) <= ndcg * error / (2 * np.log(2)) + 1e-12
        assert 1 - ApproxNDCGLoss(alpha=100 / gap)(scores, data) == pytest.approx(ndcg, abs=1e-12)


def test_approx_ndcg_of_equal_scores():
    """All stand at the mean rank (m+1)/2."""
    y = np.array([3.0, 0.0, 1.0, 0.0])
    ideal = 7 + 1 / np.log2(3)
    assert ApproxNDCGLoss()(np.zeros(4), one_list(y)) == pytest.approx(1 - (7 + 1) / np.log2(1 + 2.5) / ideal)


def test_approx_ndcg_is_not_convex():
    data, loss = one_list([1, 0]), ApproxNDCGLoss()
    a, b = np.array([0.0, 2.0]), np.array([0.0, 10.0])
    assert loss((a + b) / 2, data) > 0.5 * (loss(a, data) + loss(b, data))
    assert not loss.convex


def test_approx_ndcg_unjudged_documents_take_up_ranks():
    """As in nDCG: an unjudged document ahead of a relevant one costs, and is pushed down."""
    data = one_list([1, -1])
    gradient, _ = ApproxNDCGLoss().gradient(np.array([0.0, 1.0]), data)
    assert ApproxNDCGLoss()(np.array([0.0, 1.0]), data) > ApproxNDCGLoss()(np.array([1.0, 0.0]), data)
    assert gradient[0] < 0 < gradient[1]


def test_approx_ndcg_alpha():
    with pytest.raises(LossError, match="alpha"):
        ApproxNDCGLoss(alpha=0.0)
