"""SigmoidRank and RampRank: never worse than the start, and robust."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset, load
from plackett.losses import Hinge, Ramp, Sigmoid
from plackett.rankers import GradientRanker, PairHinge, RampRank, SigmoidRank
from plackett.testing.rankers import easy_task

BOTH = pytest.mark.parametrize("cls", [SigmoidRank, RampRank])


def noisy_task(share=0.15):
    """Labels turned round in some of the queries."""
    X, y, qid = easy_task(n_queries=60)
    turned = np.random.default_rng(0).random(60) < share
    return X, np.where(turned[qid], 2 - y, y), qid


def objective(loss, weights, data, alpha):
    return loss(data.X.astype(float) @ weights, data) / data.n_queries + 0.5 * alpha * (weights**2).sum()


@BOTH
def test_never_above_the_start(cls):
    X, y, qid = noisy_task()
    data = RankingDataset.from_arrays(X, y, qid)
    base = PairHinge(max_iter=10, n_jobs=1).fit(X, y, qid=qid)
    ranker = cls(base=base, alpha=0.01, standardize=False, n_jobs=1).fit(X, y, qid=qid)
    before, after = (objective(ranker.make_loss(), r.scorer_.weights[:, 0], data, 0.01) for r in (base, ranker))
    assert after < before


def test_the_objective_falls_with_every_convex_problem():
    X, y, qid = noisy_task()
    data = RankingDataset.from_arrays(X, y, qid)
    values = []
    for rounds in range(1, 7):
        ranker = RampRank(height=1.0, alpha=0.01, standardize=False, max_rounds=rounds, tol=1e-9, n_jobs=1).fit(data)
        values.append(objective(ranker.make_loss(), ranker.scorer_.weights[:, 0], data, 0.01))
    assert (np.diff(values) <= 1e-12).all() and values[-1] < values[0]


def test_fewer_pairs_pull_than_under_the_hinge():
    """Support vectors: pairs with a slope at the solution."""
    X, y, qid = noisy_task()
    data = RankingDataset.from_arrays(X, y, qid)
    ranker = RampRank(height=1.0, n_jobs=1).fit(data)
    hinge = PairHinge(n_jobs=1).fit(data)
    pulling = [
        loss.gradient(r.predict(data), data)[1].sum() for loss, r in ((Ramp(height=1.0), ranker), (Hinge(), hinge))
    ]
    assert pulling[0] < 0.8 * pulling[1]


@BOTH
def test_a_gross_outlier_moves_it_less_than_the_hinge(cls):
    X, y, qid = easy_task(n_queries=40)
    outlier = (
        np.vstack([X, [[-30.0, 30.0, 0.0, 0.0], [30.0, -30.0, 0.0, 0.0]]]),
        np.append(y, [2, 0]),
        np.append(qid, [99, 99]),
    )

    def turn(ranker):
        first, second = (ranker.fit(*part[:2], qid=part[2]).scorer_.weights[:, 0] for part in ((X, y, qid), outlier))
        return 1 - first @ second / np.linalg.norm(first) / np.linalg.norm(second)

    robust = cls(base=PairHinge(n_jobs=1).fit(X, y, qid=qid), standardize=False, n_jobs=1)
    assert turn(robust) < 0.5 * turn(PairHinge(standardize=False, max_iter=200, n_jobs=1))


@BOTH
def test_bases(cls, tmp_path):
    X, y, qid = easy_task()
    fitted = PairHinge(n_jobs=1).fit(X, y, qid=qid)
    for base in (None, PairHinge(n_jobs=1), fitted):
        ranker = cls(base=base, n_jobs=1).fit(X, y, qid=qid)
        ranker.save(tmp_path / "model")
        again = load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X, qid=qid), ranker.predict(X, qid=qid))
        assert repr(again) == repr(ranker)
    assert not hasattr(
        ranker.set_params(base=PairHinge()).fit(X, y, qid=qid).base, "scorer_"
    )  # the parameter is left alone
    with pytest.raises(LossError, match="not a linear ranker"):
        cls(base=GradientRanker(model="trees")).fit(X, y, qid=qid)
    with pytest.raises(LossError, match="give a linear ranker"):
        cls(base="RankSVM").fit(X, y, qid=qid)


def test_parameters_reach_the_loss():
    assert SigmoidRank(sigma=5.0, normalize=False).make_loss() == Sigmoid(sigma=5.0)
    assert RampRank(height=1.0).make_loss() == Ramp(height=1.0, normalize=True)
