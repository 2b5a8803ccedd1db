"""Relations and query features reach rankers inside other rankers."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.some_rows import some_rows
from plackett.rankers.semi_supervised.semi_supervised_rank_boost import separated

INNER = pk.RelationalFeedback(base="LinearRegression", beta=0.5)


@pytest.fixture(scope="module")
def data():
    made = pk.datasets.make_ranking(n_queries=15, docs_per_query=8, n_features=4, random_state=1)
    made = made.replace(query_features=np.random.default_rng(0).normal(size=(15, 2)))
    return made.replace(relations={"similarity": pk.Neighbours(k=2)(made)})


def test_some_rows_keep_the_pairs_among_them(data):
    rows = np.flatnonzero(np.arange(data.n_rows) % 3 > 0)
    part = some_rows(data, rows)
    whole = data.relations["similarity"].matrix(data.n_rows).toarray()
    np.testing.assert_array_equal(part.relations["similarity"].matrix(part.n_rows).toarray(), whole[np.ix_(rows, rows)])


@pytest.mark.parametrize(
    "ranker",
    [
        pk.KNNOffline2(base=INNER, k=15),
        pk.ClassRankers(base=INNER, n_classes=1),
        pk.GraphPropagation(base=INNER, n_neighbors=0),
        pk.PooledTransfer(base=INNER),
        pk.Blend(members=(INNER,)),
        pk.Cascade(stages=(INNER,), keep=()),
        pk.KNNOnline(base=INNER, k=15),
        pk.KernelFeatures(base=INNER, n_components=0),
        pk.SemiSupervisedRankBoost(base=INNER, trade_off=0.0),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_ranker_that_does_nothing_scores_as_the_relational_one_inside(data, ranker):
    alone = INNER.fit(data).predict(data)
    result = ranker.fit(data).predict(data)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        np.testing.assert_array_equal(np.argsort(-result[a:b], kind="stable"), np.argsort(-alone[a:b], kind="stable"))


@pytest.mark.parametrize(
    "ranker",
    [
        pk.KNNOffline2(base=INNER, k=5),
        pk.SequentialDiversity(base=INNER),
        pk.ContinuousCRF(base=[INNER, "LinearRegression"]),
        pk.Cascade(stages=(pk.KNNOffline2(base="LinearRegression", k=5), INNER), keep=(4,)),
        pk.KNNOnline(base=INNER, k=5),
        pk.TwoLayer(base=INNER),
        pk.KernelFeatures(base=INNER, n_components=1, kernels=("rbf",)),
        pk.SemiSupervisedRankBoost(base=INNER),
        pk.WeakSupervision(base=INNER),
        pk.SimilarityPropagation(base=INNER),
        pk.BoostingTransfer(base=INNER, mode="interpolate"),
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_predicts_and_is_saved(data, ranker, tmp_path):
    ranker.fit(data.select(range(10)), eval_set=data.select(range(10, 15)))
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(data), ranker.predict(data))


def test_pooled_domains_keep_the_relations_that_all_have(data):
    more = data.replace(relations={**data.relations, "parent": pk.Relation.from_pairs([(1, 0)])})
    ranker = pk.PooledTransfer(base=INNER).fit(data.select(range(5)), source=more.select(range(5, 15)))
    np.testing.assert_allclose(ranker.predict(data), INNER.fit(data).predict(data), rtol=1e-6, atol=1e-9)


def test_a_stage_sees_the_relations_of_the_documents_that_reach_it(data):
    ranker = pk.Cascade(stages=("LinearRegression", INNER), keep=(4,)).fit(data)
    scores, first = ranker.predict(data), ranker.members_[0].predict(data)
    whole = data.relations["similarity"].matrix(data.n_rows).toarray()
    whole = (whole + whole.T) / 2
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        best = np.sort(np.argsort(-first[a:b], kind="stable")[:4]) + a
        R = whole[np.ix_(best, best)]
        f = ranker.members_[1].base_.predict(data.X[best])
        h = np.linalg.solve(np.eye(4) + 0.5 * (np.diag(R.sum(axis=1)) - R), f)
        assert best[np.argsort(-h)].tolist() == (np.argsort(-scores[a:b])[:4] + a).tolist()


def test_neighbourhoods_are_trained_with_their_relations(data):
    ranker = pk.KNNOnline(base=INNER, k=6).fit(data)
    z = data.query_features.astype(float)
    z = (z - z.mean(axis=0)) / z.std(axis=0)
    near = np.sort(np.argsort(((z - z[3]) ** 2).sum(axis=1), kind="stable")[:6])
    one = data.select([3])
    np.testing.assert_allclose(ranker.predict(one), INNER.fit(data.select(near)).predict(one), rtol=1e-6)


def test_neighbourhoods_of_preferences(data, tmp_path):
    """Preferences are among the training data that the ranker keeps."""
    pairs = pk.to_pairwise(data)
    only = data.replace(y=None, preferences=pk.Preferences(pairs.winner, pairs.loser))
    for ranker in (
        pk.KNNOnline(base=pk.RankSVM(C=0.01), k=6),
        pk.KernelFeatures(base=pk.RankSVM(C=0.01), kernels=["rbf"]),
    ):
        ranker.fit(only)
        path = tmp_path / f"{type(ranker).__name__}.plackett"
        ranker.save(path)
        np.testing.assert_array_equal(pk.load(path).predict(data), ranker.predict(data))


def test_halves_of_lists_keep_the_pairs_within_them(data):
    hidden = data.replace(y=np.where(np.arange(data.n_rows) % 2, data.labels, -1.0))
    halves = separated(hidden, data.labels, 1.0)
    row = {tuple(x): i for i, x in enumerate(data.X.tolist())}
    old = np.array([row[tuple(x)] for x in halves.X.tolist()])
    whole = data.relations["similarity"].matrix(data.n_rows).toarray()
    expected = whole[np.ix_(old, old)] * (old[:, None] % 2 == old % 2)
    np.testing.assert_array_equal(halves.relations["similarity"].matrix(halves.n_rows).toarray(), expected)


@pytest.fixture(scope="module")
def grouped(data):
    return data.replace(relations={"hyperedge": pk.hyperedges(data, np.arange(data.n_rows) // 3)})


@pytest.mark.parametrize(
    "ranker",
    [
        pk.Cascade(stages=("LinearRegression", pk.HypergraphRanker(base="LinearRegression")), keep=(4,)),
        pk.Cascade(stages=("LinearRegression", pk.KNNOffline2(base=pk.HypergraphRanker())), keep=(4,)),
        pk.SemiSupervisedRankBoost(base=pk.HypergraphRanker(base="LinearRegression")),
    ],
    ids=["stage", "inside a stage", "two lists"],
)
def test_groups_need_whole_lists(grouped, ranker):
    labels = np.where(np.arange(grouped.n_rows) % 2, grouped.labels, -1.0)
    with pytest.raises(pk.DataError, match=r"groups of documents.*HypergraphRanker"):
        ranker.fit(grouped.replace(y=labels))


def test_groups_around_a_cascade_and_in_its_first_stage(grouped):
    inner = pk.HypergraphRanker(base="LinearRegression", beta=0.5)
    first = pk.Cascade(stages=(inner, "LinearRegression"), keep=(4,)).fit(grouped)
    np.testing.assert_array_equal(first.members_[0].predict(grouped), inner.fit(grouped).predict(grouped))
    around = pk.HypergraphRanker(base=pk.Cascade(stages=("LinearRegression", "ListNet"), keep=(4,)), beta=0.5)
    assert np.isfinite(around.fit(grouped).predict(grouped)).all()
    built = pk.HypergraphRanker(base="LinearRegression", relation=pk.Neighbours(k=1), beta=0.5)
    assert np.isfinite(pk.Cascade(stages=("ListNet", built), keep=(4,)).fit(grouped).predict(grouped)).all()


def test_time_of_a_ranker_with_relations_inside(data):
    ranker = pk.KNNOffline2(base=INNER, k=6).fit(data)
    assert pk.response_times(ranker, data).height == data.n_queries
