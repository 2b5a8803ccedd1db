"""Robust sparse ranker: its weights, its rounds, its sparsity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from plackett import RankingDataset
from plackett.data.preferences import Preferences
from plackett.evaluation.evaluate import evaluate
from plackett.losses.pairwise.lambdas import Lambda
from plackett.rankers.pairwise._frozen_swaps import FrozenSwaps
from plackett.rankers.pairwise.robust_sparse_ranker import RobustSparseRanker


def task(seed=0, n_queries=12, n_features=6):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), 8)
    X = rng.normal(size=(qid.size, n_features)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.4 * X[:, 1] + rng.normal(0, 0.5, qid.size), [0.0, 1.0]).astype(float)
    return X, y, qid


def ndcg(data, scores):
    return evaluate(data, scores, ["nDCG"]).values["nDCG"]


def naive(scores, at, data):
    """Value by the definition: the weight of a pair is |nDCG − nDCG after exchanging it|, measured again."""
    total = 0.0
    for q in range(data.n_queries):
        rows = range(data.offsets[q], data.offsets[q + 1])
        before = ndcg(data, at)[q]
        for u in rows:
            for v in rows:
                if data.y[u] > data.y[v] >= 0:
                    swapped = at.copy()
                    swapped[[u, v]] = at[[v, u]]
                    weight = abs(ndcg(data, swapped)[q] - before)
                    total += weight * np.log1p(np.exp(-(scores[u] - scores[v])))
    return total


def test_weights_are_changes_of_the_measure():
    X, y, qid = task(n_queries=3)
    y[::7] = -1
    data = RankingDataset.from_arrays(X, y, qid)
    rng = np.random.default_rng(0)
    at, scores = rng.normal(size=(2, y.size))
    np.testing.assert_allclose(FrozenSwaps(at=at)(scores, data), naive(scores, at, data), rtol=1e-9)


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@3", "AP", "GAP"])
def test_gradient(measure):
    """By differences; and with the ranks of the scores themselves it is the lambda gradient."""
    X, y, qid = task(n_queries=4)
    data = RankingDataset.from_arrays(X, y, qid)
    rng = np.random.default_rng(0)
    at, scores = rng.normal(size=(2, y.size))
    loss = FrozenSwaps(measure=measure, at=at)
    result = loss.gradient(scores, data)[0]
    expected = [(loss(scores + h, data) - loss(scores - h, data)) / 2e-6 for h in 1e-6 * np.eye(y.size)]
    np.testing.assert_allclose(result, expected, atol=1e-8)
    lambdas = Lambda(measure=measure, truncation=None, normalize=False).gradient(at, data)
    mine = FrozenSwaps(measure=measure, at=at).gradient(at, data)
    for one, other in zip(mine, lambdas, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_a_round_is_the_optimum_for_its_weights():
    """The second round against a general solver of the smooth problem in positive and negative parts."""
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    settings = {"alpha": 0.02, "standardize": False, "max_iter": 4000, "tol": 1e-10, "n_jobs": 1}
    first = RobustSparseRanker(n_rounds=1, **settings).fit(data).predict(data)
    loss = FrozenSwaps(at=first)
    second = RobustSparseRanker(n_rounds=2, **settings).fit(data)

    def objective(parts):
        scores = X.astype(float) @ (parts[:6] - parts[6:])
        slope = X.T.astype(float) @ loss.gradient(scores, data)[0] / 12
        value = loss(scores, data) / 12 + 0.02 * parts.sum()
        return value, np.concatenate([slope, -slope]) + 0.02

    best = minimize(objective, np.full(12, 0.1), jac=True, bounds=[(0, None)] * 12, options={"ftol": 1e-14})
    np.testing.assert_allclose(second.scorer_.weights[:, 0], best.x[:6] - best.x[6:], atol=2e-3)
    # and it lowers the weighted loss that it was given
    assert (
        loss(second.predict(data), data) / 12 + 0.02 * np.abs(second.scorer_.weights).sum()
        <= objective(best.x)[0] + 1e-6
    )


@pytest.mark.filterwarnings("ignore:.*learned nothing")
def test_the_penalty_leaves_few_features():
    X, y, qid = task(n_queries=40, n_features=12)
    counts = [
        np.count_nonzero(RobustSparseRanker(alpha=alpha, n_jobs=1).fit(X, y, qid=qid).scorer_.weights)
        for alpha in (1e-4, 1e-2, 3e-2, 10.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 8 and counts[2] <= 4 and counts[3] == 0


def test_online_steps_come_near_and_the_penalty_acts_on_them():
    """Truncated gradient: features that do not count get less weight than without the penalty."""
    X, y, qid = task(n_queries=40, n_features=12)
    settings = {"max_iter": 200, "n_jobs": 1}
    exact = RobustSparseRanker(alpha=0.01, **settings).fit(X, y, qid=qid)
    online = RobustSparseRanker(alpha=0.01, solver="sgd", batch_size=4, **settings).fit(X, y, qid=qid)
    free = RobustSparseRanker(alpha=0.0, solver="sgd", batch_size=4, **settings).fit(X, y, qid=qid)
    assert np.corrcoef(exact.predict(X), online.predict(X))[0, 1] > 0.98
    useless = [np.abs(ranker.scorer_.weights[2:, 0]) for ranker in (online, free)]
    assert useless[0].sum() < 0.5 * useless[1].sum()


def test_refusals():
    X, y, qid = task()
    data = RankingDataset.from_arrays(X, y, qid)
    for parameters, match in (({"n_rounds": 0}, "n_rounds=0"), ({"solver": "newton"}, "solver='newton'")):
        with pytest.raises(ValueError, match=match):
            RobustSparseRanker(**parameters).fit(data)
    with pytest.raises(ValueError, match="no swap delta"):
        RobustSparseRanker(measure="tau", n_jobs=1).fit(data)
    with pytest.raises(ValueError, match="labels up to 2e\\+06 are too large"):
        RobustSparseRanker(n_jobs=1).fit(X, 1e6 * y, qid=qid)
    with pytest.raises(ValueError, match="needs labels"):
        RobustSparseRanker().fit(data.replace(preferences=Preferences.from_labels(data)))
