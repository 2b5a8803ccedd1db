"""SVM-NDCG: its search against all rankings and a peer's assignment, its objective against the quadratic program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from plackett.rankers.listwise.svm_ndcg import SVMNDCG, ndcg_violations
from rankers.listwise.structural_checks import all_rankings, check_search, lists_of, quadratic_program, tiny_task


@pytest.mark.parametrize(("k", "measure"), [(None, "nDCG"), (1, "nDCG@1"), (3, "nDCG@3")])
def test_search_finds_the_most_violated_ranking(k, measure):
    check_search(lambda lists: ndcg_violations(lists, k, "exp2", 1), measure, grades=4)


@pytest.mark.parametrize("k", [None, 5])
@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("scale", [0.0, 0.3, 30.0])
def test_long_lists_against_a_general_assignment(scale, real, k):
    """SciPy's solver on the full table of costs; labels of few grades, and all of them different."""
    rng = np.random.default_rng(0)
    n = 60
    y = rng.uniform(0, 3, n) if real else rng.integers(0, 4, n).astype(float)
    s = scale * (y + 2 * rng.normal(size=n))
    (error,), slope = ndcg_violations(lists_of(y), k, "exp2", 1)(s)
    gains, discount = 2.0**y - 1, 1 / np.log2(2.0 + np.arange(n))
    discount[n if k is None else k :] = 0
    ideal = -np.sort(-gains) @ discount
    pairs = (y[:, None] > y).sum()
    cost = (2 / pairs) * s[:, None] * np.arange(1, n + 1) + gains[:, None] * discount / ideal
    position = linear_sum_assignment(cost)[1]
    wrong = (y[:, None] > y) & (position[:, None] > position)
    expected = 1 - gains @ discount[position] / ideal - 2 * (wrong * (s[:, None] - s)).sum() / pairs
    np.testing.assert_allclose(error + slope @ s, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(slope.sum(), 0, atol=1e-9)


@pytest.mark.parametrize("C", [0.5, 50.0])
def test_objective_and_weights_are_those_of_the_quadratic_program(C):
    def error(labels):
        discount = 1 / np.log2(2 + np.arange(labels.size))
        return 1 - (2.0**labels - 1) @ discount / ((2.0 ** -np.sort(-labels) - 1) @ discount)

    X, y, qid = tiny_task(seed=2, grades=3)
    least, weights = quadratic_program(*all_rankings(X, y, qid, error), C, 5)
    ranker = SVMNDCG(C=C, tol=1e-7, standardize=False).fit(X, y, qid=qid)
    assert ranker.gap_ <= 1e-7
    np.testing.assert_allclose(ranker.objective_, least, rtol=1e-5)
    np.testing.assert_allclose(ranker.coef_, weights, atol=5e-3 * max(1, np.abs(weights).max()))


def test_gains_are_checked():
    X, y, qid = tiny_task()
    with pytest.raises(ValueError, match="k=0"):
        SVMNDCG(k=0).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="label 1 has gain -1"):
        SVMNDCG(gain=[0, -1]).fit(X, y, qid=qid)
