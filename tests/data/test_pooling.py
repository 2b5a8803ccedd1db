from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from plackett import DataError
from plackett.data.pooling import pool


def random_runs(seed, n_runs=4, n_queries=5, n_docs=30):
    rng = np.random.default_rng(seed)
    return [
        {
            f"q{q}": {f"d{d}": float(s) for d, s in enumerate(rng.permutation(n_docs)) if rng.random() < 0.7}
            for q in range(n_queries)
        }
        for _ in range(n_runs)
    ]


def loop_pool(runs, depth):
    result = {}
    for run in runs:
        for qid, scores in run.items():
            for docid in sorted(scores, key=lambda d: (scores[d], d), reverse=True)[:depth]:
                result[qid, docid] = result.get((qid, docid), 0) + 1
    return result


def as_dict(frame):
    return {(q, d): n for q, d, n in frame.iter_rows()}


@pytest.mark.parametrize("depth", [1, 3, 10, 1000])
def test_the_pool_is_the_union_of_the_tops(depth):
    runs = random_runs(depth)
    assert as_dict(pool(runs, depth)) == loop_pool(runs, depth)


def test_full_depth_is_the_full_union_and_size_grows_with_depth():
    runs = random_runs(0)
    union = {(q, d) for run in runs for q, scores in run.items() for d in scores}
    assert set(as_dict(pool(runs, 30))) == union
    sizes = [pool(runs, depth).height for depth in (1, 2, 5, 10, 30)]
    assert sizes == sorted(sizes)
    assert set(as_dict(pool(runs))) == union  # depth 100


def test_ties_go_to_the_larger_id():
    assert pool([{"q": {"a": 1.0, "b": 1.0}}], 1)["docid"].to_list() == ["b"]


def test_forms_of_runs_give_the_same_pool(tmp_path):
    run = random_runs(1, n_runs=1)[0]
    rows = [(q, d, s) for q, scores in run.items() for d, s in scores.items()]
    frame = pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row")
    path = tmp_path / "run.txt"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} tag\n" for q, d, s in rows))
    expected = pool([run], 4)
    for other in (frame, frame.to_pandas(), frame.to_arrow(), rows, path):
        assert pool([other], 4).equals(expected)


@pytest.mark.parametrize(
    ("runs", "depth", "message"),
    [
        ([], 5, "no runs"),
        ({"q": {}}, 5, "list of runs"),
        ("run.txt", 5, "list of runs"),
        ([{"q": {"a": 1}}], 0, "depth=0; give a whole number of 1 or more"),
        ([{"q": {"a": 1}}, 7], 5, r"runs\[1\]: .* not int"),
        ([pl.DataFrame({"qid": [1], "score": [2.0]})], 5, r"runs\[0\]: .*docid"),
    ],
)
def test_bad_runs_are_refused(runs, depth, message):
    with pytest.raises(DataError, match=message):
        pool(runs, depth)
