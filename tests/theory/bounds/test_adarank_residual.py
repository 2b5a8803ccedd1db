"""AdaRank's linearity condition: its arithmetic, the bound, and data where it fails."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.rankers.listwise.adarank import AdaRank
from plackett.testing.rankers import easy_task
from plackett.theory.bounds.adarank_residual import adarank_residual


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_of_training_holds(seed):
    X, y, qid = easy_task(seed)
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(y.size) < 0.3, rng.integers(0, 3, y.size), y).astype(float)
    ranker = AdaRank(n_estimators=15, max_repeats=1, tol=1.0).fit(X, y, qid=qid)
    data = RankingDataset.from_arrays(X, y, qid)
    result = adarank_residual(data, ranker.weak_, ranker.alphas_)
    assert (result.mean >= result.bound - 1e-12).all()
    # the coefficients are those of the distribution over queries that the ensemble before leaves
    np.testing.assert_allclose(np.tanh(ranker.alphas_), result.phi, rtol=1e-6)
    np.testing.assert_allclose(result.mean[-1], evaluate(data, ranker.predict(data), ["AP"]).mean["AP"], rtol=1e-12)
    assert result.residual.shape == (15, data.n_queries) and result.largest.shape == (15,)


def test_a_measure_need_not_be_additive():
    """Each feature alone leaves the relevant document second; their sum puts it first."""
    data = RankingDataset.from_arrays([[0.6, 0.6], [1.0, 0.0], [0.0, 1.0]], [1, 0, 0], qid=[1, 1, 1])
    result = adarank_residual(data, [[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5])
    np.testing.assert_allclose(result.residual[:, 0], [0.5 - 0.5 * 0.5, 1.0 - 0.5 - 0.5 * 0.5])


def test_shapes_are_checked():
    with pytest.raises(DataError, match="one row for each of the 2 alphas"):
        adarank_residual(RankingDataset.from_arrays([[1.0], [0.0]], [1, 0]), [[1.0]], [0.5, 0.5])
