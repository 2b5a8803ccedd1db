"""The container of click logs."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.clicks.log import ClickLog
from plackett.clicks.profile import profile_log
from plackett.clicks.simulate import CascadeUsers, PositionUsers, TrustUsers, simulate_log


def random_log(seed=0, n_pages=200, n_queries=7, n_documents=15, longest=6, rate=0.3):
    """Pages of unequal length with clicks that mean nothing."""
    rng = np.random.default_rng(seed)
    lists = [rng.permutation(n_documents)[: rng.integers(1, longest + 1)] for _ in range(n_pages)]
    clicks = [rng.random(page.size) < rate for page in lists]
    return ClickLog.from_arrays([f"q{i}" for i in rng.integers(0, n_queries, n_pages)], lists, clicks)


def test_arrays_of_unequal_pages():
    log = ClickLog.from_arrays(["q", "p", "q"], [["a", "b", "c"], ["b"], []], [[0, 2, 0], [0], []])
    assert log.n_pages == 3
    assert log.n_rows == 4
    assert log.lengths.tolist() == [3, 1, 0]
    assert log.page.tolist() == [0, 0, 0, 1]
    assert log.rank.tolist() == [1, 2, 3, 1]
    assert log.last_click.tolist() == [2, 0, 0]
    assert log.skipped.tolist() == [True, False, False, False]
    assert log.n_pairs == 4


def test_pairs_are_those_of_a_dictionary():
    log = random_log()
    names = list(zip(log.query[log.page].tolist(), log.document.tolist(), strict=True))
    assert log.n_pairs == len(set(names))
    assert (np.diff(log.pair_query) >= 0).all()
    for row, (query, document) in enumerate(names):
        assert log.pair_query[log.pair[row]] == query
        assert log.pair_document[log.pair[row]] == document


def test_the_three_forms_of_arrays_agree():
    table = ClickLog.from_arrays([1, 1], np.array([[5, 6], [6, 5]]), np.array([[0, 1], [1, 0]]))
    flat = ClickLog.from_arrays([1, 1], [5, 6, 6, 5], [0, 1, 1, 0], lengths=[2, 2])
    lists = ClickLog.from_arrays([1, 1], [[5, 6], [6, 5]], [[False, True], [True, False]])
    for other in (flat, lists):
        assert table.to_frame().equals(other.to_frame())


def test_collapsed_pages_keep_every_count():
    log = random_log(n_documents=3, longest=3, n_queries=2)
    small = log.collapse()
    assert small.n_pages < log.n_pages
    assert small.weight.sum() == log.n_pages
    keys = ["query", "document", "rank", "clicks"]
    import polars as pl

    def counts(result, weight):
        return result.group_by(keys).agg(pl.col(weight).sum().cast(pl.Float64).alias("n")).sort(keys)

    whole = log.to_frame().with_columns(one=pl.lit(1.0))
    assert counts(whole, "one").equals(counts(small.to_frame(), "weight"))
    lists = {
        (log.query[i], tuple(log.document[a:b]), tuple(log.clicked[a:b]))
        for i, (a, b) in enumerate(zip(log.offsets[:-1], log.offsets[1:], strict=True))
    }
    assert small.n_pages == len(lists)


def test_select_split_truncate_and_concat():
    log = random_log()
    first, second = log.split(0.6, random_state=0)
    assert first.n_pages == 120
    both = ClickLog.concat([first, second])
    assert both.n_pages == log.n_pages
    assert sorted(both.pair_frame().rows()) == sorted(log.pair_frame().rows())
    short = log.truncate(2)
    assert short.longest == 2
    assert short.to_frame().equals(log.to_frame().filter(log.rank <= 2))
    by_query, rest = log.split(0.5, by="query", random_state=0)
    assert not set(by_query.query) & set(rest.query)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clicks": np.array([0, -1], np.int32)}, "0 or more"),
        ({"document": np.array([0, 9], np.int32)}, "not one of its 2 ids"),
        ({"offsets": np.array([0, 3])}, "offsets"),
        ({"propensities": np.array([0.0, 1.0])}, "above 0"),
        ({"weight": np.array([-1.0])}, "not negative"),
        ({"click_order": np.array([1, 0], np.int32)}, "0 clicks"),
        ({"times": np.zeros(3)}, "shape"),
    ],
)
def test_wrong_arrays_are_refused(change, message):
    log = ClickLog.from_arrays(["q"], [["a", "b"]], [[0, 1]])
    with pytest.raises(pk.DataError, match=message):
        log.replace(**change)


def test_users_are_hashed_with_the_key():
    from plackett.clicks.users import hash_users

    ids = ["ann", "bob", "ann", "", None]
    first = hash_users(np.array(ids, object), "key")
    assert first[0] == first[2] != first[1]
    assert first[3] == first[4] == 0
    assert (hash_users(["ann"], "other") != first[0]).all()
    assert hash_users(["ann"], b"key") == first[0]


# ------------------------------------------------------------------------------------------------------- simulation


def test_position_users_click_as_often_as_the_formula_says():
    data = pk.datasets.make_ranking(n_queries=5, docs_per_query=6, random_state=1)
    log = simulate_log(data, n_pages=40_000, k=6, users=PositionUsers(strength=1.0), random_state=0)
    rate = np.bincount(log.rank - 1, log.clicked) / log.n_pages
    interest = PositionUsers().attraction(data.labels, data.labels.max()).mean()
    expected = interest / np.arange(1, 7)
    assert np.abs(rate - expected).max() < 4 * np.sqrt(0.25 / log.n_pages) + 0.005


def test_drawn_lists_follow_plackett_luce():
    data = pk.RankingDataset.from_arrays(np.zeros((3, 1)), [0, 1, 2], qid=[0, 0, 0])
    scores = np.array([0.0, 0.5, 1.0])
    log = simulate_log(data, scores, n_pages=50_000, temperature=0.5, random_state=0)
    strength = np.exp(scores / 0.5)
    first = np.bincount(log.document[log.offsets[:-1]], minlength=3) / log.n_pages
    assert np.abs(first - strength / strength.sum()).max() < 0.01
    pages = log.document.reshape(-1, 3)
    chance = log.conditional_propensities.reshape(-1, 3)
    page = pages[0]
    expected = [strength[page[i]] / strength[page[i:]].sum() for i in range(3)]
    np.testing.assert_allclose(chance[0], expected, rtol=1e-12)


def test_other_users():
    data = pk.datasets.make_ranking(n_queries=5, docs_per_query=6, random_state=1)
    scores = data.X[:, 0]
    cascade = simulate_log(data, scores, n_pages=5000, users=CascadeUsers(go_on=0.0), random_state=0)
    assert cascade.clicked[cascade.rank > 1].sum() == 0
    trust = simulate_log(data, scores, n_pages=20_000, users=TrustUsers(noise=0.0, trust=0.65), random_state=0)
    plain = simulate_log(data, scores, n_pages=20_000, users=PositionUsers(noise=0.0), random_state=0)
    assert trust.clicked.sum() > plain.clicked.sum()
    assert np.array_equal(trust.document, plain.document)
    assert trust.propensities.min() == 1.0


def test_missing_ids_are_refused():
    with pytest.raises(pk.DataError, match=r"documents\[1\] is missing"):
        ClickLog.from_arrays(["q"], [["a", None]], [[1, 0]])
    with pytest.raises(pk.DataError, match=r"query\[0\] is missing"):
        ClickLog.from_arrays([None, "q"], [["a"], ["b"]], [[1], [0]])


def test_ranks_that_were_never_shown_need_no_connection():
    log = ClickLog.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1, 0], [1, 1]] * 2, ranks=[[1, 3]] * 4)
    facts = profile_log(log)
    assert facts.connected_ranks == 2
    assert not any("connected by" in sentence for sentence in facts.advice)
    assert dict(facts.rows_of_table())["ranks that they connect"] == "2 of 2"
    assert dict(facts.rows_of_table())["click rate by rank"] == "1.000 – 0.500"
