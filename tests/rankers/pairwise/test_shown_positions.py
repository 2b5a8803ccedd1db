"""LambdaMARTs for clicks: do they find the bias of simulated clicks, and rank better for it?"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

import plackett as pk
from click_simulation import looks, simulate
from plackett.data.canonical import canonical_order
from plackett.losses.pairwise.lambdas import Lambda
from plackett.losses.pairwise.unbiased_lambda import UnbiasedLambda
from plackett.rankers.pairwise.position_bias_lambdamart import PositionBiasLambdaMART
from plackett.rankers.pairwise.unbiased_lambdamart import UnbiasedLambdaMART

BOTH = [UnbiasedLambdaMART, PositionBiasLambdaMART]
TREES = {"n_estimators": 50, "num_leaves": 15, "min_child_weight": 1.0, "reg_lambda": 1.0, "n_jobs": 1}


@cache
def simulated(**how):
    return simulate(**how)


@cache
def trained(cls, **how):
    """A ranker trained on simulated clicks."""
    return cls(**TREES).fit(simulated(**how)[0])


@pytest.fixture(scope="module")
def clicks():
    return simulated(seed=1)


def quality(ranker, test):
    return pk.evaluate(test, ranker.predict(test), ["nDCG@10"]).mean["nDCG@10"]


@pytest.mark.parametrize("eta", [1.0, 0.5])
@pytest.mark.parametrize("shown_by", ["noise_0", None])
def test_the_probabilities_of_a_look_are_found(eta, shown_by):
    """Within 0.15 of the truth at each position, in its order but for noise (rank correlation 0.9)."""
    how = {"seed": 0, "eta": eta, "shown_by": shown_by}
    truth = looks(10, eta)
    ratios = trained(UnbiasedLambdaMART, **how).click_bias_
    added = np.exp(trained(PositionBiasLambdaMART, **how).position_bias_)
    for estimate in (ratios, added):
        assert estimate[0] == 1.0
        assert np.abs(estimate - truth).max() < 0.15
        assert np.corrcoef(np.argsort(np.argsort(-estimate)), np.arange(10))[0, 1] > 0.9


def test_without_the_bias_the_true_order_is_learned_better():
    """Lists were shown in the order of a feature that says nothing; judged by the true labels of other queries."""
    reached = []
    for how in ({"seed": 0, "eta": 1.0, "shown_by": "noise_0"}, {"seed": 1}):
        test = simulated(**how)[1]
        reached.append([quality(trained(cls, **how), test) for cls in (pk.LambdaMART, *BOTH)])
    plain, ratios, added = np.mean(reached, axis=0)
    assert ratios > plain + 0.01
    assert added > plain + 0.04


def test_beside_xgboost_and_lightgbm(clicks):
    """Not below theirs, up to noise; the learned ratios of XGBoost fall like ours."""
    xgb = pytest.importorskip("xgboost", reason="compares with XGBoost")
    import lightgbm as lgb

    data, test = clicks
    rows = np.lexsort((data.positions, data.query_of_row))
    options = {
        "objective": "rank:ndcg",
        "lambdarank_unbiased": True,
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": 30,
        "max_leaves": 15,
        "grow_policy": "lossguide",
        "max_depth": 0,
        "eta": 0.1,
        "nthread": 1,
    }
    booster = xgb.train(options, xgb.DMatrix(data.X[rows], data.y[rows], qid=data.query_of_row[rows]), 50)
    theirs = booster.predict(xgb.DMatrix(test.X)).astype(float)
    ours = trained(UnbiasedLambdaMART, seed=1)
    assert quality(ours, test) > pk.evaluate(test, theirs, ["nDCG@10"]).mean["nDCG@10"] - 0.01
    ratios = json.loads(booster.save_config())["learner"]["objective"]["ti+"][:10]
    same = UnbiasedLambdaMART(bias_norm=1.0, learn_skip_bias=True, **TREES).fit(data).click_bias_
    assert np.corrcoef(np.log(ratios), np.log(same))[0, 1] > 0.9

    table = lgb.Dataset(data.X, data.y, group=data.group, position=data.positions)
    options = {"objective": "lambdarank", "num_leaves": 15, "min_sum_hessian_in_leaf": 1.0, "lambda_l2": 1.0}
    theirs = lgb.train(options | {"verbosity": -1, "num_threads": 1}, table, 50).predict(test.X)
    ours = trained(PositionBiasLambdaMART, seed=1)
    assert quality(ours, test) == pytest.approx(pk.evaluate(test, theirs, ["nDCG@10"]).mean["nDCG@10"], abs=0.02)


def test_the_added_bias_is_that_of_lightgbm():
    """The same trees on the same gradients, up to float32 and LightGBM's table of sigmoids: they hardly differ."""
    import lightgbm as lgb

    data, test = simulate(n_queries=60, sessions=5, eta=0.5)
    ranker = PositionBiasLambdaMART(
        n_estimators=20, num_leaves=7, gradient_bins=None, bias_regularization=0.01, n_jobs=1, min_child_samples=20
    ).fit(data)
    data = canonical_order(data)  # in which our ranker saw them: equal scores are ranked as the rows stand
    table = lgb.Dataset(data.X, data.y, group=data.group, position=data.positions)
    options = {
        "objective": "lambdarank",
        "num_leaves": 7,
        "lambdarank_position_bias_regularization": 0.01,
        "verbosity": -1,
        "num_threads": 1,
    }
    theirs = lgb.train(options, table, 20).predict(test.X)
    np.testing.assert_allclose(ranker.predict(test), theirs, atol=1e-4)


