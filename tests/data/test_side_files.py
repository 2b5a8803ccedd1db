"""Relations, groups and query features from files."""

from __future__ import annotations

import contextlib
import gzip

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError, RankingDataset
from plackett.data.side_files import read_groups, read_query_features, read_query_names, read_relation


def made(docids=True, qid=(7, 8, 7, 8, 7)):
    names = ["x", "y", "z", "x", "u"] if docids else None
    return RankingDataset.from_arrays(None, None, qid=list(qid), docids=names)


FORMS = {
    "blanks.txt": "7 x z 0.5\n8  y\tx 2\n7 u x",
    "tabs.tsv": "qid\tdocid\tother\tweight\n7\tx\tz\t0.5\n8\ty\tx\t2\n7\tu\tx\t1\n",
    "commas.csv": "query,document,other,weight\r\n7,x,z,0.5\r\n8,y,x,2\r\n7,u,x,1\r\n",
    "notes.txt": "\ufeff# who is like whom\n\n7 x z 0.5\n9 a b 1\n8 y x 2\n7 u x 1\n",
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_files(tmp_path, name):
    (tmp_path / name).write_text(FORMS[name])
    relation = read_relation(tmp_path / name, made())
    assert relation.to_pairs().tolist() == [[0, 1], [2, 0], [3, 4]]
    assert relation.weights.tolist() == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    "text",
    [
        "7 a,b c 0.5\n7 d a,b 1\n",  # commas in ids, blanks between them
        "7\ta,b\tc\t0.5\n7\td\ta,b\t1\n",
        'qid,docid,other,weight\n7,"a,b",c,0.5\n7,d,"a,b",1\n',
        '"qid","docid","other","weight"\n"7","a,b","c",0.5\n"7","d","a,b",1\n',
        '"qid"\t"docid"\t"other"\n"7"\t"a,b"\t"c"\t0.5\n7\td\t"a,b"\n',
        "7 a,b\tc 0.5\n7 d a,b\n",  # blanks and tabs
    ],
)
def test_ids_with_commas(tmp_path, text):
    data = RankingDataset.from_arrays(None, None, [7, 7, 7], docids=["a,b", "c", "d"])
    (tmp_path / "a.csv").write_text(text)
    relation = read_relation(tmp_path / "a.csv", data)
    assert relation.to_pairs().tolist() == [[0, 1], [2, 0]]
    assert relation.weights.tolist() == [0.5, 1.0]


def test_quotes_that_are_not_closed_stay_in_their_line(tmp_path):
    (tmp_path / "a.csv").write_text('7,x,z,1\n7,"x,z,1\n7,u,z,1\n')
    with pytest.raises(DataError, match="line 2: expected .* found 2 fields"):
        read_relation(tmp_path / "a.csv", made())


def test_compressed_and_parquet(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(FORMS["blanks.txt"].encode()))
    frame = pl.DataFrame({"q": [7, 8, 7], "a": ["x", "y", "u"], "b": ["z", "x", "x"], "w": [0.5, 2.0, 1.0]})
    frame.write_parquet(tmp_path / "a.parquet")
    for name in ("a.txt.gz", "a.parquet"):
        relation = read_relation(tmp_path / name, made())
        assert relation.to_pairs().tolist() == [[0, 1], [2, 0], [3, 4]]
    frame.drop("w").write_parquet(tmp_path / "b.parquet")
    assert read_relation(tmp_path / "b.parquet", made()).weight is None


def test_documents_without_ids_are_named_by_their_place(tmp_path):
    (tmp_path / "a.txt").write_text("7 1 2\n8 1 2\n")
    assert read_relation(tmp_path / "a.txt", made(docids=False)).to_pairs().tolist() == [[0, 1], [3, 4]]
    (tmp_path / "a.txt").write_text("7 1 2\n7 0 1\n")
    with pytest.raises(DataError, match=r"a\.txt, line 2: query '7' has no document '0' .*count from 1"):
        read_relation(tmp_path / "a.txt", made(docids=False))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("7 x", r"line 1: expected 'query document other-document \[weight\]', .* found 2 fields: '7 x'"),
        ("7;x;z;1", "line 1: expected .* separated by blanks, tabs or commas, found 1 field: "),
        ("7 x z\n\n7 x z 1 2", "line 3: expected .* found 5 fields"),
        ("7 x z\n7 x q", "line 2: query '7' has no document 'q'"),
        ("7 x z\n7 q x", "line 2: query '7' has no document 'q'"),
        ("7 x z nan", "line 1: 'nan' is not a number"),
        ("7 x z\n7 x z inf", "line 2: 'inf' is not a number"),
        ("7 x z one", "line 1: 'one' is not a number"),
        ("#\n7 x z -1", "line 2: the weight is -1"),
        ("70 x z\n71 x z", "line 1: there is no query '70', nor any other of this file"),
    ],
)
def test_mistakes_name_file_and_line(tmp_path, text, match):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(DataError, match=rf"a\.txt, {match}"):
        read_relation(tmp_path / "a.txt", made())


