"""Logs of events in tables and in JSON, with fields named by their user."""

from __future__ import annotations

import json
import os
import random

import numpy as np
import pandas
import polars as pl
import pytest

import plackett as pk
from plackett.clicks.log import ClickLog
from plackett.clicks.readers.events import read_events
from plackett.clicks.reading import iter_clicks, read_clicks

NAMES = {"page": "search_id", "query": "text", "document": "sku", "rank": "position", "action": "event"}
ALL = NAMES | {
    "time": "ts",
    "user": "visitor",
    "value": "price",
    "event": "event_id",
    "actions": "purchase",
    "key": "k",
}
QUERIES = ("grüne Jacke", "öl, filter", 'Tür "breit"', "hose")


def events_of_a_shop(n_pages: int = 300, seed: int = 0) -> pl.DataFrame:
    """Made-up events in any order, some twice: impressions, clicks and purchases of pages with five products."""
    rng = np.random.default_rng(seed)
    rows = []
    for page in range(n_pages):
        start = 1_750_000_000.0 + 60 * page
        for rank, product in enumerate(rng.permutation(8)[:5], 1):
            event = {"search_id": f"s{page}", "text": QUERIES[page % 4], "sku": f"P {product}", "position": rank}
            event |= {"visitor": f"v{page // 3}"}
            clicked = rng.random() < 0.5 / rank
            rows.append(event | {"event": "impression", "ts": start + rank / 10})
            if clicked:
                rows.append(event | {"event": "click", "ts": start + 20 + rng.random()})
            if clicked and rng.random() < 0.3:
                rows.append(event | {"event": "purchase", "ts": start + 500, "price": round(10 + 90 * rng.random(), 2)})
    rows = [row | {"event_id": f"e{i}"} for i, row in enumerate(rows)]
    rows += rows[:7]
    return pl.DataFrame(rows, infer_schema_length=None).sample(fraction=1.0, shuffle=True, seed=seed)


def content(log: ClickLog) -> pl.DataFrame:
    return log.to_frame().drop("page").with_columns(pl.col("times").round(3)).sort("times", "query", "rank")


@pytest.fixture(scope="module")
def shop() -> pl.DataFrame:
    return events_of_a_shop()


@pytest.fixture(scope="module")
def log(shop: pl.DataFrame) -> ClickLog:
    return read_clicks(shop, "events", **ALL)


def test_a_log_of_events_is_what_was_logged(shop, log):
    once = shop.unique("event_id")
    shown = once.filter(event="impression")
    assert (log.n_pages, log.n_rows, log.clicks.sum()) == (300, shown.height, once.filter(event="click").height)
    assert log.actions.sum() == pytest.approx(once.filter(event="purchase")["price"].sum())
    assert set(log.queries.tolist()) == set(QUERIES) and len(set(log.users.tolist())) == 100
    result = log.to_frame().select("query", "document", "rank", "times")
    first = shown.with_columns(times=pl.col("ts").min().over("search_id"))
    expected = first.select(query="text", document="sku", rank=pl.col("position").cast(pl.Int32), times="times")
    assert result.sort("times", "rank").equals(expected.sort("times", "rank"))
    assert log.bad_lines.counts == {"an event whose id was seen before": 7}
    assert log.bad_lines.columns["document"] == "sku" and "row" in str(log.bad_lines)
    order = log.to_frame().filter(pl.col("clicks") > 0).sort("times", "click_order")
    clicks = once.filter(event="click").sort("ts")
    assert order["document"].to_list() == clicks["sku"].to_list()


@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.parquet", "e.jsonl", "e.csv.gz", "semicolons.csv"])
def test_every_file_gives_the_same_log_whole_and_in_parts(tmp_path, shop, log, name):
    path = tmp_path / name
    if name == "e.parquet":
        shop.write_parquet(path)
    elif name == "e.jsonl":
        shop.write_ndjson(path)
    elif name == "e.csv.gz":
        from plackett._files.compression import replacing_compressed

        with replacing_compressed(path) as file:
            shop.write_csv(file)
    else:
        shop.write_csv(path, separator={"e.tsv": "\t", "e.csv": ","}.get(name, ";"))
    assert content(read_clicks(path, "events", **ALL)).equals(content(log))
    parts = list(iter_clicks(path, 400, "events", **ALL))
    assert len(parts) > 3 and content(ClickLog.concat(parts)).equals(content(log))
    assert parts[-1].bad_lines.counts == log.bad_lines.counts


