"""The battery that every ranker passes, whoever wrote it.

`check_ranker` takes something that makes rankers (a class, or a class with parameters filled in) and knows nothing
about the algorithm: it holds the ranker to the rules that all have in common. ``tests/rankers/test_all.py`` runs it on
everything in the catalogue.
"""

from __future__ import annotations

import copy
import pickle
import warnings
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from plackett import PlackettWarning, RankingDataset, _storage
from plackett.evaluation.evaluate import evaluate
from plackett.rankers import storage
from plackett.solvers.monitor import Monitor

#: Small settings, for whichever of these a ranker has: a battery takes about a second.
SMALL = {
    "n_estimators": 8,
    "num_leaves": 5,
    "min_child_samples": 1,
    "max_iter": 25,
    "max_epochs": 10,
    "n_steps": 20_000,
    "population_size": 40,
    "generations": 8,
    "n_runs": 1,
    "hidden": (8,),
    "device": "cpu",
    "n_jobs": 1,
}


def small(cls, **parameters):
    """Makes small rankers of a class; keyword arguments win."""
    known = cls().get_params()
    chosen = {k: v for k, v in SMALL.items() if k in known}
    if "max_epochs" in known:  # a network, which must learn in few steps
        chosen |= {"learning_rate": 0.05, "batch_size": 4}
    if {"C", "tol"} <= set(known):  # a solver with a proved gap, which warns where it cannot close it
        chosen.pop("max_iter", None)
    return partial(cls, **(chosen | parameters))


