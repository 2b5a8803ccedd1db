"""Multiple hyperplane ranker: which machines there are, and how they are combined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from plackett import RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.multiple_hyperplane_ranker import MultipleHyperplaneRanker
from plackett.rankers.pairwise.rank_svm import RankSVM


def task(seed=0, n_queries=15, grades=3):
    """Lists in which another feature tells each two neighbouring grades apart."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 10)
    y = rng.integers(0, grades, qid.size).astype(float)
    X = rng.normal(size=(qid.size, 4))
    X[:, 0] += 1.5 * (y > 0)
    X[:, 1] += 1.5 * (y > 1)
    return X.astype(np.float32), y, qid


def test_two_grades_are_ranking_svm():
    X, y, qid = task(grades=2)
    ranker = MultipleHyperplaneRanker(n_jobs=1).fit(X, y, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X, qid=qid), RankSVM(C=1e-3, n_jobs=1).fit(X, y, qid=qid).predict(X))


@pytest.mark.parametrize("combine", ["borda", "scores"])
def test_combination_of_ranking_svms(combine):
    """Each machine is a Ranking SVM of two grades alone; sums of scores, or of documents below, written out."""
    X, y, qid = task()
    alpha = (0.5, 1.0, 2.0)
    ranker = MultipleHyperplaneRanker(combine=combine, alpha=alpha, n_jobs=1).fit(X, y, qid=qid)
    assert ranker.pairs_ == [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0)]
    expected = np.zeros(y.size)
    for weight, pair in zip(alpha, ranker.pairs_, strict=True):
        two = np.isin(y, pair)
        # features are scaled by their spread over all documents, so the others stay, unjudged
        scores = RankSVM(C=1e-3, n_jobs=1).fit(X, np.where(two, y, -1.0), qid=qid).predict(X)
        for q in np.unique(qid):
            mine = qid == q
            points = mine.sum() - rankdata(-scores[mine])
            expected[mine] += weight * (points if combine == "borda" else scores[mine])
    np.testing.assert_allclose(ranker.predict(X, qid=qid), expected, rtol=1e-9)


def test_one_machine_alone():
    X, y, qid = task()
    for i in range(3):
        ranker = MultipleHyperplaneRanker(alpha=np.eye(3)[i], n_jobs=1).fit(X, y, qid=qid)
        column = X @ ranker.scorer_.weights[:, i]
        for q in np.unique(qid):
            mine = qid == q
            np.testing.assert_array_equal(np.argsort(-ranker.predict(X, qid=qid)[mine]), np.argsort(-column[mine]))


def test_which_pairs_of_grades():
    X, y, qid = task(grades=4)
    assert len(MultipleHyperplaneRanker(n_jobs=1).fit(X, y, qid=qid).pairs_) == 6
    adjacent = MultipleHyperplaneRanker(grade_pairs="adjacent", n_jobs=1).fit(X, y, qid=qid)
    assert adjacent.pairs_ == [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]
    apart = np.where(qid < 7, y % 2, 2 + y % 2)  # no query has both 0 or 1 and 2 or 3
    assert MultipleHyperplaneRanker(n_jobs=1).fit(X, apart, qid=qid).pairs_ == [(0.0, 1.0), (2.0, 3.0)]


def test_weights_fitted_on_validation_data():
    X, y, qid = task(n_queries=10)
    X[:, 3] = -3 * (y == 2)  # in training the best documents differ by a feature that misleads later
    valid = task(seed=1)
    plain, fitted = (
        MultipleHyperplaneRanker(alpha=alpha, n_jobs=1).fit(X, y, qid=qid, eval_set=valid[:2], eval_qid=valid[2])
        for alpha in (None, "validation")
    )
    assert fitted.history_[0] >= plain.history_[0]
    assert not np.allclose(fitted.scorer_.alpha, fitted.scorer_.alpha[0])


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"grade_pairs": "some"}, "grade_pairs='some'"),
        ({"combine": "median"}, "combine='median'"),
        ({"alpha": "test"}, "alpha='test'"),
        ({"alpha": "validation"}, "needs validation data"),
        ({"alpha": (1.0,)}, r"each of the 3 pairs"),
        ({"alpha": (1.0, -1.0, 0.0)}, "0 or more"),
    ],
)
def test_refusals(parameters, match):
    X, y, qid = task()
    with pytest.raises(ValueError, match=match):
        MultipleHyperplaneRanker(**parameters, n_jobs=1).fit(X, y, qid=qid)


def test_what_has_no_grades_is_refused():
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    with pytest.raises(ValueError, match="preferences have no grades"):
        MultipleHyperplaneRanker().fit(data.replace(preferences=Preferences.from_labels(data)))
    with pytest.raises(ValueError, match="150 different labels"):
        MultipleHyperplaneRanker().fit(X, np.arange(150.0), qid=qid)
