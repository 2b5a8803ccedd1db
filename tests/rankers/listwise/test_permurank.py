"""PermuRank: its search and its objective against all rankings."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.rankers.listwise.permurank import PermuRank, ap_search, ndcg_search, slack_violations
from plackett.theory.bounds.structured_bounds import structured_bounds
from rankers.listwise.structural_checks import all_rankings, lists_of, quadratic_program, short_lists, tiny_task

SEARCHES = {
    "AP": lambda lists: ap_search(lists, 1.0, 1),
    "nDCG": lambda lists: ndcg_search(lists, None, "exp2", 1),
    "nDCG@2": lambda lists: ndcg_search(lists, 2, "exp2", 1),
}


@pytest.mark.parametrize(("measure", "grades"), [("AP", 2), ("nDCG", 4), ("nDCG@2", 3)])
def test_search_finds_the_largest_loss_of_all_rankings(measure, grades):
    for s, y in short_lists(grades):
        (error,), slope, (loss,), (bound,) = slack_violations(SEARCHES[measure](lists_of(y)), s, np.array([0, y.size]))
        largest = structured_bounds(s, y, measure).slack
        np.testing.assert_allclose([loss, bound], largest, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(loss, error * max(0.0, 1 + slope @ s), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("measure", "grades"), [("AP", 2), ("nDCG", 4)])
def test_search_by_corners_is_below_and_its_bound_above(measure, grades):
    """As for lists that are too long to try all rankings."""
    missed = 0
    for s, y in short_lists(grades, n=300, seed=7):
        search = SEARCHES[measure](lists_of(y))
        result = slack_violations(search._replace(patterns=np.zeros(1, np.int64)), s, np.array([0, y.size]))
        bounds = structured_bounds(s, y, measure)
        assert bounds.error - 1e-8 <= result.loss[0] <= bounds.slack + 1e-8
        assert result.bound[0] >= bounds.slack - 1e-9
        missed += result.loss[0] < bounds.slack * (1 - 1e-9) - 1e-12
    assert missed < 0.05 * 300


def test_a_violated_ranking_that_the_scores_hide():
    """One relevant document well ahead: (1 − AP)(1 + F) of the ranking with one other before it is .0315."""
    s, y = np.array([0.85, -0.518, -0.087]), np.array([1.0, 0.0, 0.0])
    result = slack_violations(SEARCHES["AP"](lists_of(y)), s, np.array([0, 3]))
    np.testing.assert_allclose(result.loss, 0.5 * (1 - (0.85 + 0.087)))


@pytest.mark.parametrize("C", [0.5, 20.0, 100.0])
@pytest.mark.parametrize("seed", [1, 4])
def test_objective_is_that_of_the_quadratic_program(C, seed):
    def error(relevant):
        places = np.flatnonzero(relevant) + 1
        return 1 - np.mean(np.arange(1, places.size + 1) / places)

    X, y, qid = tiny_task(seed=seed)
    of_list, errors, moved = all_rankings(X, y, qid, error)
    least, weights = quadratic_program(of_list, errors, errors[:, None] * moved, C, 5)
    ranker = PermuRank(C=C, tol=1e-6, standardize=False).fit(X, y, qid=qid)
    assert ranker.gap_ <= 1e-6
    assert 0 < ranker.n_rankings_ <= of_list.size
    np.testing.assert_allclose(ranker.objective_, least, rtol=1e-5)
    np.testing.assert_allclose(ranker.coef_, weights, atol=0.02 * max(1, np.abs(weights).max()))


def test_both_measures_learn_and_others_are_refused():
    X, y, qid = tiny_task(n_queries=10, grades=3)
    y = np.digitize(X[:, 0], [-0.5, 0.7]).astype(float)
    for measure in ("AP", "nDCG"):
        weights = PermuRank(measure=measure).fit(X, y, qid=qid).scorer_.weights[:, 0]
        assert np.argmax(np.abs(weights)) == 0 and weights[0] > 0
    with pytest.raises(ValueError, match="measure='P@5'; give one of 'AP', 'nDCG'"):
        PermuRank(measure="P@5").fit(X, y, qid=qid)
