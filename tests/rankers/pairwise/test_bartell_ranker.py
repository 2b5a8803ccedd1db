"""Bartell's ranker reaches the best agreement that a generic optimiser finds."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from plackett import RankingDataset
from plackett.losses.pairwise.guttman import Guttman
from plackett.rankers.pairwise.bartell_ranker import BartellRanker
from plackett.testing.rankers import easy_task


def test_maximum_of_the_agreement():
    X, y, qid = easy_task(n_features=2, n_queries=10)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(y.size) < 0.3, rng.integers(0, 3, y.size), y)
    data = RankingDataset.from_arrays(X, y, qid)
    loss = Guttman(epsilon=1e-6)
    ranker = BartellRanker(alpha=0.0, n_jobs=1).fit(X, y, qid=qid)
    result = loss(ranker.predict(X, qid=qid), data)
    angles = np.linspace(0, 2 * np.pi, 721)
    grid = [loss(10 * (X @ np.array([np.cos(a), np.sin(a)])), data) for a in angles]
    start = angles[int(np.argmin(grid))]
    refined = minimize(
        lambda a: loss(10 * (X @ np.array([np.cos(a[0]), np.sin(a[0])])), data), [start], method="Nelder-Mead"
    )
    assert refined.fun - 1e-6 <= result <= refined.fun + 1e-4
