"""What all selectors have in common: deterministic for a seed, exact budgets, clear refusals, odd input."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse

import plackett as pk
from plackett import DataError
from plackett.selection import (
    consistent_queries,
    expected_change,
    find_pool,
    k_center,
    queries_by_change,
    svm_sampling,
)


def _data(kind="plain", n_queries=6, n_docs=7):
    """A dataset of which a third of the documents of the first half of the queries is judged."""
    rng = np.random.default_rng(0)
    n = n_queries * n_docs
    X = rng.normal(size=(n, 3))
    qid = np.repeat(np.arange(n_queries), n_docs)
    y = np.where((np.arange(n) % 3 == 0) & (qid < max(n_queries // 2, 1)), rng.integers(0, 3, n), -1.0)
    ids, docs = qid.tolist(), np.arange(n)
    if kind == "unicode":
        ids, docs = [f"käse {q} 中" for q in qid], np.array([f"döc {i} 🙂" for i in range(n)])
    if kind == "equal":
        X[:] = 1.0
    if kind == "constant":
        X[:, 1] = 5.0
    if kind == "one grade":
        y = np.where(y >= 0, 1.0, -1.0)
    return pk.RankingDataset.from_arrays(X, y, ids, docids=docs)


def _pool(name, data, scores, budget, seed):
    from plackett.selection import Candidates

    candidates = Candidates.from_dataset(data, scores)
    if name == "mtc":  # it compares runs
        candidates = replace(candidates, rank=np.repeat(candidates.rank, 2, axis=0))
    result = find_pool(name).select(candidates, budget=budget, random_state=seed)
    return [tuple(row) for row in result.frame.select("qid", "docid").rows()]


def _documents(choose, data, scores, budget, seed):
    return [tuple(row) for row in choose(data, scores, budget=budget).frame.select("qid", "docid").rows()]


def _queries(data, scores, budget, seed):
    labelled = np.flatnonzero(np.bincount(data.query_of_row, data.labels >= 0))
    return k_center(data, budget, labelled=labelled, random_state=seed).tolist()


def _by_change(data, scores, budget, seed):
    return queries_by_change(data, scores, budget).tolist()


def _consistent(data, scores, budget, seed):
    return consistent_queries(data, budget).tolist()


def _open_documents(data):
    return int((data.labels < 0).sum())


def _open_queries(data):
    return int((np.bincount(data.query_of_row, data.labels >= 0) == 0).sum())


#: A function of data, scores, budget and seed, and how much there is to choose from.
SELECTORS = {
    name: (partial(_pool, name), _open_documents) for name in ("depth", "uniform", "statap", "mtc", "hedge", "letor")
}
SELECTORS |= {
    "svm_sampling": (partial(_documents, svm_sampling), _open_documents),
    "expected_change": (partial(_documents, expected_change), _open_documents),
    "k_center": (_queries, _open_queries),
    "queries_by_change": (_by_change, _open_queries),
    "consistent_queries": (_consistent, lambda data: data.n_queries),
}
KINDS = ("plain", "unicode", "equal", "constant", "one grade")


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("kind", KINDS)
def test_budgets_are_exact_and_choices_repeatable(name, kind):
    select, available = SELECTORS[name]
    data = _data(kind)
    scores = data.X[:, 0].astype(float)
    most = available(data)
    for budget in (1, 2, most):
        result = select(data, scores, budget, 7)
        assert len(result) == len(set(result)) == budget
        assert result == select(data, scores, budget, 7)
    known = {(q, d) for q, d, y in zip(data.qid.tolist(), data.docids.tolist(), data.labels, strict=True) if y >= 0}
    assert not known & set(result if isinstance(result[0], tuple) else ())


@pytest.mark.parametrize("name", SELECTORS)
def test_impossible_requests_are_refused(name):
    select, available = SELECTORS[name]
    data = _data()
    scores = data.X[:, 0].astype(float)
    for bad in (0, -1, available(data) + 1, 10**9, 1.5, "3", None):
        with pytest.raises(DataError, match="budget"):
            select(data, scores, bad, 0)


@pytest.mark.parametrize("name", [name for name in SELECTORS if name not in ("k_center", "consistent_queries")])
def test_scores_must_be_numbers_of_the_rows(name):
    data = _data()
    for scores in (np.full(data.n_rows, np.nan), np.zeros(3), np.full(data.n_rows, np.inf)):
        with pytest.raises(DataError, match="score"):
            SELECTORS[name][0](data, scores, 1, 0)


@pytest.mark.parametrize("name", SELECTORS)
def test_one_query(name):
    select, available = SELECTORS[name]
    data = _data(n_queries=1)
    most = available(data)
    if not most:
        with pytest.raises(DataError, match="budget=1, but there are only 0"):
            select(data, data.X[:, 0], 1, 0)
        return
    assert len(select(data, data.X[:, 0].astype(float), most, 0)) == most


@pytest.mark.parametrize("name", ["depth", "uniform", "statap", "mtc", "hedge", "letor"])
def test_everything_judged_leaves_nothing(name):
    data = _data()
    with pytest.raises(DataError, match="only 0"):
        SELECTORS[name][0](data.replace(y=np.ones(data.n_rows)), data.X[:, 0], 1, 0)


@pytest.mark.parametrize("seed", [0, 1])
def test_seeds_matter_where_chance_does(seed):
    data = _data()
    scores = data.X[:, 0].astype(float)
    for name in ("uniform", "statap"):
        select = SELECTORS[name][0]
        assert {tuple(select(data, scores, 5, s)) for s in range(6)} != {tuple(select(data, scores, 5, 0))}


def test_selectors_of_features():
    """Deterministic, of the wanted size, and no surprise by constant, equal or repeated features."""
    data = _data()
    data = data.replace(y=np.arange(data.n_rows) % 3 * 1.0)
    X = np.hstack([data.X, np.ones((data.n_rows, 1)), data.X[:, :1]]).astype(np.float32)
    for part in (X, np.ones_like(X)):
        some = data.replace(X=part)
        for size in (1, 3, 5):
            one, two = (pk.GreedySelector(size, n_jobs=1).fit(some).selected_ for _ in range(2))
            assert one.tolist() == two.tolist() and np.unique(one).size == size
        for bad in (0, 6, -1, 2.5, 0.0, "two", True):
            with pytest.raises(DataError, match="n_features"):
                pk.GreedySelector(bad, n_jobs=1).fit(some)


@pytest.mark.parametrize("value", [0.0, np.nan])
def test_features_that_rank_nothing_are_selected_last(value):
    rng = np.random.default_rng(0)
    data = _data().replace(y=np.arange(42) % 3 * 1.0)
    weak = (data.y[:, None] + 2.0 * rng.normal(size=(42, 1))) + 0.1 * rng.normal(size=(42, 4))  # much alike
    useless = data.query_of_row[:, None] + np.full((42, 2), value)
    for X in (np.hstack([useless, weak]), sparse.csr_matrix(np.hstack([np.zeros((42, 2)), weak]))):
        selector = pk.GreedySelector(5, n_jobs=1).fit(data.replace(X=X.astype(np.float32)))
        assert selector.constant_.tolist() == [True] * 2 + [False] * 4
        assert sorted(selector.selected_[:4]) == [2, 3, 4, 5] and selector.selected_[4] == 0
