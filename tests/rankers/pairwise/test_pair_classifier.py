"""Two stages: a classifier of pairs and an ordering."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

import plackett as pk
from plackett import DataError
from plackett.aggregation.orderings import QuickSort
from plackett.losses.pairwise.logistic import Logistic
from plackett.models.linear import Linear
from plackett.models.trees.model import Trees
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.pairwise._listed_pairs import listed_pairs
from plackett.rankers.pairwise.pair_classifier import PairClassifier
from plackett.testing.rankers import easy_task, ndcg, ranker_checks

TREES = Trees(n_estimators=8, num_leaves=5, min_child_samples=1, n_jobs=1)
#: Checks of the battery that another classifier or ordering could break.
SOME = ("learns", "order_of_input", "odd_lists", "nothing_to_learn", "predict_alone", "sample_weight", "eval_set")


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize(
    "parameters",
    [{"estimator": TREES, "order": "degree"}, {"order": "greedy", "pair_features": "both"}],
    ids=["trees", "greedy"],
)
def test_battery_of_other_models_and_orderings(name, parameters):
    next(check for check in ranker_checks(PairClassifier(n_jobs=1, **parameters)) if check.name == name)()


@pytest.mark.parametrize("order", ["quicksort", "degree", "greedy", "exact"])
def test_a_linear_model_of_differences_is_the_pairwise_logistic_ranker(order):
    """σ(w·(x_u − x_v)) is an order: every method finds it, and it is RankNet's linear form."""
    X, y, qid = easy_task()
    pairs = PairClassifier(estimator=Linear(alpha=1e-2, tol=1e-9), order=order).fit(X, y, qid=qid)
    weights = pairs.scorer_.comparator.scorer.weights[:, 0]
    scores = X.astype(np.float64) @ weights
    for q in np.unique(qid):
        mine = qid == q
        result = pairs.rank(X[mine], qid=qid[mine])
        assert result.tolist() == (1 + np.argsort(np.argsort(-scores[mine]))).tolist()
    # a query of p pairs counts p in both, up to the deviation by which features are scaled
    data = pk.RankingDataset.from_arrays(X, y, qid)
    winner, loser, weight = listed_pairs(data, 10**6, False, 0)
    difference = X[winner].astype(np.float64) - X[loser]
    slope = difference.T @ (-weight / (1 + np.exp(difference @ weights)))
    spread = np.sqrt((difference**2).mean(axis=0))
    np.testing.assert_allclose(slope / spread, -1e-2 * weights * spread, atol=1e-6)
    ranknet = GradientRanker(loss=Logistic(), model="linear").fit(X, y, qid=qid).predict(X)
    assert abs(ndcg(scores, y, qid) - ndcg(ranknet, y, qid)) < 0.01


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), RandomForestClassifier(20, random_state=0), KNeighborsClassifier(5)], ids=repr
)
@pytest.mark.parametrize("features", ["difference", "concatenation", "both"])
def test_any_classifier_with_probabilities(estimator, features, tmp_path):
    X, y, qid = easy_task()
    ranker = PairClassifier(estimator=estimator, order="degree", pair_features=features).fit(X, y, qid=qid)
    new_X, new_y, new_qid = easy_task(seed=1)
    scores = ranker.predict(new_X, qid=new_qid)
    assert ndcg(scores, new_y, new_qid) > 0.93
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(new_X, qid=new_qid), scores)
    with pytest.raises(DataError, match=f"{type(estimator).__name__} cannot be saved"):
        ranker.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    h = ranker.scorer_.comparator.bind(new_X, 1)
    u, v = np.random.default_rng(0).integers(0, len(new_X), (2, 50))
    np.testing.assert_allclose(h(u, v) + h(v, u), 1.0, rtol=1e-12)
    # asked in both directions, the answer is the mean of both
    first, second = new_X[u], new_X[v]
    forms = {
        "difference": (first - second, second - first),
        "concatenation": (np.hstack([first, second]), np.hstack([second, first])),
        "both": (np.hstack([first, second, first - second]), np.hstack([second, first, second - first])),
    }
    p, q = (ranker.scorer_.comparator.classifier.predict_proba(form)[:, 1] for form in forms[features])
    np.testing.assert_allclose(h(u, v), (p + 1 - q) / 2, atol=1e-6)  # float32


@pytest.mark.parametrize("features", ["difference", "concatenation", "both"])
def test_linear_models_are_not_asked_for_each_pair(features):
    """The short way, by the scores of the documents, gives what the model says of the pairs."""
    from plackett.scorers.comparators.pair_model import pair_table

    X, y, qid = easy_task()
    comparator = PairClassifier(pair_features=features).fit(X, y, qid=qid).scorer_.comparator
    u, v = np.random.default_rng(0).integers(0, len(X), (2, 60))
    there, back = (
        1 / (1 + np.exp(-comparator.scorer.predict(pair_table(X, *rows, features), np.array([0, 60]))))
        for rows in ((u, v), (v, u))
    )
    np.testing.assert_allclose(comparator.bind(X, 1)(u, v), (there + 1 - back) / 2, atol=1e-6)