def easy_task(seed=0, n_queries=24, n_features=4):
    """Lists whose labels follow the first two features, up to a level that differs between queries."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(4, 12, n_queries))
    X = rng.normal(size=(qid.size, n_features)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1], [-0.3, 0.8]).astype(float)
    return X, y, qid


def ndcg(scores, y, qid):
    data = RankingDataset.from_arrays(None, y, qid)
    return evaluate(data, data.from_input_order(scores), ["nDCG"]).mean["nDCG"]


def check_ranker(make) -> None:
    """Every rule that rankers have in common."""
    for check in CHECKS:
        check(make)


# ---------------------------------------------------------------------------------------------------------- learning


def check_learns(make):
    X, y, qid = easy_task()
    ranker = make().fit(X, y, qid=qid)
    new_X, new_y, new_qid = easy_task(seed=1)
    scores = ranker.predict(new_X, qid=new_qid)
    assert scores.shape == new_y.shape and scores.dtype == np.float64
    chance = ndcg(np.zeros(new_y.size), new_y, new_qid)
    assert ndcg(scores, new_y, new_qid) > 0.25 * chance + 0.75
    np.testing.assert_allclose(ranker.score(new_X, new_y, qid=new_qid), ndcg_at_10(scores, new_y, new_qid), rtol=1e-12)


def ndcg_at_10(scores, y, qid):
    data = RankingDataset.from_arrays(None, y, qid)
    return evaluate(data, data.from_input_order(scores), ["nDCG@10"]).mean["nDCG@10"]


def check_rank(make):
    """Positions 1…n of each query, in the order of the scores."""
    X, y, qid = easy_task(n_queries=8)
    rows = np.random.default_rng(0).permutation(y.size)
    X, y, qid = X[rows], y[rows], qid[rows]
    ranker = make().fit(X, y, qid=qid)
    scores, positions = ranker.predict(X, qid=qid), ranker.rank(X, qid=qid)
    for q in range(8):
        mine = np.flatnonzero(qid == q)
        assert sorted(positions[mine]) == list(range(1, mine.size + 1))
        assert (np.diff(scores[mine][np.argsort(positions[mine])]) <= 0).all()


def check_order_of_input(make):
    """Exactly the same ranker whatever the order of queries and rows and the spelling of the ids."""
    X, y, qid = easy_task()
    weight = np.random.default_rng(1).uniform(0.5, 2, y.size)
    expected = make().fit(X, y, qid=qid, sample_weight=weight).predict(X, qid=qid)
    rng = np.random.default_rng(2)
    names = np.array([f"query {n}" for n in rng.permutation(qid.max() + 1)])
    for rows, ids in (
        (rng.permutation(y.size), qid),
        (np.argsort(-qid, kind="stable"), qid),
        (np.arange(y.size), names[qid]),
        (rng.permutation(y.size), names[qid].astype(object)),
    ):
        ranker = make().fit(X[rows], y[rows], qid=ids[rows], sample_weight=weight[rows])
        np.testing.assert_array_equal(ranker.predict(X, qid=qid), expected)


def check_deterministic(make):
    """The same for a seed, for any number of threads, and wherever in memory things happen to lie."""
    X, y, qid = easy_task(n_queries=40)
    rng = np.random.default_rng(0)
    memory, found = [], []
    for n_jobs in (1, 2, 2, 1, 1):
        found.append(make(n_jobs=n_jobs, random_state=3).fit(X, y, qid=qid).predict(X, qid=qid))
        memory += [np.empty(size) for size in rng.integers(1, 200, 50)]
        del memory[::3]
    for again in found[1:]:
        np.testing.assert_array_equal(again, found[0])


def check_refit(make):
    """An earlier fit leaves no trace, and a failed one changes nothing."""
    X, y, qid = easy_task()
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    ranker = make().fit(X[:, :2], -y + 2, qid=qid)
    np.testing.assert_array_equal(ranker.fit(X, y, qid=qid).predict(X, qid=qid), expected)
    with pytest.raises(ValueError, match="measure"):
        ranker.set_params(eval_measure="no such measure").fit(X[:, :1], y, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X, qid=qid), expected)


def check_warm_start(make):
    """More of the same improves, or leaves, what was learned; without warm_start it would be another object."""
    if "warm_start" not in make().get_params():
        return
    X, y, qid = easy_task()
    ranker = make(warm_start=True).fit(X, y, qid=qid)
    first = ndcg(ranker.predict(X, qid=qid), y, qid)
    assert ndcg(ranker.fit(X, y, qid=qid).predict(X, qid=qid), y, qid) >= first - 0.01
    with pytest.raises(ValueError, match="features"):
        ranker.fit(X[:, :2], y, qid=qid)


# --------------------------------------------------------------------------------------------------- hard data


def check_odd_lists(make):
    """Queries of one document, of one label, without judgements; constant features."""
    X, y, qid = easy_task()
    X[:, 3] = 7.0
    y[qid == 1] = 2.0
    y[qid == 2] = 0.0
    y[qid == 3] = -1.0
    y[::9] = -1.0
    X, y, qid = np.vstack([X, X[:2]]), np.append(y, [0.0, 2.0]), np.append(qid, [100, 101])
    ranker = make().fit(X, y, qid=qid)
    scores = ranker.predict(X, qid=qid)
    assert np.isfinite(scores).all()
    judged = y >= 0
    assert ndcg(scores[judged], y[judged], qid[judged]) > 0.85


def check_nothing_to_learn(make):
    """Constant features, one label, one document: finite scores, equal for equal documents."""
    y, qid = np.zeros(6), np.repeat([0, 1], 3)
    grades = np.array([0, 1, 2, 0, 1, 2.0])
    for X in (np.ones((6, 2)), np.zeros((6, 2)), csr_matrix((6, 2))):
        for labels in (y, grades, y - 1):
            # to learn nothing from labels that differ is worth a word
            expected = pytest.warns(PlackettWarning, match="learned nothing") if labels is grades else nullcontext()
            with expected:
                ranker = make().fit(X, labels, qid=qid)
            scores = ranker.predict(X, qid=qid)
            assert np.isfinite(scores).all() and np.ptp(scores) < 1e-6
    assert np.isfinite(make().fit([[1.0]], [1.0], qid=["a"]).predict([[1.0]], qid=["b"])).all()


def check_real_labels(make):
    """Labels that are no grades, and huge ones: learned from, or refused by the name of the label."""
    X, y, qid = easy_task()
    for labels in (y / 3 + 0.1, np.where(y == 2, 100.0, y), np.where(y == 2, 2e12, y)):
        try:
            ranker = make().fit(X, labels, qid=qid)
        except ValueError:
            with pytest.raises(ValueError, match="label"):
                make().fit(X, labels, qid=qid)
            continue
        scores = ranker.predict(X, qid=qid)
        assert np.isfinite(scores).all()
        assert ndcg(scores, y, qid) > 0.8


def check_nan_features(make):
    X, y, qid = easy_task()
    X[::5, 3] = np.nan
    if make().allow_nan:
        assert np.isfinite(make().fit(X, y, qid=qid).predict(X, qid=qid)).all()
        return
    with pytest.raises(ValueError, match=r"X has missing values \(NaN\)"):
        make().fit(X, y, qid=qid)
    ranker = make().fit(np.nan_to_num(X), y, qid=qid)
    with pytest.raises(ValueError, match="NaN"):
        ranker.predict(X, qid=qid)
    with pytest.raises(ValueError, match="eval_set has missing values"):
        make().fit(np.nan_to_num(X), y, qid=qid, eval_set=(X, y), eval_qid=qid)


# ------------------------------------------------------------------------------------------------------------ errors


def check_refusals(make):
    """Each message names the field."""
    X, y, qid = easy_task(n_queries=5)
    with pytest.raises(NotFittedError):
        make().predict(X)
    bad = y.copy()
    bad[3] = np.nan
    ranker = make().fit(X, y, qid=qid)
    for match, call in (
        (r"y\[3\]", lambda: make().fit(X, bad, qid=qid)),
        ("qid has", lambda: make().fit(X, y, qid=qid[1:])),
        ("y has", lambda: make().fit(X, y[1:], qid=qid)),
        ("requires y", lambda: make().fit(X, qid=qid)),
        ("sample_weight has", lambda: make().fit(X, y, qid=qid, sample_weight=[1.0])),
        (r"sample_weight\[0\]", lambda: make().fit(X, y, qid=qid, sample_weight=-np.ones(y.size))),
        (r"sample_weight\[2\] is inf", lambda: make().fit(X, y, qid=qid, sample_weight=_infinite(y.size))),
        (r"query_weight\[2\] is inf", lambda: make().fit(X, y, qid=qid, query_weight=_infinite(5))),
        ("query_weight has", lambda: make().fit(X, y, qid=qid, query_weight=[1.0])),
        ("query_weight is zero", lambda: make().fit(X, y, qid=qid, query_weight=np.zeros(5))),
        ("sample_weight is zero", lambda: make().fit(X, y, qid=qid, sample_weight=np.zeros(y.size))),
        ("group", lambda: make().fit(X, y, group=[1, 2])),
        (r"X\[0, 0\] is infinite", lambda: make().fit(np.where(X[0, 0] == X, np.inf, X), y, qid=qid)),
        (r"0 sample\(s\)", lambda: make().fit(np.empty((0, 2)), [], qid=[])),
        ("X has 2 features", lambda: ranker.predict(X[:, :2], qid=qid)),
        ("eval_set has 2 features", lambda: make().fit(X, y, qid=qid, eval_set=(X[:, :2], y), eval_qid=qid)),
        ("eval_set", lambda: make().fit(X, y, qid=qid, eval_set=X)),
        ("early_stopping_rounds", lambda: make(early_stopping_rounds=3).fit(X, y, qid=qid)),
        ("validation_fraction", lambda: make(validation_fraction=1.5).fit(X, y, qid=qid)),
        ("no_such_thing", lambda: make().set_params(no_such_thing=1)),
    ):
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(TypeError, match="no_such_thing"):
        make(no_such_thing=1)


def _infinite(n):
    return np.where(np.arange(n) == 2, np.inf, 1.0)


# -------------------------------------------------------------------------------------------------- forms of input


def check_forms_of_input(make):
    """Arrays, lists, CSR, frames with a column qid, datasets and group sizes mean the same."""
    import pandas as pd
    import polars as pl

    X, y, qid = easy_task(n_queries=12)
    X[np.abs(X) < 0.3] = 0.0
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    columns = {f"f{j}": X[:, j] for j in range(X.shape[1])}
    names = np.array([f"q{n}" for n in qid])
    frames = [pd.DataFrame({"qid": names, **columns}), pl.DataFrame({**columns, "qid": names})]
    for frame in (*frames, frames[1].to_arrow()):
        ranker = make().fit(frame, y)
        np.testing.assert_array_equal(ranker.predict(frame), expected)
        assert ranker.feature_names_in_.tolist() == list(columns)
    turned = frames[0][["f3", "qid", "f2", "f1", "f0"]]
    np.testing.assert_array_equal(ranker.predict(turned), expected)
    assert ranker.score(turned, y) == ranker.score(frames[0], y)
    with pytest.raises(ValueError, match="X lacks the column 'f2' and has the column 'f9'"):
        ranker.predict(frames[1].rename({"f2": "f9"}))
    with pytest.raises(ValueError, match="column 'f1'"):
        make().fit(frames[0].assign(f1="text"), y)
    data = RankingDataset.from_arrays(X, y, qid)
    np.testing.assert_array_equal(make().fit(data).predict(data), expected)
    grouped = make().fit(X.tolist(), y.tolist(), group=np.bincount(qid))
    np.testing.assert_array_equal(grouped.predict(X, qid=qid), expected)
    sparse = make().fit(csr_matrix(X), y, qid=qid)
    np.testing.assert_allclose(sparse.predict(csr_matrix(X), qid=qid), expected, rtol=1e-3, atol=1e-3)
    with pytest.warns(PlackettWarning, match="without qid"):
        make().fit(X, y)


def check_dataset_order(make):
    """Beside a dataset, scores are in its grouped order; from arrays in the caller's."""
    X, y, qid = easy_task(n_queries=6)
    rows = np.random.default_rng(0).permutation(y.size)
    data = RankingDataset.from_arrays(X[rows], y[rows], qid[rows])
    ranker = make().fit(data)
    np.testing.assert_array_equal(data.to_input_order(ranker.predict(data)), ranker.predict(X[rows], qid=qid[rows]))
    np.testing.assert_array_equal(data.to_input_order(ranker.rank(data)), ranker.rank(X[rows], qid=qid[rows]))


