"""RankLib's score files."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.scores import read_scores
from plackett.export.ranklib_scores import read_ranklib_scores, write_ranklib_scores

DATA = pk.RankingDataset.from_arrays(None, [1, 0, 2, 0], qid=["7", "7", "b", "7"])


def test_round_trip(tmp_path):
    path = tmp_path / "scores.txt"
    scores = np.array([0.1, -2.0, 1e-9, 3.0])  # in the dataset's order: the three of query 7 first
    write_ranklib_scores(DATA, scores, path)
    assert path.read_text() == "7\t0\t0.1\n7\t1\t-2.0\n7\t2\t1e-09\nb\t0\t3.0\n"
    np.testing.assert_array_equal(read_ranklib_scores(path, DATA), scores)
    np.testing.assert_array_equal(read_scores(path), scores)
    path.write_text("b\t0\t3.0\n7\t1\t-2.0\n7\t0\t0.1\n7\t2\t1e-09\n")
    np.testing.assert_array_equal(read_ranklib_scores(path, DATA), scores)


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (":1: the data have no document 1 of query 'b'", "b\t1\t3.0"),
        (":1: the data have no document 0 of query 'c'", "c\t0\t3.0"),
        (":2: document 0 of query 'b' occurs twice", "b\t0\t3.0\nb\t0\t3.0"),
        (":1: expected a score", "b\t0\tx"),
        (":1: expected query, position and score", "b 0 1"),
        ("no score for document 0 of query 7", "b\t0\t3.0"),
    ],
)
def test_files_that_do_not_belong_are_refused(tmp_path, match, text):
    path = tmp_path / "scores.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=match):
        read_ranklib_scores(path, DATA)
    with pytest.raises(ValueError, match="has 4 rows"):
        write_ranklib_scores(DATA, [1.0], path)