def test_an_infinite_norm_is_lambdamart(clicks):
    data, test = clicks
    few = TREES | {"n_estimators": 5, "gradient_bins": None}
    ranker = UnbiasedLambdaMART(bias_norm=np.inf, learn_skip_bias=True, **few).fit(data)
    np.testing.assert_array_equal([ranker.click_bias_, ranker.skip_bias_], 1.0)
    np.testing.assert_allclose(ranker.predict(test), pk.LambdaMART(**few).fit(data).predict(test), atol=1e-3)


def test_one_update_of_each_by_hand():
    """Two lists of a clicked and a skipped document; before the first tree every pair has the loss ΔnDCG · log 2."""
    X = np.array([[0.0], [1.0], [2.0], [3.0]], np.float32)
    data = pk.RankingDataset.from_arrays(X, [1, 0, 0, 1], [0, 0, 1, 1], positions=[1, 2, 1, 3], query_weight=[1, 4])
    one = {
        "n_estimators": 1,
        "min_child_samples": 1,
        "normalize": False,
        "n_jobs": 1,
        "lightgbm_params": {"min_data_in_bin": 1},
    }
    ratios = UnbiasedLambdaMART(learn_skip_bias=True, bias_norm=1.0, **one).fit(data)
    # clicks at 1 and at 3, four times the weight: √4; there is none at 2, which has the value of 1
    np.testing.assert_allclose(ratios.click_bias_, [1, 1, 2])
    # skips at 2 and at 1; none at 3
    np.testing.assert_allclose(ratios.skip_bias_, [1, 0.5, 0.5])
    # from 2 on positions share a bias
    ratios = UnbiasedLambdaMART(learn_skip_bias=True, bias_norm=1.0, max_position=2, **one).fit(data)
    np.testing.assert_allclose([ratios.click_bias_, ratios.skip_bias_], [[1, 2], [1, 0.5]])
    added = PositionBiasLambdaMART(learning_rate=0.3, bias_regularization=0.7, **one).fit(data)
    # half of ΔnDCG pushes, a quarter bends; documents at 1: one up with weight 1, one down with weight 4
    delta = 1 - 1 / np.log2(3)
    step = [
        0.3 * p / (b + 0.7 * n + 0.001)
        for p, b, n in (((0.5 - 2) * delta, 1.25 * delta, 2), (-0.5 * delta, 0.25 * delta, 1), (2 * delta, delta, 1))
    ]
    np.testing.assert_allclose(added.position_bias_, np.array(step) - step[0], rtol=1e-5)