def check_predict_alone(make):
    """A document's score does not depend on the other queries scored with it."""
    X, y, qid = easy_task()
    ranker = make().fit(X, y, qid=qid)
    together = ranker.predict(X, qid=qid)
    for q in (0, 7):
        np.testing.assert_array_equal(ranker.predict(X[qid == q], qid=qid[qid == q]), together[qid == q])
    assert ranker.predict(np.empty((0, X.shape[1])), qid=[]).shape == (0,)


# -------------------------------------------------------------------------------------------------------- weights


def check_query_weight(make):
    """Weight 0 leaves a query out, exactly; weight 2 is the query given twice, up to rounding."""
    X, y, qid = easy_task()
    kept = qid % 3 != 0
    weight = (np.arange(qid.max() + 1) % 3 != 0).astype(float)
    expected = make().fit(X[kept], y[kept], qid=qid[kept], query_weight=weight[weight > 0]).predict(X, qid=qid)
    found = make().fit(X, y, qid=qid, query_weight=weight).predict(X, qid=qid)
    np.testing.assert_array_equal(found, expected)
    if not _one_batch(make):
        return
    make = _one_batch(make)
    twice = np.vstack([X, X[kept]]), np.append(y, y[kept]), np.append(qid, qid[kept] + 1000)
    expected = make().fit(twice[0], twice[1], qid=twice[2]).predict(X, qid=qid)
    found = make().fit(X, y, qid=qid, query_weight=weight + 1).predict(X, qid=qid)
    # up to rounding, which may turn a split of a tree: far nearer than without the weights
    plain = make().fit(X, y, qid=qid).predict(X, qid=qid)
    assert np.linalg.norm(found - expected) <= 0.25 * np.linalg.norm(found - plain)


