"""Judgements and runs brought together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plackett.data.trec_join import join_run

QRELS = {"b": {"x": 1, "y": 0, "z": 2}, "a": {"x": -1}, "c": {"x": 1}}
RUN = {"r": {"x": 1.0}, "a": {"w": 0.5, "x": 2.5}, "b": {"z": 1.0, "v": 3.0}}


def test_small_case():
    joined = join_run(QRELS, RUN)
    data = joined.data
    assert data.qids.tolist() == ["b", "a", "c"]
    assert data.offsets.tolist() == [0, 4, 6, 7]
    assert data.docids.tolist() == ["z", "v", "x", "y", "w", "x", "x"]
    assert data.y.tolist() == [2, -2, 1, 0, -2, -1, 1]
    assert joined.retrieved.tolist() == [True, True, False, False, True, True, False]
    assert joined.scores.tolist() == [1, 3, -np.inf, -np.inf, 0.5, 2.5, -np.inf]
    assert joined.missing.tolist() == ["c"]
    assert joined.unjudged.tolist() == ["r"]


def test_only_queries_of_both():
    joined = join_run(QRELS, RUN, complete=False)
    assert joined.data.qids.tolist() == ["b", "a"]
    assert joined.data.n_rows == 6
    assert joined.missing.tolist() == ["c"]  # left out, but not silently


@pytest.mark.parametrize(("qrels", "run"), [(QRELS, {}), ({}, RUN), ({}, {}), (QRELS, {"r": {"x": 1}})])
def test_nothing_in_common(qrels, run):
    joined = join_run(qrels, run)
    assert joined.data.n_queries == len(qrels)
    assert not joined.retrieved.any()
    assert joined.unjudged.tolist() == list(run if not qrels else set(run) - set(qrels))
    assert join_run(qrels, run, complete=False).data.n_rows == 0


@pytest.mark.golden
@pytest.mark.parametrize(
    ("run", "out", "complete"), [("results.test", "out.test", False), ("results.trunc", "out.test.aqc", True)]
)
def test_counts_of_trec_eval(data_dir, run, out, complete):
    folder = data_dir / "trec_eval" / "test"
    lines = [line.split() for line in (folder / out).read_text().splitlines()]
    expected = {name: int(value) for name, query, value in lines if query == "all" and name.startswith("num_")}
    joined = join_run(folder / "qrels.test", folder / run, complete=complete)
    assert joined.data.n_queries == expected["num_q"] == 3
    assert joined.retrieved.sum() == expected["num_ret"]
    assert (joined.data.y > 0).sum() == expected["num_rel"]
    assert ((joined.data.y > 0) & joined.retrieved).sum() == expected["num_rel_ret"]


ids = st.sampled_from("abcd")


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(ids, st.dictionaries(ids, st.integers(-1, 3), min_size=1)),
    st.dictionaries(ids, st.dictionaries(ids, st.floats(-5, 5), min_size=1)),
    st.booleans(),
)
def test_against_loops(qrels, run, complete):
    joined = join_run(qrels, run, complete=complete)
    data = joined.data
    expected = []
    for qid, judged in qrels.items():
        result = run.get(qid, {})
        if not (result or complete):
            continue
        expected += [(qid, d, judged.get(d, -2), score, True) for d, score in result.items()]
        expected += [(qid, d, label, -np.inf, False) for d, label in judged.items() if d not in result]
    columns = (data.qid, data.docids, data.y, joined.scores, joined.retrieved)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected
