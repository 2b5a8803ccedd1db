"""Arrow streams that are small on the wire and large in memory are refused before they are decoded."""

from __future__ import annotations

import random
import struct
from collections import Counter

import numpy as np
import pytest

from asgi_client import post
from plackett.serve import arrow_limits
from plackett.serve.application import application
from plackett.serve.arrow_limits import check_stream
from plackett.serve.http import RefusedError

pa = pytest.importorskip("pyarrow")
pytest.importorskip("orjson")
KIND = "application/vnd.apache.arrow.stream"
NAMES = ["bm25", "age", "clicks", "price"]
MOST = {"most_bytes": 1_000_000, "most_rows": 100_000, "most_columns": 100}


def stream(table, most=None, **options):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, most)
    return sink.getvalue().to_pybytes()


def features(n, **more):
    return pa.table({name: pa.array(np.zeros(n, np.float32)) for name in NAMES} | more)


def refused(body, status=413, **most):
    with pytest.raises(RefusedError) as caught:
        check_stream(body, **(MOST | most))
    assert caught.value.status == status
    return caught.value.reason


@pytest.fixture
def undecoded(monkeypatch):
    """A decoder that must not be reached."""
    monkeypatch.setattr(pa.ipc, "open_stream", lambda body: pytest.fail("decoded before it was checked"))


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_compressed_buffers_count_as_decompressed(one, codec, undecoded):
    body = stream(features(1_500_000), compression=codec)
    assert len(body) < 150_000
    assert "decoded, has more than 1000000 bytes" in refused(body)
    for path in ("/score", "/invocations"):
        assert post(one, path, body, content_type=KIND).status == 413


def test_the_limit_is_that_of_a_body(trees):
    """To the byte: 400 rows of four float32 are 6,400 bytes, a schema of four names some more."""
    body = stream(features(400), compression="zstd")
    exact = 6400 + sum(64 + len(name) for name in NAMES)
    check_stream(body, **(MOST | {"most_bytes": exact}))
    refused(body, most_bytes=exact - 1)
    app = application({"trees": trees}, max_body=exact)
    assert post(app, "/score", body, content_type=KIND).status == 200
    app = application({"trees": trees}, max_body=exact - 1)
    assert post(app, "/score", body, content_type=KIND).status == 413


def test_a_table_counts_as_the_numbers_it_becomes(trees):
    """A boolean takes a bit on the wire and four bytes as a feature."""
    table = pa.table({name: pa.array(np.zeros(20_000, bool)) for name in NAMES})
    body = stream(table)
    assert len(body) < 12_000
    assert post(application({"m": trees}, max_body=80_000), "/score", body, content_type=KIND).status == 200
    answer = post(application({"m": trees}, max_body=79_999), "/score", body, content_type=KIND)
    assert answer.status == 413 and "20000 documents of 4 features take 320000 bytes" in answer.json["error"]


def test_rows_batches_and_columns_have_limits(one, undecoded):
    assert "100001 documents" in refused(stream(pa.table({"a": pa.nulls(100_001)})))
    assert "101 columns" in refused(stream(pa.table({str(i): [1] for i in range(101)})))
    assert "1000 messages" in refused(stream(features(1_001), most=1))
    many = pa.table({name: [0.0] for name in [*NAMES, *map(str, range(101))]})
    answer = post(one, "/score", stream(many), content_type=KIND)
    assert answer.status == 413 and "105 columns; at most 104" in answer.json["error"]


def test_columns_within_columns_are_named_and_refused(one):
    for column in (pa.array([[1.0], [2.0]]), pa.array([{"a": 1}] * 2)):
        answer = post(one, "/score", stream(features(2, more=column)), content_type=KIND)
        assert answer.status == 400 and "'more' holds lists" in answer.json["error"]


def test_buffers_that_are_used_twice_count_twice():
    body = bytearray(stream(pa.table({str(i): np.zeros(20_000) for i in range(5)})))
    check_stream(bytes(body), **MOST)
    _, (batch, content) = arrow_limits._messages(memoryview(body))
    pairs = batch.table(2).pairs(2)
    pairs.setflags(write=True)
    pairs[:] = 0, len(content)  # every buffer is the whole message
    assert "decoded, has more than 1000000 bytes" in refused(bytes(body))