#: Losses with draws that depend on the scores.
DRAWN = {"YetiRank", "StochasticSmoothing"}


def _one_batch(make):
    """The same without a draw: all queries in a step, bins and leaves that do not count rows; None where impossible."""
    known = make().get_params()
    if getattr(make(), "one_at_a_time", False):  # a pass sees what weighs twice as much in other places
        return None
    if known.get("boosting") in ("forest", "bagged"):  # queries are drawn
        return None
    if hasattr(make(), "make_loss") and make().make_loss().name in DRAWN:  # by scores, whose last bits differ
        return None
    if "lightgbm_params" in known:
        # few trees: LightGBM guesses the rows of a leaf from rounded curvatures, and may leave out a split for it
        few = {"n_estimators": 4} if "n_estimators" in known else {}
        return partial(make, **few, lightgbm_params={"min_data_in_bin": 1})
    if "max_epochs" in known or getattr(make(), "model", "linear") != "linear":
        return None
    return partial(make, batch_size=1000) if "batch_size" in known else make


def check_weights_of_one(make):
    """Weights of 1 are no weights, exactly."""
    X, y, qid = easy_task(n_queries=8)
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    weighted = make().fit(X, y, qid=qid, sample_weight=np.ones(y.size), query_weight=np.ones(8, int))
    np.testing.assert_array_equal(weighted.predict(X, qid=qid), expected)


