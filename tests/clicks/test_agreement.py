"""Agreement with clicks at equal ranks, and what is built on it."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.clicks.labels.dataset import labelled_dataset
from plackett.clicks.labels.from_model import model_labels
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.pbm import PBM
from plackett.clicks.simulate import PositionUsers, TrustUsers, simulate_log
from plackett.clicks.unbiased.agreement import guarded_choice, rank_agreement
from plackett.clicks.unbiased.dual_learning import DualLearning


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=40, docs_per_query=6, n_features=6, random_state=0)


def by_definition(log, scores):
    """Pairs of rows, one by one; the documents of the log are rows of the dataset."""
    right = pairs = 0.0
    documents, query = log.documents[log.document], log.query[log.page]
    for i in np.flatnonzero(log.clicked):
        for j in np.flatnonzero(~log.clicked):
            if query[i] == query[j] and log.rank[i] == log.rank[j] and documents[i] != documents[j]:
                a, b = scores[documents[i]], scores[documents[j]]
                weight = log.row_weight[i] * log.row_weight[j]
                right += weight * ((a > b) + 0.5 * (a == b))
                pairs += weight
    return right / pairs


def test_agreement_by_definition():
    data = pk.datasets.make_ranking(n_queries=3, docs_per_query=4, n_features=3, random_state=0)
    log = simulate_log(data, n_pages=60, k=3, random_state=0)
    rng = np.random.default_rng(0)
    for scores in (data.labels, rng.normal(size=data.n_rows), np.zeros(data.n_rows)):
        assert rank_agreement(log, data, scores).value == pytest.approx(by_definition(log, scores))
        weighted = log.replace(weight=rng.integers(1, 4, log.n_pages).astype(float))
        assert rank_agreement(weighted, data, scores).value == pytest.approx(by_definition(weighted, scores))
    assert rank_agreement(log, data, np.zeros(data.n_rows)).value == 0.5
    with pytest.raises(pk.DataError, match="for 12 rows"):
        rank_agreement(log, data, [1.0])


@pytest.mark.parametrize("users", [PositionUsers(strength=2.0), TrustUsers()])
def test_position_and_trust_do_not_matter(data, users):
    """A ranker that repeats the logged order has no advantage, however much users look at the top."""
    order = np.random.default_rng(1).normal(size=data.n_rows)
    log = simulate_log(data, order, n_pages=20_000, k=6, users=users, temperature=1.0, random_state=0)
    useless = rank_agreement(log, data, order)
    truth = rank_agreement(log, data, data.labels)
    assert abs(useless.value - 0.5) < 0.06
    gain, error = truth.gain(useless)
    assert gain > 3 * error > 0
    assert truth.value - useless.value == pytest.approx(gain)


def test_errors_are_those_of_new_logs(data):
    logs = [simulate_log(data, n_pages=800, k=4, random_state=seed) for seed in range(40)]
    found = [rank_agreement(log, data, data.X[:, 0]) for log in logs]
    spread = np.std([each.value for each in found])
    # queries are the same in all logs, so that the error, which is over queries too, may only be larger
    assert np.mean([each.error for each in found]) > 0.8 * spread


def learner(data, model):
    def learn(log):
        join = labelled_dataset(model_labels(model().fit(log)), data)
        return pk.GradientRanker(loss="QuerySoftmax", model="linear").fit(join.data)

    return learn


def test_the_guard_takes_what_helps_and_leaves_what_hurts(data):
    order = -pk.GradientRanker(loss="Square", model="linear").fit(data).predict(data)
    order /= order.std()
    users = PositionUsers(strength=2.0)
    log = simulate_log(data, order, n_pages=5_000, k=6, users=users, temperature=1.0, random_state=0)

    class Backwards:
        def predict(self, data):
            return order

    ways = {"clicks": learner(data, IndependentClickModel), "PBM": learner(data, PBM), "bad": lambda log: Backwards()}
    found = guarded_choice(log, data, ways)
    assert found.name == "PBM"
    assert found.table["method"].to_list() == list(ways)
    assert "agrees better" in found.reason
    assert guarded_choice(log, data, {"clicks": ways["clicks"], "bad": ways["bad"]}).name == "clicks"
    assert guarded_choice(log, data, {"bad": ways["bad"], "PBM": ways["PBM"]}, baseline="bad").name == "PBM"
    with pytest.raises(pk.DataError, match="baseline='x'"):
        guarded_choice(log, data, ways, baseline="x")


def test_fixed_lists_are_no_evidence(data):
    log = simulate_log(data, data.X[:, 0], n_pages=200, k=4, random_state=0)
    ways = {"clicks": learner(data, IndependentClickModel), "PBM": learner(data, PBM)}
    found = guarded_choice(log, data, ways)
    assert found.name == "clicks"
    assert "cannot be told apart" in found.reason
    assert np.isnan(rank_agreement(log, data, data.labels).value)


def test_an_empty_choice_is_refused(data):
    log = ClickLog.from_arrays(["q"], [["a"]], [[1]])
    with pytest.raises(pk.DataError, match="learners is empty"):
        guarded_choice(log, data, {})


def test_a_way_that_cannot_learn_is_left_out(data):
    log = simulate_log(data, n_pages=300, k=4, random_state=0)

    def fails(log):
        raise pk.DataError("nothing to compare")

    found = guarded_choice(log, data, {"clicks": learner(data, IndependentClickModel), "fails": fails})
    assert found.name == "clicks"
    assert found.table["gain"].to_list() == [0.0, None]
    with pytest.raises(pk.DataError, match="nothing to compare"):
        guarded_choice(log, data, {"fails": fails, "clicks": learner(data, IndependentClickModel)})
    silent = log.replace(clicks=np.zeros(log.n_rows, np.int32))
    with pytest.raises(pk.DataError, match="no clicks"):
        DualLearning().fit(silent, data)


def test_regularisation_is_chosen_by_clicks_on_other_queries():
    """Few noisy queries with many useless features: the default overfits, and clicks at equal ranks say so."""
    from plackett.clicks.unbiased.tuning import tune_by_clicks
    from plackett.models.linear import Linear

    data = pk.datasets.make_ranking(n_queries=40, docs_per_query=12, n_features=40, random_state=3)
    log = simulate_log(data, data.X[:, 0], n_pages=1500, temperature=1.0, random_state=0)
    train = labelled_dataset(model_labels(PBM().fit(log)), data).data
    rankers = {
        str(alpha): pk.GradientRanker(loss="QuerySoftmax", model=Linear(alpha=alpha, n_jobs=1)) for alpha in (1e-6, 1.0)
    }
    tuned = tune_by_clicks(log, data, train, rankers)
    assert tuned.name == "1.0"
    assert tuned.table["agreement"][1] > tuned.table["agreement"][0]
    fresh = pk.datasets.make_ranking(n_queries=60, docs_per_query=12, n_features=40, random_state=3)
    loose = rankers["1e-06"].fit(train)
    values = [pk.evaluate(fresh, each.predict(fresh), ["nDCG@10"]).mean["nDCG@10"] for each in (tuned.ranker, loose)]
    assert values[0] > values[1]
    with pytest.raises(pk.DataError, match="rankers is empty"):
        tune_by_clicks(log, data, train, {})
    with pytest.raises(pk.DataError, match="n_folds=1"):
        tune_by_clicks(log, data, train, rankers, n_folds=1)


def test_out_of_fold_scores_come_from_other_queries():
    from plackett.clicks.unbiased.tuning import out_of_fold

    class Remembers:
        def fit(self, data):
            self.seen = set(data.qids.tolist())
            return self

        def predict(self, data):
            known = [qid in self.seen for qid in data.qids.tolist()]
            return np.repeat(np.where(known, 1.0, -1.0), np.diff(data.offsets))

    data = pk.datasets.make_ranking(n_queries=9, docs_per_query=4, random_state=0)
    scores = out_of_fold(Remembers(), data.select(np.arange(1, 9)), data, np.arange(9) % 3)
    assert (scores == -1).all()
