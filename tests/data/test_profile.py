"""Facts about a dataset."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from plackett import RankingDataset
from plackett.data.profile import profile
from whole_dataset import full


def test_small_case():
    X = [[1, 5, 0, np.nan], [1, 5, 0, 2], [1, 6, 0, 2], [1, 5, 0, 2], [1, 5, -0.0, 2], [1, 0, 0, np.nan]]
    data = RankingDataset.from_arrays(X, [0, 1, 2, -1, 1, 0], qid=["a", "a", "a", "b", "a", "b"])
    facts = profile(data)
    assert (facts.n_queries, facts.n_rows, facts.n_features, facts.sparse) == (2, 6, 4, False)
    assert facts.list_length == {"min": 2, "mean": 3, "median": 3, "max": 4}
    assert facts.labels == {-1: 1, 0: 2, 1: 2, 2: 1}
    assert facts.unjudged == 1
    assert facts.queries_without_relevant == 1
    assert facts.queries_of_one_label == 1  # b has one judged document
    assert facts.missing == {4: 2}
    assert facts.constant == (1, 3)
    assert facts.density == (6 + 5 + 0 + 6) / 24
    assert facts.duplicate_rows == 1  # rows 1 and 4; row 3 is of another query
    assert facts.conflicting_rows == 0


def test_every_kind_of_field():
    facts = profile(full())
    assert facts.sample_weight == (0.5, 2)
    assert facts.query_weight == (1, 3)
    assert (facts.n_preferences, facts.n_subtopics) == (2, 2)
    assert facts.has_docids and facts.has_positions and facts.has_comments
    assert facts.missing == {"Länge": 1}


def test_duplicates_with_other_labels():
    facts = profile(RankingDataset.from_arrays([[1], [1], [1], [2]], [0, 1, 0, 1]))
    assert (facts.duplicate_rows, facts.conflicting_rows) == (2, 1)


def test_nothing_there():
    facts = profile(RankingDataset.from_arrays(None, None, qid=["a", "b"]))
    assert facts.labels is None
    assert facts.duplicate_rows == 0
    assert math.isnan(facts.density)
    facts = profile(RankingDataset.from_arrays(np.empty((0, 2)), [], qid=np.empty(0, np.int64)))
    assert facts.labels == {}
    assert math.isnan(facts.list_length["mean"])
    assert facts.sample_weight is None


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float32, (7, 3), elements=st.sampled_from([0.0, -0.0, 1.0, 2.5, float("nan")])),
    st.lists(st.integers(0, 2), min_size=7, max_size=7),
)
def test_dense_and_sparse_against_loops(X, qid):
    y = np.arange(7) % 2
    dense = profile(RankingDataset.from_arrays(X, y, qid=qid))
    sparse = profile(RankingDataset.from_arrays(sp.csr_matrix(X), y, qid=qid))
    assert sparse.sparse
    seen: dict = {}
    duplicates = conflicts = 0
    for row in range(7):
        key = (qid[row], *("nan" if np.isnan(v) else v + 0.0 for v in X[row].tolist()))
        if key in seen:
            duplicates += 1
            conflicts += bool(y[row] != seen[key])
        seen.setdefault(key, y[row])
    constant = tuple(j + 1 for j in range(3) if len({"nan" if np.isnan(v) else v for v in X[:, j].tolist()}) == 1)
    missing = {j + 1: int(np.isnan(X[:, j]).sum()) for j in range(3) if np.isnan(X[:, j]).any()}
    for facts in (dense, sparse):
        assert (facts.duplicate_rows, facts.conflicting_rows) == (duplicates, conflicts)
        assert facts.constant == constant
        assert facts.missing == missing
        assert facts.density == np.count_nonzero(X) / 21


@pytest.mark.parametrize("block", [1, 50, 10**6])
def test_blocks_do_not_matter(monkeypatch, block):
    X = np.random.default_rng(0).integers(0, 3, (40, 3)).astype(np.float32)
    data = RankingDataset.from_arrays(X, X[:, 0])
    expected = profile(data)
    monkeypatch.setattr(import_module("plackett.data.profile"), "_BLOCK", block)
    assert profile(data) == expected
