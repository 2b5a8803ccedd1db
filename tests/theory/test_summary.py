"""Chapter 19: the registry, decision-theoretic ranking; the hidden loss of Rocchio; the package itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk


def test_all_39_methods_are_rankers_with_an_approach():
    table = pk.theory.algorithm_registry()
    assert table["number"].to_list() == list(range(1, 40))
    assert set(table["approach"]) == {"pointwise", "pairwise", "listwise"}
    assert table["ranker"].n_unique() == 39
    assert all(issubclass(getattr(pk.rankers, name), pk.rankers.base.Ranker) for name in table["ranker"])


def test_order_by_expected_utility_is_the_best_of_all():
    rng = np.random.default_rng(0)
    for m in (1, 3, 5):
        outcomes = rng.dirichlet(np.ones(3), m)
        utilities = np.array([-0.2, 0.5, 1.0])
        result = pk.theory.expected_utility_order(outcomes, utilities)
        eta = 1 / np.log2(np.arange(2, m + 2))
        values = [
            sum(eta[r] * (outcomes[d] @ utilities) for r, d in enumerate(o)) for o in itertools.permutations(range(m))
        ]
        assert result.value == pytest.approx(max(values))
        assert result.value == pytest.approx(result.utilities[result.order] @ eta)
    with pytest.raises(pk.DataError, match="sum to 1"):
        pk.theory.expected_utility_order([[0.5, 0.2]], [0, 1])


def test_one_step_on_the_hidden_loss_is_rocchio():
    rng = np.random.default_rng(0)
    q, good, bad = rng.random(6), rng.random((3, 6)), rng.random((4, 6))
    alpha, beta, gamma = 0.8, 0.6, 0.2
    parameters = {"alpha": alpha, "beta": beta, "gamma": gamma}
    result = pk.theory.rocchio_hidden_loss(q, good, bad, **parameters)
    assert q - result.gradient == pytest.approx(alpha * q + beta * good.mean(axis=0) - gamma * bad.mean(axis=0))
    step = 1e-6 * rng.standard_normal(6)
    up, down = (pk.theory.rocchio_hidden_loss(q + d, good, bad, **parameters).value for d in (step, -step))
    assert (up - down) / 2 == pytest.approx(result.gradient @ step, rel=1e-5)
    least = (beta * good.mean(axis=0) - gamma * bad.mean(axis=0)) / (1 - alpha)  # another vector
    assert pk.theory.rocchio_hidden_loss(least, good, bad, **parameters).gradient == pytest.approx(
        np.zeros(6), abs=1e-12
    )


def test_a_package_named_after_its_item_gives_way_to_it():
    from plackett.theory.stability import measured

    assert pk.theory.stability is measured.stability
    assert "check_consistency" in dir(pk.theory)
    with pytest.raises(AttributeError, match="no attribute 'unheard_of'"):
        pk.theory.unheard_of  # noqa: B018
