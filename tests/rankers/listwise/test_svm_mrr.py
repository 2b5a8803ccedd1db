"""SVM-MRR: its search against all rankings and its objective against the quadratic program."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.rankers.listwise.svm_mrr import SVMMRR, rr_violations
from rankers.listwise.structural_checks import all_rankings, check_search, quadratic_program, tiny_task


def test_search_finds_the_most_violated_ranking():
    check_search(lambda lists: rr_violations(lists, 1.0, 1), "RR", grades=2)


@pytest.mark.parametrize("C", [0.5, 50.0])
def test_objective_and_weights_are_those_of_the_quadratic_program(C):
    X, y, qid = tiny_task(seed=1)
    least, weights = quadratic_program(*all_rankings(X, y, qid, lambda r: 1 - 1 / (1 + np.argmax(r))), C, 5)
    ranker = SVMMRR(C=C, tol=1e-7, standardize=False).fit(X, y, qid=qid)
    assert ranker.gap_ <= 1e-7
    np.testing.assert_allclose(ranker.objective_, least, rtol=1e-5)
    np.testing.assert_allclose(ranker.coef_, weights, atol=5e-3 * max(1, np.abs(weights).max()))
