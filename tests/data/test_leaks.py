"""Leaks between parts against sets of tuples."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from plackett import RankingDataset
from plackett.data.leaks import leaks


def naive(train, test):
    def lists(data):
        return [
            sorted(map(tuple, data.X[a:b].tolist())) for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True)
        ]

    rows = set(map(tuple, train.X.tolist()))
    known = lists(train)
    return (
        len(set(train.qids.tolist()) & set(test.qids.tolist())),
        sum(entry in known for entry in lists(test)),
        sum(tuple(row) in rows for row in test.X.tolist()),
    )


@given(st.integers(0, 10_000))
def test_against_sets(seed):
    rng = np.random.default_rng(seed)
    parts = []
    for n in rng.integers(1, 12, 2):
        X = rng.integers(0, 3, (n, 2)).astype(float)
        parts.append(RankingDataset.from_arrays(X, qid=rng.integers(0, 6, n)))
    result = leaks(*parts)
    assert (result.queries, result.lists, result.rows) == naive(*parts)
    assert leaks(*(part.replace(X=sp.csr_array(part.X)) for part in parts)) == result


def test_ids_of_different_kinds_and_other_features():
    train = RankingDataset.from_arrays([[1.0, 2.0]], qid=[7])
    test = RankingDataset.from_arrays([[1.0, 2.0]], qid=["7"])
    assert leaks(train, test).queries == 1 and leaks(train, test).rows == 1
    assert leaks(train, RankingDataset.from_arrays([[1.0]], qid=[8])).rows == 0
