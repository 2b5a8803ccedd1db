"""An id that is missing is an error with its place, never the id "None" or "nan"."""

from __future__ import annotations

import gzip
import re

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError, RankingDataset
from plackett.applications import Ratings, read_ratings
from plackett.clicks import ClickLog, hash_users, read_clicks
from plackett.data.frame_columns import MISSING_NUMBERS
from plackett.data.streaming import letor_to_native
from plackett.data.table_chunks import csv_chunks, parquet_chunks
from plackett.data.tables import write_csv
from plackett.data.trec import as_qrels, as_run, read_qrels, read_run

NAN = float("nan")
pandas = pytest.importorskip("pandas")

#: Three ids in every form in which the second is missing.
GAPS = {
    "None among texts": ["a", None, "c"],
    "NaN among texts": ["a", NAN, "c"],
    "NaN among texts, tuple": ("a", NAN, "c"),
    "None among numbers": [1, None, 3],
    "NaN among numbers": [1, NAN, 3],
    "objects": np.array(["a", np.nan, "c"], object),
    "dates": np.array(["2020-01-01", "NaT", "2020-01-03"], "M8[D]"),
    "strings with a mark": np.array(["a", None, "c"], np.dtypes.StringDType(na_object=None)),
    "pandas' strings": pandas.Series(["a", None, "c"], dtype="string"),
    "pandas' numbers": pandas.Series([1, None, 3], dtype="Int64"),
    "pandas' categories": pandas.Series(["a", None, "c"]).astype("category"),
    "masked numbers": np.ma.array([1, 2, 3], mask=[False, True, False]),
    "masked texts": np.ma.array(["a", "b", "c"], mask=[False, True, False]),
    "polars": pl.Series(["a", None, "c"]),
    "polars' numbers": pl.Series([1, None, 3]),
}
EMPTY = {"list": ["a", "", "c"], "bytes": [b"a", b"", b"c"], "array": np.array(["a", "", "c"])}


@pytest.mark.parametrize("ids", GAPS.values(), ids=GAPS)
def test_arrays(ids):
    for name, build in (
        ("qid", lambda: RankingDataset.from_arrays(None, np.zeros(3), ids)),
        ("docids", lambda: RankingDataset.from_arrays(None, np.zeros(3), [1, 1, 1], docids=ids)),
        ("users", lambda: Ratings.from_arrays(ids, [1, 2, 3])),
        ("items", lambda: Ratings.from_arrays([1, 2, 3], ids)),
        ("query", lambda: ClickLog.from_arrays(ids, [["d"]] * 3, [[0]] * 3)),
        ("documents", lambda: ClickLog.from_arrays(["q"], [list(ids)], [[0, 0, 0]])),
    ):
        with pytest.raises(DataError, match=rf"{name}\[1\] is missing"):
            build()


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        ([2**63, 1], [str(2**63), "1"]),
        ([2**70, 1], [str(2**70), "1"]),
        (np.array([1, "a"], object), ["1", "a"]),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), ["2020-01-01", "2020-01-02"]),
        (np.ma.array([1, 2]), [1, 2]),
        (["null", "NA"], ["null", "NA"]),
        ([-1, 0], [-1, 0]),
    ],
    ids=["beyond int64", "beyond uint64", "mixed", "dates", "nothing masked", "words", "no positive number"],
)
def test_ids_of_arrays_and_frames(ids, kept):
    """What arrays take as ids, frames take too."""
    assert RankingDataset.from_arrays(None, np.zeros(2), ids).qids.tolist() == kept
    column = pl.Series(ids) if getattr(ids, "dtype", None) == "M8[D]" else pl.Series(list(ids), dtype=pl.Object)
    assert [*map(str, RankingDataset.from_frame(pl.DataFrame({"qid": column, "label": [0, 1]})).qids)] == [
        *map(str, kept)
    ]


def test_large_numbers_of_frames():
    for kind in (pl.UInt64, pl.Int128):
        frame = pl.DataFrame({"qid": pl.Series([2**63, 1], dtype=kind), "label": [0, 1]})
        assert RankingDataset.from_frame(frame).qids.tolist() == [str(2**63), "1"]


@pytest.mark.parametrize("gap", [None, NAN, 1.5, b"a"])
def test_mixed_column_with_a_gap(gap):
    frame = pandas.DataFrame({"qid": np.array([1, "a", gap], object), "label": [0, 1, 0], "x": [1.0, 2.0, 3.0]})
    with pytest.raises(DataError, match=r"column 'qid', row 2 .*(the id is missing|is not an id)"):
        RankingDataset.from_frame(frame)


