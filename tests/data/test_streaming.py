"""Text becomes the same native file whether it is read at once or part by part; mapped tables stay on the disk."""

from __future__ import annotations

import os

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett._base.errors import PartsError
from plackett.data import mapped, streaming, table_chunks
from plackett.data.streaming import letor_to_native, table_to_native
from whole_dataset import assert_same


@pytest.fixture
def text(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 7)).astype(np.float32)
    X[rng.random((400, 7)) < 0.3] = 0
    data = pk.RankingDataset.from_arrays(X, rng.integers(0, 3, 400), np.repeat(np.arange(40), 10))
    pk.write_letor(data, tmp_path / "a.txt")
    return tmp_path / "a.txt"


@pytest.mark.parametrize("chunk", [1, 5_000, 1 << 26])
def test_streamed_files_are_the_same(text, tmp_path, chunk):
    result = letor_to_native(text, tmp_path / "a.plackett", chunk_bytes=chunk)
    assert_same(result, pk.read_letor(text))
    assert mapped.is_mapped(result.X)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.plackett", "a.txt"]


def test_ids_of_mixed_kinds_and_comments(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1 qid:1 1:2 # docid = x\n0 qid:b 1:3 # docid = y\n2 qid:b 2:1 # docid = z\n")
    assert_same(letor_to_native(path, tmp_path / "a.plackett", chunk_bytes=1), pk.read_letor(path))


def table(n_queries=30):
    rng = np.random.default_rng(0)
    qid = np.repeat([f"q{i}" for i in range(n_queries)], rng.integers(1, 9, n_queries))
    X = rng.normal(size=(qid.size, 3)).astype(np.float32)
    X[5, 1] = np.nan
    return pk.RankingDataset.from_arrays(
        X,
        rng.integers(0, 4, qid.size),
        qid,
        docids=np.arange(qid.size),
        sample_weight=rng.integers(1, 5, qid.size),
        query_weight=rng.integers(1, 5, n_queries),
        feature_names=["a", "b", "c"],
    )


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
@pytest.mark.parametrize("rows", [1, 20, 1000])
def test_tables_in_parts(tmp_path, suffix, rows, monkeypatch):
    monkeypatch.setattr(table_chunks, "_BLOCK", 50 * rows)
    pk.write(table(), tmp_path / f"a.{suffix}")
    result = table_to_native(tmp_path / f"a.{suffix}", tmp_path / "a.plackett", chunk_rows=rows)
    assert_same(result, pk.read(tmp_path / f"a.{suffix}"))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["a.plackett", f"a.{suffix}"])


def test_ids_that_become_text_and_words_for_missing_values(tmp_path, monkeypatch):
    lines = ["qid,docid,label,x,flag"]
    lines += [f"{i // 3},{i},{i % 3},{i if i % 4 else 'NA'},{'true' if i % 2 else 'false'}" for i in range(60)]
    lines += ["x1,d7,1,0.5,true", "x1,08,0,2,false"]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(table_chunks, "_BLOCK", 40)
    result = table_to_native(path, tmp_path / "a.plackett", chunk_rows=10)
    assert_same(result, pk.read(path))
    assert result.docids[-1] == "08" and result.qids[-1] == "x1"


COLUMNS = {
    "whole numbers, then others": ["1", "2", "0.5"],
    "words for missing values": ["1", "NA", " ? "],
    "empty fields": ["1", "", '""'],
    "true and false": ["true", "false", "True"],
    "nothing, then numbers": ["", "", "3"],
}


@pytest.mark.parametrize("cells", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("ids", [("1", "2", "3"), ("1", "NA", "x"), ("nan", "a", "7"), ("007", "?", "nan")], ids=str)
def test_later_rows_of_another_kind(tmp_path, monkeypatch, cells, ids):
    """The first row (on the second line) decides, and each row is a part; the column left out becomes text."""
    rows = [f"{q},{q},{i},1,{cell},{i if i < 2 else 'x'}" for i, (q, cell) in enumerate(zip(ids, cells, strict=True))]
    path = tmp_path / "a.csv"
    path.write_text("\ufeff\n" + "\n\n".join(["qid,docid,comment,label,x,title", *rows]) + "\n\n")
    monkeypatch.setattr(table_chunks, "_FIRST_ROWS", 2)
    monkeypatch.setattr(table_chunks, "_BLOCK", 1)
    streamed = table_to_native(path, tmp_path / "a.plackett", chunk_rows=1, drop="title")
    assert_same(streamed, pk.read(path, drop="title"))
    assert streamed.n_rows == 3 and [*streamed.comments] == [b"0", b"1", b"2"]


def test_ids_of_parquet_keep_their_type(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"qid": ["1", "2"], "docid": ["nan", "8"], "label": [0, 1], "x": [1.5, None]}).write_parquet(path)
    assert_same(table_to_native(path, tmp_path / "a.plackett", chunk_rows=1), pk.read(path))


