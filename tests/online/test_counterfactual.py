"""Counterfactual comparison: unbiased whatever is shown, and less variable than what it is compared with."""

from __future__ import annotations

import numpy as np
import pytest

from plackett._base.errors import DataError
from plackett.online.counterfactual import CounterfactualComparison, logging_policy, second_moment

LOOK = np.array([1.0, 0.6, 0.4, 0.3])


def cases(n=5):
    for seed in range(n):
        rng = np.random.default_rng(seed)
        yield rng.permutation(6).tolist(), rng.permutation(6).tolist(), rng.uniform(0.05, 0.95, 6)


def clicks_per_page(ranking, relevance):
    return LOOK @ relevance[ranking[:4]]


def moments(policy, relevance):
    """Exact mean and second moment of the estimate of one page, from the definition, click by click."""
    mean = square = 0.0
    for row, p in zip(policy.lists, policy.probability, strict=True):
        for clicked in np.ndindex(*[2] * 4):
            chances = LOOK * relevance[row]
            weight = p * np.prod(np.where(clicked, chances, 1 - chances))
            x = policy.value[row] @ np.array(clicked)
            mean, square = mean + weight * x, square + weight * x * x
    return mean, square


def test_the_estimate_is_unbiased_whatever_relevance_was_guessed():
    for first, second, relevance in cases():
        truth = clicks_per_page(first, relevance) - clicks_per_page(second, relevance)
        for guess in (relevance, np.full(6, 0.3), 1 - relevance):
            policy = logging_policy(first, second, LOOK, guess)
            assert policy.probability.sum() == pytest.approx(1) and policy.probability.min() > 0
            assert moments(policy, relevance)[0] == pytest.approx(truth, abs=1e-12)
            for row in policy.lists:  # only best remaining documents are added
                for i, document in enumerate(row):
                    assert document in {next(d for d in each if d not in row[:i]) for each in (first, second)}


def _second_moment(p, seen, difference, relevance):
    value, gradient = np.empty(difference.size), np.empty(p.size)
    return second_moment(p, seen, difference, relevance, value, gradient), gradient


def test_gradient_of_the_variance():
    rng = np.random.default_rng(0)
    for first, second, relevance in cases(3):
        policy = logging_policy(first, second, LOOK, relevance, steps=0)
        seen = np.zeros((len(policy.lists), 6))
        np.put_along_axis(seen, policy.lists, LOOK, axis=1)
        p = rng.dirichlet(np.ones(len(seen)))
        value, gradient = _second_moment(p, seen, policy.difference, relevance)
        numeric = [
            (_second_moment(p + e, seen, policy.difference, relevance)[0] - value) / 1e-7 for e in 1e-7 * np.eye(p.size)
        ]
        np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-5)


def test_variance_is_as_low_as_a_general_solver_finds_and_below_uniform_and_ab():
    from scipy.optimize import minimize

    for first, second, relevance in cases(3):
        policy, uniform = (logging_policy(first, second, LOOK, relevance, steps=steps) for steps in (200, 0))
        square = moments(policy, relevance)[1]
        assert square <= moments(uniform, relevance)[1] + 1e-12
        seen = np.zeros((len(policy.lists), 6))
        np.put_along_axis(seen, policy.lists, LOOK, axis=1)

        def loss(logits, seen=seen, difference=policy.difference, relevance=relevance):
            p = np.exp(logits - logits.max())
            return _second_moment(0.95 * p / p.sum() + 0.05 / p.size, seen, difference, relevance)[0]

        best = min(
            minimize(loss, start, method="BFGS").fun for start in (np.zeros(len(seen)), np.arange(len(seen)) % 3.0)
        )
        assert square <= best * 1.01


def test_similar_rankers_need_far_fewer_pages_than_an_ab_test():
    relevance = np.array([0.6, 0.3, 0.5, 0.2, 0.4, 0.1])
    first, second = [0, 1, 2, 3, 4, 5], [0, 2, 1, 3, 4, 5]
    mean, square = moments(logging_policy(first, second, LOOK, relevance), relevance)
    chances = [LOOK * relevance[each[:4]] for each in (first, second)]
    of_ab = 2 * sum((each * (1 - each)).sum() for each in chances)  # two groups of half of the pages each
    assert square - mean**2 < of_ab / 10


@pytest.mark.parametrize("update", [True, False])
def test_simulated_comparisons_are_unbiased_and_learning_helps(update):
    """Many experiments: the mean estimate is the truth within its error, though the draw follows the clicks."""
    relevance = np.array([0.9, 0.05, 0.6, 0.05, 0.3, 0.05])
    first, second = [1, 0, 2, 3, 4, 5], [3, 2, 4, 0, 5, 1]
    truth = clicks_per_page(first, relevance) - clicks_per_page(second, relevance)
    estimates, rejected = [], 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        comparison = CounterfactualComparison(LOOK, update=update, random_state=seed, most_lists=8)
        for _ in range(100):
            page = comparison.show("q", first, second)
            hit = rng.random(4) < LOOK * relevance[page.documents]
            comparison.learn("q", page, [d for d, h in zip(page.documents, hit, strict=True) if h])
        estimates.append(comparison.result().estimate)
        rejected += not comparison.result().lower <= truth <= comparison.result().upper
    error = np.std(estimates, ddof=1) / np.sqrt(40)
    assert abs(np.mean(estimates) - truth) < 3.5 * error and error < 0.04
    assert rejected <= 3


def test_wrong_input_is_named():
    for look in ([], [0.0], [1.5]):
        with pytest.raises(DataError, match="look"):
            CounterfactualComparison(look)
    with pytest.raises(DataError, match="relevance"):
        CounterfactualComparison([1.0], relevance=1.0)
    with pytest.raises(DataError, match="second list"):
        CounterfactualComparison([1.0, 0.5]).show("q", ["a", "b"], ["a", "a"])
    comparison = CounterfactualComparison([1.0, 0.5])
    page = comparison.show("q", ["a", "b"], ["b", "a"])
    with pytest.raises(DataError, match="'z' is not in the list"):
        comparison.learn("q", page, ["z"])


def test_a_query_without_documents_has_an_empty_page():
    comparison = CounterfactualComparison(look=[1.0, 0.5])
    page = comparison.show("q", [], [])
    assert page.documents == [] and comparison.learn("q", page, []).n == 1


def test_without_clicks_the_difference_is_not_known():
    comparison = CounterfactualComparison(look=[1.0, 0.5], random_state=0)
    for _ in range(40):
        comparison.learn("q", comparison.show("q", ["a", "b"], ["b", "a"]), [])
    assert comparison.result().upper == np.inf
