"""Ids that NumPy's own functions on strings of any width cannot handle."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.dtypes import StringDType

import plackett as pk
from plackett.applications.ratings import Ratings
from plackett.data.ids import common, distinct, find, order_of
from plackett.data.leaks import leaks
from plackett.data.resolve import document_rows


def unlucky(n, width):
    """Ids in an order on which a quicksort with the median of three takes n² steps, with an ``x`` filled up to a width.

    NumPy turns to its heapsort then, and for strings of any width that ends the process.
    """
    half = n // 2
    order = np.zeros(n, np.int64)
    for i in range(1, half + 1):
        if i % 2:
            order[i - 1], order[i] = i, half + i
        order[half + i - 1] = 2 * i
    order = np.argsort(np.argsort(order[::-1], kind="stable"), kind="stable")
    return np.array([f"{'x' * (width - 6)}{i:06d}" for i in order], StringDType())


@pytest.fixture(scope="module", params=[8, 40], ids=["short", "long"])
def ids(request):
    return unlucky(5000, request.param)


def test_order_and_distinct_ids_are_those_of_python(ids):
    texts = ids.tolist()
    assert ids[order_of(ids)].tolist() == sorted(texts)
    twice = np.concatenate([ids, ids[::-1]])
    values, number = distinct(twice)
    assert values.tolist() == sorted(texts) and (values[number] == twice).all()


@pytest.mark.parametrize("n", [1, 3, 4, 5, 200])
def test_ids_are_found_where_they_are(n):
    rng = np.random.default_rng(n)
    texts = [f"{'long ' * rng.integers(0, 9)}{i}" for i in rng.permutation(400).tolist()]
    known, wanted = np.array(texts[:300], StringDType()), np.array([*texts[-n:], *texts[:n]], StringDType())
    assert find(known, wanted).tolist() == [texts.index(t) if t in texts[:300] else -1 for t in wanted.tolist()]
    assert common(known, wanted).tolist() == sorted({*texts[:300]} & {*wanted.tolist()})
    assert find(np.array([], StringDType()), wanted).tolist() == [-1] * (2 * n)
    assert find(np.arange(9), np.array(["7", "x"], StringDType())).tolist() == [7, -1]


def test_datasets_take_any_ids(ids):
    n = ids.size
    data = pk.RankingDataset.from_arrays(np.arange(n)[:, None], np.arange(n) % 3, qid=ids, docids=ids[::-1])
    assert document_rows(data, ids[::7], ids[::-1][::7]).tolist() == list(range(0, n, 7))
    first, second = pk.split_queries(data, (0.5, 0.5), random_state=0)
    assert sorted([*first.qids.tolist(), *second.qids.tolist()]) == sorted(ids.tolist())
    assert pk.concat([first, second]).n_queries == n and leaks(data, second).queries == second.n_queries
    folds = list(pk.QueryKFold(2, shuffle=True, random_state=0).split(data))
    assert sum(test.n_queries for _, test in folds) == n
    one = pk.RankingDataset.from_arrays(None, np.arange(n) % 3, qid=np.zeros(n, int), docids=ids)
    worth = pk.evaluate(one, np.zeros(n), 'nDCG(ties="trec")@10').mean['nDCG(ties="trec")@10']
    gains = [2.0**grade - 1 for _, grade in sorted(zip(ids.tolist(), one.y.tolist(), strict=True))[::-1][:10]]
    discounts = np.log2(np.arange(2, 12))
    assert worth == pytest.approx((gains / discounts).sum() / (3 / discounts).sum())


def test_ratings_take_any_ids(ids):
    users = np.array([f"a reader with a long name {i % 7}" for i in range(ids.size)])
    ratings = Ratings.from_arrays(users, ids, catalogue=ids[::-1])
    assert ratings.n_items == ids.size and ratings.n_users == 7
    some = Ratings.from_arrays(users[:50], ids[:50])
    assert ratings.rows_in(some).sum() == 50
    with pytest.raises(pk.DataError, match="missing from the catalogue"):
        Ratings.from_arrays(users, ids, catalogue=ids[1:])