@pytest.mark.parametrize("block", [1, 7, 30, 1000])
def test_line_breaks_in_quotes(tmp_path, monkeypatch, block):
    path = tmp_path / "a.csv"
    path.write_text('qid,docid,label,x\na,"d\n1",1,2\na,"d, ""2""",0,3\nb,"\n\n",1,4\n')
    monkeypatch.setattr(table_chunks, "_BLOCK", block)
    result = table_to_native(path, tmp_path / "a.plackett", chunk_rows=1)
    assert_same(result, pk.read(path))
    assert result.docids.tolist() == ["d\n1", 'd, "2"', "\n\n"]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["1,0,1", "2,0,1", "1,1,2"], "a.csv: line 4: the rows of query '1' are not contiguous"),
        (["1,0,1", "2,0,x"], "a.csv: line 3, column 'x': 'x' is not a number: correct it"),
        (["1,0,1", "", "2,x,1"], "a.csv: line 4, column 'label': 'x' is not a number"),
        (["1,0,true", "2,0,1"], "a.csv: line 3, column 'x': '1' is not true or false"),
        (["1,0,1", "2,,3"], "a.csv: line 3, column 'label': the value is missing"),
        (["1,0,1", "2,0,1", "3,0,1,2"], "a.csv: line 4 has 4 fields, but there are 3 columns"),
        (["1,0,1", "nan,0,1", "3,0,1"], "a.csv: line 3, column 'qid': the id is missing"),
        ([], "rows"),
    ],
)
def test_tables_that_do_not_stream_are_refused(tmp_path, monkeypatch, lines, problem):
    monkeypatch.setattr(table_chunks, "_FIRST_ROWS", 1)
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["qid,label,x", *lines]) + "\n")
    with pytest.raises(pk.DataError, match=problem):
        table_to_native(path, tmp_path / "a.plackett", chunk_rows=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_bad_text_leaves_no_file(tmp_path):
    (tmp_path / "a.txt").write_text("1 qid:1 1:2\n0 qid:1 1:x\n")
    with pytest.raises(pk.DataError, match="2"):
        letor_to_native(tmp_path / "a.txt", tmp_path / "a.plackett")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_rows_of_a_mapped_table_are_copied_to_the_disk(text, tmp_path, monkeypatch):
    data = letor_to_native(text, tmp_path / "a.plackett")
    rows = np.random.default_rng(0).permutation(400)
    for least in (1, 1 << 30):
        monkeypatch.setattr(mapped, "_LEAST_BYTES", least)
        result = mapped.take_rows(data.X, rows)
        assert np.array_equal(result, data.X[rows]) and mapped.is_mapped(result) == (least == 1)
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1)
    monkeypatch.setattr(mapped.os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError("no room")))
    result = mapped.take_rows(data.X, rows)
    assert np.array_equal(result, data.X[rows]) and not mapped.is_mapped(result)
    mapped.release_memory()


def test_without_a_folder_for_temporary_files_rows_stay_in_memory(text, tmp_path, monkeypatch):
    data = letor_to_native(text, tmp_path / "a.plackett")
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1)
    monkeypatch.setattr(mapped.tempfile, "tempdir", str(tmp_path / "no such folder"))
    copy = mapped.take_rows(data.X, np.arange(400)[::-1])
    assert np.array_equal(copy, data.X[::-1]) and not mapped.is_mapped(copy)
    assert mapped.row_array(data.X, (400,)).sum() == 0


