"""A dataset with every field, and how to compare two, for the tests of files and frames."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import scipy.sparse as sp

from plackett import RankingDataset
from plackett.data.preferences import Preferences
from plackett.data.relations import Relation
from plackett.data.strings import Strings


def full(sparse: bool = False) -> RankingDataset:
    """Every field set, queries out of order."""
    X = np.array([[1, 0, np.nan], [0, 0, 2], [0, 5, 0], [0, 0, 0], [3, 0, 1]], np.float32)
    return RankingDataset.from_arrays(
        sp.csr_matrix(X) if sparse else X,
        [0, 2, 1, -1, 0],
        qid=["b", "ä", "b", "c", "ä"],
        docids=["d1", "", "d3", "long document id", "ü"],
        sample_weight=[1, 2, 0.5, 1, 1],
        query_weight=[1, 2, 3],
        preferences=Preferences.from_pairs([(1, 4), (2, 0)], margin=[1, 2], weight=[0.5, 1]),
        positions=[1, 1, 2, 1, 2],
        subtopics=[[1, np.nan], [0, 1], [0, np.nan], [1, np.nan], [1, 1]],
        subtopic_weight=[[1, 0], [0.5, 0.5], [1, 0]],
        relations={"similarity": Relation([0, 1], [2, 4], [0.5, 2.0]), "parent": Relation([4], [1])},
        query_features=[[2, np.nan], [1, 0], [3, 0.5]],
        query_time=[3.0, 1.5, 0.0],
        feature_names=["bm25", "pagerank", "Länge"],
        categories=None if sparse else {"pagerank": [*"abcde", "größe"]},
        comments=Strings.from_values(["docid = 1", "", "x", "é", "last"]),
    )


def assert_same(a: RankingDataset, b: RankingDataset) -> None:
    for field in fields(RankingDataset):
        left, right = getattr(a, field.name), getattr(b, field.name)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype, field.name
            np.testing.assert_array_equal(left, right, err_msg=field.name)
        elif sp.issparse(left):
            np.testing.assert_array_equal(left.toarray(), right.toarray())
        elif field.name == "relations" and left is not None:
            assert list(left) == list(right)
            for name in left:
                for part in ("row", "other", "weight"):
                    np.testing.assert_array_equal(getattr(left[name], part), getattr(right[name], part))
        elif isinstance(left, Preferences):
            for name in ("winner", "loser", "margin", "weight"):
                np.testing.assert_array_equal(getattr(left, name), getattr(right, name))
        else:
            assert left == right, field.name