def test_quicksort_asks_for_few_pairs():
    """On a long list the classifier sees O(n log n) pairs; sorting by degree all of them."""

    class Counting(LogisticRegression):
        seen = 0

        def predict_proba(self, X):
            Counting.seen += len(X)
            return super().predict_proba(X)

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)).astype(np.float32), None
    y = np.digitize(X[:, 0], [-1, 0, 1])
    counts = {}
    for order in ("quicksort", QuickSort(k=10), "degree"):
        ranker = PairClassifier(estimator=Counting(), order=order, max_pairs=2000).fit(X, y, qid=np.zeros(600, int))
        Counting.seen = 0
        ranker.predict(X, qid=np.zeros(600, int))
        counts[str(order)] = Counting.seen / 2  # both directions
    top, whole, everything = sorted(counts.values())
    assert everything == 600 * 599 / 2
    assert whole < 3 * 600 * np.log(600) < 0.1 * everything and top < 0.4 * whole


def test_pairs_are_limited_and_drawn_by_weight():
    rng = np.random.default_rng(0)
    data = pk.RankingDataset.from_arrays(
        rng.normal(size=(400, 3)), rng.integers(0, 3, 400), np.repeat([0, 1], 200), query_weight=[3.0, 1.0]
    )
    winner, loser, weight = listed_pairs(data, 5000, False, 0)
    assert winner.size == 5000 and weight.sum() == pytest.approx(1.0)
    assert (data.labels[winner] > data.labels[loser]).all()
    assert (data.query_of_row[winner] == data.query_of_row[loser]).all()
    counts = [np.bincount(data.labels[data.query_of_row == q].astype(int)) for q in (0, 1)]
    pairs = np.array([(c.sum() ** 2 - (c**2).sum()) / 2 for c in counts]) * [3.0, 1.0]
    assert abs((data.query_of_row[winner] == 0).mean() - pairs[0] / pairs.sum()) < 0.04
    ranker = PairClassifier(max_pairs=500, random_state=1)
    scores = ranker.fit(data).predict(data)
    np.testing.assert_array_equal(PairClassifier(max_pairs=500, random_state=1).fit(data).predict(data), scores)


def test_preferences_take_the_place_of_labels():
    X = np.arange(12, dtype=np.float32)[:, None] % 4
    pairs = pk.Preferences.from_pairs([(q * 4 + i, q * 4 + i + 1) for q in range(3) for i in range(3)])
    data = pk.RankingDataset.from_arrays(X, None, np.repeat([0, 1, 2], 4), preferences=pairs)
    assert PairClassifier().fit(data).rank(data).tolist() == [1, 2, 3, 4] * 3


def test_refusals():
    X, y, qid = easy_task(n_queries=5)
    for parameters, match in (
        ({"estimator": "svm"}, "'trees'"),
        ({"estimator": LinearSVC()}, "predict_proba"),
        ({"order": "bubble"}, "unknown ordering 'bubble'"),
        ({"pair_features": "product"}, "'difference'"),
        ({"max_pairs": 0}, "max_pairs"),
        ({"estimator": KNeighborsClassifier(), "normalize": True}, "KNeighborsClassifier takes none"),
    ):
        with pytest.raises(DataError, match=match):
            PairClassifier(**parameters).fit(X, y, qid=qid)


def test_saved_with_its_ordering(tmp_path):
    X, y, qid = easy_task(n_queries=8)
    for estimator in (TREES, "linear"):
        ranker = PairClassifier(estimator=estimator, order=QuickSort(k=3, repeats=2)).fit(X, y, qid=qid)
        ranker.save(tmp_path / "model")
        again = pk.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict(X, qid=qid), ranker.predict(X, qid=qid))
        assert again.order == QuickSort(k=3, repeats=2) and again.scorer_.ordering == again.order


@pytest.mark.parametrize("name", ["PairClassifier", "SortNet"])
def test_one_label_gives_equal_scores(name):
    """Without pairs no order is better than another; sorting by a preference of 1/2 would draw one."""
    if name == "SortNet":
        pytest.importorskip("torch", reason="networks need the extra 'neural'")
    X, qid = np.random.default_rng(0).normal(size=(30, 3)), np.repeat([0, 1, 2], 10)
    ranker = pk.rankers()[name]().fit(X, np.ones(30), qid=qid)
    assert np.ptp(ranker.predict(X, qid=qid)) == 0.0
