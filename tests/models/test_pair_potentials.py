"""Pair potentials against plain loops, finite differences and a task that no document's own features can solve."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.sparse import csr_matrix

import plackett as pk
from plackett import DataError, LossError
from plackett.losses import BoltzRankLoss, Hinge
from plackett.losses.listwise.listnet import ListNetLoss
from plackett.models.pair_potentials import PairPotentials, _Problem
from plackett.scorers.pair_potentials import PairPotentialScorer


def middle_task(seed=0, n_queries=30):
    """The documents near the middle of their list are relevant, wherever that is."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(4, 8, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(qid.size, 2)) + 0.5 * rng.normal(size=(n_queries, 2))[qid]
    means = np.array([X[qid == q, 0].mean() for q in range(n_queries)])
    y = (np.abs(X[:, 0] - means[qid]) < 0.6).astype(float)
    return pk.RankingDataset.from_arrays(X, y, qid)


def random_scorer(d=2, h=3, seed=0):
    rng = np.random.default_rng(seed)
    return PairPotentialScorer(*(rng.normal(size=shape) for shape in ((d,), (d, h), (d, h), (h,), (h,))))


def test_scores_are_those_of_the_formula():
    data, model = middle_task(n_queries=5), random_scorer()
    result = model.predict(data.X, data.offsets, 1)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        for j in range(a, b):
            expected = data.X[j] @ model.weights
            for k in range(a, b):
                if k != j:
                    inner = data.X[j] @ model.here + data.X[k] @ model.there + model.shift
                    expected += model.height @ np.tanh(inner) / (b - a - 1)
            assert result[j] == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(model.predict(csr_matrix(data.X), data.offsets, 1), result, rtol=1e-6)
    alone = model.predict(data.X[:1], np.array([0, 1]), 1)
    np.testing.assert_allclose(alone, data.X[:1] @ model.weights, rtol=1e-6)  # nothing to compare with


def test_the_order_of_the_rows_changes_nothing():
    data, model = middle_task(n_queries=1), random_scorer()
    order = np.random.default_rng(1).permutation(data.n_rows)
    np.testing.assert_array_equal(
        model.predict(data.X[order], data.offsets, 1), model.predict(data.X, data.offsets, 1)[order]
    )


@pytest.mark.parametrize("loss", [BoltzRankLoss(), ListNetLoss()])
@pytest.mark.parametrize("standardize", [False, True])
def test_gradient_is_that_of_finite_differences(loss, standardize):
    problem = _Problem(PairPotentials(units=3, alpha=0.1, standardize=standardize, n_jobs=1), loss, middle_task())
    flat = np.random.default_rng(0).normal(size=problem.ends[-1])
    error = check_grad(lambda v: problem.objective(v)[0], lambda v: problem.objective(v)[1], flat)
    assert error < 1e-5 * np.linalg.norm(problem.objective(flat)[1])


def test_comparisons_learn_what_a_linear_model_cannot():
    data, test = middle_task(), middle_task(1)
    linear = pk.BoltzRank(n_jobs=1).fit(data)
    paired = pk.BoltzRank(pair_units=4, alpha=1e-4, n_jobs=1).fit(data)
    assert paired.score(test) > 0.9 > linear.score(test) + 0.1
    assert paired.scorer_.list_aware and not linear.scorer_.list_aware


def test_saved_and_continued(tmp_path):
    data = middle_task()
    ranker = pk.BoltzRank(pair_units=2, max_iter=5, n_jobs=1).fit(data)
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(data), ranker.predict(data))
    before = ranker.scorer_
    ranker.set_params(warm_start=True, max_iter=30).fit(data)
    problem = _Problem(PairPotentials(units=2, n_jobs=1, alpha=ranker.alpha), ranker.make_loss(), data)
    assert problem.objective(problem.start(ranker.scorer_))[0] < problem.objective(problem.start(before))[0]
    np.testing.assert_allclose(problem.scorer(problem.start(before)).here, before.here, rtol=1e-12)


@pytest.mark.parametrize(
    ("loss", "model", "message"),
    [
        (ListNetLoss(), PairPotentials(units=0), "units=0"),
        (ListNetLoss(), PairPotentials(alpha=-1.0), "alpha=-1.0"),
        (Hinge(), PairPotentials(), "smooth loss"),
    ],
)
def test_refusals(loss, model, message):
    with pytest.raises(LossError, match=message):
        pk.GradientRanker(loss=loss, model=model).fit(middle_task())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("here", np.zeros((2, 2))),
        ("there", np.zeros(6)),
        ("shift", np.zeros(2)),
        ("height", np.array([1.0, np.nan, 0.0])),
        ("weights", np.zeros((2, 1))),
        ("weights", np.zeros(2, np.float32)),
    ],
)
def test_damaged_arrays_are_refused(name, value):
    with pytest.raises(DataError, match="damaged"):
        PairPotentialScorer.from_arrays(random_scorer().to_arrays() | {name: value})
    with pytest.raises(DataError, match="damaged"):
        PairPotentialScorer.from_arrays({key: v for key, v in random_scorer().to_arrays().items() if key != name})