def test_masked_numbers():
    """NaN, as a missing value anywhere else: not what is under the mask."""
    second = {"mask": [False, True]}
    assert np.isnan(RankingDataset.from_arrays(np.ma.array([[1], [2]], mask=[[False], [True]]), [0, 1], [7, 7]).X[1])
    with pytest.raises(DataError, match=r"label y\[1\] is nan"):
        RankingDataset.from_arrays(None, np.ma.array([0, 1], **second), [7, 7])
    with pytest.raises(DataError, match=r"sample_weight\[1\] is nan"):
        RankingDataset.from_arrays(None, [0, 1], [7, 7], sample_weight=np.ma.array([1.0, 1.0], **second))
    with pytest.raises(DataError, match="group must hold numbers: entry 1 is masked"):
        RankingDataset.from_arrays(None, None, group=np.ma.array([2, 1], **second))
    scores = np.ma.array([0.3, 0.4], **second)
    for data, qid in (([1, 0], [7, 7]), (RankingDataset.from_arrays(None, [1, 0], [7, 7]), None)):
        with pytest.raises(DataError, match="score 1 .* is NaN"):
            pk.evaluate(data, scores, ["AP"], qid=qid)


@pytest.mark.parametrize("ids", EMPTY.values(), ids=EMPTY)
def test_empty_texts(ids):
    with pytest.raises(DataError, match=r"qid\[1\] is empty"):
        RankingDataset.from_arrays(None, np.zeros(3), ids)
    with pytest.raises(DataError, match=r"items\[1\] is empty"):
        Ratings.from_arrays([1, 2, 3], ids)
    documents = RankingDataset.from_arrays(None, np.zeros(3), docids=ids).docids
    assert documents.tolist() == ["a", "", "c"], "LETOR has documents without an id"


def test_numbers_among_texts_are_kept():
    assert RankingDataset.from_arrays(None, [0, 1, 2], ["a", 1, 2.5]).qids.tolist() == ["a", "1", "2.5"]


@pytest.mark.parametrize("frame", [pl.DataFrame, pandas.DataFrame])
@pytest.mark.parametrize("ids", [["a", None], ["a", ""], [1.0, NAN], [1, None]])
def test_frames(frame, ids):
    with pytest.raises(DataError, match=r"column 'qid', row 1 \(counted from 0\): the id is (missing|empty)"):
        RankingDataset.from_frame(frame({"qid": ids, "label": [0, 1], "x": [0.5, 1.5]}))


@pytest.mark.parametrize("ids", [["a", None], ["a", ""], [1.0, NAN], [1, None]])
def test_parquet(tmp_path, ids):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"qid": ids, "label": [0, 1], "x": [0.5, 1.5]}).write_parquet(path)
    for read in (pk.read, lambda path: list(parquet_chunks(path, 1))):
        with pytest.raises(DataError, match=re.escape(f"{path}: row 2, column 'qid': the id is ")):
            read(path)


@pytest.mark.parametrize("column", ["qid", "docid"])
@pytest.mark.parametrize("word", ["", *MISSING_NUMBERS])
def test_csv(tmp_path, column, word):
    path = tmp_path / "a.csv"
    rows = [{"qid": "1", "docid": f"d{i}", "label": "0", "x": "1.5", column: str(i)} for i in range(3)]
    rows[1][column] = word
    path.write_text("".join(f"{','.join(row)}\n" for row in [[*rows[0]], *(row.values() for row in rows)]))
    for read in (pk.read, lambda path: list(csv_chunks(path, 1))):
        with pytest.raises(DataError, match=re.escape(f"{path}: line 3, column '{column}': the id is missing")):
            read(path)


@pytest.mark.parametrize("word", MISSING_NUMBERS)
def test_a_word_among_names_is_a_name(tmp_path, word):
    data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], ["a", word], docids=[word, "b"])
    write_csv(data, tmp_path / "a.csv")
    assert pk.read(tmp_path / "a.csv").qids.tolist() == ["a", word]
    assert pk.read(tmp_path / "a.csv").docids.tolist() == [word, "b"]


def test_csv_writes_only_what_it_reads(tmp_path):
    data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], ["7", "None"])
    with pytest.raises(DataError, match="the qid 'None' would be read as a missing one"):
        write_csv(data, tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("word", MISSING_NUMBERS)
@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_letor(tmp_path, word, name):
    path = tmp_path / name
    text = f"# qid:{word}\n1 qid:7 1:0.5 # qid:{word}\n\n0 qid:8 1:1\n0  qid:{word}\t1:2\n".encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    target = tmp_path / "a.plackett"
    for read in (pk.read_letor, lambda source: letor_to_native(source, target, chunk_bytes=1)):
        with pytest.raises(
            DataError, match=re.escape(f"{path}, line 5, column 4: the query id is missing, among whole")
        ):
            read(path)
    assert not target.exists()
    path = tmp_path / "b.txt"
    path.write_text(f"1 qid:a 1:0.5\n0 qid:{word} 1:2\n")
    assert pk.read_letor(path).qids.tolist() == ["a", word]
    assert [str(chunk.qids[0]) for chunk in pk.read_letor_chunks(path, chunk_bytes=1)] == ["a", word]
    data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], ["7", word])
    with pytest.raises(DataError, match=f"the query id '{word}' would be read as a missing one"):
        pk.write_letor(data, path)
    pk.write_letor(data, path, qids="number")
    assert pk.read_letor(path).n_queries == 2


