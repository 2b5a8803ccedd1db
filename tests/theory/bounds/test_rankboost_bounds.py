"""RankBoost's bounds on random matrices of differences."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.theory.bounds.rankboost_bounds import (
    boosted_distribution,
    empirical_margin_loss,
    normalised_edge,
    rankboost_error_bounds,
    rankboost_margin_bound,
)
from plackett.theory.bounds.ranking_margin import ranking_margin, smooth_ranking_margin


def boost(differences, n_rounds):
    """RankBoost on a matrix with entries −1, 0, 1: chosen columns, steps, shares, and the last distribution."""
    D = np.full(len(differences), 1 / len(differences))
    chosen, alphas, plus, minus, product = [], [], [], [], 1.0
    for _ in range(n_rounds):
        k = int(np.argmax(D @ differences))
        d = differences[:, k]
        right, wrong = D[d == 1].sum(), D[d == -1].sum()
        if not right > wrong > 0:
            break
        alpha = 0.5 * np.log(right / wrong)
        D = D * np.exp(-alpha * d)
        product *= D.sum()
        D /= D.sum()
        chosen.append(k), alphas.append(alpha), plus.append(right), minus.append(wrong)
    return differences[:, chosen], np.array(alphas), np.array(plus), np.array(minus), D, product


def random_matrix(seed, tied=0.3):
    rng = np.random.default_rng(seed)
    p = (1 - tied) * np.array([0.4, 0, 0.6]) + np.array([0, tied, 0])
    return rng.choice([-1, 0, 1], (40, 12), p=p).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_distribution_identity(seed):
    differences, alphas, _, _, D, product = boost(random_matrix(seed), 15)
    result, normaliser = boosted_distribution(differences, alphas)
    np.testing.assert_allclose(result, D, atol=1e-12)
    np.testing.assert_allclose(normaliser, product, rtol=1e-12)
    assert boosted_distribution(1e4 * np.ones((3, 1)), [1.0])[0].tolist() == [1 / 3] * 3  # far beyond the range of exp


@pytest.mark.parametrize("seed", range(4))
def test_chain_of_error_bounds(seed):
    differences, alphas, plus, minus, _, _ = boost(random_matrix(seed), 15)
    bounds = rankboost_error_bounds(plus, minus)
    tied = 1 - plus - minus
    root = np.cumprod(np.sqrt(1 - (plus - minus) ** 2 / (1 - tied)))
    for t in range(alphas.size):
        error = np.mean(differences[:, : t + 1] @ alphas[: t + 1] <= 0)
        assert error <= bounds.product[t] <= root[t] <= bounds.normalised[t] <= bounds.edges[t]
    np.testing.assert_allclose(bounds.edges[-1], np.exp(-0.5 * ((plus - minus) ** 2).sum()))
    worst = ((plus - minus) / 2).min()
    assert bounds.edges[-1] <= np.exp(-2 * worst**2 * alphas.size)


def test_rankers_that_tie_most_pairs():
    """Each ranker tells about 1 pair in 7 apart: small edges, much larger normalised ones, and the bound holds."""
    differences, alphas, plus, minus, _, _ = boost(random_matrix(1, tied=0.85), 30)
    plain, normalised = (plus - minus) / 2, normalised_edge(plus, minus)
    np.testing.assert_allclose(normalised, plain / np.sqrt(plus + minus))
    assert normalised.min() > 1.5 * plain.min()
    error = np.mean(differences @ alphas <= 0)
    assert error <= np.exp(-2 * normalised.min() ** 2 * alphas.size)
    np.testing.assert_allclose(normalised_edge([0.05, 0.0], [0.0, 0.0]), [0.5 * np.sqrt(0.05), 0.0])


@pytest.mark.parametrize("rho", [0.0, 0.05, 0.1, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_margin_bound(seed, rho):
    differences, alphas, plus, minus, _, product = boost(random_matrix(seed), 15)
    margins = differences @ alphas / alphas.sum()
    bound = rankboost_margin_bound(plus, minus, rho)
    assert empirical_margin_loss(margins, rho) <= bound
    if rho == 0:
        np.testing.assert_allclose(bound, product, rtol=1e-12)
    np.testing.assert_allclose(
        rankboost_margin_bound(plus, 1 - plus, rho),
        2**plus.size * np.prod(np.sqrt((1 - plus) ** (1 - rho) * plus ** (1 + rho))),
    )
    assert empirical_margin_loss([0.1, 0.2, 0.3], 0.2) == pytest.approx(2 / 3)


def test_smooth_margin_bounds_the_margin():
    rng = np.random.default_rng(0)
    for _ in range(20):
        matrix, alphas = rng.choice([-1.0, 0.0, 1.0], (9, 4)), rng.uniform(0, 5, 4)
        G, margin = smooth_ranking_margin(matrix, alphas), ranking_margin(matrix, alphas)
        assert G <= margin <= G + np.log(9) / alphas.sum()
        np.testing.assert_allclose(G, -np.log(np.exp(-matrix @ alphas).sum()) / alphas.sum())


@pytest.mark.parametrize(("plus", "minus"), [([0.7], [0.4]), ([0.5], [0.1, 0.2])])
def test_shares_are_checked(plus, minus):
    with pytest.raises(ValueError, match="shares"):
        rankboost_error_bounds(plus, minus)
    with pytest.raises(ValueError, match="all 0"):
        ranking_margin([[1.0]], [0.0])