def check_sample_weight(make):
    """Documents of weight 0 teach nothing: labels that contradict the rest do no harm then."""
    X, y, qid = easy_task()
    wrong = np.arange(y.size) % 3 == 0
    y_wrong = np.where(wrong, 2 - y, y)
    weighted = make().fit(X, y_wrong, qid=qid, sample_weight=1.0 - wrong).predict(X, qid=qid)
    plain = make().fit(X, y_wrong, qid=qid).predict(X, qid=qid)
    assert ndcg(weighted, y, qid) > 0.9
    assert not np.array_equal(weighted, plain)


# ---------------------------------------------------------------------------------------------------- validation data


def check_eval_set(make):
    """The best round on the validation data is kept."""
    X, y, qid = easy_task()
    rng = np.random.default_rng(0)
    valid_X, valid_y, valid_qid = easy_task(seed=5, n_queries=10)
    valid_y = np.where(rng.random(valid_y.size) < 0.4, rng.integers(0, 3, valid_y.size), valid_y).astype(float)
    ranker = make().fit(X, y, qid=qid, eval_set=[(valid_X, valid_y)], eval_qid=[valid_qid])
    assert len(ranker.history_) >= 1
    found = ranker.score(valid_X, valid_y, qid=valid_qid)
    np.testing.assert_allclose(found, max(ranker.history_), rtol=1e-9)
    assert ranker.card_["validation"]["value"] == max(ranker.history_)
    again = make().fit(X, y, qid=qid, eval_set=RankingDataset.from_arrays(valid_X, valid_y, valid_qid))
    assert again.history_ == ranker.history_


