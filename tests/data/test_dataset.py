"""RankingDataset: grouping, order, validation, parts."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import plackett as pk
from plackett.data.grouping import group_rows, ids_array

QIDS = st.lists(st.sampled_from(["a", "b", "c", "10", "9"]), min_size=1, max_size=30)


def _dataset(qid, **fields):
    n = len(qid)
    rng = np.random.default_rng(n)
    return pk.RankingDataset.from_arrays(rng.normal(size=(n, 3)), rng.integers(0, 3, n), qid, **fields)


@given(QIDS)
def test_grouping_keeps_the_order_of_queries_and_of_rows(qid):
    data = _dataset(qid, docids=np.arange(len(qid)))
    seen = list(dict.fromkeys(qid))
    assert data.qids.tolist() == seen
    for q, name in enumerate(seen):
        rows = data.docids[data.offsets[q] : data.offsets[q + 1]].tolist()
        assert rows == [i for i, value in enumerate(qid) if value == name]
    assert data.qid.tolist() == [name for name in seen for _ in range(qid.count(name))]


@given(QIDS)
def test_input_order_and_back(qid):
    data = _dataset(qid)
    values = np.arange(len(qid)) * 1.5
    assert data.to_input_order(data.from_input_order(values)).tolist() == values.tolist()
    assert data.to_input_order(data.qid).tolist() == qid


def test_grouped_input_is_not_copied():
    X = np.zeros((4, 2), np.float32)
    data = pk.RankingDataset.from_arrays(X, [0, 1, 0, 1], [5, 5, 3, 3])
    assert np.shares_memory(data.X, X)
    assert data.input_rows is None
    assert data.qids.tolist() == [5, 3]


def test_ids_stay_as_given():
    assert ids_array(["007", "7"]).tolist() == ["007", "7"]
    assert ids_array(np.array([7, 8], np.uint16)).dtype == np.int64
    assert ids_array([3.0, 4.0]).tolist() == [3, 4]
    assert ids_array(np.array([b"x\xc3\xa9"])).tolist() == ["xé"]
    with pytest.raises(pk.DataError, match=r"qid\[1\] is 2.5"):
        ids_array([1.0, 2.5], "qid")


def test_group_sizes_in_and_out():
    data = pk.RankingDataset.from_arrays(None, [0, 1, 2, 3], group=[1, 3])
    assert data.group.tolist() == [1, 3]
    assert data.n_features == 0
    with pytest.raises(pk.DataError, match="not both"):
        pk.RankingDataset.from_arrays(None, [0], [1], group=[1])
    with pytest.raises(pk.DataError, match="its sum.*5.*y has 4"):
        pk.RankingDataset.from_arrays(None, [0, 1, 2, 3], group=[2, 3])
    with pytest.raises(pk.DataError, match=r"group\[1\] is negative"):
        pk.RankingDataset.from_arrays(None, [0, 1], group=[3, -1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(X=[[1.0]], y=[1, 2]), "lengths differ: X has 1, y has 2"),
        (dict(X=[[1.0]], y=[np.nan]), r"label y\[0\] is nan"),
        (dict(X=[[1.0]], y=["high"]), "y must hold numbers"),
        (dict(X=[["a"]], y=[1]), "X must be a table of numbers"),
        (dict(X=[1.0], y=[1]), "two-dimensional"),
        (dict(X=[[1.0, np.inf]], y=[1]), r"X\[0, 1\] is infinite"),
        (dict(X=sp.csr_matrix([[np.inf]]), y=[1]), "infinite"),
        (dict(X=[[1.0]], y=[1], qid=[[1]]), "qid must be one-dimensional"),
        (dict(X=[[1.0]], y=[1], sample_weight=[-1]), r"sample_weight\[0\]"),
        (dict(X=[[1.0]], y=[1], sample_weight=[1, 2]), "sample_weight has 2 entries"),
        (dict(X=[[1.0]], y=[1], query_weight=[1, 2]), "query_weight has 2 entries, but the data have 1 query"),
        (dict(X=[[1.0]], y=[1], feature_names=["a", "b"]), "2 feature names for 1 feature"),
        (dict(X=None), "no rows"),
    ],
)
def test_bad_input_is_refused_by_name(arguments, message):
    with pytest.raises(pk.DataError, match=message):
        pk.RankingDataset.from_arrays(**arguments)


def test_missing_features_are_allowed_even_beside_large_values():
    data = pk.RankingDataset.from_arrays([[np.nan, 3e38], [3e38, 3e38]], [1, 0])
    assert np.isnan(data.X[0, 0])


def test_immutable():
    data = _dataset(["a", "b"])
    with pytest.raises(ValueError, match="read-only"):
        data.y[0] = 5
    with pytest.raises(AttributeError):
        data.y = None
    with pytest.raises(pk.DataError, match="qids cannot be replaced"):
        data.replace(qids=data.qids)
    with pytest.raises(pk.DataError, match="y has 1 entries, but the data have 2 rows"):
        data.replace(y=np.zeros(1))
    with pytest.raises(pk.DataError, match="5 feature names for"):
        data.replace(feature_names=list("abcde"))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("X", np.array([[1.5, 2.0], [3.0, np.nan], [0.0, 1.0]])),
        ("X", [[1, 2], [3, 4], [5, 6]]),
        ("y", np.array([2, 0, 1])),
        ("y", [True, False, True]),
        ("docids", ["a", "b", "c"]),
        ("sample_weight", np.array([1, 2, 3])),
        ("query_weight", np.array([0.5, 1.0], np.float32)),
        ("subtopics", np.array([[1, 0], [0, 1], [1, 1]])),
    ],
)
def test_replaced_fields_have_the_types_of_a_new_dataset(name, values, tmp_path):
    """A file with others could not be read back."""
    data = pk.RankingDataset.from_arrays([[1.0, 2.0], [0.0, 1.0], [3.0, 4.0]], [1, 0, 2], qid=["a", "a", "b"])
    replaced = data.replace(**{name: values})
    pk.write(replaced, tmp_path / "replaced.plackett")
    again = getattr(pk.read(tmp_path / "replaced.plackett"), name)
    np.testing.assert_array_equal(again, np.asarray(values, again.dtype))


def test_replaced_features_are_numbers_and_finite():
    data = _dataset(["a", "b"])
    for wrong, message in ((np.full((2, 3), np.inf), "infinite"), ([["x"]] * 2, "numbers"), ([1, 2], "dimensional")):
        with pytest.raises(pk.DataError, match=message):
            data.replace(X=wrong)


def test_replaced_feature_names_are_those_of_a_new_dataset():
    data = pk.RankingDataset.from_arrays(np.eye(2), [0, 1], ["a", "b"])
    named = data.replace(feature_names=["u", "v"])
    assert named.feature_names == ("u", "v")
    other = pk.RankingDataset.from_arrays(np.eye(2), [0, 1], ["c", "d"], feature_names=["u", "v"])
    assert pk.concat([named, other]).n_queries == 4


@pytest.mark.parametrize("sparse", [False, True])
def test_select(sparse):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2)).astype(np.float32)
    data = pk.RankingDataset.from_arrays(
        sp.csr_matrix(X) if sparse else X,
        [0, 1, 2, 3, 4, 5],
        ["a", "b", "a", "c", "c", "b"],
        docids=list("uvwxyz"),
        query_weight=[1.0, 2.0, 3.0],
        sample_weight=np.arange(6.0),
    )
    for chosen in ([2, 0], [0, 1], [], np.array([True, False, True]), [-1]):
        part = data.select(chosen)
        numbers = np.arange(3)[chosen] if len(chosen) else []
        assert part.qids.tolist() == [data.qids[q] for q in numbers]
        rows = [r for q in numbers for r in range(data.offsets[q], data.offsets[q + 1])]
        for name in ("y", "docids", "sample_weight"):
            assert getattr(part, name).tolist() == getattr(data, name)[rows].tolist()
        assert part.query_weight.tolist() == [q + 1 for q in numbers]
        dense = part.X.toarray() if sparse else part.X
        assert dense.tolist() == (data.X.toarray() if sparse else data.X)[rows].tolist()
    assert np.shares_memory(data.select([0, 1]).y, data.y)
    with pytest.raises(pk.DataError, match=r"0\.\.2"):
        data.select([3])


def test_fingerprint_sees_content_only():
    a = _dataset(["a", "a", "b"])
    assert a.fingerprint() == _dataset(["a", "a", "b"]).fingerprint()
    assert a.fingerprint() != a.replace(y=a.y + 1).fingerprint()
    assert a.fingerprint() != _dataset(["a", "b", "b"]).fingerprint()


def test_positions_are_whole_numbers_from_1():
    data = _dataset(["b", "a", "b"], positions=[1, 1.0, 2])
    assert data.positions.dtype == np.int32 and data.positions.tolist() == [1, 2, 1]
    assert data.select([1]).positions.tolist() == [1]
    assert repr(data) == "RankingDataset(2 queries, 3 rows, 3 features, positions)"
    moved = data.replace(positions=[2, 1, 1])
    assert moved.positions.dtype == np.int32
    without = data.replace(positions=None)
    assert without.positions is None
    assert len({d.fingerprint() for d in (data, moved, without)}) == 3
    for wrong, found in (([1, 0, 1], "0"), ([1, 2.5, 1], "2.5"), ([1, np.nan, 1], "nan"), ([1, 2**31, 1], "2.147")):
        for give in (lambda p: _dataset(["b", "a", "b"], positions=p), lambda p: data.replace(positions=p)):
            with pytest.raises(pk.DataError, match=rf"positions\[1\] is {found}"):
                give(wrong)
    with pytest.raises(pk.DataError, match="positions has 2 entries"):
        _dataset(["b", "a", "b"], positions=[1, 2])
    with pytest.raises(pk.DataError, match="3 rows"):
        data.replace(positions=[1, 2])


def test_pickle_and_repr():
    data = _dataset(["a", "a", "b"], docids=["x", "y", "z"])
    again = pickle.loads(pickle.dumps(data))
    assert again.docids.tolist() == ["x", "y", "z"]
    assert again.fingerprint() == data.fingerprint()
    assert repr(data) == "RankingDataset(2 queries, 3 rows, 3 features, docids)"


def test_empty_dataset():
    data = pk.RankingDataset.from_arrays(np.empty((0, 2)), [], np.array([], np.int64))
    assert data.n_queries == 0
    assert data.select([]).n_rows == 0


def test_group_rows_of_many_string_ids_that_are_grouped_already():
    ids = np.repeat(np.array([f"query-{i}" for i in range(10_000)], dtype=np.dtypes.StringDType()), 100)
    offsets, qids, rows = group_rows(ids)
    assert rows is None
    assert qids.tolist() == [f"query-{i}" for i in range(10_000)]
    assert offsets.tolist() == list(range(0, 1_000_001, 100))


@given(st.lists(st.integers(-3, 3) | st.sampled_from([-(2**62), 2**62]), min_size=1, max_size=30))
def test_group_rows_of_integers_near_and_far(ids):
    """By a table where the ids are near each other, by sorting where they are not."""
    offsets, qids, rows = group_rows(np.array(ids))
    assert qids.tolist() == list(dict.fromkeys(ids))
    order = np.arange(len(ids)) if rows is None else rows
    groups = [order[a:b].tolist() for a, b in itertools.pairwise(offsets)]
    assert groups == [[i for i, other in enumerate(ids) if other == one] for one in dict.fromkeys(ids)]


def test_select_by_ids_says_what_to_do():
    data = pk.RankingDataset.from_arrays(None, [0, 1, 2], qid=["a", "b", "b"])
    with pytest.raises(pk.DataError, match=r"by number, 0 to 1, or by a mask; got .*'b'.*np\.isin\(data\.qids, ids\)"):
        data.select(["b"])
    assert data.select(np.isin(data.qids, ["b"])).y.tolist() == [1.0, 2.0]
    assert data.select([]).n_queries == 0


@pytest.mark.parametrize(
    ("labels", "grade"), [([0, 4, -2], 4), ([-1, -2], 0), ([0.5, 1], None), ([63], 63), ([64], None), ([], 0)]
)
def test_the_largest_grade_is_known_where_all_labels_are_grades(labels, grade):
    assert pk.RankingDataset.from_arrays(None, labels).max_grade == grade
