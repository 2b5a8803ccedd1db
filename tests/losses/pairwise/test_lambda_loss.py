"""LambdaLoss: each loss bounds its cost, and its weights are held fixed."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.losses import Lambda, LambdaLoss, Logistic
from written_out.pairwise import lambda_loss_weights


def random_list(rng):
    n = int(rng.integers(2, 12))
    y = rng.integers(0, 4, n).astype(float)
    return y, rng.normal(0, rng.choice([0.1, 1.0, 5.0]), n)


def ranks(scores):
    position = np.empty(scores.size, int)
    position[np.argsort(-scores, kind="stable")] = np.arange(1, scores.size + 1)
    return position


def costs(y, scores):
    """Costs of nDCG: in all and beyond the ideal; of the relevant position: less Σy and beyond the ideal."""
    gains, position, ideal = 2.0**y - 1, ranks(scores), ranks(y)
    top = (gains / np.log2(1 + ideal)).sum()
    gains = gains / top if top > 0 else gains
    reached = (gains / np.log2(1 + position)).sum()
    lost = 1 - reached if top > 0 else 0.0
    return gains.sum() - reached, lost, (y * (position - 1)).sum(), (y * (position - ideal)).sum()


@pytest.mark.parametrize(("bound", "cost"), [("nDCG1", 0), ("nDCG2", 1), ("nDCG2++", 1), ("ARP1", 2), ("ARP2", 3)])
def test_bounds_its_cost(bound, cost):
    rng = np.random.default_rng(0)
    for _ in range(200):
        y, scores = random_list(rng)
        for sigma in (1.0, 3.0):
            value = LambdaLoss(bound=bound, sigma=sigma)(scores, RankingDataset.from_arrays(None, y))
            assert value >= costs(y, scores)[cost] - 1e-12


@pytest.mark.parametrize(("bound", "cost"), [("nDCG2", 1), ("ARP1", 2), ("ARP2", 3)])
def test_misordered_pairs_alone_bound_it_too(bound, cost):
    """In the limit of steep sigmoids the sum counts the weights of misordered pairs."""
    rng = np.random.default_rng(1)
    for _ in range(100):
        y, scores = random_list(rng)
        omega = lambda_loss_weights(LambdaLoss(bound=bound), scores, y)
        count = omega[scores[:, None] < scores[None, :]].sum()
        assert count >= costs(y, scores)[cost] - 1e-12
        if bound != "nDCG2":
            assert count == pytest.approx(costs(y, scores)[cost])


@pytest.mark.parametrize("bound", ["nDCG1", "nDCG2", "nDCG2++", "ARP1", "ARP2"])
def test_weights_are_held_fixed_inside_a_step(bound):
    """The gradient is that of the sum with the weights of the current ranks, whatever ranks a step would lead to."""
    rng = np.random.default_rng(2)
    y, scores = random_list(rng)
    loss = LambdaLoss(bound=bound, sigma=1.3)
    omega = lambda_loss_weights(loss, scores, y)
    wrong = 1 / (1 + np.exp(loss.sigma * (scores[:, None] - scores[None, :])))
    force = loss.sigma * omega * wrong / np.log(2)
    gradient, _ = loss.gradient(scores, RankingDataset.from_arrays(None, y))
    np.testing.assert_allclose(gradient, force.sum(axis=0) - force.sum(axis=1), rtol=1e-9, atol=1e-12)


def test_the_best_bound_is_lambdarank_and_mu_times_the_second_bound():
    rng = np.random.default_rng(3)
    y, scores = rng.integers(0, 4, 12).astype(float), rng.normal(size=12)
    data = RankingDataset.from_arrays(None, y)
    lambdas, _ = Lambda(measure="nDCG", truncation=None, normalize=False).gradient(scores, data)
    second, _ = LambdaLoss(bound="nDCG2").gradient(scores, data)
    for mu in (0.0, 1.0, 7.0):
        result, _ = LambdaLoss(bound="nDCG2++", mu=mu).gradient(scores, data)
        np.testing.assert_allclose(result, lambdas / np.log(2) + mu * second, rtol=1e-4, atol=1e-6)


def test_arp2_of_two_grades_is_ranknet():
    rng = np.random.default_rng(4)
    data = RankingDataset.from_arrays(None, rng.integers(0, 2, 15))
    scores = rng.normal(size=15)
    assert LambdaLoss(bound="ARP2")(scores, data) == pytest.approx(Logistic()(scores, data) / np.log(2))


def test_refusals():
    for parameters, match in (({"bound": "MAP"}, "nDCG2"), ({"sigma": 0.0}, "sigma=0"), ({"mu": -1.0}, "mu=-1")):
        with pytest.raises(LossError, match=match):
            LambdaLoss(**parameters)