def check_parameters_count(make):
    """What every ranker takes is used: the measure, the share set aside, the calibration; or it is refused."""
    X, y, qid = easy_task()
    valid_X, valid_y, valid_qid = easy_task(seed=5, n_queries=10)
    valid = {"eval_set": (valid_X, valid_y), "eval_group": np.bincount(valid_qid)}
    for measure, sign in (("AP", 1), ("ARP", -1)):
        ranker = make(eval_measure=measure).fit(X, y, qid=qid, **valid)
        best = ranker.card_["validation"]["value"]
        assert ranker.best_score_ == {"valid_0": {measure: best}}
        assert ranker.evals_result_["valid_0"][measure][ranker.best_iteration_ - 1] == best
        np.testing.assert_allclose(best, sign * ranker.score(valid_X, valid_y, qid=valid_qid), rtol=1e-9)
    whole = make().fit(X, y, qid=qid)
    part = make(validation_fraction=0.5).fit(X, y, qid=qid)
    assert (whole.card_["data"]["queries"], part.card_["data"]["queries"]) == (24, 12)
    assert part.best_iteration_ and whole.best_iteration_ is None and whole.best_score_ == whole.evals_result_ == {}
    with pytest.raises(ValueError, match="calibration needs validation data"):
        make(calibration="logistic").fit(X, y, qid=qid)
    calibrated = make(calibration="logistic").fit(X, y, qid=qid, **valid)
    p, relevant = calibrated.predict_relevance(valid_X, qid=valid_qid), valid_y >= 1
    # Platt's likelihood is stationary in the intercept: the mean is that of his smoothed targets
    up, n = relevant.sum(), relevant.size
    np.testing.assert_allclose(p.mean(), (up * (up + 1) / (up + 2) + (n - up) / (n - up + 2)) / n, atol=2e-3)
    assert not hasattr(calibrated.set_params(calibration=None).fit(X, y, qid=qid), "calibration_")


def check_callbacks(make):
    """Called once per round, with the values that are noted; one that says so ends the training."""
    X, y, qid = easy_task()
    valid = {"eval_set": (X, y), "eval_qid": qid}
    seen = []
    ranker = make().fit(X, y, qid=qid, **valid, callbacks=[seen.append])
    values = [env.evaluation_result_list[0][2] for env in seen if env.evaluation_result_list]
    assert [env.iteration for env in seen] == list(range(len(seen))) and seen[-1].model is ranker
    assert values[-1:] == ranker.history_[-1:]
    if len(ranker.history_) > 1:
        assert values == ranker.history_
        assert len(make().fit(X, y, qid=qid, **valid, callbacks=[lambda env: True]).history_) < len(values)
    with pytest.raises(ValueError, match="callbacks="):
        make().fit(X, y, qid=qid, callbacks=print)


def check_contributions(make):
    """Where a ranker gives them, they sum to its scores; linear ones are weights times values."""
    X, y, qid = easy_task(n_queries=8)
    ranker = make().fit(X, y, qid=qid)
    scores = ranker.predict(X, qid=qid)
    if hasattr(ranker, "coef_") and ranker.coef_.ndim == 1:
        np.testing.assert_allclose(X @ ranker.coef_ + ranker.intercept_, scores, rtol=1e-5, atol=1e-6)
    if ranker.scorer_.kind not in ("linear", "trees", "blend") or type(ranker).__name__ in NO_SUMS:
        with pytest.raises(ValueError, match=r"pred_contrib=True: .* plackett\.explain"):
            ranker.predict(X, qid=qid, pred_contrib=True)
        return
    parts = ranker.predict(X, qid=qid, pred_contrib=True)
    assert parts.shape == (y.size, X.shape[1] + 1)
    np.testing.assert_allclose(parts.sum(axis=1), scores, rtol=1e-6, atol=1e-8)


#: Rankers whose scores are no sum of their model's over the features: several outputs, products of features.
NO_SUMS = {"McRank", "PolynomialRegression"}


def check_early_stopping(make):
    """Training ends `early_stopping_rounds` after the best round; a measure to be minimised is minimised."""
    X, y, qid = easy_task()
    for measure, sign in (("nDCG@3", 1), ("ARP", -1)):
        ranker = make(early_stopping_rounds=1, validation_fraction=0.3, eval_measure=measure).fit(X, y, qid=qid)
        values = sign * np.array(ranker.history_)
        best = int(np.argmax(values))
        ended = len(values) - 1
        assert best == ended or ended == best + 1
        assert (np.diff(values[: best + 1]) > 0).all()


