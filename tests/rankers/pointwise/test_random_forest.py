"""Random forest: the mean of trees on bootstraps."""

from __future__ import annotations

import numpy as np

from plackett.rankers.pointwise.random_forest import RandomForest


def test_mean_of_independent_trees():
    """Scores are means of leaf means, so they stay within the labels; more trees vary less with the seed."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + rng.normal(0, 1, 200), [-0.5, 0.5]).astype(float)
    qid = np.arange(200) // 10

    def scores(n, seed):
        ranker = RandomForest(n_estimators=n, min_child_samples=1, random_state=seed, n_jobs=1)
        return ranker.fit(X, y, qid=qid).predict(X)

    spread = {n: np.std([scores(n, seed) for seed in range(6)], axis=0).mean() for n in (2, 40)}
    assert spread[40] < 0.5 * spread[2]
    assert scores(40, 0).min() >= -1e-9 and scores(40, 0).max() <= 2 + 1e-9