@pytest.mark.parametrize("what", ["name", "metadata"])
def test_texts_that_are_used_many_times_count_each_time(what):
    """In a FlatBuffer many entries can point to the same text."""
    text = "x" * 50_000
    fields = [pa.field(str(i), pa.int8(), metadata={"k": str(i)}) for i in range(50)]
    fields[0] = pa.field(text, pa.int8()) if what == "name" else pa.field("0", pa.int8(), metadata={"k": text})
    body = bytearray(stream(pa.schema(fields).empty_table()))
    check_stream(bytes(body), **MOST)
    (message, _), *_ = arrow_limits._messages(memoryview(body))
    result = list(message.table(2).tables(1))
    owners = result if what == "name" else [next(field.tables(6)) for field in result]
    number = 0 if what == "name" else 1
    places = [owner.place(number) for owner in owners]
    target = places[0] + owners[0].read("I", places[0])
    later = [position for position in places if position < target]
    for position in later:
        struct.pack_into("<I", body, 8 + position, target - position)
    assert len(later) > 20
    assert "decoded, has more than 1000000 bytes" in refused(bytes(body))


def test_dictionaries_in_parts_are_refused():
    schema = pa.schema({"a": pa.dictionary(pa.int8(), pa.string())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)) as writer:
        for values in (["a"], ["a", "b"]):
            column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), pa.array(values))
            writer.write_batch(pa.record_batch([column], schema=schema))
    assert "delta" in refused(sink.getvalue().to_pybytes(), status=400)


def test_a_long_text_is_not_repeated_for_each_row(one, trees):
    """As Python strings, or in an array of fixed width, these ids would take gigabytes."""
    long, n = "x" * 500_000, 50_000
    ids = pa.array([long] + ["b"] * (n - 1))
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 0] + [1] * (n - 2), pa.int8()), pa.array([long, "b"]))
    for column in (ids, coded):
        body = stream(features(n, qid=column), compression="zstd")
        answer = post(one, "/invocations", body, content_type=KIND)
        assert answer.status == 200 and len(answer.json["predictions"]) == n
    body = stream(pa.table(dict.fromkeys(NAMES, coded)), compression="zstd")
    answer = post(one, "/score", body, content_type=KIND)
    assert answer.status == 400 and "'bm25' is of type string" in answer.json["error"]


def test_texts_that_are_parts_of_each_other_count_in_full(trees):
    views = bytearray(np.array([[40_000, 0, 0, 0]] * 1_000, np.uint32).tobytes())
    views[4::16] = b"x" * 1_000
    views[5::16] = b"x" * 1_000
    views[6::16] = b"x" * 1_000
    views[7::16] = b"x" * 1_000
    buffers = [None, pa.py_buffer(bytes(views)), pa.py_buffer(b"x" * 40_000)]
    column = pa.Array.from_buffers(pa.string_view(), 1_000, buffers)
    body = stream(features(1_000, qid=column))
    app = application({"trees": trees}, max_body=1_000_000)
    answer = post(app, "/score", body, content_type=KIND)
    assert len(body) < 100_000 and answer.status == 413 and "'qid'" in answer.json["error"]


