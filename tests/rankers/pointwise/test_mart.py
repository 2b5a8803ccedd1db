"""MART: boosted regression trees."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.rankers import MART


def task():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)).astype(np.float32)
    return X, np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.4]).astype(float), np.repeat(np.arange(9), 10)


def test_one_full_tree_fits_the_training_data():
    X, y, qid = task()
    exact = {"min_data_in_bin": 1, "min_sum_hessian_in_leaf": 0.0}
    ranker = MART(
        n_estimators=1, learning_rate=1.0, num_leaves=90, min_child_samples=1, lightgbm_params=exact, n_jobs=1
    ).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.predict(X), y, atol=1e-6)


@pytest.mark.parametrize("target", ["linear", "exp2", {0: -1.0, 1: 0.5, 2: 4.0}])
def test_loss_falls_round_by_round(target):
    """Every leaf takes its best value, so that no step with a rate of at most 1 can make the square loss larger."""
    X, y, qid = task()
    aim = {"linear": y, "exp2": 2**y - 1}.get(target) if isinstance(target, str) else np.array([target[v] for v in y])
    ranker = MART(n_estimators=20, num_leaves=4, learning_rate=0.7, target=target, n_jobs=1).fit(X, y, qid=qid)
    booster = ranker.scorer_.booster
    losses = [((booster.predict(X, num_iteration=t) - aim) ** 2).sum() for t in range(1, 21)]
    assert losses[0] < (aim**2).sum() and (np.diff(losses) <= 1e-6).all() and losses[-1] < 0.5 * losses[0]
