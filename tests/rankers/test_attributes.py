"""Attributes under the names of scikit-learn and LightGBM, callbacks, contributions and the model card in HTML."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

import plackett as pk
from plackett import DataError
from plackett.rankers.display import card_html
from plackett.testing.rankers import easy_task


@pytest.fixture(scope="module")
def trees():
    X, y, qid = easy_task()
    valid = easy_task(seed=5, n_queries=10)
    ranker = pk.LambdaMART(n_estimators=12, num_leaves=5, min_child_samples=2, n_jobs=1)
    return ranker.fit(X, y, qid=qid, eval_set=[valid[:2]], eval_group=[np.bincount(valid[2])])


def test_trees_have_lightgbms_attributes(trees, tmp_path):
    assert isinstance(trees.booster_, lgb.Booster)
    np.testing.assert_array_equal(trees.feature_importances_, trees.booster_.feature_importance("gain"))
    assert trees.feature_importances_.argmax() == 0  # the labels follow the first feature most
    assert trees.booster_.num_trees() == trees.best_iteration_ == 1 + int(np.argmax(trees.history_))
    assert trees.best_score_ == {"valid_0": {"nDCG@10": max(trees.history_)}}
    assert trees.evals_result_ == {"valid_0": {"nDCG@10": trees.history_}}
    trees.save(tmp_path / "m.plackett")
    loaded = pk.load(tmp_path / "m.plackett")
    assert (loaded.best_iteration_, loaded.best_score_) == (trees.best_iteration_, trees.best_score_)
    np.testing.assert_array_equal(loaded.feature_importances_, trees.feature_importances_)


def test_attributes_are_there_only_where_there_is_one(trees):
    X, y, qid = easy_task()
    linear = pk.LinearRegression().fit(X, y, qid=qid)
    np.testing.assert_allclose(X @ linear.coef_ + linear.intercept_, linear.predict(X, qid=qid), rtol=1e-5)
    assert not hasattr(linear, "booster_") and not hasattr(linear, "feature_importances_")
    assert not hasattr(trees, "coef_") and not hasattr(trees, "intercept_")
    grades = pk.McRank(n_estimators=2).fit(X, y, qid=qid)
    assert hasattr(grades, "booster_") and not hasattr(grades, "coef_")
    assert not hasattr(pk.PolynomialRegression().fit(X, y, qid=qid), "coef_")  # weights of products
    for name in ("coef_", "booster_", "best_iteration_", "evals_result_"):
        with pytest.raises(NotFittedError):
            getattr(pk.ListNet(), name)


def test_scikit_learn_selects_features_by_them(trees):
    X, y, qid = easy_task()
    for ranker in (trees, pk.ListNet().fit(X, y, qid=qid)):
        chosen = SelectFromModel(ranker, prefit=True, max_features=2, threshold=-np.inf)
        assert chosen.get_support().tolist() == [True, True, False, False]


def test_contributions_are_treeshap_and_exact(trees):
    X, y, qid = easy_task(seed=2)
    np.testing.assert_array_equal(
        trees.predict(X, qid=qid, pred_contrib=True), trees.booster_.predict(X, pred_contrib=True)
    )
    linear = pk.LinearRegression().fit(X, y, qid=qid)
    parts = linear.predict(X, qid=qid, pred_contrib=True)
    np.testing.assert_allclose(parts[:, :-1], X * linear.coef_, rtol=1e-12)
    assert (parts[:, -1] == linear.intercept_).all()
    blend = pk.Blend.of([trees, linear], pk.RankingDataset.from_arrays(X, y, qid))
    both = blend.predict(X, qid=qid, pred_contrib=True)
    np.testing.assert_allclose(both.sum(axis=1), blend.predict(X, qid=qid), rtol=1e-10, atol=1e-12)
    rows = np.random.default_rng(0).permutation(y.size)  # in the caller's order
    np.testing.assert_array_equal(linear.predict(X[rows], qid=qid[rows], pred_contrib=True), parts[rows])
    with pytest.raises(DataError, match=r"McRank are not a sum.*plackett\.explain"):
        pk.McRank(n_estimators=2).fit(X, y, qid=qid).predict(X, qid=qid, pred_contrib=True)


# -------------------------------------------------------------------------------------------------------- callbacks


def test_lightgbms_callbacks(capsys):
    X, y, qid = easy_task()
    valid_X, valid_y, valid_qid = easy_task(seed=5, n_queries=10)
    recorded: dict = {}
    ranker = pk.LambdaMART(n_estimators=60, num_leaves=5, min_child_samples=2, n_jobs=1)
    callbacks = [lgb.record_evaluation(recorded), lgb.log_evaluation(1), lgb.early_stopping(4, verbose=False)]
    ranker.fit(X, y, qid=qid, eval_set=(valid_X, valid_y), eval_qid=valid_qid, callbacks=callbacks)
    assert recorded == ranker.evals_result_
    assert len(ranker.history_) == min(ranker.best_iteration_ + 4, 60)
    assert "valid_0's nDCG@10" in capsys.readouterr().out
    ours = pk.LambdaMART(n_estimators=60, num_leaves=5, min_child_samples=2, n_jobs=1, early_stopping_rounds=4)
    ours.fit(X, y, qid=qid, eval_set=(valid_X, valid_y), eval_qid=valid_qid)
    assert ours.history_ == ranker.history_
    np.testing.assert_array_equal(ours.predict(X, qid=qid), ranker.predict(X, qid=qid))


def test_callbacks_before_a_round_are_refused():
    X, y, qid = easy_task(n_queries=4)
    with pytest.raises(DataError, match="before each round"):
        pk.LambdaMART().fit(X, y, qid=qid, callbacks=[lgb.reset_parameter(learning_rate=[0.1] * 100)])


def test_eval_group_beside_a_dataset_is_refused():
    X, y, qid = easy_task(n_queries=4)
    data = pk.RankingDataset.from_arrays(X, y, qid)
    with pytest.raises(DataError, match="contains its queries"):
        pk.ListNet().fit(data, eval_set=data, eval_group=[4])


# ------------------------------------------------------------------------------------------------------------- HTML


def test_html_has_the_card_and_escapes_names():
    import pandas as pd

    X, y, qid = easy_task()
    frame = pd.DataFrame(X, columns=["<script>alert(1)</script>", "b", "c", "d"])
    ranker = pk.ListNet(validation_fraction=0.3, calibration="isotonic").fit(frame, y, qid=qid)
    html = card_html(ranker)
    assert "<script" not in html and "&lt;script&gt;alert(1)" in html
    assert f"nDCG@10 {ranker.card_['validation']['value']:.4f}" in html and "isotonic" in html
    assert html in ranker._repr_html_() and html in ranker._repr_mimebundle_()["text/html"]
    assert "plackett-card" not in pk.ListNet()._repr_html_()


def test_a_warm_start_that_improves_nothing_settles_no_rounds():
    """Trained on reversed labels: the validation data keep the start, and no number of rounds is to be repeated."""
    X, y, qid = easy_task()
    ranker = pk.ListNet(alpha=0.1, warm_start=True).fit(X, y, qid=qid, eval_set=(X, y), eval_qid=qid)
    ranker.fit(X, 2 - y, qid=qid, eval_set=(X, y), eval_qid=qid)
    assert ranker.card_["validation"]["round"] == 0
    assert "max_iter" not in ranker.settled()
    pk.ListNet(**ranker.settled()).fit(X, y, qid=qid)
