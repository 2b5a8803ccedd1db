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


#: Ids that are alike at the start, of all widths, beyond ASCII, and the same text in two normal forms.
TEXTS = ["b", "", "a", "a\0", "a\0b", "A", "é", "e\u0301", "x" * 15, "x" * 16, "x" * 16 + "y", "\uffff", "\U00010000",
         "日本語", "日本語" * 9, "7", "07", " 7", "Ω", "Ω", "a" * 3000]  # fmt: skip


@pytest.mark.parametrize("kind", ["T", "U", "O"])
@pytest.mark.parametrize("n", [0, 2, 4, 5, 60])
def test_texts_of_any_type_are_handled_as_python_does(kind, n):
    if kind == "U":  # cannot hold NUL at the end
        texts = [text for text in TEXTS if not text.endswith("\0")]
    else:
        texts = TEXTS
    rng = np.random.default_rng(n)
    known, wanted = ([str(t) for t in rng.choice(np.array(texts, object), size)] for size in (40, n))  # with repeats
    wanted = [*wanted, "nowhere"][:n]
    dtype = {"T": StringDType(), "U": None, "O": object}[kind]
    first, second = np.array(known, dtype), np.array(wanted, dtype if wanted else dtype or "U1")
    places = [known.index(text) if text in known else -1 for text in wanted]
    assert find(first, second).tolist() == places
    assert find(first, second.astype(StringDType())).tolist() == places
    assert find(first.astype(StringDType()), second).tolist() == places
    assert find(second, first).tolist() == [wanted.index(text) if text in wanted else -1 for text in known]
    assert common(first, second).tolist() == common(second, first).tolist() == sorted({*known} & {*wanted})
    assert order_of(first).tolist() == sorted(range(40), key=known.__getitem__)
    values, number = distinct(first)
    assert values.tolist() == sorted({*known}) and values[number].tolist() == known


@pytest.mark.parametrize("n", [0, 3, 30])
def test_numbers_are_found_among_numbers_and_texts(n):
    rng = np.random.default_rng(n)
    known, wanted = (2**62 + rng.integers(-9, 9, size) for size in (12, n))
    known[::3] *= -1
    places = [known.tolist().index(each) if each in known.tolist() else -1 for each in wanted.tolist()]
    for first in (known, known.astype(StringDType()), known.astype("U"), known.astype(object)):
        for second in (wanted, wanted.astype(np.uint64), wanted.astype(StringDType()), wanted.astype(object)):
            assert find(first, second).tolist() == places
            assert {int(each) for each in common(first, second)} == {*known.tolist()} & {*wanted.tolist()}


def test_domains_take_any_names(ids):
    n = ids.size
    data = pk.RankingDataset.from_arrays(np.arange(n)[:, None], np.arange(n) % 3, qid=np.arange(n))
    parts = pk.domains(data, np.strings.add(ids, "!"))
    assert list(parts) == [f"{name}!" for name in sorted(ids.tolist())]
    assert all(part.qids.size == 1 and ids[part.qids[0]] == name[:-1] for name, part in parts.items())


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


def test_ids_that_cannot_be_kept_are_named():
    made = pk.RankingDataset.from_arrays
    for missing in (None, np.nan):
        gaps = np.array(["a", "b", missing], StringDType(na_object=missing))
        with pytest.raises(pk.DataError, match=r"qid\[2\] is missing"):
            made(None, np.zeros(3), qid=gaps)
        assert made(None, np.zeros(2), qid=gaps[:2]).qids.dtype == StringDType()
    for broken in (["a", "\ud800"], np.array(["a", "\ud800"], object), np.array([b"a", b"\xff"])):
        with pytest.raises(pk.DataError, match=r"qid\[1\] is .*, which cannot be written as UTF-8"):
            made(None, np.zeros(2), qid=broken)
    large = np.array([3, 2**64 - 1, 3, 2**63], np.uint64)
    assert made(None, np.zeros(4), qid=large).qids.tolist() == ["3", str(2**64 - 1), str(2**63)]
    assert made(None, np.zeros(2), qid=large[[0, 2]]).qids.tolist() == [3]
