"""Line searches against all intervals; the share of misordered pairs never grows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from plackett import RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.linear_discriminant import LinearDiscriminant, best_move

small = st.integers(-3, 3)


def error(gap, weight):
    return weight[gap < 0].sum() + 0.5 * weight[gap == 0].sum()


@given(st.lists(st.tuples(small, small, st.integers(0, 3)), min_size=1, max_size=25))
def test_line_search_against_all_intervals(pairs):
    gap, step, weight = np.array(pairs, float).T
    places = np.unique(-gap[step != 0] / step[step != 0]) if step.any() else np.zeros(1)
    middles = (places[1:] + places[:-1]) / 2
    least = min(error(gap + m * step, weight) for m in (*middles, places[0] - 1, places[-1] + 1, 0.0))
    move = best_move(gap, step, weight)
    np.testing.assert_allclose(error(gap + move * step, weight), least, atol=1e-9)
    if error(gap, weight) == least:
        assert move == 0.0  # nothing moves for nothing


def task(seed=0, n_queries=15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * 8, 4)).astype(np.float32)
    y = np.clip(np.round(X @ [1.0, -1.0, 0.3, 0.0] + 0.4 * rng.normal(size=len(X))), -1, 2)
    return X, y, np.arange(len(X)) // 8


def share(ranker, X, y, qid, normalize):
    """Misordered pairs by their definition, queries alike or pairs alike."""
    scores, terms = ranker.predict(X), []
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        gaps = [scores[u] - scores[v] for u in rows for v in rows if y[u] > y[v] >= 0]
        terms.append([(g < 0) + 0.5 * (g == 0) for g in gaps])
    if normalize:
        return np.mean([np.mean(t) for t in terms if t])
    return np.mean([x for t in terms for x in t])


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("start", ["perceptron", 2])
def test_misordered_pairs_never_grow(start, normalize):
    X, y, qid = task()
    ranker = LinearDiscriminant(start=start, normalize=normalize).fit(X, y, qid=qid)
    assert (np.diff(ranker.errors_) <= 1e-12).all() and ranker.errors_[-1] < ranker.errors_[0]
    np.testing.assert_allclose(ranker.errors_[-1], share(ranker, X, y, qid, normalize), atol=1e-9)
    sparse = LinearDiscriminant(start=start, normalize=normalize).fit(csr_matrix(X), y, qid=qid)
    np.testing.assert_allclose(sparse.errors_, ranker.errors_, atol=1e-9)


def test_one_feature_is_where_it_starts():
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    pairs = Preferences.from_labels(data)
    gap = X[pairs.winner, 3] - X[pairs.loser, 3]
    ranker = LinearDiscriminant(start=3, normalize=False).fit(data)
    np.testing.assert_allclose(ranker.errors_[0], (gap < 0).mean(), atol=1e-9)


def test_many_pairs_are_drawn():
    X, y, qid = task(n_queries=60)
    some = LinearDiscriminant(max_pairs=200).fit(X, y, qid=qid)
    everything = LinearDiscriminant().fit(X, y, qid=qid)
    assert some.errors_ != everything.errors_
    assert abs(share(some, X, y, qid, True) - share(everything, X, y, qid, True)) < 0.05


def test_weights_count():
    X, y, qid = task()
    rows = np.repeat(np.arange(y.size), np.where(qid == 3, 3, 1))  # a query three times is a query of weight 3
    copies = np.concatenate([qid, np.repeat([1000, 1001], (qid == 3).sum())])
    X3, y3 = np.vstack([X, X[qid == 3], X[qid == 3]]), np.concatenate([y, y[qid == 3], y[qid == 3]])
    assert rows.size == copies.size
    one = LinearDiscriminant(start=0).fit(X, y, qid=qid, query_weight=np.where(np.arange(15) == 3, 3.0, 1.0))
    two = LinearDiscriminant(start=0).fit(X3, y3, qid=copies)
    np.testing.assert_allclose(one.errors_, two.errors_, atol=1e-9)


@pytest.mark.parametrize("start", ["svm", 4, -1])
def test_refusals(start):
    X, y, qid = task()
    with pytest.raises(ValueError, match="number of a feature, 0 to 3"):
        LinearDiscriminant(start=start).fit(X, y, qid=qid)
