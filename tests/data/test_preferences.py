from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plackett import DataError, RankingDataset
from plackett.data.preferences import Preferences


def random_data(seed, n_queries=6, levels=4):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 7, n_queries)
    y = rng.integers(-1, levels, sizes.sum()).astype(float)
    return RankingDataset.from_arrays(None, y, group=sizes)


def loop_pairs(y, offsets):
    """Pairs of unequal judged labels, by the double loop over documents."""
    return [
        (u, v) for a, b in itertools.pairwise(offsets) for u in range(a, b) for v in range(a, b) if y[u] > y[v] >= 0
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_pairs_of_labels_equal_the_double_loop(seed):
    data = random_data(seed)
    pairs = Preferences.from_labels(data)
    expected = loop_pairs(data.y, data.offsets)
    assert [tuple(p) for p in pairs.to_pairs().tolist()] == expected
    np.testing.assert_array_equal(pairs.margin, [data.y[u] - data.y[v] for u, v in expected])


def test_number_of_pairs_is_the_sum_of_products_of_level_sizes():
    y = np.repeat([0, 1, 2], [5, 3, 2])
    data = RankingDataset.from_arrays(None, np.random.default_rng(0).permutation(y), group=[10])
    pairs = Preferences.from_labels(data)
    assert len(pairs) == 5 * 3 + 5 * 2 + 3 * 2
    both = {tuple(p) for p in pairs.to_pairs().tolist()}
    assert not any((v, u) in both for u, v in both)


def test_pairs_follow_their_rows_when_a_dataset_groups_and_selects():
    rng = np.random.default_rng(1)
    qid = rng.integers(0, 8, 60)
    docids = np.array([f"d{i}" for i in range(60)])
    pairs = [(u, v) for u in range(60) for v in range(60) if u != v and qid[u] == qid[v] and rng.random() < 0.3]
    rng.shuffle(pairs)
    weight = rng.random(len(pairs))
    named = {(docids[u], docids[v]): w for (u, v), w in zip(pairs, weight, strict=True)}
    data = RankingDataset.from_arrays(
        None, None, qid, docids=docids, preferences=Preferences.from_pairs(pairs, margin=2 * weight, weight=weight)
    )

    def names(d):
        p = d.preferences
        np.testing.assert_array_equal(p.margin, 2 * p.weight)
        return {(d.docids[u], d.docids[v]): w for u, v, w in zip(p.winner, p.loser, p.weight, strict=True)}

    assert names(data) == named
    chosen = [5, 0, 3]
    part = data.select(chosen)
    inside = set(part.docids)
    assert names(part) == {k: w for k, w in named.items() if k[0] in inside}
    query = part.query_of_row
    assert (query[part.preferences.winner] == query[part.preferences.loser]).all()
    first = part.preferences.offsets(part.offsets)
    for q in range(3):
        assert (query[part.preferences.winner[first[q] : first[q + 1]]] == q).all()
    assert first[-1] == len(part.preferences)


def test_ids_are_resolved_within_their_query():
    data = RankingDataset.from_arrays(None, None, qid=["a", "b", "a", "b"], docids=[1, 1, 2, 3])
    pairs = Preferences.from_ids(data, ["b", "a"], [3, 1], [1, 2], margin=[0.5, 2])
    assert pairs.to_pairs().tolist() == [[0, 1], [3, 2]]
    assert pairs.margin.tolist() == [2, 0.5]
    assert data.replace(preferences=pairs).select([1]).preferences.to_pairs().tolist() == [[1, 0]]
    with pytest.raises(DataError, match="query b has no document 2"):
        Preferences.from_ids(data, ["b"], [3], [2])
    with pytest.raises(DataError, match="query b has no document zz"):
        Preferences.from_ids(data, ["b"], [3], ["zz"])
    with pytest.raises(DataError, match=r"query c .* not in the dataset"):
        Preferences.from_ids(data, ["c"], [3], [2])
    with pytest.raises(DataError, match="no document ids"):
        Preferences.from_ids(RankingDataset.from_arrays(None, None, qid=["a"]), ["a"], [1], [2])
    double = RankingDataset.from_arrays(None, None, qid=["a", "a", "a"], docids=["x", "x", "y"])
    with pytest.raises(DataError, match="query a has document x 2 times"):
        Preferences.from_ids(double, ["a"], ["x"], ["y"])


def test_an_order_gives_all_pairs_or_the_adjacent_ones():
    data = RankingDataset.from_arrays(None, None, group=[4, 2])
    ranks = [3, 1, np.nan, 2, 1, 2]
    assert Preferences.from_order(data, ranks).to_pairs().tolist() == [[1, 0], [1, 3], [3, 0], [4, 5]]
    assert Preferences.from_order(data, ranks, adjacent=True).to_pairs().tolist() == [[1, 3], [3, 0], [4, 5]]
    with pytest.raises(DataError, match="query 0: two documents have rank 1"):
        Preferences.from_order(data, [1, 1, 2, 3, 1, 2], adjacent=True)


def test_cycles_and_contradictions_are_legal():
    pairs = Preferences.from_pairs([(0, 1), (1, 0), (1, 2), (2, 0), (2, 0)])
    data = RankingDataset.from_arrays(None, None, group=[3], preferences=pairs)
    assert len(data.preferences) == 5


@pytest.mark.parametrize(
    ("pairs", "extra", "message"),
    [
        ([(0, 0)], {}, "pair 0 prefers row 0 to itself"),
        ([(0, 1), (1, 9)], {}, "pair 1 .* no row 9"),
        ([(-1, 1)], {}, "no row -1"),
        ([(0, 1), (0, 3)], {}, "pair 1 .row 0 before row 3. crosses queries"),
        ([(0.5, 1)], {}, "row numbers"),
        ([(0, 1, 2)], {}, "two columns"),
        ([(0, 1)], {"weight": [-1]}, r"weight\[0\] is -1"),
        ([(0, 1)], {"margin": [np.nan]}, r"margin\[0\] is nan"),
        ([(0, 1)], {"margin": [1, 2]}, "margin has 2 entries for 1 pairs"),
    ],
)
def test_bad_pairs_are_refused_with_their_place(pairs, extra, message):
    with pytest.raises(DataError, match=message):
        RankingDataset.from_arrays(None, None, qid=[0, 0, 0, 1], preferences=Preferences.from_pairs(pairs, **extra))


def test_empty_and_immutable():
    pairs = Preferences.from_pairs([])
    data = RankingDataset.from_arrays(None, None, group=[2, 0], preferences=pairs)
    assert data.preferences.offsets(data.offsets).tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="read-only"):
        Preferences.from_pairs([(0, 1)]).winner[0] = 1


def test_unsorted_pairs_have_no_offsets():
    with pytest.raises(DataError, match="not sorted by query"):
        Preferences.from_pairs([(2, 3), (0, 1)]).offsets(np.array([0, 2, 4]))


def test_replacing_preferences_checks_and_sorts_them():
    data = RankingDataset.from_arrays(None, None, group=[2, 3])
    assert data.replace(preferences=Preferences.from_pairs([(3, 2), (0, 1)])).preferences.winner.tolist() == [0, 3]
    with pytest.raises(DataError, match="crosses queries"):
        data.replace(preferences=Preferences.from_pairs([(0, 2)]))
