"""What is training effort, how much of it a share is, and how long training again takes."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import plackett as pk
from plackett.data.estimators import fit
from plackett.datasets import make_ranking
from plackett.experiments.effort import effort_of, full_effort, settled
from plackett.models.linear import Linear
from plackett.models.trees.model import Trees
from plackett.rankers import storage
from plackett.solvers.monitor import Monitor
from plackett.testing.rankers import small

#: Rankers whose rounds no parameter counts: training again runs in full.
WHOLE = {"SmoothRank", "RobustSparseRanker", "StagedLogistic"}
#: Training ends when it is done, long before the largest number of rounds.
UNTIL_DONE = {"PRank", "AveragedPRank", "BayesPointMachine", "LinearDiscriminant", "CoordinateAscent"}
#: As long is not the same: they score with the mean of a later part of all steps, weigh trees by their number, or look
#: at validation data for other things than the best round.
OTHERWISE = {"StochasticRank", "PairHinge", "OWPC", "RandomForest", "XDART", "CoordinateAscent"}
#: Rounds of several stages, or steps.
AMOUNT = {"SmoothRank": 60, "RobustSparseRanker": 60, "StochasticRank": 900, "OnlineRankSVM": 900}


@pytest.fixture(scope="module")
def parts():
    data = make_ranking(40, 10, 6, noise=1.0, random_state=3)
    return pk.split_queries(data, (0.5, 0.5), random_state=0)


def rounds_of(ranker, monkeypatch, data, valid=None):
    """How often training told its monitor of a round."""
    count = [0]
    update = Monitor.update

    def counted(self, scores=None):
        count[0] += 1
        return update(self, scores)

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(Monitor, "update", counted)
        ranker.fit(data, eval_set=valid)
    return count[0]


@pytest.mark.parametrize("name", sorted(pk.rankers()))
def test_every_ranker_says_what_its_effort_is(name):
    cls = pk.rankers()[name]
    assert hasattr(cls, "effort"), f"{name} declares no effort: the name of a parameter, or None"
    ranker = cls()
    assert effort_of(ranker) == cls.effort
    if cls.effort is not None:
        assert cls.effort in ranker.get_params(deep=False)
        assert full_effort(ranker, cls.effort) >= 1
        assert effort_of(ranker, searched={cls.effort: (1, 2)}) is None


@pytest.mark.parametrize("name", sorted(n for n, cls in pk.rankers().items() if cls.effort is not None))
def test_less_effort_is_less_work_and_training_again_is_as_long_as_the_best_round(name, parts, monkeypatch):
    train, valid = parts
    cls = pk.rankers()[name]
    amount = AMOUNT.get(name, 9)
    known = cls().get_params()
    extra = {"n_runs": 2} if "n_runs" in known else {}
    few = {"n_points": 10} if "n_points" in known else {}
    few |= {"base": None} if name == "ContinuousCRF" else {}  # the base has rounds of its own
    ranker = small(cls, **({cls.effort: amount} | extra | few))()
    if "tol" in ranker.get_params():
        ranker.set_params(tol=1e-12)
    third = clone(ranker).set_params(**{cls.effort: amount // 3})
    work = rounds_of(clone(ranker), monkeypatch, train), rounds_of(third, monkeypatch, train)
    if cls.effort == "n_steps":
        assert third.n_steps * 3 == ranker.n_steps
    elif name not in UNTIL_DONE:
        assert work[1] < work[0], f"{cls.effort} does not bound the rounds of {name}"
    assert work[1] <= work[0]

    fitted = clone(ranker)
    rounds_of(fitted, monkeypatch, train, valid)
    best = fitted.card_["validation"]["round"]
    decided = fitted.settled()
    if name in WHOLE:
        assert decided == {}
        return
    again = clone(ranker).set_params(**decided)
    if extra:  # every run has as many generations as the best had
        assert rounds_of(again, monkeypatch, train) == 2 * ((best - 1) % amount + 1)
    else:
        assert rounds_of(again, monkeypatch, train) == best
        if name not in OTHERWISE:
            np.testing.assert_allclose(again.predict(valid), fitted.predict(valid), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("ranker", "again"),
    [
        (pk.GradientRanker(loss="ListNet", model=Linear(max_iter=20)), lambda r, n: r.model.max_iter == n),
        (pk.GradientRanker(loss="Square", model=Trees(n_estimators=9)), lambda r, n: r.model.n_estimators == n),
        (pk.GradientRanker(loss="ListNet", model="linear"), lambda r, n: r.model.max_iter == n),
        (pk.RankSVM(C=1.0), lambda r, n: r.max_iter == n),
        (pk.SVMMAP(C=1.0), lambda r, n: r.max_iter == n),
        (pk.NestedRanker(keep=(8, 4, 2), model=Linear()), lambda r, n: len(r.keep) == n - 1),
        (pk.MarginLP(), lambda r, n: r.max_iter == pk.MarginLP().max_iter),
        (pk.PointwiseSVM(), lambda r, n: r.max_iter == pk.PointwiseSVM().max_iter),
        (pk.MultipleHyperplaneRanker(), lambda r, n: r.max_iter == pk.MultipleHyperplaneRanker().max_iter),
        (pk.RampRank(), lambda r, n: (r.max_rounds, r.max_iter) == (n, pk.RampRank().max_iter)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_rounds_that_are_no_effort(ranker, again, parts):
    """A round may be a stage, a machine or a step of the model inside; no other parameter is cut short by it."""
    train, valid = parts
    fitted = clone(ranker).fit(train, eval_set=valid)
    refitted = clone(ranker).set_params(**fitted.settled())
    assert again(refitted, fitted.card_["validation"]["round"])


def test_what_validation_data_decided_needs_them_no_longer(parts, tmp_path):
    train, valid = parts
    ranker = pk.MultipleHyperplaneRanker(alpha="validation").fit(train, eval_set=valid)
    again = clone(ranker).set_params(**ranker.settled()).fit(train)
    np.testing.assert_array_equal(again.scorer_.alpha, ranker.scorer_.alpha)
    ranker = pk.ListNet(validation_fraction=0.2, early_stopping_rounds=3).fit(train)
    again = clone(ranker).set_params(**ranker.settled()).fit(train)
    assert again.history_ == [] and again.card_["data"]["queries"] == train.n_queries
    ranker = pk.SigmoidRank().fit(train, eval_set=valid)  # the start of which has a number of rounds of its own
    again = clone(ranker).set_params(**ranker.settled()).fit(train)
    np.testing.assert_allclose(again.predict(valid), ranker.predict(valid), rtol=1e-6, atol=1e-9)
    storage.save(again, tmp_path / "model")
    np.testing.assert_array_equal(pk.load(tmp_path / "model").predict(valid), again.predict(valid))


def test_rankers_of_other_libraries(parts):
    import lightgbm as lgb
    from sklearn.linear_model import Ridge

    train, valid = parts
    ranker = lgb.LGBMRanker(
        n_estimators=60, learning_rate=0.5, min_child_samples=2, verbose=-1, early_stopping_rounds=3
    )
    fit(ranker, train, valid)
    assert 0 < ranker.best_iteration_ < 60
    assert settled(ranker) == {"early_stopping_rounds": None, "n_estimators": ranker.best_iteration_}
    assert effort_of(ranker) == "n_estimators" and effort_of(Ridge()) is None and settled(Ridge()) == {}


@pytest.mark.parametrize("module", ["xgboost"])
def test_xgboost_counts_from_0(module, parts):
    xgboost = pytest.importorskip(module)
    train, valid = parts
    ranker = xgboost.XGBRanker(n_estimators=60, learning_rate=0.5, early_stopping_rounds=3, n_jobs=1)
    ranker.fit(
        train.X,
        train.y,
        qid=train.query_of_row,
        eval_set=[(valid.X, valid.y)],
        eval_qid=[valid.query_of_row],
        verbose=False,
    )
    assert settled(ranker)["n_estimators"] == ranker.best_iteration + 1
    best = xgboost.XGBRanker(n_estimators=ranker.best_iteration + 1, learning_rate=0.5, n_jobs=1)
    best.fit(train.X, train.y, qid=train.query_of_row)
    np.testing.assert_allclose(best.predict(valid.X), ranker.predict(valid.X), rtol=1e-6)
