"""Relations and query features reach rankers inside other rankers."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.some_rows import some_rows

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
    ],
    ids=lambda ranker: type(ranker).__name__,
)
def test_a_ranker_that_does_nothing_scores_as_the_relational_one_inside(data, ranker):
    alone = INNER.fit(data).predict(data)
    found = ranker.fit(data).predict(data)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        np.testing.assert_array_equal(np.argsort(-found[a:b], kind="stable"), np.argsort(-alone[a:b], kind="stable"))


@pytest.mark.parametrize(
    "ranker",
    [
        pk.KNNOffline2(base=INNER, k=5),
        pk.SequentialDiversity(base=INNER),
        pk.ContinuousCRF(base=[INNER, "LinearRegression"]),
        pk.Cascade(stages=(pk.KNNOffline2(base="LinearRegression", k=5), INNER), keep=(4,)),
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