def test_the_first_of_many_missing_ids_of_letor_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("".join(f"0 qid:{qid} 1:1\n" for qid in ("7", *MISSING_NUMBERS)))
    for read in (pk.read_letor, lambda path: list(pk.read_letor_chunks(path, chunk_bytes=1))):
        with pytest.raises(DataError, match="line 2, column 3: the query id is missing"):
            read(path)


@pytest.mark.parametrize("gap", [None, NAN, "", pandas.NA])
def test_runs_and_judgements(gap):
    for read in (as_qrels, as_run):
        for rows in ({"q": {"d": 1}, gap: {"d": 1}}, [("q", "d", 1), (gap, "d", 1)]):
            with pytest.raises(DataError, match="column 'qid', row 1 .*: the id is (missing|empty)"):
                read(rows)
        for rows in ({"q": {"d": 1, gap: 1}}, [("q", "d", 1), ("q", gap, 1)]):
            with pytest.raises(DataError, match="column 'docid', row 1 .*: the id is (missing|empty)"):
                read(rows)
    with pytest.raises(DataError, match="column 'docid', row 1 .*: the id is empty"):
        as_qrels(pl.DataFrame({"qid": ["q", "q"], "docid": ["a", ""], "label": [1, 1]}))


@pytest.mark.parametrize("word", MISSING_NUMBERS)
def test_files_of_runs_and_judgements(tmp_path, word):
    path = tmp_path / "a"
    for read, line in ((read_qrels, "{} 0 {} 1\n"), (read_run, "{} Q0 {} 1 0.5 tag\n")):
        for column, ids in (("qid", (word, "8")), ("docid", ("7", word))):
            path.write_text(f"# judged\n{line.format('7', '8')}{line.format(*ids)}")
            with pytest.raises(DataError, match=re.escape(f"{path}, line 3: the {column} is missing in ")):
                read(path)


@pytest.mark.parametrize("word", ["", *MISSING_NUMBERS])
@pytest.mark.parametrize("column", ["user", "item"])
def test_files_of_ratings(tmp_path, word, column):
    path = tmp_path / "a.tsv"
    path.write_text("1\t2\t3\n" + (f"{word}\t2\t3\n" if column == "user" else f"1\t{word}\t3\n"))
    with pytest.raises(DataError, match=re.escape(f"{path}, line 2: the {column} is missing")):
        read_ratings(path)


@pytest.mark.parametrize("word", ["", *MISSING_NUMBERS])
def test_click_logs_leave_the_line_out_and_say_so(tmp_path, word):
    """Logs have bad lines; a missing user is an unknown one."""
    path = tmp_path / "log.csv"
    for column in ("page", "query", "document"):
        row = {"page": "2", "query": "22", "document": "222", "user": "2222"} | {column: word}
        path.write_text(f"page,query,document,user,clicks\n1,11,111,{word},1\n{','.join(row.values())},0\n")
        log = read_clicks(path, key="k")
        assert [str(each) for each in (*log.queries, *log.documents)] == ["11", "111"]
        assert f"no {column}" in str(log.bad_lines) and "line 3" in str(log.bad_lines)
        assert log.users.tolist() == [0]


def test_unknown_users():
    assert hash_users(["a", None, "", NAN, pandas.NA], "k").astype(bool).tolist() == [True, False, False, False, False]
    numbers = hash_users([7.0, NAN], "k")
    assert numbers.tolist() == [hash_users([7], "k")[0], 0]


@pytest.mark.parametrize("gap", ["null", "NaN", '""'])
def test_events(tmp_path, gap):
    path = tmp_path / "events.ndjson"
    lines = ['{"p": "p1", "q": "shoe", "d": "a", "r": 0, "t": "impression", "u": "x"}']
    lines += [f'{{"p": "p1", "q": "shoe", "d": {gap}, "r": 1, "t": "impression"}}']
    lines += [f'{{"p": {gap}, "q": "shoe", "d": "b", "r": 1, "t": "impression"}}']
    lines += [f'{{"p": "p2", "q": "shoe", "d": "b", "r": 0, "t": "impression", "u": {gap}}}']
    path.write_text("\n".join(lines))
    fields = {"page": "p", "query": "q", "document": "d", "rank": "r", "action": "t", "user": "u"}
    log = pk.clicks.read_events(path, **fields)
    assert log.documents.tolist() == ["a", "b"] and log.users.astype(bool).tolist() == [True, False]
    assert "no d" in str(log.bad_lines) and "no p" in str(log.bad_lines)
    parts = list(pk.clicks.iter_clicks(path, 1, "events", **fields))
    assert sorted(document for part in parts for document in part.documents.tolist()) == ["a", "b"]
