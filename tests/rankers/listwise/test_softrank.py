"""SoftRank and its Gaussian process."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.datasets import make_ranking
from plackett.losses import SoftAP, SoftNDCG, SoftPC
from plackett.rankers.listwise.softrank import SoftRank
from plackett.rankers.listwise.softrank_gp import NoisySoftNDCG, SoftRankGP


def test_losses():
    assert SoftRank(sigma=0.5).make_loss() == SoftNDCG(sigma=0.5)
    assert SoftRank(measure="AP", rel=2.0).make_loss() == SoftAP(rel=2.0)
    assert SoftRank(measure="P", k=7).make_loss() == SoftPC(k=7)
    with pytest.raises(LossError, match="measure='RR'; give one of 'nDCG', 'AP', 'P'"):
        SoftRank(measure="RR").make_loss()


def test_constant_variance_is_softrank():
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(rng.normal(size=(30, 2)), rng.integers(0, 3, 30), np.repeat([0, 1, 2], 10))
    scores = rng.normal(size=30)
    process = NoisySoftNDCG(deviations=np.full(30, 0.7)).bind(data).evaluate(scores)
    plain = SoftNDCG(sigma=0.7).bind(data).evaluate(scores)
    for one, other in zip(process, plain, strict=True):
        np.testing.assert_array_equal(one, other)


def test_learns_what_is_not_linear():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, size=(400, 2))
    y, qid = (np.hypot(*X.T) < 1.2).astype(int), np.arange(400) // 10
    new, new_qid = rng.uniform(-2, 2, size=(300, 2)), np.arange(300) // 10
    label = (np.hypot(*new.T) < 1.2).astype(int)
    process = SoftRankGP(length_scale=0.5).fit(X, y, qid=qid).score(new, label, qid=new_qid)
    straight = SoftRank().fit(X, y, qid=qid).score(new, label, qid=new_qid)
    assert process > 0.95 > straight + 0.1


def test_predictive_mean_and_variance():
    """The formula of a Gaussian process with targets, solved directly; far documents stay at the prior's mean."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    ranker = SoftRankGP(length_scale=0.7, noise=0.2, alpha=0.1).fit(X, [0, 1, 2, 0], qid=[1, 1, 1, 1])
    scorer = ranker.scorer_
    assert scorer.points.shape == (4, 1)
    far = ranker.predict([[1e3]], qid=[0])
    assert far == pytest.approx(0.0, abs=1e-12)
    z = (X - scorer.center) / scorer.spread
    kernel = np.exp(-((z - z.T) ** 2) / (2 * 0.7**2))
    targets = (kernel + 0.2 * np.eye(4)) @ scorer.heights
    again = kernel @ np.linalg.solve(kernel + 0.2 * np.eye(4), targets)
    np.testing.assert_allclose(ranker.predict(X, qid=[1] * 4), again)


def test_refusals():
    for parameters, message in (({"noise": 0.0}, "noise"), ({"length_scale": -1.0}, "length_scale")):
        with pytest.raises(ValueError, match=message):
            SoftRankGP(**parameters).fit([[0.0], [1.0]], [0, 1], qid=[1, 1])


def test_a_process_is_the_same_on_any_number_of_threads():
    from threadpoolctl import threadpool_limits

    data = make_ranking(n_queries=60, docs_per_query=20, n_features=12, random_state=0)
    scores = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            scores.append(SoftRankGP(max_iter=20).fit(data).predict(data))
    assert np.array_equal(*scores)
