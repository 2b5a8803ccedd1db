from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from plackett import DataError, RankingDataset
from plackett.data.judgements import order_to_grades, to_order, to_pairwise, to_pointwise
from plackett.data.preferences import Preferences


def orders(seed):
    """Queries without labels, and a random total order of each."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 8, 5)
    data = RankingDataset.from_arrays(None, None, group=sizes)
    return data, np.concatenate([rng.permutation(m) + 1 for m in sizes] or [[]]).astype(int)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_order_to_preferences_and_back(seed, adjacent):
    data, ranks = orders(seed)
    judged = data.replace(preferences=Preferences.from_order(data, ranks, adjacent=adjacent))
    np.testing.assert_array_equal(to_order(judged), ranks)
    m_minus_rank = data.group[data.query_of_row] - ranks
    np.testing.assert_array_equal(order_to_grades(data, ranks), m_minus_rank)
    np.testing.assert_array_equal(to_order(data.replace(y=order_to_grades(data, ranks))), ranks)
    if not adjacent:
        np.testing.assert_array_equal(to_pointwise(judged), m_minus_rank)
        np.testing.assert_array_equal(
            to_pointwise(judged, share=True), m_minus_rank / np.maximum(data.group - 1, 1)[data.query_of_row]
        )
    assert to_pairwise(judged) is judged.preferences


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=9))
def test_grades_to_preferences_lose_only_the_order_within_a_grade(labels):
    data = RankingDataset.from_arrays(None, labels, group=[len(labels)])
    beaten = to_pointwise(data.replace(y=None, preferences=to_pairwise(data)))
    np.testing.assert_array_equal(rankdata(beaten, "dense"), rankdata(labels, "dense"))
    np.testing.assert_array_equal(beaten, [sum(b < a for b in labels) for a in labels])
    np.testing.assert_array_equal(to_pointwise(data), labels)


def test_repeated_pairs_count_once():
    pairs = Preferences.from_pairs([(0, 1), (0, 1), (0, 2)])
    data = RankingDataset.from_arrays(None, None, group=[3], preferences=pairs)
    assert to_pointwise(data).tolist() == [2, 0, 0]


def test_ties_and_gaps_in_ranks():
    data = RankingDataset.from_arrays(None, None, group=[4])
    assert order_to_grades(data, [10, 2, 10, np.nan]).tolist() == [0, 2, 0, -1]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (0, 2)], "query z: .* leave the order of some documents open"),
        ([(0, 1), (1, 2), (2, 0)], "query z: .* contradict each other"),
        ([(0, 1), (1, 2), (2, 1)], "query z: .* contradict each other"),
    ],
)
def test_preferences_that_are_no_order_are_refused(pairs, message):
    data = RankingDataset.from_arrays(None, None, qid=["z"] * 3, preferences=Preferences.from_pairs(pairs))
    with pytest.raises(DataError, match=message):
        to_order(data)


def test_labels_that_are_no_order_are_refused():
    for y in ([1, 1, 0], [2, -1, 0]):
        with pytest.raises(DataError, match="query 0: equal or missing labels"):
            to_order(RankingDataset.from_arrays(None, y, group=[3]))
    with pytest.raises(DataError, match="neither labels nor preferences"):
        to_pointwise(RankingDataset.from_arrays(None, None, group=[3]))
