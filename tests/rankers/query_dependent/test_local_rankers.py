"""Rankers for parts of the queries: neutral settings, naive routing, storage, shrinkage, planted data."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.rankers.query_dependent._near import near
from plackett.scorers.routers import OverlapRouter, nearest
from plackett.scorers.subspaces import directions, similarities
from tests.rankers.query_dependent.planted import rotating

BASE = pk.RankSVM(C=0.01, n_jobs=1)
TREES = pk.LambdaMART(n_estimators=5, num_leaves=4, min_child_samples=1, n_jobs=1)
KNN = (pk.KNNOnline, pk.KNNOffline1, pk.KNNOffline2)


@pytest.fixture(scope="module")
def train():
    return rotating(60, 0)


@pytest.fixture(scope="module")
def test():
    return rotating(60, 1)


@pytest.mark.parametrize("base", [BASE, TREES], ids=["linear", "trees"])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda base: pk.KNNOnline(base=base, k=60), id="online"),
        pytest.param(lambda base: pk.KNNOffline1(base=base, k=60), id="offline1"),
        pytest.param(lambda base: pk.KNNOffline2(base=base, k=60), id="offline2"),
        pytest.param(lambda base: pk.SubspaceClusters(base=base, n_clusters=1), id="subspace"),
        pytest.param(lambda base: pk.ClassRankers(base=base, n_classes=1), id="classes"),
        pytest.param(lambda base: pk.ModelClusters(base=base, n_clusters=1), id="model"),
        pytest.param(lambda base: pk.KNNOffline2(base=base, k=5, shrink=1.0), id="shrunk"),
        pytest.param(lambda base: pk.KNNOffline2(base=base, k=5, min_queries=6), id="too small"),
    ],
)
def test_neutral_setting_is_the_base_ranker(make, base, train, test):
    expected = base.fit(train).predict(test)
    np.testing.assert_array_equal(make(base).fit(train).predict(test), expected)


def test_neighbours_by_hand(train, test):
    """Each query by the ranker of a naive search; a training query asked again has full overlap with itself."""
    k = 12
    z = train.query_features.astype(float)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    of_test = (test.query_features.astype(float) - train.query_features.mean(axis=0)) / train.query_features.std(axis=0)

    def order(point):
        return np.argsort(((z - point) ** 2).sum(axis=1), kind="stable")

    def scores(queries, q):
        return BASE.fit(train.select(np.sort(queries))).predict(test.select([q]))

    online, first, second = (
        cls(base=BASE, k=k, shrink=0.0) if cls is not pk.KNNOnline else cls(base=BASE, k=k) for cls in KNN
    )
    models = [ranker.fit(train) for ranker in (online, first, second)]
    sets = [set(order(point)[:k].tolist()) for point in z]
    for q in range(0, 60, 7):
        near = order(of_test[q])
        overlap = [len(set(near[:k].tolist()) & own) for own in sets]
        best = max(range(60), key=lambda i: (overlap[i], -np.flatnonzero(near == i)[0]))
        expected = near[:k], np.array(sorted(sets[best])), np.array(sorted(sets[near[0]]))
        for model, queries in zip(models, expected, strict=True):
            np.testing.assert_allclose(model.predict(test.select([q])), scores(queries, q), rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(models[0].predict(train), models[2].predict(train))
    assert len(models[2].members_) <= 1 + len({frozenset(own) for own in sets})


def test_overlap_counts_equal_a_loop():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 3))
    near = nearest(points, points, 6)
    router = OverlapRouter(points, np.arange(30), near)
    z = rng.normal(size=(40, 3))
    chosen = router(None, np.arange(41), z)
    for q in range(40):
        far = ((points - z[q]) ** 2).sum(axis=1)
        mine = set(np.argsort(far)[:6].tolist())
        overlap = np.array([len(mine & set(own.tolist())) for own in near])
        best = np.flatnonzero(overlap == overlap.max())
        assert chosen[q] == best[far[best].argmin()]


def test_shrinkage_mixes_scores_and_validation_falls_back(train, test):
    parts = {s: pk.KNNOffline2(base=BASE, k=10, shrink=s).fit(train).predict(test) for s in (0.0, 0.5, 1.0)}
    local = 2 * parts[0.5] - parts[1.0]  # the local scores, each on the scale of the global ranker
    for q in range(test.n_queries):
        rows = slice(test.offsets[q], test.offsets[q + 1])
        np.testing.assert_allclose(np.corrcoef(local[rows], parts[0.0][rows])[0, 1], 1.0)
    auto = pk.KNNOffline2(base=BASE, k=10).fit(train, eval_set=rotating(40, 2))
    assert auto.shrink_ < 1.0 and auto.best_score_["valid_0"]["nDCG@10"] == max(auto.history_)
    # where queries do not differ, nothing beats the global ranker for sure: it is tried first and wins ties
    same = rotating(40, 3).replace(query_features=np.random.default_rng(0).normal(size=(40, 2)).astype(np.float32))
    global_ = same.replace(y=(same.X[:, 2] > 0.5).astype(float))
    result = pk.KNNOffline2(base=BASE, k=3).fit(global_, eval_set=global_.select(range(20)))
    assert result.history_[0] <= max(result.history_)
    assert set(result.settled()) >= {"shrink"}


@pytest.mark.parametrize("base", [BASE, pk.GradientRanker(model=pk.Linear(alpha=1e-3), n_jobs=1)], ids=["svm", "loss"])
def test_weights_near_the_global_ones(base, train, test):
    """The limits are the local and the global ranker; in between, the solution of the penalised problem."""
    make = {rho: pk.KNNOffline2(base=base, k=10, shrink=0.0, rho=rho).fit(train) for rho in (0.0, 1e-9, 0.5, 1e9)}
    scores = {rho: ranker.predict(test) for rho, ranker in make.items()}
    np.testing.assert_allclose(scores[1e-9], scores[0.0], atol=0.05 * np.abs(scores[0.0]).max())
    np.testing.assert_allclose(scores[1e9], base.fit(train).predict(test), rtol=1e-4, atol=1e-5)
    away = [np.linalg.norm([m.coef_ - make[rho].members_[0].coef_ for m in make[rho].members_]) for rho in make]
    assert away[0] > away[2] > away[3]
    copy = pickle.loads(pickle.dumps(make[0.5]))
    np.testing.assert_array_equal(copy.predict(test), scores[0.5])


def test_penalised_weights_against_a_general_solver(train):
    from scipy.optimize import minimize

    part, rho = train.select(range(8)), 0.7
    overall = BASE.fit(train)
    result = near(BASE, part, overall, rho)
    scale = part.X.astype(float).std(axis=0)
    centre = overall.coef_ * scale
    winner, loser = pk.to_pairwise(part).winner, pk.to_pairwise(part).loser

    def objective(w):
        s = part.X @ (w / scale)
        miss = np.maximum(1.0 - (s[winner] - s[loser]), 0.0)
        return 0.5 * w @ w + 0.01 * (miss**2).sum() + 0.5 * rho * ((w - centre) ** 2).sum()

    best = minimize(
        objective, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000}
    )
    np.testing.assert_allclose(result.coef_ * scale, best.x, atol=1e-4)


def test_weights_near_the_global_ones_need_a_linear_base(train):
    for base in (TREES, pk.RankSVM(C=0.01, loss="hinge")):
        with pytest.raises(DataError, match="use shrink"):
            pk.KNNOffline2(base=base, k=10, rho=1.0).fit(train)
    for rho in (-1, float("nan"), "auto"):
        with pytest.raises(DataError, match="rho="):
            pk.ModelClusters(base=BASE, rho=rho).fit(train)


def test_staying_near_pays_where_parts_are_small():
    """Queries share most of their weights, and neighbourhoods have few queries: local weights over-fit."""
    rng = np.random.default_rng(0)
    X, angle = rng.normal(size=(120 * 8, 20)), rng.uniform(0, 2 * np.pi, 120)
    turn = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    score = X[:, 2:10].sum(axis=1) + 2.0 * (X[:, :2] * np.repeat(turn, 8, axis=0)).sum(axis=1)
    y = np.digitize(score + rng.normal(size=score.size), [0.0, 3.0])
    data = pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(120), 8), query_features=turn)
    train, test = data.select(range(60)), data.select(range(60, 120))
    alone, kept = (pk.KNNOffline2(base=BASE, k=4, shrink=0.0, rho=rho).fit(train).score(test) for rho in (0.0, 1.0))
    assert kept > max(alone, BASE.fit(train).score(test))


def test_subspace_similarity():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * [3.0, 2.0, 1.0, 0.5]
    offsets = np.array([0, 10, 20, 30])
    own = directions(X, offsets, 3, np.ones(4))
    result = similarities(own, own)
    naive = [[np.mean([abs(a[p] @ b[p]) for p in range(3)]) for b in own] for a in own]
    np.testing.assert_allclose(result, naive)
    np.testing.assert_allclose(np.diag(result), 1.0)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    turned = directions(X @ turn, offsets, 3, np.ones(4))
    np.testing.assert_allclose(similarities(turned, turned), result, atol=1e-9)
    np.testing.assert_allclose(similarities(-own, own), result)
    short = directions(X[:12], np.array([0, 1, 2, 12]), 3, np.ones(4))
    assert (similarities(short, short)[0] == 0).all()  # one document has no direction


def test_clusters_are_those_of_complete_linkage(train):
    ranker = pk.SubspaceClusters(base=BASE, n_clusters=4).fit(train)
    from plackett.data.canonical import canonical_order

    data = canonical_order(train)
    own = directions(data.X, data.offsets, 2, data.X.astype(float).std(axis=0))
    far = 1 - similarities(own, own)
    groups = [{i} for i in range(60)]
    while len(groups) > 4:  # the two groups whose farthest members are nearest
        pairs = [
            (max(far[i, j] for i in a for j in b), x, y)
            for x, a in enumerate(groups)
            for y, b in enumerate(groups)
            if x < y
        ]
        _, x, y = min(pairs)
        groups[x] |= groups.pop(y)
    number = dict(zip(train.qids.tolist(), ranker.clusters_.tolist(), strict=True))
    result = {frozenset(i for i, qid in enumerate(data.qids.tolist()) if number[qid] == c) for c in range(4)}
    assert result == {frozenset(group) for group in groups}


@pytest.mark.parametrize("kind", [pk.ModelClusters, partial(pk.SubspaceClusters, n_clusters=2, n_components=1)])
def test_clusters_are_in_the_order_of_the_data(kind):
    """Two kinds of queries that the ranker separates perfectly, interleaved."""
    rng = np.random.default_rng(0)
    second = rng.permutation(np.arange(40) % 2).astype(bool)
    qid, X = np.repeat(rng.permutation(40), 8), rng.normal(size=(320, 2)) * 0.01
    own = second[qid].astype(int)  # the feature that a query's documents differ in, and that it is labelled by
    X[np.arange(320), own] += rng.normal(size=320)
    y = X[np.arange(320), own] * np.where(own == 1, -1.0, 1.0) > 0
    rows = rng.permutation(320)
    ranker = kind(base=BASE).fit(X[rows], y[rows].astype(int), qid=qid[rows])
    data = pk.RankingDataset.from_arrays(X[rows], y[rows].astype(int), qid[rows])
    agreement = (ranker.clusters_ == second[data.qids]).mean()
    assert max(agreement, 1 - agreement) == 1.0
    weight = np.ones(40)
    weight[3] = 0.0
    ranker = kind(base=BASE, validation_fraction=0.25).fit(data, query_weight=weight)
    assert ranker.clusters_.size == 40 and ranker.clusters_[3] == -1
    trained = ranker.clusters_ >= 0
    assert 0.6 * 40 < trained.sum() < 0.85 * 40
    agreement = (ranker.clusters_ == second[data.qids])[trained].mean()
    assert max(agreement, 1 - agreement) > 0.9


def test_model_clusters_find_opposite_weights():
    train, test = rotating(60, 0, two=True), rotating(60, 1, two=True)
    ranker = pk.ModelClusters(base=BASE).fit(train)
    assert (np.diff(ranker.losses_) <= 0).all()
    alone = BASE.fit(train).score(test)
    assert ranker.score(test) > 0.9 > alone + 0.1
    soft = pk.ModelClusters(base=BASE, routing="soft").fit(train)
    assert soft.score(test) > 0.9


def test_given_classes_train_their_own_rankers():
    train, test = rotating(60, 0, two=True), rotating(60, 1, two=True)
    kinds = np.where(train.query_features[:, 0] > 0, "home", "topic")
    ranker = pk.ClassRankers(base=BASE).fit(train, query_class=kinds)
    assert ranker.classes_.tolist() == ["home", "topic"]
    mine = BASE.fit(train.select(kinds == "home")).coef_
    np.testing.assert_array_equal(ranker.members_[1].coef_, mine)
    assert ranker.score(test) > 0.9 > BASE.fit(train).score(test) + 0.1
    kept = pk.ClassRankers(base=BASE, validation_fraction=0.3).fit(train, query_class=kinds)
    assert kept.score(test) > 0.85
    with pytest.raises(DataError, match="query_class has shape"):
        ranker.fit(train, query_class=kinds[1:])
    with pytest.raises(DataError, match="routing='both'"):
        pk.ClassRankers(routing="both").fit(train)


@pytest.mark.parametrize(
    "cls", [*KNN, pk.ClassRankers, pk.SubspaceClusters, pk.ModelClusters, pk.TwoLayer, pk.CoupleNet]
)
def test_saved_with_given_query_features(cls, train, test, tmp_path):
    parameters = {} if cls is pk.CoupleNet else {"base": BASE}
    ranker = cls(**parameters).fit(train)
    ranker.save(tmp_path / "model.plackett")
    again = pk.load(tmp_path / "model.plackett")
    np.testing.assert_array_equal(again.predict(test), ranker.predict(test))


@pytest.mark.parametrize(
    ("cls", "parameters"), [(pk.KNNOffline2, {"k": 8}), (pk.KNNOffline1, {"k": 8}), (pk.TwoLayer, {})]
)
def test_beats_the_global_ranker_where_weights_turn(cls, parameters, train, test):
    local = cls(base=BASE, **parameters).fit(train).score(test)
    assert local > BASE.fit(train).score(test) + 0.1


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (pk.KNNOnline(k=0), "k=0"),
        (pk.KNNOffline2(shrink=2.0), "shrink=2.0"),
        (pk.KNNOffline2(min_queries=0), "min_queries=0"),
        (pk.SubspaceClusters(n_clusters=0), "n_clusters=0"),
        (pk.TwoLayer(n_components=0), "n_components=0"),
        (pk.KNNOffline2(base=3), "base=3 is not a plackett ranker"),
        (pk.KNNOffline2(base="RankSVN"), "unknown ranker 'RankSVN'"),
    ],
)
def test_bad_parameters(ranker, message, train):
    with pytest.raises(DataError, match=message):
        ranker.fit(train)


def test_response_times_add_up(train, test):
    for cls in (pk.KNNOnline, pk.KNNOffline2, pk.TwoLayer):
        times = pk.response_times(cls(base=BASE).fit(train), test.select(range(5)))
        assert times["qid"].to_list() == test.qids[:5].tolist()
        parts = times["features"] + times["choice"] + times["scoring"]
        np.testing.assert_allclose(parts.to_numpy(), times["total"].to_numpy())
    with pytest.raises(DataError, match="does not use features of the query"):
        pk.response_times(BASE.fit(train), test)


def test_online_trains_once_per_neighbourhood(train, test):
    from plackett.scorers.knn_online import KNNOnlineScorer

    ranker = pk.KNNOnline(base=BASE, k=10, max_models=3).fit(train)
    ranker.scorer_.models.clear()
    ranker.predict(test.select([0]))
    before = next(iter(ranker.scorer_.models.values()))
    ranker.predict(test.select([0]))
    assert next(iter(ranker.scorer_.models.values())) is before
    ranker.predict(test)
    assert isinstance(ranker.scorer_, KNNOnlineScorer) and len(ranker.scorer_.models) == 3


@pytest.mark.parametrize("cls", [*KNN, pk.ClassRankers])
def test_query_features_reach_rankers_inside_rankers(cls, train, test):
    nested = cls(base=pk.TwoLayer(base=BASE)).fit(train)
    assert np.isfinite(nested.predict(test)).all()
    with pytest.raises(DataError, match="trained with query features"):
        nested.predict(test.replace(query_features=None))
    blend = pk.Blend(members=[pk.TwoLayer(base=BASE), pk.ListNet()], weights=(1, 1e-9)).fit(train)
    np.testing.assert_array_equal(blend.rank(test), pk.TwoLayer(base=BASE).fit(train).rank(test))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_class_names_its_query(missing):
    data = pk.datasets.make_ranking(n_queries=4, docs_per_query=5, n_features=3, random_state=0)
    with pytest.raises(pk.DataError, match="the class of query"):
        pk.ClassRankers().fit(data, query_class=[1, 2, missing, 1])