@pytest.mark.parametrize("make", [lambda: pk.LambdaMART(n_estimators=5, n_jobs=1), lambda: pk.ListNet()])
def test_training_from_a_mapped_table_is_the_same(text, tmp_path, monkeypatch, make):
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1)
    data = letor_to_native(text, tmp_path / "a.plackett")
    here = pk.read_letor(text)
    assert np.array_equal(make().fit(data).predict(here), make().fit(here).predict(here))


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:1 1:1 # a\n0 qid:2 1:2\n1 qid:3 1:2 # b\n",
        "1 qid:1 1:1\n0 qid:2 1:2 # x\n",
        "1 qid:1 1:1 #docid = 5\n0 qid:2 1:2\n1 qid:3 1:2 # docid = 6\n",
        "1 qid:1 1:1\n0 qid:2 1:2 #docid = 5\n1 qid:3 1:2 # docid = ab\n",
    ],
)
def test_comments_in_some_chunks_only(text, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert len(list(pk.read_letor_chunks(path, chunk_bytes=12))) > 1
    whole, streamed = pk.read_letor(path), letor_to_native(path, tmp_path / "a.plackett", chunk_bytes=12)
    assert list(streamed.comments) == list(whole.comments)
    assert np.array_equal(streamed.docids, whole.docids)


@pytest.mark.parametrize("column", ["x", "subtopics", "query_features"])
def test_lists_of_another_length_in_a_later_part(tmp_path, column):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"qid": [1, 2], "label": [0, 1], column: [[1.0], [1.0, 2.0]]}).write_parquet(path)
    with pytest.raises(pk.DataError, match=r"a\.parquet: .*(equal length|different numbers of query features)"):
        table_to_native(path, tmp_path / "a.plackett", chunk_rows=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_sparse_tables_are_not_converted_in_parts(tmp_path):
    pk.write(table(), tmp_path / "a.parquet")
    with pytest.raises(pk.DataError, match=r"a\.parquet: sparse features are converted in memory"):
        table_to_native(tmp_path / "a.parquet", tmp_path / "a.plackett", sparse=True)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device without room")
def test_a_full_disk_is_named(text, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming.tempfile, "TemporaryFile", lambda **_: open("/dev/full", "r+b"))  # noqa: SIM115
    with pytest.raises(OSError, match="No space left") as full:
        letor_to_native(text, tmp_path / "a.plackett")
    assert full.value.filename == str(tmp_path / "a.plackett")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_folder_that_is_missing_is_named(text, tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        letor_to_native(text, tmp_path / "none" / "a.plackett")
    assert missing.value.filename == str(tmp_path / "none")


def test_quotes_in_a_name_after_a_line_break_in_another(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('qid,label,"n\nl","a""b"\n1,0,2,3\n')
    with pytest.raises(PartsError, match="quotes in the names of columns"):
        table_to_native(path, tmp_path / "a.plackett")
    assert pk.read(path).feature_names == ("n\nl", 'a"b')


#: Cells by column, those of the first rows and those of later ones.
CELLS = {
    "qid": [("1 2 3", "4 5 6"), ("1 2 3", "x 08 nan"), ("nan 7 ?", "NA 9 None")],
    "docid": [("1 2", "3 4"), ("1 2", 'a "" "b\n"'), ("x y", "nan 7")],
    "label": [("0 1", "2 -1"), ("0 1", "0.5 2"), ("0 1", "NA 1 ''")],
    "x": [("1 2", "0.5 3"), ("1 ''", "NA ?"), ("'' NA", "1e-3 2"), ("true false", "False true"), ("1 2", "inf abc 3")],
    "comment": [("1 2", "07 ''"), ("a ''", "NA 3")],
}


def test_tables_in_parts_are_as_at_once_whatever_is_in_them(tmp_path, monkeypatch):
    """Random small tables: the same dataset, or an error that names the file and leaves nothing behind."""
    rng = np.random.default_rng(0)
    path, target = tmp_path / "a.csv", tmp_path / "a.plackett"
    problems = []
    for _ in range(25):
        kinds = {
            name: kinds[rng.integers(len(kinds))]
            for name, kinds in CELLS.items()
            if rng.random() < 0.9 or name == "qid"
        }
        n, lines = int(rng.integers(1, 12)), [",".join(kinds)]
        for i in range(n):
            cells = {name: rng.choice(kind[2 * i >= n].split(" ")).replace("''", "") for name, kind in kinds.items()}
            cells["qid"] = f"{i // 2}" if cells["qid"].isdigit() else f"{cells['qid']}{i // 2}"
            lines += [",".join(cells.values()), *([""] if rng.random() < 0.1 else [])]
        path.write_text("\n".join(lines) + "\n" * int(rng.integers(3)))
        monkeypatch.setattr(table_chunks, "_BLOCK", int(rng.choice([1, 30, 1000])))
        monkeypatch.setattr(table_chunks, "_FIRST_ROWS", int(rng.choice([4, 100])))
        try:
            streamed = table_to_native(path, target, chunk_rows=int(rng.choice([1, 3])), labels_needed="if there")
        except pk.DataError as error:
            problems.append(str(error))
        else:
            assert_same(streamed, pk.read(path, labels_needed="if there"))
            target.unlink()
        assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]
    assert len(problems) < 18 and all(problem.startswith(f"{path}: ") for problem in problems)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_times_are_streamed_and_categories_are_read_as_a_whole(tmp_path, name):
    dates = [f"2024-05-{1 + i // 10:02}" for i in range(200)]
    table = pl.DataFrame({"qid": [i // 10 for i in range(200)], "label": [i % 3 for i in range(200)], "asked": dates})
    table = table.with_columns(brand=pl.Series(["ab"[i % 2] for i in range(200)]).cast(pl.Categorical))
    table.write_csv(tmp_path / name) if name == "a.csv" else table.write_parquet(tmp_path / name)
    whole = pk.read(tmp_path / name, time="asked", drop="brand")
    parts = table_to_native(tmp_path / name, tmp_path / "b.plackett", chunk_rows=10, time="asked", drop="brand")
    assert parts.query_time.tolist() == whole.query_time.tolist()
    assert parts.fingerprint() == whole.fingerprint()
    with pytest.raises(PartsError, match="categories.* are converted in memory"):
        table_to_native(tmp_path / name, tmp_path / "c.plackett", time="asked", categories="brand")
