"""`RankLists`: made of runs, datasets, tables and orders."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett import DataError, RankingDataset
from plackett.aggregation import RRF, RankLists, fuse

RUNS = {"bm25": {"q1": {"a": 3.0, "b": 2.0}, "q2": {"x": 1.0}}, "dense": {"q1": {"c": 0.9, "a": 0.1}}}

TWICE = pl.DataFrame({"qid": ["q", "q"], "docid": ["a", "a"], "score": [1.0, 2.0]})


def _cells(lists):
    """{(query, document, list): score}."""
    query = np.repeat(np.arange(lists.n_queries), lists.group)
    return {
        (str(lists.qids[query[row]]), lists.docids[int(row)], lists.names[m]): lists.values[row, m]
        for row, m in zip(*np.nonzero(lists.listed), strict=True)
    }


def test_runs_become_one_table():
    lists = RankLists.from_runs(RUNS)
    expected = {(q, d, name): s for name, run in RUNS.items() for q, docs in run.items() for d, s in docs.items()}
    assert _cells(lists) == expected
    assert lists.n_rows == 4 and lists.names == ("bm25", "dense")


@given(
    st.lists(
        st.dictionaries(st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdef")), st.integers(-9, 9), min_size=1),
        min_size=1,
        max_size=4,
    ),
    st.randoms(),
)
def test_any_order_of_the_rows_of_a_run_gives_the_same_cells_and_ranks(runs, random):
    frames = []
    for run in runs:
        rows = list(run.items())
        random.shuffle(rows)
        frames.append(
            pl.DataFrame([(q, d, float(s)) for (q, d), s in rows], schema=["qid", "docid", "score"], orient="row")
        )
    lists = RankLists.from_runs(frames)
    assert _cells(lists) == {(q, d, str(m)): s for m, run in enumerate(runs) for (q, d), s in run.items()}
    query = np.repeat(np.arange(lists.n_queries), lists.group)
    for row, m in zip(*np.nonzero(lists.listed), strict=True):
        others = lists.values[query == query[row], m]
        with np.errstate(invalid="ignore"):
            above, ties = (others > lists.values[row, m]).sum(), (others == lists.values[row, m]).sum()
        assert lists.ranks[row, m] == above + (ties + 1) / 2


def test_sorted_runs_have_the_same_ranks_as_unsorted_ones():
    sorted_run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    other = {"q": {"c": 1.0, "a": 3.0, "b": 2.0}}
    for runs in ([sorted_run, sorted_run], [other, sorted_run]):
        lists = RankLists.from_runs(runs)
        ranks = dict(zip(lists.docids, lists.ranks.tolist(), strict=True))
        assert ranks == {"a": [1, 1], "b": [2, 2], "c": [3, 3]}


def test_unranked_documents_are_a_tie_at_the_end_or_unknown():
    lists = RankLists.from_arrays([[1, 1], [2, np.nan], [3, np.nan], [4, np.nan]])
    assert lists.places("below").ranks[:, 1].tolist() == [1, 3, 3, 3]  # the mean of 2, 3 and 4
    assert np.isnan(lists.ranks[1:, 1]).all()
    with pytest.raises(DataError, match="unranked='last'"):
        lists.places("last")


def test_a_dataset_of_ranks_and_a_table_in_any_row_order_agree():
    ranks = np.array([[1, 2], [2, np.nan], [1, 1], [3, 1]])
    qid = ["a", "b", "b", "a"]
    data = RankingDataset.from_arrays(ranks, np.zeros(4), qid)
    from_data, from_table = RankLists.from_dataset(data), RankLists.from_arrays(ranks, qid)
    assert np.array_equal(from_data.values, from_table.values, equal_nan=True)
    assert from_table.values.tolist()[:2] == [[-1, -2], [-3, -1]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RankLists.from_orders({"q": [["a", "b", "a"]]}), "query 'q': list 0 has document 'a' twice"),
        (lambda: RankLists.from_orders({"q": [["a"]]}, documents=["b"]), "query 'q', list 0: document 'a' is not"),
        (lambda: RankLists.from_orders({"q": [[], []], "r": [["a"], ["b"]]}), "query 'q' has no documents"),
        (lambda: RankLists.from_orders([["a"], []]), "list '1' is empty"),
        (lambda: RankLists.from_orders([]), "no lists"),
        (lambda: RankLists.from_runs([]), "no runs"),
        (lambda: RankLists.from_runs({"x": {}}), "run 'x' is empty"),
        (lambda: RankLists.from_runs({"x": {"q": {"a": np.inf}}}), "run 'x', query 'q': document 'a' has the score"),
        (lambda: RankLists.from_runs({"x": TWICE}), "query 'q': the run 'x' has document 'a' twice"),
        (lambda: RankLists.from_arrays([[1, np.inf]], ["q"], docids=["a"]), "query 'q', list '1': document 'a' has"),
        (lambda: RankLists.from_arrays([[1]], kind="rank"), "kind='rank'"),
        (lambda: RankLists.from_runs([RUNS["bm25"]] * 2, names=["x", "x"]), "2 different names"),
        (lambda: RRF(weights={"bm52": 1}).scores(RankLists.from_runs(RUNS)), "unknown list 'bm52'"),
        (lambda: RRF(weights=[1, -1]).scores(RankLists.from_runs(RUNS)), "weight -1.0 of list 'dense'"),
        (lambda: RRF(weights=[1]).scores(RankLists.from_runs(RUNS)), "weights must be 2 numbers"),
        (lambda: RRF(weights=[0, 0]).scores(RankLists.from_runs(RUNS)), "all 0"),
        (lambda: fuse(list(RUNS.values()), "rrrf"), "did you mean RRF"),
        (lambda: fuse(list(RUNS.values()), "rrf", q=1), "RRF has no parameter 'q'; it has weights, k"),
    ],
)
def test_errors_name_query_document_and_list(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_a_run_comes_out_best_first_and_queries_keep_their_order():
    lists = RankLists.from_runs(RUNS)
    run = lists.run([1.0, 2.0, 5.0, 3.0])
    assert run["qid"].to_list() == ["q1", "q1", "q1", "q2"]
    assert run.filter(qid="q1")["score"].is_sorted(descending=True)


def test_select_keeps_rows_of_the_queries():
    lists = RankLists.from_runs(RUNS)
    chosen = lists.select([1])
    assert chosen.docids.to_list() == ["x"] and chosen.qids.tolist() == ["q2"]


def test_documents_that_no_list_has_come_last():
    lists = RankLists.from_arrays([[np.nan, np.nan], [1, 2], [2, 1]], docids=["u", "a", "b"])
    for method in ("CombSUM", "RRF", "MC1", "Kemeny", "CombMED"):
        from plackett.aggregation.fusing import find_method

        assert find_method(method).order(lists)[-1] == "u"
        assert find_method(method, weights=[1, 0]).order(lists)[-1] == "u"


def test_a_document_of_lists_of_weight_zero_only_comes_last():
    lists = RankLists.from_orders([["a", "b"], ["c", "a"]])
    assert RRF(weights=[1, 0]).order(lists) == ["a", "b", "c"]