def test_frames_of_all_kinds(shop, log):
    table = shop.to_pandas()
    table["event"] = table["event"].astype("category")
    table["ts"] = pandas.to_datetime(table["ts"], unit="s")
    for frame in (table, shop.lazy(), shop.to_arrow()):
        assert content(read_clicks(frame, "events", **ALL)).equals(content(log))
    numbers = pl.DataFrame(
        {
            "p": [1, 1, 2],
            "q": [5, 5, 6],
            "d": [7, 8, 7],
            "r": [1, 2, 1],
            "t": ["impression", "impression", "impression"],
        }
    )
    whole = read_events(numbers, page="p", query="q", document="d", rank="r", action="t")
    assert whole.documents.tolist() == [7, 8] and whole.queries.tolist() == [5, 6]  # ids stay numbers
    with pytest.raises(pk.DataError, match="a table is in memory already"):
        next(iter_clicks(numbers, 2, "events", page="p", query="q", document="d", rank="r", action="t"))
    with pytest.raises(pk.DataError, match="format='yandex' is for files"):
        read_clicks(numbers, "yandex")


def test_nothing_is_guessed_but_everything_proposed(tmp_path, shop, log):
    """What the error proposes reads the log."""
    path = tmp_path / "log of events.csv"
    shop.write_csv(path)
    for options in ({}, {"format": "events"}, {"format": "events", "page": "search_id"}):
        with pytest.raises(pk.DataError) as error:
            read_clicks(path, **options)
        text = str(error.value)
        assert "event has the values 'impression' (1,5" in text and "'purchase' (" in text
        assert "text: " in text and f"{QUERIES[0]!r}" in text
        call = text[text.index("read_clicks(") :]
        assert "query='?'" in call  # "text" is no usual name
        # the call as it stands, but for the question mark
        proposed = eval(call.replace("query='?'", "query='text'"), {"read_clicks": read_clicks})
        assert content(proposed).drop("users").equals(content(log).drop("users"))
        assert f"plackett clicks info '{path}' --format events -c " in text
    with pytest.raises(pk.DataError, match=r"read_clicks\(frame, 'events', page='search_id'"):
        read_clicks(shop)
    with pytest.raises(pk.DataError) as error:
        read_clicks(pl.DataFrame({"page": [1], "query": ["q"], "document": ["a"], "colour": ["red"]}))
    assert "a row per event" not in str(error.value)  # nothing looks like events


def test_columns_in_another_language_are_told_of_events(tmp_path, shop):
    german = {"search_id": "suche", "text": "begriff", "sku": "artikel", "position": "platz", "event": "vorgang"}
    shop = shop.with_columns(
        pl.col("event").replace_strict({"impression": "gesehen", "click": "geklickt"}, default="x")
    )
    shop.rename(german).write_csv(tmp_path / "log.csv")
    for said in ({}, {"page": "suche", "shown": "gesehen"}):
        with pytest.raises(pk.DataError, match=r"If each row is an event .*--format events"):
            read_clicks(tmp_path / "log.csv", **said)


def test_a_proposal_keeps_what_was_said_and_names_the_kinds(tmp_path, shop):
    path = tmp_path / "e.parquet"
    renamed = shop.with_columns(pl.col("event").replace({"impression": "view_item_list", "click": "select_item"}))
    renamed.rename({"position": "colour"}).write_parquet(path)
    with pytest.raises(pk.DataError) as error:
        read_clicks(path, "events", page="visitor", query="sku")
    call = str(error.value)[str(error.value).index("read_clicks(") :]
    for said in ("page='visitor'", "query='sku'", "shown='view_item_list'", "click='select_item'", "rank_by='time'"):
        assert said in call
    assert "nothing looks like a rank" in str(error.value)


