"""Linear models against solutions found in other ways."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from plackett import RankingDataset
from plackett.losses.pairwise.lambdas import Lambda
from plackett.losses.pairwise.logistic import Logistic
from plackett.losses.pointwise.softmax import Softmax
from plackett.losses.pointwise.square import Square
from plackett.measures.language import parse
from plackett.models.linear import Linear
from plackett.scorers.linear import LinearScorer
from plackett.scorers.products import table_times, transposed_times
from plackett.solvers.monitor import Monitor


def task(seed=0, n_queries=15, shift=0.0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(3, 9, n_queries))
    X = (rng.normal(size=(qid.size, 4)) * [1, 10, 0.1, 3] + shift).astype(np.float32)
    y = np.digitize((X - shift) @ [0.5, 0.1, 0, 0] + 0.5 * rng.normal(size=qid.size), [-0.5, 0.7])
    return RankingDataset.from_arrays(X, y, qid, query_weight=rng.uniform(0.5, 2, n_queries))


def pair_objective(data, alpha, scale):
    """Objective of logistic pairs by an explicit list of differences."""
    better, worse = np.nonzero((data.y[:, None] > data.y) & (data.query_of_row[:, None] == data.query_of_row))
    differences = (data.X[better].astype(float) - data.X[worse]) / scale
    weight = data.query_weight[data.query_of_row[better]] / data.query_weight.sum()

    def value(v):
        return weight @ np.logaddexp(0, -differences @ v) + alpha / 2 * v @ v

    return value


def test_square_loss_is_least_squares():
    data = task(shift=300.0)  # far from 0: what is summed must be float64
    scorer = Linear(alpha=0.0, tol=1e-12, max_iter=2000).train(Square(), data, Monitor())
    weight = np.sqrt(data.query_weight[data.query_of_row])[:, None]
    table = np.column_stack([data.X.astype(float), np.ones(data.n_rows)])
    expected = np.linalg.lstsq(table * weight, data.y * weight[:, 0], rcond=None)[0]
    np.testing.assert_allclose(scorer.weights[:, 0], expected[:-1], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(scorer.predict(data.X, data.offsets), table @ expected, atol=2e-4)


@pytest.mark.parametrize("standardize", [True, False])
def test_logistic_pairs_are_at_the_optimum(standardize):
    data = task()
    weight = np.repeat(data.query_weight, data.group)
    mean = weight @ data.X / weight.sum()
    scale = np.sqrt(weight @ (data.X - mean) ** 2 / weight.sum()) if standardize else np.ones(4)
    objective = pair_objective(data, 0.05, scale)
    expected = minimize(objective, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    scorer = Linear(alpha=0.05, tol=1e-9, standardize=standardize).train(Logistic(), data, Monitor())
    np.testing.assert_allclose(scorer.weights[:, 0] * scale, expected, rtol=1e-3, atol=1e-4)


def test_l1_is_sparse_and_satisfies_the_kkt_conditions():
    data = task()
    alpha = 0.3
    scorer = Linear(alpha=alpha, l1_ratio=1.0, tol=1e-10, standardize=False).train(Logistic(), data, Monitor())
    weights = scorer.weights[:, 0]
    objective = pair_objective(data, 0.0, 1.0)
    slope = np.array([(objective(weights + e) - objective(weights - e)) / 2e-6 for e in 1e-6 * np.eye(4)])
    zero = np.abs(weights) < 1e-6
    assert 0 < zero.sum() < 4
    assert (np.abs(slope[zero]) <= alpha + 1e-4).all()
    np.testing.assert_allclose(slope[~zero], -alpha * np.sign(weights[~zero]), atol=1e-3)


def test_sgd_comes_close_to_the_optimum():
    data = task(n_queries=60)
    models = {solver: Linear(alpha=0.01, solver=solver, max_iter=300) for solver in ("lbfgs", "sgd")}
    value = {}
    for solver, model in models.items():
        scorer = model.train(Logistic(), data, Monitor())
        loss = Logistic()(scorer.predict(data.X, data.offsets), data) / data.query_weight.sum()
        scale = np.sqrt(
            np.average(
                (data.X - np.average(data.X, 0, np.repeat(data.query_weight, data.group))) ** 2,
                0,
                np.repeat(data.query_weight, data.group),
            )
        )
        value[solver] = loss + 0.005 * ((scorer.weights[:, 0] * scale) ** 2).sum()
    start = Logistic()(np.zeros(data.n_rows), data) / data.query_weight.sum()
    assert value["lbfgs"] <= value["sgd"] + 1e-9
    assert value["sgd"] - value["lbfgs"] < 0.02 * (start - value["lbfgs"])


def test_warm_start_goes_on():
    data = task()
    model = Linear(max_iter=3)
    first = model.train(Logistic(), data, Monitor())
    second = model.train(Logistic(), data, Monitor(), first)
    value = [Logistic()(s.predict(data.X, data.offsets), data) for s in (first, second)]
    assert value[1] < value[0]
    done = Linear(max_iter=1000, tol=1e-10).train(Logistic(), data, Monitor(), second)
    again = Linear(max_iter=1, tol=1e-10).train(Logistic(), data, Monitor(), done)
    np.testing.assert_allclose(again.weights, done.weights, rtol=1e-4)
    with pytest.raises(ValueError, match="same features"):
        model.train(Logistic(), data.replace(X=data.X[:, :2]), Monitor(), first)


def test_impossible_solver_is_refused_with_the_reason():
    data = task()
    with pytest.raises(ValueError, match="has no value, only a gradient"):
        Linear(solver="lbfgs").train(Lambda(), data, Monitor())
    with pytest.raises(ValueError, match="the solvers are auto, lbfgs, sgd"):
        Linear(solver="newton").train(Square(), data, Monitor())
    assert np.isfinite(Linear(max_iter=3).train(Lambda(), data, Monitor()).weights).all()


@pytest.mark.parametrize("parameters", [{"alpha": -1.0}, {"alpha": float("nan")}, {"l1_ratio": 1.5}])
def test_penalties_without_a_minimum_are_refused(parameters):
    with pytest.raises(ValueError, match="give 0 or more"):
        Linear(**parameters).train(Square(), task(), Monitor())


@pytest.mark.parametrize("solver", ["lbfgs", "sgd"])
def test_several_outputs_with_validation_data(solver):
    """Softmax: batches that lack the highest grade, and validation by the expected grade."""
    data = task(n_queries=40)
    monitor = Monitor(task(seed=1), parse("nDCG"))
    scorer = Linear(solver=solver, max_iter=20, batch_size=2).train(Softmax(), data, monitor)
    assert scorer.weights.shape == (4, 3) and len(monitor.history) > 1
    assert max(monitor.history) > 0.85


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("form", [np.ascontiguousarray, csr_matrix])
def test_products(form, outputs):
    rng = np.random.default_rng(0)
    dense = (rng.normal(size=(9000, 5)) * (rng.random((9000, 5)) < 0.6) + 1e4).astype(np.float32)
    X, w, v = form(dense), rng.normal(size=(5, outputs)), rng.normal(size=(9000, outputs))
    exact = dense.astype(np.longdouble)
    np.testing.assert_allclose(table_times(X, w), (exact @ w).astype(float), rtol=1e-13, atol=1e-10)
    np.testing.assert_allclose(transposed_times(X, v), (exact.T @ v).astype(float), rtol=1e-12, atol=1e-8)
    for n_jobs in (1, 2, 3):
        np.testing.assert_array_equal(transposed_times(X, v, n_jobs), transposed_times(X, v, 1))
    assert table_times(X[:0], w).shape == (0, outputs) and transposed_times(X[:0], v[:0]).shape == (5, outputs)


def test_scores_do_not_depend_on_the_rows_beside():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 37)).astype(np.float32)
    scorer = LinearScorer(rng.normal(size=(37, 1)), np.zeros(1))
    together = scorer.predict(X, np.array([0, 500]))
    alone = [scorer.predict(X[i : i + 1], np.array([0, 1]))[0] for i in range(500)]
    np.testing.assert_array_equal(together, alone)
