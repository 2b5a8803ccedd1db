"""PermuRank: its search and its objective against all rankings."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.rankers.listwise.permurank import PermuRank, slack_violations
from plackett.rankers.listwise.svm_map import ap_violations
from plackett.rankers.listwise.svm_ndcg import ndcg_violations
from plackett.theory.structured_bounds import structured_bounds
from rankers.listwise.structural_checks import all_rankings, lists_of, quadratic_program, short_lists, tiny_task

pytestmark = pytest.mark.spec("listwise.permurank")


@pytest.mark.parametrize(("measure", "grades"), [("AP", 2), ("nDCG", 4)])
def test_search_is_between_the_error_and_the_largest_loss(measure, grades):
    """It bounds 1 − M as the full maximum does, is never above it, and nearly always reaches it."""
    find = {"AP": lambda y: ap_violations(y, 1.0, 1), "nDCG": lambda y: ndcg_violations(y, None, "exp2", 1)}[measure]
    reached = total = 0
    for s, y in short_lists(grades):
        (error,), slope, (loss,) = slack_violations(find(lists_of(y)), s, np.array([0, y.size]))
        bounds = structured_bounds(s, y, measure)
        assert bounds.error - 1e-8 <= loss <= bounds.slack + 1e-8
        np.testing.assert_allclose(loss, error * max(0.0, 1 + slope @ s), atol=1e-12)
        total += 1
        reached += loss >= bounds.slack * (1 - 1e-6) - 1e-9
    assert reached >= 0.9 * total


@pytest.mark.parametrize("C", [0.5, 20.0])
def test_objective_is_that_of_the_quadratic_program(C):
    def error(relevant):
        places = np.flatnonzero(relevant) + 1
        return 1 - np.mean(np.arange(1, places.size + 1) / places)

    X, y, qid = tiny_task(seed=4)
    of_list, errors, moved = all_rankings(X, y, qid, error)
    least, weights = quadratic_program(of_list, errors, errors[:, None] * moved, C, 5)
    ranker = PermuRank(C=C, tol=1e-6, standardize=False).fit(X, y, qid=qid)
    assert ranker.gap_ <= 1e-6
    assert 0 < ranker.n_rankings_ <= of_list.size
    # the search may miss a ranking, so the objective found may be a little below
    assert least * 0.98 <= ranker.objective_ <= least * (1 + 1e-5)
    np.testing.assert_allclose(ranker.coef_, weights, atol=0.1 * max(1, np.abs(weights).max()))


def test_both_measures_learn_and_others_are_refused():
    X, y, qid = tiny_task(n_queries=10, grades=3)
    y = np.digitize(X[:, 0], [-0.5, 0.7]).astype(float)
    for measure in ("AP", "nDCG"):
        weights = PermuRank(measure=measure).fit(X, y, qid=qid).scorer_.weights[:, 0]
        assert np.argmax(np.abs(weights)) == 0 and weights[0] > 0
    with pytest.raises(ValueError, match="measure='P@5'; PermuRank has AP, nDCG"):
        PermuRank(measure="P@5").fit(X, y, qid=qid)
