"""XGBoost's trees on our gradients, on the host and in the form of an accelerator (here on the CPU)."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.cluster.xgboost_trees import _is_flat, _OnDevice
from plackett.losses.listwise.listnet import ListNetLoss
from plackett.losses.pairwise.logistic import Logistic
from plackett.losses.pointwise.square import Square
from plackett.rankers import MART

xgb = pytest.importorskip("xgboost")


def ranking():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), rng.integers(3, 14, 40))
    X = rng.normal(size=(qid.size, 5)).astype(np.float32)
    y = np.digitize(X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=qid.size), [-1.0, 0.0, 1.5])
    return pk.RankingDataset.from_arrays(X, y, qid, query_weight=rng.uniform(0.5, 2, 40), feature_names=list("abcde"))


SETTINGS = {"n_estimators": 15, "num_leaves": 6, "min_child_weight": 0.01, "n_jobs": 1}


def test_lambdamart_with_gradients_of_the_host(tmp_path):
    data = ranking()
    ranker = pk.cluster.fit_xgboost(pk.LambdaMART(**SETTINGS), data)
    assert ranker.score(data) > 0.9 * pk.LambdaMART(**SETTINGS).fit(data).score(data)
    assert ranker.card_["trees"]["gradients"] == "host"
    assert ranker.reference_.shape == pk.LambdaMART(**SETTINGS).fit(data).reference_.shape
    ranker.save(tmp_path / "m.plackett")
    assert np.array_equal(pk.load(tmp_path / "m.plackett").predict(data), ranker.predict(data))


def test_square_loss_is_xgboosts_own_regression():
    """Both ways, against the objective that XGBoost has built in."""
    pytest.importorskip("torch")
    data = ranking().replace(query_weight=None)
    own = {"objective": "reg:squarederror", "base_score": 0.0, "max_leaves": 6, "grow_policy": "lossguide"}
    own |= {"max_depth": 0, "learning_rate": 0.1, "max_bin": 255, "min_child_weight": 0.01, "reg_lambda": 0.0}
    for gradients in ("host", "device"):
        ranker = pk.cluster.fit_xgboost(MART(**SETTINGS), data, gradients=gradients)
        booster = xgb.train(own, xgb.QuantileDMatrix(data.X, label=data.y, max_bin=255), num_boost_round=15)
        expected = booster.predict(xgb.DMatrix(data.X))
        scale = np.polyfit(expected, ranker.predict(data), 1)[0]
        assert np.corrcoef(ranker.predict(data), expected)[0, 1] > 0.999 and 0.5 < scale < 1.5


@pytest.mark.parametrize("loss", [ListNetLoss(), Logistic(), Logistic(normalize=True), Square()], ids=str)
def test_gradients_of_the_device_form_are_those_of_the_host(loss, monkeypatch):
    pytest.importorskip("torch")
    data = ranking()
    bound = loss.settle(data).bind(data, n_jobs=1)
    scores = np.random.default_rng(1).normal(size=data.n_rows).astype(np.float32)
    expected = bound.evaluate(scores.astype(np.float64), value=False)[1]
    for most in (1 << 25, 300):  # all lists at once, and in several tables
        monkeypatch.setattr("plackett.cluster.xgboost_trees.MOST_PAIRS", most)
        result, curvature = _OnDevice(bound.device_form(), data, "cpu")(scores)
        assert np.allclose(result, expected, rtol=1e-4, atol=1e-5)
        assert result.dtype == np.float32 and curvature.shape == result.shape and (curvature >= 0).all()


def test_what_cannot_be_done_is_refused():
    data = ranking()
    with pytest.raises(pk.LossError, match="has no form for an accelerator"):
        pk.cluster.fit_xgboost(pk.LambdaMART(**SETTINGS), data, gradients="device")
    with pytest.raises(pk.LossError, match="boosted trees"):
        pk.cluster.fit_xgboost(pk.ListNet(), data)
    if not xgb.build_info().get("USE_CUDA"):
        with pytest.raises(pk.LossError, match="has no CUDA"):
            pk.cluster.fit_xgboost(pk.LambdaMART(), data, device="cuda")


@pytest.mark.parametrize(("loss", "flat"), [(Square(), True), (ListNetLoss(), False), (Logistic(), False)], ids=str)
def test_gradients_leave_the_host_only_if_no_curvature_is_lost(loss, flat):
    bound = loss.settle(ranking()).bind(ranking(), n_jobs=1)
    assert _is_flat(bound, loss.curvature) is flat