def test_bytes_that_are_not_text_and_documents_that_occur_twice(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"7 x z\n7 \xff z\n")
    with pytest.raises(DataError, match=r"a\.txt, line 2: the text is not UTF-8"):
        read_relation(tmp_path / "a.txt", made())
    (tmp_path / "a.txt").write_text("8 y x\n7 x u\n")
    with pytest.raises(DataError, match="line 2: query '7' has document 'x' more than once"):
        read_relation(tmp_path / "a.txt", RankingDataset.from_arrays(None, None, [7, 7, 7, 8, 8], docids=list("xxuyx")))
    (tmp_path / "a.parquet").write_bytes(b"PAR1 not at all")
    with pytest.raises(DataError, match=r"a\.parquet"):
        read_relation(tmp_path / "a.parquet", made())
    (tmp_path / "empty.txt").write_text("")
    assert len(read_relation(tmp_path / "empty.txt", made())) == 0
    assert len(read_groups(tmp_path / "empty.txt", made())) == 0


def test_groups(tmp_path):
    (tmp_path / "a.csv").write_text("qid,docid,brand\n7,x,A\n7,z,A\n7,u,B\n7,x,B\n8,y,A\n")
    expected = pk.hyperedges(made(), [(0, "A"), (1, "A"), (2, "B"), (0, "B"), (3, "A")])
    assert read_groups(tmp_path / "a.csv", made()).to_pairs().tolist() == expected.to_pairs().tolist()
    (tmp_path / "a.csv").write_text("qid,docid,brand\n7,x,\n7,z,\n7,u,B\n")  # no brand is not a brand
    assert len(read_groups(tmp_path / "a.csv", made())) == 0


def test_query_features_and_names(tmp_path):
    data = made(qid=("b", "a", "b", "a", "b"))
    (tmp_path / "z.txt").write_text("a 1 2\nc 0 0\nb 3 4.5\n")
    assert read_query_features(tmp_path / "z.txt", data).tolist() == [[3.0, 4.5], [1.0, 2.0]]
    (tmp_path / "names.txt").write_text("a be\nb fr\n")
    assert read_query_names(tmp_path / "names.txt", data) == ["fr", "be"]
    (tmp_path / "names.csv").write_text("a,be\nb,\n")
    with pytest.raises(DataError, match=r"names\.csv, line 2: the name of query 'b' is missing"):
        read_query_names(tmp_path / "names.csv", data)
    for text, match in (
        ("a 1 2\n", "no line for query b"),
        ("a 1 2\nb 3\n", r"line 2: expected 'query number …', .* found 2 fields"),
        ("a 1\nb 2\na 3\n", "line 3: query 'a' has a line already"),
        ("a 1\nb x\n", "line 2: 'x' is not a number"),
        ("a 1\nb nan\n", "line 2: 'nan' is not a number"),
        ("a\nb\n", "line 1: expected"),
    ):
        (tmp_path / "z.txt").write_text(text)
        with pytest.raises(DataError, match=match):
            read_query_features(tmp_path / "z.txt", data)


def test_damaged_files_are_refused_or_read(tmp_path):
    rng = np.random.default_rng(0)
    whole = FORMS["tabs.tsv"].encode()
    for _ in range(200):
        raw = bytearray(whole)
        for _ in range(rng.integers(1, 5)):
            raw[rng.integers(len(raw))] = rng.integers(256)
        (tmp_path / "a.tsv").write_bytes(bytes(raw[: rng.integers(1, len(raw) + 1)]))
        for read in (read_relation, read_groups, read_query_features):
            with contextlib.suppress(DataError):
                read(tmp_path / "a.tsv", made())
