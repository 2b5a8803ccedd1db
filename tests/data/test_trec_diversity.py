"""Judgements by subtopic."""

from __future__ import annotations

import math

import polars as pl
import pytest

from plackett import DataError
from plackett.data.trec_diversity import as_diversity_qrels, read_diversity_qrels, write_diversity_qrels
from plackett.data.trec_join import join_run

# topic 1 has three subtopics, topic 2 has two; d4 of topic 1 has no judgement for subtopic 1
LINES = """\
1 1 d1 1
1 2 d1 1
1 3 d1 0
1 1 d2 1
1 3 d3 1
1 2 d4 1
1 3 d4 1
1 1 d3 -2
2 a d1 0
2 b d1 1
"""
RUN = {"1": {"d1": 4, "d2": 3, "d3": 2, "d4": 1}, "2": {"d9": 2, "d1": 1}}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "qrels"
    path.write_text(LINES)
    return path


def test_round_trip(path):
    frame = read_diversity_qrels(path)
    assert frame.columns == ["qid", "subtopic", "docid", "label"]
    assert frame.height == 10
    write_diversity_qrels(frame, path.with_name("again"))
    assert path.with_name("again").read_text() == LINES
    assert as_diversity_qrels(frame.rename({"subtopic": "iteration", "docid": "doc_id"})).equals(frame)
    assert as_diversity_qrels(frame.rows()).equals(frame)


def test_measures_of_two_topics_by_hand(path):
    """α-DCG of topic 1 is 2 + .5/log2(3) + 1/log2(4) + 1/log2(5) = 3.246141; both topics' AP by subtopic."""
    data = join_run(path, RUN, subtopics=True).data
    first, second = data.subtopics[:4].tolist(), data.subtopics[4:, :2].tolist()
    assert first == [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    assert second == [[0, 0], [0, 1]]
    assert all(math.isnan(value) for value in data.subtopics[4:, 2])
    seen, total = [0, 0, 0], 0.0
    for rank, row in enumerate(first, 1):
        total += sum(0.5 ** seen[t] for t in range(3) if row[t]) / math.log2(rank + 1)
        seen = [s + int(value) for s, value in zip(seen, row, strict=True)]
    assert total == pytest.approx(3.246141, abs=1e-6)

    def ap(labels):
        ranks = [rank for rank, label in enumerate(labels, 1) if label]
        return sum(i / rank for i, rank in enumerate(ranks, 1)) / len(ranks) if ranks else 0.0

    intent_aware = [sum(ap(column) for column in zip(*rows, strict=True)) / len(rows[0]) for rows in (first, second)]
    # topic 1: subtopics at ranks {1, 2}, {1, 4}, {3, 4}; topic 2: none, {2}
    assert intent_aware == pytest.approx([(1 + (1 + 2 / 4) / 2 + (1 / 3 + 2 / 4) / 2) / 3, (0 + 1 / 2) / 2])


def test_labels_and_unjudged_documents(path):
    joined = join_run(path, {"1": {"d7": 1.0}}, subtopics=True)
    assert joined.data.docids.tolist() == ["d7", "d1", "d2", "d3", "d4", "d1"]
    assert joined.data.y.tolist() == [-2, 1, 1, 1, 1, 1]
    assert joined.data.subtopics[0].tolist() == [0, 0, 0]
    assert joined.missing.tolist() == ["2"]


def test_tuples_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    assert as_diversity_qrels([ir_measures.Qrel("q", "d", 1, "s")]).rows() == [("q", "s", "d", 1.0)]


def test_bad_forms(path):
    path.write_text("1 1 d 1\n1 2 d 1\n1 1 d 0\n")
    with pytest.raises(DataError, match="line 3: qid '1', subtopic '1', docid 'd' occurs a second time"):
        read_diversity_qrels(path)
    with pytest.raises(DataError, match=r"rows \(qid, subtopic"):
        as_diversity_qrels([("q", "d", 1)])
    with pytest.raises(DataError, match="no column 'subtopic'"):
        as_diversity_qrels(pl.DataFrame({"qid": [1], "docid": [1], "label": [1]}))