def test_queries_are_told_apart_by_any_kind_of_id(trees, data):
    """Texts, views of texts, codes with a value twice, and whole numbers group the rows in the same way."""
    exiting = trees.with_exit((2, 1))
    app = application({"m": exiting})
    X, ids = data.X[:12], list("aabbbbccccac")
    table = pa.table({name: X[:, j] for j, name in enumerate(NAMES)})
    expected = exiting.predict(X, qid=[ord(i) for i in ids])
    twice = pa.DictionaryArray.from_arrays(pa.array(["abcx".index(i) for i in ids[:-1]] + [3]), pa.array(list("abcc")))
    for column in (
        pa.array(ids),
        pa.array(ids, pa.large_string()),
        pa.array(ids, pa.string_view()),
        pa.array(ids).dictionary_encode(),
        twice,
        pa.array([ord(i) for i in ids]),
        pa.array([float(ord(i)) for i in ids]),
        pa.array([ord(i) for i in ids]).dictionary_encode(),
    ):
        body = stream(table.append_column("qid", column))
        answer = post(app, "/invocations", body, content_type=KIND)
        assert answer.json == {"predictions": expected.tolist()}, column.type


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.int8(), pa.string_view()), pa.string()], ids=str)
def test_a_table_of_no_rows_has_no_scores(one, kind):
    schema = pa.schema([*((name, pa.float32()) for name in NAMES), ("qid", kind)])
    for batches in ([], schema.empty_table().to_batches()):
        answer = post(one, "/invocations", stream(pa.Table.from_batches(batches, schema)), content_type=KIND)
        assert (answer.status, answer.json) == (200, {"predictions": []})


def odd_columns():
    yield pa.array([2**62] * 4, pa.duration("s"))
    yield pa.array([2**62] * 4, pa.timestamp("s"))
    yield pa.array([0] * 4, pa.timestamp("s", "Mars/Phobos"))
    yield pa.array([2**62] * 4, pa.timestamp("s")).dictionary_encode()
    yield pa.array([[1], [1, 2]] * 2)
    yield pa.array([[1], [1, 2]] * 2, pa.list_view(pa.int8()))
    yield pa.DictionaryArray.from_arrays(pa.array([0] * 4), pa.array([[1]]))
    yield pa.RunEndEncodedArray.from_arrays(pa.array([4], pa.int32()), pa.array([1.5]))
    yield pa.array([pa.MonthDayNano([1, 2, 3])] * 4)
    yield pa.array([b"\xff"] * 4, pa.binary_view())
    yield pa.array(["a", None] * 2).dictionary_encode()
    yield pa.DictionaryArray.from_arrays(pa.array([0, 1] * 2), pa.array(["a", None]))
    yield pa.array([1.5] * 4).dictionary_encode()
    yield pa.array([float("nan")] * 4)
    yield pa.array([True, None] * 2)
    yield pa.nulls(4)


@pytest.mark.parametrize("path", ["/score", "/invocations"])
def test_no_type_of_column_is_a_fault_of_the_server(one, path):
    for column in odd_columns():
        for name in ("qid", "age", "other"):
            columns = {other: features(4)[other] for other in NAMES} | {name: column}
            answer = post(one, path, stream(pa.table(columns)), content_type=KIND)
            assert answer.status in (200, 400), (column.type, answer)
            if name == "qid":
                assert answer.status == 400 and "qid" in answer.json["error"], (column.type, answer)


def test_damaged_streams(one):
    """Changed bytes, lengths and positions: refused, or read, and never more than a body may take."""
    table = features(
        8,
        qid=pa.array(["a", "b"] * 4).dictionary_encode(),
        view=pa.array(["a text that is not within its view"] * 8, pa.string_view()),
        day=pa.array([0] * 8, pa.timestamp("s", "UTC")),
    ).replace_schema_metadata({"k": "v"})
    bodies = [stream(table), stream(table, compression="zstd"), stream(table, compression="lz4")]
    numbers = [0, 1, -1, 8, 1000, 2**31 - 1, -(2**31), 2**40, 2**63 - 1, -(2**63)]
    rng, statuses = random.Random(0), Counter()
    for _ in range(1_500):
        body = bytearray(rng.choice(bodies))
        for _ in range(rng.choice([1, 2])):
            number, at = rng.choice(numbers), rng.randrange(len(body) - 8)
            if rng.random() < 0.3:
                body[at] = rng.randrange(256)
            elif -(2**31) <= number < 2**31:
                struct.pack_into("<i", body, at & ~3, number)
            else:
                struct.pack_into("<q", body, at & ~7, number)
        statuses[post(one, "/score", bytes(body), content_type=KIND).status] += 1
    assert set(statuses) == {200, 400, 413}