def check_interrupt(make):
    """Ctrl-C keeps the best model so far, with a warning; before the first round there is none, and it goes on."""
    X, y, qid = easy_task()
    update = Monitor.update
    for after in (0, 2):
        rounds, raised = [], []

        def interrupted(self, *args, rounds=rounds, raised=raised, after=after):
            if len(rounds) == after:
                raised.append(True)
                raise KeyboardInterrupt
            rounds.append(update(self, *args))
            return rounds[-1]

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Monitor, "update", interrupted)
            if after == 0:
                with pytest.raises(KeyboardInterrupt):
                    make().fit(X, y, qid=qid)
                continue
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", PlackettWarning)
                ranker = make(validation_fraction=0.3).fit(X, y, qid=qid)
        if not raised:  # there were no more rounds than that
            return
        assert ["interrupted" in str(w.message) for w in caught if "positions" not in str(w.message)] == [True]
        assert len(ranker.history_) == after
        assert ndcg(ranker.predict(X, qid=qid), y, qid) > ndcg(np.zeros(y.size), y, qid)


def check_verbose(make):
    from rich.progress import Progress

    X, y, qid = easy_task(n_queries=6)
    expected = make().fit(X, y, qid=qid).predict(X, qid=qid)
    with Progress():  # a display of the caller's must not get in the way
        np.testing.assert_array_equal(make(verbose=True).fit(X, y, qid=qid).predict(X, qid=qid), expected)


# ---------------------------------------------------------------------------------------------------------- copies


def check_copies(make, tmp_path):
    """clone, pickle, deepcopy, save and load: the same scores, the same parameters."""
    X, y, qid = easy_task(n_queries=8)
    ranker = make(validation_fraction=0.3).fit(X, y, qid=qid)
    expected = ranker.predict(X, qid=qid)
    assert not hasattr(clone(ranker), "scorer_")
    np.testing.assert_array_equal(clone(ranker).fit(X, y, qid=qid).predict(X, qid=qid), expected)
    path = tmp_path / "model.plackett"
    ranker.save(path)
    for copied in (pickle.loads(pickle.dumps(ranker)), copy.deepcopy(ranker), storage.load(path)):
        np.testing.assert_array_equal(copied.predict(X, qid=qid), expected)
        assert repr(copied.get_params()) == repr(ranker.get_params()) and type(copied) is type(ranker)
        assert copied.history_ == ranker.history_ and copied.card_ == ranker.card_
        np.testing.assert_array_equal(copied.fit(X, y, qid=qid).predict(X, qid=qid), expected)
    with pytest.raises(NotFittedError):
        make().save(path)


def check_atomic_save(make, tmp_path):
    """A crash while writing leaves the old file."""
    X, y, qid = easy_task(n_queries=5)
    path = tmp_path / "model.plackett"
    ranker = make().fit(X, y, qid=qid)
    ranker.save(path)
    before = path.read_bytes()

    def crash(*_):
        raise OSError("disk full")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", crash)
        with pytest.raises(OSError, match="disk full"):
            ranker.fit(X, 2 - y, qid=qid).save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]
    assert _storage.read(path, kind="model")[1]["kind"] == "model"


def check_declared(make):
    """What the catalogue and scikit-learn read."""
    ranker = make()
    cls = type(ranker)
    assert isinstance(cls._ids, tuple) and isinstance(cls.paper, str) and cls.__doc__
    assert isinstance(ranker.allow_nan, bool)
    assert ranker.__sklearn_tags__().input_tags.allow_nan == ranker.allow_nan
    assert cls.__name__ in repr(ranker)
    documented = "".join(str(base.__doc__) for base in cls.__mro__)
    for name in ranker.get_params(deep=False):
        assert name in documented, f"{cls.__name__} does not document {name}"


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_") and name != "check_ranker"]
