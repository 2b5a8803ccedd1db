from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from plackett import DataError, RankingDataset
from plackett.data.concat import concat
from plackett.data.preferences import Preferences
from plackett.data.strings import Strings


def full_dataset():
    rng = np.random.default_rng(0)
    n = 40
    qid = np.sort(rng.integers(0, 8, n))
    return RankingDataset.from_arrays(
        rng.normal(size=(n, 3)),
        rng.integers(0, 3, n),
        qid,
        docids=[f"d{i}" for i in range(n)],
        sample_weight=rng.random(n),
        query_weight=rng.random(np.unique(qid).size),
        positions=rng.integers(1, 9, n),
        subtopics=rng.random((n, 2)),
        preferences=Preferences.from_pairs([(i, i + 1) for i in range(n - 1) if qid[i] == qid[i + 1]], weight=None),
        comments=Strings.from_values([f"c{i}" for i in range(n)]),
        feature_names=["a", "b", "c"],
    )


def test_parts_put_together_are_the_whole():
    data = full_dataset()
    again = concat([data.select([0, 1, 2]), data.select([3]), data.select([4, 5, 6, 7])])
    assert again.fingerprint() == data.fingerprint()
    for name in ("docids", "positions", "subtopics"):
        np.testing.assert_array_equal(getattr(again, name), getattr(data, name))
    np.testing.assert_array_equal(again.preferences.to_pairs(), data.preferences.to_pairs())
    assert again.comments == data.comments
    assert again.feature_names == data.feature_names


def test_sparse():
    a = RankingDataset.from_arrays(csr_matrix([[0.0, 1.0]]), [1], qid=[1])
    b = RankingDataset.from_arrays([[2.0, 0.0]], [1], qid=["x"])
    both = concat([a, b])
    np.testing.assert_array_equal(both.X.toarray(), [[0, 1], [2, 0]])
    assert both.qids.tolist() == ["1", "x"]


def test_refusals():
    a = RankingDataset.from_arrays([[1.0]], [0], qid=["a"])
    with pytest.raises(DataError, match="query a is in more than one"):
        concat([a, a])
    with pytest.raises(DataError, match="dataset 1 has no y"):
        concat([a, RankingDataset.from_arrays([[1.0]], None, qid=["b"])])
    with pytest.raises(DataError, match="numbers of features: 1, 2"):
        concat([a, RankingDataset.from_arrays([[1.0, 2.0]], [0], qid=["b"])])
    with pytest.raises(DataError, match="no datasets"):
        concat([])


def test_numbers_of_subtopics_may_differ():
    a = RankingDataset.from_arrays([[1.0]], [0], qid=["a"], subtopics=[[1.0]], subtopic_weight=[[1.0]])
    b = RankingDataset.from_arrays([[2.0]], [1], qid=["b"], subtopics=[[0, 1.0]], subtopic_weight=[[0.5, 0.5]])
    both = concat([a, b])
    np.testing.assert_array_equal(both.subtopics, [[1, np.nan], [0, 1]])
    assert both.subtopic_weight.tolist() == [[1, 0], [0.5, 0.5]]
