"""AdaRank against the algorithm written out, and its arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plackett import DataError, MeasureError, RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.rankers.listwise.adarank import AdaRank
from plackett.testing.rankers import easy_task


def naive_ap(labels, scores):
    """Average precision of one list without ties."""
    result, total = 0, 0.0
    for rank, i in enumerate(np.argsort(-scores), 1):
        if labels[i] >= 1:
            result += 1
            total += result / rank
    return total / result if result else 0.0


def naive_adarank(X, y, qid, rounds):
    """The printed algorithm: (feature, direction, α) of each round, and the training measure after it."""
    queries = [np.flatnonzero(qid == q) for q in np.unique(qid)]
    weak = [(j, sign) for sign in (1, -1) for j in range(X.shape[1])]
    D = np.full(len(queries), 1 / len(queries))
    F, path, means = np.zeros(y.size), [], []
    for _ in range(rounds):
        sums = [sum(d * naive_ap(y[r], sign * X[r, j]) for d, r in zip(D, queries, strict=True)) for j, sign in weak]
        j, sign = weak[int(np.argmax(sums))]
        M = np.array([naive_ap(y[r], sign * X[r, j]) for r in queries])
        alpha = 0.5 * math.log((D * (1 + M)).sum() / (D * (1 - M)).sum())
        F = F + alpha * sign * X[:, j]
        path.append((j, sign, alpha))
        values = np.array([naive_ap(y[r], F[r]) for r in queries])
        means.append(values.mean())
        D = np.exp(-values) / np.exp(-values).sum()
    return path, means


def noisy_task(seed, n_features=5):
    X, y, qid = easy_task(seed, n_queries=15, n_features=n_features)
    rng = np.random.default_rng(seed)
    return X, np.where(rng.random(y.size) < 0.4, rng.integers(0, 3, y.size), y).astype(float), qid


@pytest.mark.parametrize("seed", range(4))
def test_against_the_printed_algorithm(seed):
    X, y, qid = noisy_task(seed)
    ranker = AdaRank(n_estimators=12, tol=np.inf, max_repeats=None, standardize=False).fit(X, y, qid=qid)
    path, _ = naive_adarank(X.astype(float), y, qid, 12)
    expected = np.zeros((12, X.shape[1]))
    for t, (j, sign, _) in enumerate(path):
        expected[t, j] = sign
    np.testing.assert_array_equal(ranker.weak_, expected)
    np.testing.assert_allclose(ranker.alphas_, [alpha for *_, alpha in path], rtol=1e-9)
    np.testing.assert_allclose(ranker.scorer_.weights[:, 0], ranker.alphas_ @ expected, rtol=1e-9)


def test_stops_before_the_training_measure_falls():
    stopped = 0
    for seed in range(12):
        X, y, qid = noisy_task(seed)
        _, means = naive_adarank(X.astype(float), y, qid, 15)
        falls = [t for t in range(1, 15) if means[t] + 1e-4 <= means[t - 1]]
        expected = falls[0] if falls else 15
        ranker = AdaRank(n_estimators=15, tol=1e-4, max_repeats=None, standardize=False).fit(X, y, qid=qid)
        assert ranker.alphas_.size == expected
        stopped += bool(falls)
    assert stopped > 1


def test_one_round_is_the_best_single_feature_in_its_better_direction():
    X, y, qid = easy_task()
    X = X[:, ::-1].copy()
    X[:, 3] *= -1  # the informative one, falling
    ranker = AdaRank(n_estimators=1, measure="nDCG").fit(X, y, qid=qid)
    assert np.flatnonzero(ranker.weak_[0]).tolist() == [3] and ranker.weak_[0, 3] < 0
    data = RankingDataset.from_arrays(X, y, qid)
    mean = evaluate(data, -X[:, 3], ["nDCG"]).mean["nDCG"]
    np.testing.assert_allclose(ranker.alphas_, [0.5 * math.log((1 + mean) / (1 - mean))], rtol=1e-9)
    rising = AdaRank(n_estimators=1, measure="nDCG", descending=False).fit(X, y, qid=qid)
    assert (rising.weak_ >= 0).all()


def test_a_feature_that_changes_nothing_is_left_out_after_some_repeats():
    X, y, qid = easy_task()
    forever = AdaRank(n_estimators=10, max_repeats=None).fit(X, y, qid=qid)
    assert (np.count_nonzero(forever.weak_, axis=0) == [10, 0, 0, 0]).all()
    ranker = AdaRank(n_estimators=10, max_repeats=3, tol=1.0).fit(X, y, qid=qid)
    picked = np.argmax(ranker.weak_ != 0, axis=1)
    assert picked[:3].tolist() == [0, 0, 0] and picked[3] != 0
    assert ranker.score(X, y, qid=qid) > forever.score(X, y, qid=qid)


def test_perfect_features_have_a_finite_coefficient():
    ranker = AdaRank(n_estimators=5).fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
    assert np.isfinite(ranker.alphas_).all() and ranker.alphas_.size >= 1


@pytest.mark.filterwarnings("error")
def test_features_that_are_wrong_throughout_have_a_finite_coefficient():
    """Kendall's tau is −1, and no feature may be turned round."""
    ranker = AdaRank(n_estimators=3, measure="KendallTau", descending=False).fit([[0.0], [1.0]], [1, 0], qid=[1, 1])
    assert np.isfinite(ranker.predict([[0.0], [1.0]])).all()


def test_the_rounds_that_were_kept_make_the_scores():
    X, y, qid = noisy_task(0)
    V, v, vid = noisy_task(1)
    ranker = AdaRank(early_stopping_rounds=2, max_repeats=1, tol=1.0, n_estimators=30)
    ranker.fit(X, y, qid=qid, eval_set=(V, v), eval_qid=vid)
    assert ranker.alphas_.size == ranker.card_["validation"]["round"] < ranker.card_["validation"]["rounds"]
    assert np.allclose(ranker.predict(X, qid=qid), X @ (ranker.alphas_ @ ranker.weak_), atol=1e-5)


def test_refuses_what_it_cannot_boost():
    X, y, qid = easy_task(n_queries=3)
    with pytest.raises(MeasureError, match="AdaRank needs a measure between -1 and 1"):
        AdaRank(measure="DCG").fit(X, y, qid=qid)
    with pytest.raises(DataError, match="max_repeats=0"):
        AdaRank(max_repeats=0).fit(X, y, qid=qid)
