"""Readers of click logs."""

from __future__ import annotations

import gzip
import json
import os
import random

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett.clicks.log import ClickLog
from plackett.clicks.readers.events import read_events
from plackett.clicks.readers.page_lines import read_pages
from plackett.clicks.readers.query_click_lines import read_yandex
from plackett.clicks.readers.ubi import read_ubi
from plackett.clicks.reading import detect, iter_clicks, read_clicks
from plackett.clicks.storage import open_log

ROWS = {
    "page": ["p", "p", "r", "r", "r"],
    "query": ["shoe", "shoe", "sock", "sock", "sock"],
    "document": ["a", "b", "c", "a", "d"],
    "position": [2, 1, 1, 2, 3],
    "clicked": [True, False, False, True, True],
    "dwell": [3.5, None, None, 1.0, None],
    "user_id": ["u", "u", "v", "v", "v"],
}


def facts(log: ClickLog):
    return [
        (str(log.queries[log.query[i]]), log.documents[log.document[a:b]].tolist(), log.clicks[a:b].tolist())
        for i, (a, b) in enumerate(zip(log.offsets[:-1], log.offsets[1:], strict=True))
    ]


EXPECTED = [("shoe", ["b", "a"], [0, 1]), ("sock", ["c", "a", "d"], [0, 1, 1])]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "jsonl"])
def test_tables(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    frame = pl.DataFrame(ROWS)
    if suffix == "parquet":
        frame.write_parquet(path)
    elif suffix == "jsonl":
        frame.write_ndjson(path)
    else:
        frame.write_csv(path, separator="\t" if suffix == "tsv" else ",")
    log = read_clicks(path, key="k")
    assert facts(log) == EXPECTED
    assert log.ranks is None
    assert log.dwell[1] == 3.5
    assert np.isnan(log.dwell[0])
    assert log.users[0] != log.users[1] > 0
    assert log.bad_lines.left_out == 0


def test_one_row_per_page_with_lists():
    frame = pl.DataFrame(
        {"query": ["shoe", "sock"], "documents": [["b", "a"], ["c", "a", "d"]], "clicks": [[0, 1], [0, 1, 1]]}
    )
    assert facts(ClickLog.from_frame(frame)) == EXPECTED


def test_frames_make_the_round_trip():
    log = ClickLog.from_arrays(
        [1, 2], [[5, 6], [6]], [[0, 2], [1]], times=[3.0, 4.0], ranker=["x", "y"], ranks=[[1, 4], [11]]
    )
    again = ClickLog.from_frame(log.to_frame())
    assert again.to_frame().equals(log.to_frame())
    assert again.rank.tolist() == [1, 4, 11]


def test_bad_rows_are_counted_with_their_lines_and_their_pages_left_out(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "page,query,document,rank,clicks\n"
        "1,q,a,1,0\n1,q,b,2,1\n"
        "2,q,a,1,maybe\n2,q,b,2,0\n"  # line 4
        "3,q,a,0,1\n"  # line 6: rank 0
        "4,q,,1,1\n"  # line 7
        "5,q,a,1,0\n5,q,a,2,0\n"  # lines 8 and 9
        "6,q,c,1,0\n6,q,d,1,1\n"  # lines 10 and 11
        "7,q,e,1\n",  # line 12: too short
        encoding="utf-8",
    )
    log = read_clicks(path)
    assert facts(log) == [("q", ["a", "b"], [0, 1])]
    lines = {line for result in log.bad_lines.examples.values() for line, _ in result}
    assert lines == {4, 5, 6, 7, 8, 9, 10, 11, 12}  # line 5 is on the page of line 4
    assert log.bad_lines.left_out == 9
    assert log.bad_lines.total == 11
    assert "line 4" in str(log.bad_lines)


def test_errors_say_which_column_is_missing(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("page,query,thing\n1,q,a\n", encoding="utf-8")
    with pytest.raises(pk.DataError, match=r"log.csv: no column for the document.*thing"):
        read_clicks(path)
    with pytest.raises(pk.DataError, match="no such column"):
        read_clicks(path, document="other")
    with pytest.raises(pk.DataError, match="no column says which rows are one result page"):
        ClickLog.from_frame({"query": [1], "document": [1], "clicks": [1]})


def test_parts_of_a_table_are_the_table(tmp_path):
    rng = np.random.default_rng(0)
    log = ClickLog.from_arrays(
        rng.integers(0, 5, 500), rng.permuted(np.tile(np.arange(9), (500, 1)), axis=1), rng.random((500, 9)) < 0.2
    )
    for suffix in ("parquet", "csv"):
        path = tmp_path / f"log.{suffix}"
        getattr(log.to_frame(), f"write_{suffix}")(path)
        parts = list(iter_clicks(path, n_rows=400))
        assert len(parts) > 3
        assert facts(ClickLog.concat(parts)) == facts(read_clicks(path))


def test_parts_of_json_lines(tmp_path):
    rows = tmp_path / "rows.jsonl"
    pl.DataFrame(ROWS).write_ndjson(rows)
    pages = tmp_path / "pages.jsonl"
    pages.write_text(
        '{"query": "shoe", "documents": ["b", "a"], "clicks": [0, 1]}\nnonsense\n'
        '{"query": "sock", "documents": ["c", "a", "d"], "clicks": [0, 1, 1]}\n',
        encoding="utf-8",
    )
    for path in (rows, pages):
        parts = list(iter_clicks(path, n_rows=1))
        assert len(parts) == 2
        assert facts(ClickLog.concat(parts)) == EXPECTED
    assert parts[-1].bad_lines.counts == {"not a JSON object": 1}


def test_parts_of_lines(tmp_path):
    path = tmp_path / "yandex"
    path.write_text("".join(f"{s}\t0\tQ\tq{s % 2}\t0\ta\tb\n{s}\t3\tC\tb\n" for s in range(9)), encoding="utf-8")
    pages = tmp_path / "pages"
    pages.write_text("".join(f"q{s}\ta,b : b;" for s in range(9)), encoding="utf-8")
    for file in (path, pages):
        parts = list(iter_clicks(file, n_rows=5))
        assert [part.n_pages for part in parts] == [3, 3, 3]
        assert facts(ClickLog.concat(parts)) == facts(read_clicks(file))
    read_clicks(pages).save(tmp_path / "log.plackett")
    parts = list(iter_clicks(tmp_path / "log.plackett", n_rows=5))
    assert [part.n_pages for part in parts] == [2, 2, 2, 2, 1]
    assert facts(ClickLog.concat(parts)) == facts(read_clicks(pages))


def test_parts_of_events_that_are_far_apart(tmp_path):
    path = tmp_path / "ubi.ndjson"
    lines = [json.dumps({"_index": "ubi_queries", "query_id": f"p{i}", "user_query": f"q{i % 3}"}) for i in range(8)]
    for kind in ("impression", "click"):
        for i in range(8):
            for rank in (0, 1) if kind == "impression" else (i % 2,):
                position = {"object": {"object_id": f"d{rank}"}, "position": {"ordinal": rank}}
                event = {"action_name": kind, "query_id": f"p{i}", "event_attributes": position, "client_id": "c"}
                lines.append(json.dumps(event))
    path.write_text("\n".join([*lines, "broken"]) + "\n", encoding="utf-8")
    whole = read_ubi(path)
    parts = list(iter_clicks(path, n_rows=8, format="ubi"))
    assert len(parts) > 2
    assert sorted(facts(ClickLog.concat(parts))) == sorted(facts(whole))
    assert whole.clicks.sum() == 8
    assert parts[-1].bad_lines.counts == whole.bad_lines.counts == {"not JSON": 1}
    with pytest.raises(pk.DataError, match="n_rows=0"):
        next(iter_clicks(path, n_rows=0))


def test_a_rank_that_is_none(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("page,query,doc,rank,clicked\n1,q,a,1,0\n1,q,b,1000000000,1\n2,q,a,1,1\n", encoding="utf-8")
    log = read_clicks(path)
    assert facts(log) == [("q", ["a"], [1])]
    assert log.bad_lines.counts == {
        "rank is not a whole number from 1 to 10000 (its page is left out)": 1,
        "another line of its page is wrong": 1,
    }
    for rank in (10**9, 10**12):
        with pytest.raises(pk.DataError, match=f"{rank}"):
            ClickLog.from_arrays(["q"], [["a", "b"]], [[0, 1]], ranks=[[1, rank]])
    deep = ClickLog.from_arrays(["q"] * 2, [["a", "b"], ["b", "a"]], [[0, 1]] * 2, ranks=[[1, 4000]] * 2)
    with pytest.raises(pk.DataError, match=r"UBM has a parameter per pair of ranks.*truncate"):
        pk.clicks.UBM().fit(deep)
    with pytest.raises(pk.DataError, match="at most 500 are compared"):
        pk.clicks.harvest_propensities(deep)


def test_sessions_are_not_pages(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("session_id,query,sku,clicked\ns,shoe,a,0\ns,shoe,b,1\ns,sock,c,1\n", encoding="utf-8")
    with pytest.raises(pk.DataError, match=r"line 2 has 2 queries.*'session_id' was taken.*may have several pages"):
        read_clicks(path, document="sku")
    twice = tmp_path / "twice.csv"
    twice.write_text("session_id,query,sku,clicked\ns,shoe,a,0\ns,shoe,a,1\n", encoding="utf-8")
    with pytest.raises(pk.DataError, match=r"shown twice.*\n.*'session_id' was taken"):
        read_clicks(twice)
    expected = [("shoe", ["a", "b"], [0, 1]), ("sock", ["c"], [1])]
    assert facts(read_clicks(path, page=["session_id", "query"])) == expected
    log = read_clicks(path, page="session_id,query")
    assert facts(log) == expected
    assert log.bad_lines.columns["document"] == "sku"
    assert facts(ClickLog.concat(iter_clicks(path, n_rows=1, page="session_id,query"))) == expected


def test_other_events_by_name_and_in_parts(tmp_path):
    path = tmp_path / "events.ndjson"
    rows = [{"t": "impression", "p": p, "q": f"q{p % 2}", "d": {"id": d}, "r": d} for p in range(6) for d in (1, 2)]
    rows += [{"t": "click", "p": p, "d": {"id": 1 + p % 2}} for p in range(6)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    fields = {"page": "p", "query": "q", "document": "d.id", "rank": "r", "action": "t"}
    whole = read_clicks(path, "events", **fields)
    assert whole.clicks.tolist() == [1, 0, 0, 1] * 3
    parts = list(iter_clicks(path, 6, "events", **fields))
    assert len(parts) > 1
    assert sorted(facts(ClickLog.concat(parts))) == sorted(facts(whole))
    with pytest.raises(pk.DataError, match="which field is the page"):
        read_clicks(path, "events")
    with pytest.raises(pk.DataError, match="has no option 'documents'; did you mean document"):
        read_clicks(path, "events", documents="d", **fields)


def test_lists_of_clicked_documents(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(
        '{"query": "shoe", "results": ["a", "b", "c"], "clicked": ["c", "a", "c"]}\n'
        '{"query": "shoe", "results": ["b", "a"], "clicked": []}\n'
        '{"query": "sock", "results": ["d", "e"], "clicked": ["e", "zz"]}\n',
        encoding="utf-8",
    )
    log = read_clicks(path)
    assert facts(log) == [
        ("shoe", ["a", "b", "c"], [1, 0, 2]),
        ("shoe", ["b", "a"], [0, 0]),
        ("sock", ["d", "e"], [0, 1]),
    ]
    assert log.click_order.tolist() == [2, 0, 1, 0, 0, 0, 1]
    assert log.bad_lines.notes == {"a click on a document that the page does not show": 1}
    numbers = pl.DataFrame({"query": ["q", "q"], "docs": [[7, 8, 9], [9, 7]], "clicked": [[9], [7]]})
    assert ClickLog.from_frame(numbers).clicks.tolist() == [0, 0, 1, 0, 1]
    nothing = pl.DataFrame({"query": ["q", "q"], "docs": [[7, 8, 9], [9, 7]], "clicked": [[], []]})
    assert ClickLog.from_frame(nothing).clicks.tolist() == [0] * 5
    counts = pl.DataFrame({"query": ["q", "q"], "docs": [[7, 8, 9], [9, 7]], "clicked": [[0, 0, 1], [0, 1]]})
    assert ClickLog.from_frame(counts).clicks.tolist() == [0, 0, 1, 0, 1]


def test_ranks_that_begin_at_zero(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("page;query;doc;pos;clicked\n1;q;a;0;0\n1;q;b;1;1\n2;q;b;0;1\n", encoding="utf-8")
    log = read_clicks(path)  # and semicolons
    assert facts(log) == [("q", ["a", "b"], [0, 1]), ("q", ["b"], [1])]
    assert log.ranks is None
    assert "ranks begin at 0" in str(log.bad_lines)
    with pytest.raises(pk.DataError, match="rank is not a whole number from 1"):
        read_clicks(path, first_rank=1)
    assert list(read_clicks(path, first_rank="0").clicks) == [0, 1, 1]
    with pytest.raises(pk.DataError, match="first_rank=3"):
        read_clicks(path, first_rank=3)
    one_mistake = pl.DataFrame({"page": [1, 2, 3], "query": "q", "doc": "a", "rank": [1, 1, 0], "clicked": 0})
    assert ClickLog.from_frame(one_mistake).n_pages == 2


QUERY_CLICK = (
    "0\t5\tQ\t31\t0.0\ta\tb\tc\n0\t7\tC\tc\n0\t9\tC\ta\n0\t12\tC\tc\n0\t20\tC\tzz\n"
    "broken\n1\tx\tC\ta\n1\t3\tQ\t31\t0\ta\tb\n"
)


def test_lines_of_queries_and_clicks(tmp_path):
    path = tmp_path / "log"
    path.write_text(QUERY_CLICK, encoding="utf-8")
    assert detect(path) == "yandex"
    log = read_yandex(path)
    assert facts(log) == [("31", ["a", "b", "c"], [1, 0, 2]), ("31", ["a", "b"], [0, 0])]
    assert log.click_order.tolist() == [2, 0, 1, 0, 0]
    assert log.dwell[0] == 3.0
    assert log.dwell[2] == 2.0  # the first click; what follows the last one is not known
    assert log.bad_lines.left_out == 3
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(QUERY_CLICK.encode()))
    assert facts(read_yandex(packed)) == facts(log)


def test_records_of_pages(tmp_path):
    path = tmp_path / "sample.txt"
    path.write_text("7_1\ta,b,c : c , a , c;  7_1\ta,b,c :;nonsense; 8\tb,a : x\n", encoding="utf-8")
    assert detect(path) == "pages"
    log = read_pages(path)
    assert facts(log) == [
        ("7_1", ["a", "b", "c"], [1, 0, 2]),
        ("7_1", ["a", "b", "c"], [0] * 3),
        ("8", ["b", "a"], [0, 0]),
    ]
    assert log.bad_lines.left_out == 1
    assert sum(log.bad_lines.notes.values()) == 1


def ubi_event(kind, page, item, rank, application="shop", **more):
    position = {"object": {"object_id": item}, "position": {"ordinal": rank}}
    return {"action_name": kind, "query_id": page, "application": application, "event_attributes": position, **more}


def test_ubi(tmp_path):
    events = [
        {"index": {"_index": "ubi_queries"}},
        {"query_id": "p", "user_query": "shoe", "application": "shop"},
        {"index": {"_index": "ubi_events"}},
        ubi_event("impression", "p", "b", 1, timestamp="2024-12-10T00:01:29.378Z", client_id="u"),
        ubi_event("impression", "p", "a", 0),
        ubi_event("click", "p", "b", 1),
        ubi_event("purchase", "p", "b", 1),
        ubi_event("click", "p", "unseen", 4),
        ubi_event("impression", "r", "a", 0),
        ubi_event("search", "p", None, None) | {"event_attributes": None},
        {"_source": ubi_event("impression", "s", "a", 2, user_query="sock")},
    ]
    path = tmp_path / "ubi.ndjson"
    path.write_text("".join(json.dumps(event) + "\n" for event in events), encoding="utf-8")
    log = read_clicks(path)
    assert facts(log) == [("shoe", ["a", "b"], [0, 1]), ("sock", ["a"], [0])]
    assert log.rank.tolist() == [1, 2, 3]
    assert log.actions.tolist() == [0, 5, 0]
    assert log.bad_lines.counts == {"an event of a page without a query": 1}
    assert log.bad_lines.notes["action_name is 'search', which is not used"] == 1
    assert log.times[0] == pytest.approx(1733788889.378)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(ubi_event("impression", "p", "b", 1, application="other")) + "\n")
    with pytest.raises(pk.DataError, match=r"several applications \(other, shop\)"):
        read_ubi(path)
    assert facts(read_ubi(path, application="shop")) == facts(log)


def test_the_native_file_has_everything(tmp_path):
    log = ClickLog.from_arrays(
        ["é", "p"],
        [[5, 6], [6]],
        [[0, 2], [1]],
        click_order=[[0, 1], [1]],
        dwell=[[np.nan, 2.0], [1.0]],
        ranker=["x", "y"],
        users=["u", "v"],
        weight=[1.0, 3.0],
        propensities=[[0.5, 0.25], [1.0]],
    )
    log.save(tmp_path / "log.plackett")
    again = open_log(tmp_path / "log.plackett")
    assert again.to_frame().equals(log.to_frame())
    assert read_clicks(tmp_path / "log.plackett").n_pages == 2


def test_damaged_native_files_are_refused(tmp_path):
    path = tmp_path / "log.plackett"
    ClickLog.from_arrays(["q", "p"], [["a", "b"], ["c"]], [[0, 2], [1]], weight=[1, 2]).save(path)
    whole = path.read_bytes()
    rng = random.Random(0)
    for _ in range(150):
        broken = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        path.write_bytes(broken[: rng.choice([len(broken), rng.randrange(len(broken))])])
        try:
            open_log(path, mmap=False)
        except pk.DataError:
            continue


@pytest.mark.parametrize("reader", [read_yandex, read_pages, read_clicks])
def test_strange_text_gives_a_log_or_a_data_error(tmp_path, reader):
    rng = random.Random(1)
    tokens = ["Q", "C", "\t", "\t", "1", "q", ",", ":", ";", "\n", "\n", "{", "}", '"', "é", "\x00", "ubi_events", "-"]
    for number in range(150):
        path = tmp_path / f"{number}.csv"
        path.write_text("".join(rng.choice(tokens) for _ in range(rng.randint(0, 60))), encoding="utf-8")
        try:
            reader(path)
        except pk.DataError:
            continue


def test_strange_json_gives_a_log_or_a_data_error(tmp_path):
    rng = random.Random(2)
    usual = {"page": 1, "query": "q", "docs": ["a", "b"], "rank": [1, 2], "clicked": ["a"], "dwell": [1.0, None]}
    odd = ["a", "", None, True, 0, -1, 3.5, 1e9, 2**70, [], ["a"], [0, 1], [[1]], {"a": 1}]
    fields = {"page": "page", "query": "query", "document": "docs", "rank": "rank", "action": "clicked"}
    read = 0
    for number in range(60):
        rows = [
            {name: value if rng.random() < 0.8 else rng.choice(odd) for name, value in usual.items()}
            for _ in range(rng.randint(1, 4))
        ]
        path = tmp_path / f"{number}.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        for options in ({}, {"format": "events"} | fields):
            for part in (None, 2):
                try:
                    read += read_clicks(path, **options).n_pages if part is None else 0
                    list(iter_clicks(path, part or 100, **options))
                except pk.DataError:
                    continue
    assert read > 5


def test_events_by_paths(tmp_path):
    path = tmp_path / "events.ndjson"
    path.write_text(
        '[1]\n{"t":"impression","p":1,"q":"x","d":7,"r":1}\n{"t":"impression","p":1,"q":"x","d":8,"r":"?"}\n'
    )
    log = read_events(path, page="p", query="q", document="d", rank="r", action="t")
    assert facts(log) == [("x", ["7"], [0])]
    assert log.bad_lines.counts == {"not a JSON object": 1, "r is not a whole number up to 10000": 1}


def test_damaged_tables_are_described_in_our_words(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text('page,query,document,rank,clicks\np,q,a,1,0\np,"q,b,2,1\n')
    for read in (read_clicks, lambda path: list(iter_clicks(path))):
        with pytest.raises(pk.DataError, match=r"log\.csv: line 3: a quoted field does not end$"):
            read(path)
    path.write_text("page,query,document,rank,clicks\n" + "p,q,a,1,0\n" * 2)
    with pytest.raises(pk.DataError, match=r"is that the result page\? Name the column"):
        read_clicks(path)


def table_text(times=None, n=4):
    head = "page,query,document,rank,clicked" + (",time" if times else "")
    rows = [f"{i},q{i % 2},d{i},1,{i % 2}" + (f",{times[i]}" if times else "") for i in range(n)]
    return "\n".join([head, *rows]) + "\n"


def test_times_with_zones_are_seconds_of_one_clock(tmp_path):
    path = tmp_path / "log.csv"
    same = ["2024-05-01T10:00:00+02:00", "2024-05-01T08:00:00Z", "2024-05-01 08:00:00", "2024-05-01T03:30:00.5-0430"]
    path.write_text(table_text(same))
    log = read_clicks(path)
    np.testing.assert_allclose(log.times - 1714550400, [0, 0, 0, 0.5])
    assert not log.bad_lines.notes
    path.write_text(table_text(["1714550400000", "1714550400", "2024-05-01 08:00 UTC", "01/05/2024 08:00"]))
    log = read_clicks(path)
    np.testing.assert_array_equal(log.times, [1714550400, 1714550400, 1714550400, np.nan])  # day and month: no guess
    assert "1 × the time is neither a number nor a date" in str(log.bad_lines)
    assert "line 5: '01/05/2024 08:00'" in str(log.bad_lines)
    pl.read_csv(path).with_columns(time=pl.lit(1714550400000)).write_parquet(tmp_path / "log.parquet")
    assert read_clicks(tmp_path / "log.parquet").times[0] == 1714550400


@pytest.mark.parametrize("suffix", ["gz", "xz", "zst"])
def test_compressed_tables(tmp_path, suffix):
    from plackett._files.compression import replacing_compressed

    path = tmp_path / f"log.csv.{suffix}"
    with replacing_compressed(path) as file:
        file.write(table_text(n=50).encode())
    assert detect(path) == "table"
    assert read_clicks(path).n_pages == 50
    assert sum(part.n_pages for part in iter_clicks(path, n_rows=20)) == 50
    path.write_bytes(path.read_bytes()[:-9])
    for read in (read_clicks, lambda p: list(iter_clicks(p, n_rows=20))):
        with pytest.raises(pk.DataError, match=f"{path}: the .* data ends too early") as error:
            read(path)
        assert str(error.value).count(str(path)) == 1


def test_a_page_that_comes_back_is_not_taken_for_two(tmp_path):
    path = tmp_path / "log.csv"
    rows = ["1,q,b,2,1", "2,q,a,1,0", "3,q,a,1,0", "1,q,a,1,0"]
    path.write_text("page,query,document,rank,clicked\n" + "\n".join(rows) + "\n")
    assert read_clicks(path).n_pages == 3
    for n_rows in (1, 2, 3, 100):
        with pytest.raises(pk.DataError, match="line 5: rows of the page '1' are not next to each other"):
            list(iter_clicks(path, n_rows=n_rows))


def test_rows_without_a_page_are_left_out_of_parts(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("page,query,document,rank,clicked\n1,q,a,1,1\n,q,a,1,0\n2,q,a,1,0\n,q,b,1,0\n3,q,a,1,0\n")
    parts = list(iter_clicks(path, n_rows=100))
    assert sum(part.n_pages for part in parts) == 3
    assert parts[-1].bad_lines.left_out == 2


def test_many_parts_remember_all_pages(tmp_path):
    path = tmp_path / "log.csv"
    text = table_text(n=200)
    path.write_text(text)
    assert sum(part.n_pages for part in iter_clicks(path, n_rows=7)) == 200
    path.write_text(text + "3,q1,d9,1,0\n")
    with pytest.raises(pk.DataError, match="line 202: rows of the page '3'"):
        list(iter_clicks(path, n_rows=7))


def test_an_event_delivered_twice_counts_once(tmp_path):
    names = {"page": "p", "query": "q", "document": "d", "rank": "r", "action": "t"}
    event = {"p": "1", "q": "x", "d": "a", "r": 1}
    events = [event | {"t": kind, "id": i} for i, kind in enumerate(("impression", "click", "purchase"))]
    path = tmp_path / "events.ndjson"
    path.write_text("".join(json.dumps(each) + "\n" for each in events * 2))
    log = read_events(path, **names, actions={"purchase": 5.0}, event="id")
    assert (log.clicks.tolist(), log.actions.tolist()) == ([1], [5.0])
    assert "3 × an event whose id was seen before" in str(log.bad_lines)
    parts = list(iter_clicks(path, 2, "events", **names, actions={"purchase": 5.0}, event="id"))
    assert [part.actions.tolist() for part in parts] == [[5.0]]
    wrapped = [{"_id": each["id"], "_source": each} for each in events]
    path.write_text("".join(json.dumps(each) + "\n" for each in wrapped * 2))
    assert read_events(path, **names, actions={"purchase": 5.0}).actions.tolist() == [5.0]
    for each in events:
        del each["id"]
    path.write_text("".join(json.dumps(each) + "\n" for each in events * 2))  # nothing says that they are the same
    assert read_events(path, **names, actions={"purchase": 5.0}).actions.tolist() == [10.0]


def test_columns_that_are_not_used_are_named(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("search_id,keywords,sku,position,is_clicked,customer,ts,colour\ns,tv,a,1,1,c,5,red\n")
    log = read_clicks(path)
    assert log.users is not None and log.times.tolist() == [5.0]
    assert log.bad_lines.unused == ["colour"]


def test_lines_with_too_many_cells_are_left_out(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        "page,document,rank,clicks,query\n"
        "1,a,1,0,blue shoe, wide\n1,b,2,1,blue shoe\n"  # line 2: a comma without quotes
        '2,a,1,0,"blue shoe, wide"\n3,a,1,1,sock,\n'  # an empty cell too many does no harm
    )
    expected = [("blue shoe, wide", ["a"], [0]), ("sock", ["a"], [1])]
    log = read_clicks(path)
    assert facts(log) == expected
    assert log.bad_lines.examples["more cells than the header has columns (its page is left out)"] == [
        (2, "document a")
    ]
    assert log.bad_lines.unused == []
    assert facts(ClickLog.concat([*iter_clicks(path, n_rows=2)])) == expected


def test_columns_that_tell_pages_apart_are_used(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("session,time,query,sku,rank,clicked\ns,1,q,a,1,0\ns,2,q,a,1,1\ns,,q,b,2,1\ns,2,q,,2,1\n")
    log = read_clicks(path, page="session,time")
    assert log.bad_lines.columns["page"] == "session,time"
    assert log.bad_lines.unused == []
    assert log.bad_lines.counts == {
        "no page: session or time is missing": 1,
        "no document (its page is left out)": 1,
        "another line of its page is wrong": 1,
    }
    assert log.bad_lines.examples["no document (its page is left out)"] == [(5, "no document")]


def test_the_first_fault_of_a_line_is_reported(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("page,query,document,rank,clicks,weight\n1,q,a,1,0,1\n2,q,a,x,y,z\n")
    assert [*read_clicks(path).bad_lines.counts] == [
        "rank is not a whole number from 1 to 10000 (its page is left out)"
    ]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_a_part_without_good_pages_does_not_end_the_reading(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    rows = [(page, "q", "a", "x" if page < 6 else "1", "0") for page in range(12)]
    frame = pl.DataFrame(rows, ("page", "query", "document", "rank", "clicks"), orient="row")
    frame.write_csv(path) if suffix == "csv" else frame.write_ndjson(path)
    parts = [*iter_clicks(path, n_rows=2)]
    assert sum(part.n_pages for part in parts) == 6
    assert parts[-1].bad_lines.left_out == 6
    bad = frame.with_columns(rank=pl.lit("x"))
    bad.write_csv(path) if suffix == "csv" else bad.write_ndjson(path)
    with pytest.raises(pk.DataError, match="no result pages"):
        list(iter_clicks(path, n_rows=2))


def test_parts_agree_on_the_name_of_the_top_rank(tmp_path):
    path = tmp_path / "log.csv"
    lines = [f"{i},q,a,{int(i < 7)},0\n{i},q,b,{1 + (i < 7)},0\n" for i in range(10)]
    path.write_text("page,query,document,rank,clicks\n" + "".join(lines))
    whole = read_clicks(path)
    parts = [*iter_clicks(path, n_rows=4)]
    assert whole.n_pages == sum(part.n_pages for part in parts) == 7
    assert parts[-1].bad_lines.counts == whole.bad_lines.counts


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_and_folders_are_named_as_such(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes to it: opening it would wait for ever
    with pytest.raises(pk.DataError, match="is a pipe.*write its content to a file"):
        read_clicks(pipe)
    with pytest.raises(pk.DataError, match="is a folder"):
        read_clicks(tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("propensity", "0", "propensity is not a number above 0, at most 1"),
        ("conditional_propensity", "1.5", "conditional_propensity is not a number above 0, at most 1"),
        ("weight", "-1", "weight is not a number from 0"),
        ("actions", "1e300", "actions is not a number"),
        ("click_order", "7", "click_order and clicks do not agree"),
    ],
)
def test_one_impossible_number_does_not_refuse_the_log(tmp_path, column, value, reason):
    path = tmp_path / "log.csv"
    path.write_text(f"page,query,document,rank,clicks,{column}\n1,q,a,1,0,{value}\n2,q,a,1,1,1\n")
    log = read_clicks(path)
    assert facts(log) == [("q", ["a"], [1])]
    assert log.bad_lines.examples == {f"{reason} (its page is left out)": [(2, "document a")]}


def test_impossible_dwell_times_are_missing_and_noted(tmp_path):
    path = tmp_path / "log.csv"
    cells = ["-5", "inf", "abc", "", "nan", "2.5"]
    path.write_text("page,query,document,clicks,dwell\n" + "".join(f"{i},q,a,1,{x}\n" for i, x in enumerate(cells)))
    log = read_clicks(path)
    np.testing.assert_array_equal(log.dwell, [np.nan] * 5 + [2.5])
    assert log.bad_lines.notes == {"dwell is not a number from 0; left out": 3}
    assert log.bad_lines.examples["dwell is not a number from 0; left out"] == [(2, "-5"), (3, "inf"), (4, "abc")]


def test_lines_are_counted_in_files_whose_cells_have_several(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(
        'page,query,document,rank,clicks\n1,"q\nr",a,1,0\n2,q,a,x,1\n3,"\n\n",a,1,0\n4,q,a,x,0\n5,q,a,1,0\n'
    )
    reason = "rank is not a whole number from 1 to 10000 (its page is left out)"
    assert read_clicks(path).bad_lines.examples[reason] == [(4, "document a"), (8, "document a")]
    *_, last = iter_clicks(path, n_rows=2)
    assert last.bad_lines.examples[reason] == [(4, "document a"), (8, "document a")]