@pytest.mark.parametrize("cls", BOTH)
def test_positions_from_anywhere_in_any_order(cls, tmp_path):
    """Arrays, a dataset, a frame, a file; rows in any order; any number of threads; on disk and back."""
    data, test = simulate(n_queries=30, sessions=3)
    few = {"n_estimators": 8, "n_jobs": 1}
    ranker = cls(**few).fit(data)
    expected = ranker.predict(test)
    rows = np.random.default_rng(0).permutation(data.n_rows)
    parts = data.X[rows], data.y[rows]
    from_arrays = cls(n_estimators=8, n_jobs=2).fit(*parts, qid=data.qid[rows], positions=data.positions[rows])
    beside = cls(**few).fit(data.replace(positions=None), positions=data.positions)
    path = tmp_path / "clicks.parquet"
    data.to_polars().write_parquet(path)
    from_file = cls(**few).fit(pk.read(path))
    ranker.save(tmp_path / "model.plackett")
    loaded = pk.load(tmp_path / "model.plackett")
    for other in (from_arrays, beside, from_file, loaded):
        np.testing.assert_array_equal(other.predict(test), expected)
        for name in ("click_bias_", "skip_bias_", "position_bias_"):
            if hasattr(ranker, name):
                np.testing.assert_array_equal(getattr(other, name), getattr(ranker, name))
    # it does depend on them
    other = cls(**few).fit(data.replace(positions=11 - data.positions))
    assert not np.array_equal(other.predict(test), expected)


@pytest.mark.parametrize("cls", BOTH)
def test_biases_of_the_round_that_was_kept(cls):
    data, test = simulate(n_queries=30, sessions=3)
    name = "click_bias_" if cls is UnbiasedLambdaMART else "position_bias_"
    stopped = cls(n_estimators=40, early_stopping_rounds=2, n_jobs=1).fit(data, eval_set=test)
    kept = int(np.argmax(stopped.history_)) + 1
    assert kept < len(stopped.history_)
    again = cls(n_estimators=kept, n_jobs=1).fit(data)
    np.testing.assert_array_equal(getattr(again, name), getattr(stopped, name))
    # training goes on with what was learned: 3 rounds and 3 more are 6
    half = cls(n_estimators=3, warm_start=True, n_jobs=1).fit(data).fit(data)
    whole = cls(n_estimators=6, n_jobs=1).fit(data)
    np.testing.assert_allclose(getattr(half, name), getattr(whole, name), rtol=1e-3, atol=1e-3)


def test_the_loss_of_a_fitted_ranker_has_its_biases():
    data, _ = simulate(n_queries=10, sessions=2)
    ranker = UnbiasedLambdaMART(n_estimators=2, n_jobs=1)
    assert ranker.make_loss() == UnbiasedLambda()
    assert ranker.fit(data).make_loss().click_bias == tuple(ranker.click_bias_)
    assert PositionBiasLambdaMART().make_loss() == Lambda()


@pytest.mark.parametrize("cls", BOTH)
def test_refusals(cls):
    data, _ = simulate(n_queries=5, sessions=1)
    with pytest.warns(pk.PlackettWarning, match="without positions"):
        cls(n_estimators=2, n_jobs=1).fit(data.replace(positions=None))
    X, y, qid = data.X, data.y, data.qid
    for match, parameters, positions in (
        ("positions has shape", {}, [1, 2]),
        (r"positions\[0\] is 0", {}, data.positions - data.positions[0]),
        ("max_position=0", {"max_position": 0}, data.positions),
        (
            "=-1.0; give a number of 0 or more",
            {"bias_norm" if cls is UnbiasedLambdaMART else "bias_regularization": -1.0},
            data.positions,
        ),
    ):
        with pytest.raises(ValueError, match=match):
            cls(n_estimators=2, **parameters).fit(X, y, qid=qid, positions=positions)