@pytest.mark.parametrize("name", ["e.csv", "e.jsonl", "e.parquet"])
@pytest.mark.parametrize("fields", [{}, NAMES])
def test_empty_files_and_folders_are_named(tmp_path, name, fields):
    path = tmp_path / name
    path.write_text("")
    for read in (read_clicks, lambda path, *a, **b: list(iter_clicks(path, 9, *a, **b))):
        with pytest.raises(pk.DataError, match=f"{name}"):
            read(path, "events", **fields)
        with pytest.raises(pk.DataError, match="is a folder"):
            read(tmp_path, "events", **fields)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_pipes_which_cannot_be_read_twice_are_refused(tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    for fields in ({}, NAMES):
        with pytest.raises(pk.DataError, match="is a pipe"):
            read_clicks(pipe, "events", **fields)


def test_kinds_of_events_are_given_or_proposed(shop):
    renamed = shop.with_columns(pl.col("event").replace({"impression": "view_item_list", "click": "select_item"}))
    with pytest.raises(pk.DataError, match=r"no event is an impression.*such as 'view_item_list': shown=VALUE"):
        read_events(renamed, **NAMES)
    with pytest.raises(
        pk.DataError, match=r"no event is a click \(click='click'\).*'select_item' \(.*such as 'select_item'"
    ):
        read_events(renamed, **NAMES, shown="view_item_list")
    result = read_events(renamed, **NAMES, shown="view_item_list", click=["select_item", "tap"])
    assert result.bad_lines.notes == {"event is 'purchase', which is not used": shop.filter(event="purchase").height}
    assert result.actions is None
    with pytest.raises(pk.DataError, match="'click' is given for two kinds of events"):
        read_events(shop, **NAMES, actions={"click": 2})
    for actions, weight in (("purchase", 1), ("purchase=5,cart=1", 5), ({"purchase": 5}, 5), (["purchase"], 1)):
        total = read_events(shop, **NAMES, event="event_id", actions=actions).actions.sum()
        assert total == weight * shop.unique("event_id").filter(event="purchase").height
    with pytest.raises(pk.DataError, match="the weight of 'purchase' is 'x'"):
        read_events(shop, **NAMES, actions="purchase=x")


def test_impressions_without_ranks_need_a_rule(shop, log):
    rest = {role: name for role, name in ALL.items() if role != "rank"}
    with pytest.raises(pk.DataError, match=r"which field is the rank\?.*say rank_by=time"):
        read_clicks(shop, "events", **rest)
    assert content(read_clicks(shop, "events", **rest, rank_by="time")).equals(content(log))
    ordered = shop.sort("ts")
    assert content(read_clicks(ordered, "events", **rest, rank_by="order")).equals(content(log))
    untimed = {role: name for role, name in rest.items() if role != "time"}
    for options, said in (
        (ALL | {"rank_by": "time"}, "both given"),
        (rest | {"rank_by": "price"}, "give time or order"),
        (untimed | {"rank_by": "time"}, "needs the field of the time"),
    ):
        with pytest.raises(pk.DataError, match=said):
            read_clicks(shop, "events", **options)


def test_bad_events_are_counted_with_their_lines(tmp_path):
    path = tmp_path / "e.csv"
    lines = [
        "search_id,text,sku,position,event,price",
        "1,q r,a,1,impression,",
        "1,q r,b,2,impression,",
        ",q r,b,2,impression,",  # line 4
        "1,q r,,2,click,",  # line 5
        "1,q r,c,first,impression,",  # line 6
        "1,q r,b,2,click,",
        "1,q r,z,2,click,",  # line 8: was not shown
        "1,q r,b,2,purchase,cheap",  # line 9
        "1,q r,y,2,purchase,5",  # line 10: was not shown
        "2,q r,a,1,click,",  # line 11: a page without impressions
        "3,,a,1,impression,",  # line 12: a page without a query
        "4,q,a,1,impression,",  # lines 13 and 14: two queries
        "4,r,b,2,impression,",
        "5,q,a,1,impression,",  # lines 15 and 16: two documents at one rank
        "5,q,b,1,impression,",
        "1,q r,b,2,,",  # line 17
        "1,q r,b,7,impression,",  # line 18: another rank of b
        "1,q r,a,1,hover,",  # line 19
        "6,q,a,1,impression,,,,extra",  # line 20
    ]
    path.write_text("\n".join(lines) + "\n")
    log = read_clicks(path, "events", **NAMES, actions="purchase", value="price")
    assert log.to_frame().select("document", "rank", "clicks", "actions").rows() == [("a", 1, 0, 0.0), ("b", 2, 1, 0.0)]
    result = {reason: [line for line, _ in rows] for reason, rows in log.bad_lines.examples.items()}
    assert result == {
        "more cells than the header has columns": [20],
        "no event": [17],
        "event is 'hover', which is not used": [19],
        "no search_id": [4],
        "no sku": [5],
        "position is not a whole number up to 10000": [6],
        "price is not a number": [9],
        "an event of a page without impressions": [11],
        "an event of a page without a query": [12],
        "an event of a page with several queries": [13],
        "a document is shown twice on one page; the first rank counts": [18],
        "a click on a document that was not logged as shown": [8],
        "an action on a document that was not logged as shown": [10],
        "two documents at one rank of a page (its page is left out)": [15, 16],
    }
    assert log.bad_lines.counts["an event of a page with several queries"] == 2
    assert log.bad_lines.total == 19 and "page=COLUMN" in log.bad_lines.hint
    parts = list(iter_clicks(path, 5, "events", **NAMES, actions="purchase", value="price"))
    assert parts[-1].bad_lines.counts == log.bad_lines.counts and parts[-1].bad_lines.notes == log.bad_lines.notes


def test_only_the_id_that_is_named_tells_events_apart(shop):
    """A column ``_id`` of a table may be anything, such as the product."""
    twice = {role: name for role, name in ALL.items() if role != "event"}
    products = shop.unique("event_id").with_columns(_id=pl.col("sku"))
    result = read_events(products, **twice)
    assert not result.bad_lines.counts and result.clicks.sum() == products.filter(event="click").height


def test_several_fields_tell_pages_apart(shop, log):
    sessions = shop.with_columns(session=pl.lit("s"), time=pl.col("search_id"))
    whole = read_clicks(sessions, "events", **ALL | {"page": "session,time"})
    assert content(whole).equals(content(log)) and whole.bad_lines.columns["page"] == "session,time"
    strange = shop.rename({"search_id": "a,b"})
    assert content(read_clicks(strange, "events", **ALL | {"page": "a,b"})).equals(content(log))


def parameters(**values):
    """Parameters as BigQuery stores those of Google Analytics."""
    kinds = {"text": str, "int": int}
    return [
        {"key": key, "value": {name: value if isinstance(value, kind) else None for name, kind in kinds.items()}}
        for key, value in values.items()
    ]


@pytest.mark.parametrize("suffix", ["json", "parquet"])
def test_events_with_lists_of_items_and_parameters(tmp_path, suffix):
    rows = []
    for session in range(6):
        event = {"event_params": parameters(ga_session_id=session, search_term="rote Schuhe")}
        event |= {"user_pseudo_id": f"u{session}", "event_timestamp": 1_750_000_000_000_000 + session}  # microseconds
        items = [{"item_id": f"SKU{i}", "index": i + 1} for i in range(3)]
        rows.append(event | {"event_name": "view_search_results", "items": items})
        rows.append(event | {"event_name": "select_item", "items": items[session % 3 :][:1]})
        rows.append(event | {"event_name": "purchase", "items": []})
    path = tmp_path / f"ga4.{suffix}"
    if suffix == "parquet":
        pl.DataFrame(rows).write_parquet(path)
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(pk.DataError) as error:
        read_clicks(path)
    call = str(error.value)[str(error.value).index("read_clicks(") :]
    assert "page='event_params.ga_session_id,event_params.search_term'" in call
    log = eval(call, {"read_clicks": read_clicks})
    assert (log.n_pages, log.n_rows, log.queries.tolist()) == (6, 18, ["rote Schuhe"])
    assert log.clicks.reshape(6, 3).argmax(axis=1).tolist() == [0, 1, 2] * 2 and log.clicks.sum() == 6
    np.testing.assert_allclose(log.times, 1_750_000_000, atol=1e-3)
    assert log.bad_lines.counts == {"no items.item_id": 6}  # purchases of nothing
    by_order = eval(call.replace("rank='items.index'", "rank_by='order'"), {"read_clicks": read_clicks})
    assert by_order.rank.tolist() == log.rank.tolist()


def test_lists_of_unequal_length_are_bad_lines(tmp_path):
    path = tmp_path / "e.jsonl"
    event = {"p": 1, "q": "x", "t": "impression", "items": ["a", "b"]}
    path.write_text(json.dumps(event | {"ranks": [1, 2]}) + "\n" + json.dumps(event | {"p": 2, "ranks": [1]}))
    log = read_events(path, page="p", query="q", document="items", rank="ranks", action="t")
    assert log.n_pages == 1 and log.bad_lines.counts == {"lists of unequal length": 1}


def test_what_impressions_tell_besides(shop):
    drawn = shop.with_columns(ranker=pl.lit("old"), chance=pl.lit(0.25))
    log = read_events(drawn, **ALL, ranker="ranker", propensity="chance")
    assert log.rankers.tolist() == ["old"] and set(log.propensities.tolist()) == {0.25}
    half = read_events(drawn, **ALL, where="visitor=v1")
    assert half.n_pages == 3
    assert read_events(drawn, **ALL, where={"visitor": "v1", "ranker": "old"}).n_pages == 3


@pytest.mark.parametrize(("unit", "n"), [("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)])
def test_units_of_time_also_in_tables(unit, n):
    frame = {"page": [1], "query": ["q"], "document": ["a"], "clicks": [1], "time": [1_750_000_000.0 * n]}
    np.testing.assert_allclose(ClickLog.from_frame(frame).times, 1_750_000_000)


def test_rows_of_frames_are_counted_from_zero():
    frame = {"page": [1, 2], "query": ["q", "q"], "document": ["a", "a"], "clicks": ["1", "x"]}
    assert "such as row 1: 'document a'" in str(ClickLog.from_frame(frame).bad_lines)


def in_chunks(frame: pl.DataFrame, n_rows: int = 100) -> pl.DataFrame:
    """The same rows in many chunks, as a large CSV file gives them; filters leave some of the chunks empty."""
    return pl.concat([frame[i : i + n_rows] for i in range(0, frame.height, n_rows)], rechunk=False)


def test_bad_rows_next_to_each_other_in_a_long_log_are_counted(shop, log):
    bad = shop[:2].with_columns(
        position=pl.lit(-1, pl.Int64), event=pl.lit("impression"), event_id=pl.Series(["x", "y"])
    )
    again = read_clicks(in_chunks(pl.concat([shop, bad])), "events", **ALL)
    assert content(again).equals(content(log))
    assert again.bad_lines.counts["position is not a whole number up to 10000"] == 2


def test_strange_events_give_a_log_or_a_data_error(tmp_path):
    rng = random.Random(0)
    odd = ["", None, "a", "1", "-1", "3.5", "1e99", "nan", "impression", "x,y", '"q"', "grün", "\x00", "2026-01-01"]
    usual = {"search_id": "1", "text": "s", "sku": "a", "position": "1", "event": "impression", "ts": "5"}
    usual |= {"visitor": "u", "event_id": "e", "price": "2"}
    read = 0
    for number in range(60):
        rows = [
            {name: rng.choice(odd) if rng.random() < 0.25 else value for name, value in usual.items()}
            | {
                "sku": rng.choice("abc"),
                "position": rng.choice("123"),
                "event": rng.choice(("impression", "click", "x")),
            }
            for _ in range(rng.randint(0, 8))
        ]
        frame = pl.DataFrame(rows, schema=dict.fromkeys(usual, pl.String))
        path = tmp_path / f"{number}.{('csv', 'jsonl', 'parquet')[number % 3]}"
        {".csv": frame.write_csv, ".jsonl": frame.write_ndjson, ".parquet": frame.write_parquet}[path.suffix](path)
        for way in (read_clicks, lambda path, *a, **b: list(iter_clicks(path, 2, *a, **b))):
            try:
                way(path, "events", **ALL)
                read += 1
            except pk.DataError:
                continue
    assert read > 10


def test_a_real_log_as_events_is_the_same_log(data_dir, tmp_path):
    """Yandex's sample, taken apart into shuffled events and put together again, whole and in parts."""
    log = read_clicks(data_dir / "clicks-yandex-pyclick" / "pyclick_yandex_testSample.txt")
    rows = log.to_frame()
    shown = rows.select("page", "query", "document", "rank", time=pl.lit(0), kind=pl.lit("impression"))
    click = rows.filter(pl.col("clicks") > 0)
    click = click.select("page", "query", "document", "rank", time="click_order", kind=pl.lit("click"))
    events = pl.concat([shown, click]).sample(fraction=1.0, shuffle=True, seed=0)
    events.write_parquet(tmp_path / "events.parquet")
    names = {"page": "page", "query": "query", "document": "document", "rank": "rank", "action": "kind", "time": "time"}
    compared = ["query", "document", "rank", "click_order"]
    expected = rows.select(compared).sort(compared)
    whole = read_clicks(tmp_path / "events.parquet", "events", **names)
    parts = ClickLog.concat(iter_clicks(tmp_path / "events.parquet", 50_000, "events", **names))
    for again in (whole, parts):
        assert again.n_pages == log.n_pages and again.to_frame().select(compared).sort(compared).equals(expected)
