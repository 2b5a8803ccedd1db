"""Files from strangers: a clear error of ours or a right result, never a crash, a hang or a blow-up of memory."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import decimal
import gzip
import json
import lzma
import os
import time

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError
from plackett._files import atomic, compression
from plackett._files import storage as _storage
from plackett.scorers._training_data import pack_data, unpack_data
from plackett.scorers.model import digest

# one ranker for each kind of scorer that is quick to train
RANKERS = {
    "linear": lambda: pk.rankers.ListNet(max_iter=3),
    "trees": lambda: pk.rankers.LambdaMART(n_estimators=3, num_leaves=4, min_child_samples=1, n_jobs=1),
    "neural": lambda: pk.rankers.RankNet(max_epochs=1, hidden=(4,), n_jobs=1),
    "attention": lambda: pk.rankers.RankNet(max_epochs=1, architecture="attention", hidden=(4,), n_heads=1, n_jobs=1),
    "kernel": lambda: pk.rankers.KernelRankSVM(),
    "ordinal": lambda: pk.rankers.PRank(),
    "additive": lambda: pk.rankers.RankBoost(n_estimators=3),
    "sequential_diversity": lambda: pk.rankers.SequentialDiversity(relation=pk.Neighbours(k=2), max_iter=3, n_jobs=1),
    "knn_online": lambda: pk.rankers.KNNOnline(base="LinearRegression", k=3, n_jobs=1),
    "blend": lambda: pk.rankers.Blend(members=(pk.rankers.ListNet(max_iter=3), pk.rankers.PRank()), weights=(1, 2)),
}


def task():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    return X, np.clip(np.round(X[:, 0] + 1), 0, 2), np.arange(60) // 6


@pytest.fixture(scope="module", params=RANKERS)
def saved(request, tmp_path_factory):
    X, y, qid = task()
    path = tmp_path_factory.mktemp("models") / "m.plackett"
    RANKERS[request.param]().fit(X, y, qid=qid).save(path)
    return path


STRANGE = [
    None, True, -1, 0, 10**9, 10**30, 1.5, float("nan"), float("inf"), "", "x", "\ud800", [], [[]], {}, {"tuple": [1]},
    {"dict": [[[], 1]]}, {"measure": "nDCG@99999999999"}, {"loss": "Hinge", "fields": {}}, ["a"] * 5,
]  # fmt: skip


def places(value, path=()):
    """Paths to everything inside a JSON value."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in inner:
        yield from places(entry, (*path, key))


def changed(value, rng):
    value = json.loads(json.dumps(value))
    result = list(places(value))
    if not result:
        return STRANGE[rng.integers(len(STRANGE))]
    *way, last = result[rng.integers(len(result))]
    inside = value
    for key in way:
        inside = inside[key]
    if rng.random() < 0.2:
        del inside[last]
    else:
        inside[last] = STRANGE[rng.integers(len(STRANGE))]
    return value


def changed_arrays(arrays, rng):
    arrays = dict(arrays)
    name = sorted(arrays)[rng.integers(len(arrays))]
    array = arrays[name]
    how = rng.integers(6)
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays[name] = array[: max(len(array) - 1, 0)] if array.ndim else array
    elif how == 2:
        arrays[name] = array.astype(np.int16)
    elif how == 3:
        arrays[name] = array.reshape(-1, 1) if array.ndim else array.reshape(1)
    elif array.dtype == np.uint8 and array[:1].tobytes() in (b"{", b"[") and name != "feature_infos":
        arrays[name] = np.frombuffer(json.dumps(changed(json.loads(array.tobytes()), rng)).encode(), np.uint8)
    elif array.size:
        flat = array.reshape(-1).copy()
        strange = [0, 1, 2, 127] if flat.dtype.kind in "iub" else [0.0, -1.0, np.nan, np.inf, 1e38]
        flat[rng.integers(flat.size)] = strange[rng.integers(len(strange))]
        arrays[name] = flat.reshape(array.shape)
    return arrays


def fuzz_models(saved, tmp_path, n, seed):
    X, _, qid = task()
    arrays, metadata = _storage.read(saved, mmap=False)
    header = json.loads(metadata["ranker"])
    rng = np.random.default_rng(seed)
    path = tmp_path / "m.plackett"
    for _ in range(n):
        some = arrays if rng.random() < 0.5 else changed_arrays(arrays, rng)
        tokens = header if some is not arrays else changed(header, rng)
        text = json.dumps(tokens)  # escapes, so that half a surrogate pair can be written
        hashed = digest(text, some)
        _storage.write(path, some, {**metadata, "ranker": text, "digest": hashed})
        with np.errstate(all="ignore"):
            try:
                ranker = pk.load(path)
            except DataError as error:
                assert str(error).startswith(str(path))  # noqa: PT017
                str(error).encode()
                continue
            with contextlib.suppress(ValueError, TypeError, AttributeError, LookupError, RuntimeError):
                ranker.predict(X, qid=qid)  # a sound file of an unusable model: any error but a crash


def test_models(saved, tmp_path):
    fuzz_models(saved, tmp_path, 40, 0)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(1, 4))
def test_many_models(saved, tmp_path, seed):
    fuzz_models(saved, tmp_path, 1500, seed)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda: pk.SequentialDiversity(relation="r", max_iter=2), "novelty", np.zeros(1)),
        (lambda: pk.SequentialDiversity(relation="r", max_iter=2), "novelty", np.full(2, np.nan)),
        (lambda: pk.RelationalFeedback(relation="r", beta=0.5), "strength", [0.5]),
        (lambda: pk.RelationalFeedback(relation="r", beta=0.5), "strength", -1.0),
        (lambda: pk.RelationalFeedback(relation="r", beta=0.5), "strength", 1e300),
        (lambda: pk.RelationalRanker(similar={"r": 0.5}), "strengths", np.zeros(2)),
        (lambda: pk.RelationalRanker(similar={"r": 0.5}), "strengths", np.array([np.nan])),
        (lambda: pk.ContinuousCRF(similar=("r",), max_iter=2), "beta", np.zeros(0)),
        (lambda: pk.ContinuousCRF(similar=("r",), max_iter=2), "gamma", np.ones(1)),
        (lambda: pk.ContinuousCRF(similar=("r",), max_iter=2), "alpha", np.zeros((2, 2))),
    ],
)
def test_what_relational_rankers_learned_is_checked(tmp_path, make, name, value):
    X, y, qid = task()
    pairs = pk.Relation(np.arange(0, 60, 2), np.arange(1, 60, 2), np.full(30, 0.5))
    ranker = make().fit(pk.RankingDataset.from_arrays(X, y, qid, relations={"r": pairs}))
    ranker.scorer_ = dataclasses.replace(ranker.scorer_, **{name: value})
    ranker.save(tmp_path / "m.plackett")
    with pytest.raises(DataError, match=r"m\.plackett: .* damaged"):
        pk.load(tmp_path / "m.plackett")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("relations", b'["r", "s"]'),
        ("relations", b"{}"),
        ("relations", b"[["),
        ("relations.0.row", [0, 7]),
        ("relations.0.other", [-1, 1]),
        ("relations.0.weight", [np.nan, 1.0]),
        ("preferences.winner", [99]),
    ],
)
def test_training_data_inside_a_model_are_checked(tmp_path, name, value):
    pairs = pk.Relation.from_pairs([(0, 1), (2, 3)], weight=[1.0, 2.0])
    data = pk.RankingDataset.from_arrays(
        np.arange(8.0).reshape(4, 2),
        None,
        [1, 1, 2, 2],
        relations={"r": pairs},
        preferences=pk.Preferences.from_pairs([(0, 1)]),
    )
    arrays = pack_data(data)
    assert unpack_data(arrays).relations["r"].to_pairs().tolist() == [[0, 1], [2, 3]]
    assert len(unpack_data(arrays).preferences) == 1
    arrays[name] = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.array(value)
    with pytest.raises((DataError, ValueError, TypeError)):
        unpack_data(arrays)


def rewritten(path, change):
    """The file with another description, and the digest that belongs to it."""
    arrays, metadata = _storage.read(path, mmap=False)
    text = change(metadata["ranker"])
    _storage.write(path, arrays, {**metadata, "ranker": text, "digest": digest(text, arrays)})


def test_a_small_file_cannot_ask_for_many_layers(tmp_path):
    X, y, qid = task()
    path = tmp_path / "m.plackett"
    RANKERS["attention"]().fit(X, y, qid=qid).save(path)
    arrays, metadata = _storage.read(path, mmap=False)
    tokens = json.loads(arrays["network"].tobytes())
    for change in ({"n_layers": 10**9}, {"n_layers": -5}, {"n_layers": 1e9}, {"hidden": [4] * 100_000}):
        bad = arrays | {"network": np.frombuffer(json.dumps(tokens | change).encode(), np.uint8)}
        _storage.write(path, bad, {**metadata, "digest": digest(metadata["ranker"], bad)})
        with pytest.raises(DataError, match=r"m\.plackett"):
            pk.load(path)


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"a":' * 100_000, '{"algorithm": "\\ud800"}', '{"algorithm": Infinity}', "", "null", "9" * 5000],
    ids=["brackets", "braces", "surrogate", "infinity", "empty", "null", "digits"],
)
def test_descriptions_of_models(tmp_path, text):
    X, y, qid = task()
    path = tmp_path / "m.plackett"
    RANKERS["linear"]().fit(X, y, qid=qid).save(path)
    rewritten(path, lambda _: text)
    with pytest.raises(DataError, match=r"m\.plackett"):
        pk.load(path)


def with_header(path, text: bytes):
    path.write_bytes(len(text).to_bytes(8, "little") + text)


META = b'"__metadata__":{"kind":"dataset","format_version":"1"}'
HEADERS = {
    "brackets": b"[" * 100_000,
    "nested": b'{"a":' * 50_000,
    "surrogate in a name": b'{"\\ud800":{"dtype":"F64","shape":[0],"data_offsets":[0,0]},' + META + b"}",
    "surrogate in the metadata": b'{"__metadata__":{"kind":"\\udfff","format_version":"1"}}',
    "infinity": b'{"a":{"dtype":"F64","shape":[Infinity],"data_offsets":[0,0]},' + META + b"}",
    "nan": b'{"a":{"dtype":"F64","shape":[0],"data_offsets":[NaN,0]},' + META + b"}",
    "huge number": b'{"a":{"dtype":"F64","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,0]},' + META + b"}",
    "huge shape": b'{"a":{"dtype":"F64","shape":[1000000000000000000000],"data_offsets":[0,8]},' + META + b"}",
    "negative": b'{"a":{"dtype":"F64","shape":[-1],"data_offsets":[0,-8]},' + META + b"}",
    "float": b'{"a":{"dtype":"F64","shape":[1.0],"data_offsets":[0,8]},' + META + b"}",
    "bool": b'{"a":{"dtype":"F64","shape":[true],"data_offsets":[0,8]},' + META + b"}",
    "not UTF-8": b'{"\xff":1}',
    "twice": b'{"a":1,"a":2}',
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_headers(tmp_path, header):
    path = tmp_path / "a.plackett"
    with_header(path, header)
    for read in (pk.load, pk.read):
        with pytest.raises(DataError, match=r"a\.plackett") as caught:
            read(path)
        str(caught.value).encode()


@pytest.mark.parametrize("mmap", [True, False])
def test_a_file_that_shrinks_while_it_is_opened(tmp_path, monkeypatch, mmap):
    path = tmp_path / "a.plackett"
    pk.write(pk.RankingDataset.from_arrays(np.zeros((5000, 4)), np.zeros(5000), qid=np.zeros(5000, int)), path)
    header = _storage._header

    def cut(*args):
        result = header(*args)
        os.truncate(path, 5000)
        return result

    monkeypatch.setattr(_storage, "_header", cut)
    with pytest.raises(DataError, match="changed while it was read|truncated"):
        _storage.read(path, mmap=mmap)


def test_load_without_mapping_keeps_what_was_there(tmp_path):
    path = tmp_path / "a.plackett"
    pk.write(pk.RankingDataset.from_arrays(np.ones((5000, 4)), np.zeros(5000), qid=np.zeros(5000, int)), path)
    for data in (pk.load(path, mmap=False), pk.read(path, mmap=False)):
        size = path.stat().st_size
        os.truncate(path, 100)  # a mapped array would end the process here
        assert data.X.sum() == 20_000
        os.truncate(path, size)
        pk.write(data, path)


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zst"])
@pytest.mark.parametrize("kind", [".txt", ".csv"])
def test_decompression_bombs(tmp_path, monkeypatch, suffix, kind):
    """64 MiB of zeros in some kilobytes, with limits to match; the true one is a gibibyte."""
    monkeypatch.setattr(compression, "_MOST_BYTES", 1 << 20)
    monkeypatch.setattr(compression, "_MOST_TIMES", 100)
    zeros = bytes(1 << 26)
    if suffix == ".zst":
        zeros = pytest.importorskip("zstandard").ZstdCompressor().compress(zeros)
    else:
        zeros = gzip.compress(zeros) if suffix == ".gz" else lzma.compress(zeros, preset=0)
    path = tmp_path / f"a{kind}{suffix}"
    path.write_bytes(zeros)
    with pytest.raises(DataError, match=rf"a\{kind}\{suffix}: the .* data expands more than 100 times"):
        pk.read(path)


ODD = {
    "date": [datetime.date(2020, 1, 1)] * 2,
    "time": [datetime.datetime(2020, 1, 1)] * 2,
    "duration": [datetime.timedelta(1)] * 2,
    "decimal": [decimal.Decimal("1.5")] * 2,
    "binary": [b"a", b"\xff"],
    "struct": [{"a": 1}, {"a": 2}],
    "lists": [[1.0], [1.0, 2.0]],
    "nested lists": [[[1.0]], [[2.0]]],
    "empty lists": [[], []],
    "missing": [None, None],
    "text": ["1", "2"],
    "truth": [True, None],
    "huge": [2**63 - 1, -(2**63)],
    "not finite": [float("inf"), float("nan")],
}


@pytest.mark.parametrize("role", ["feature", "qid", "label", "docid", "sample_weight", "position", "subtopics"])
@pytest.mark.parametrize("values", ODD.values(), ids=ODD)
def test_parquet_with_odd_types(tmp_path, role, values):
    columns = {"qid": [1, 1], "label": [0, 1], "x": [0.5, 1.5]} | {role: values}
    pl.DataFrame(columns, strict=False).write_parquet(tmp_path / "a.parquet")
    try:
        data = pk.read(tmp_path / "a.parquet")
    except DataError as error:
        assert "a.parquet" in str(error)  # noqa: PT017
    else:
        assert data.n_rows == 2 and data.X.dtype == np.float32
        assert data.y is None or np.isfinite(data.y).all()


def test_files_of_killed_writers_are_removed(tmp_path, monkeypatch):
    target = tmp_path / "m.plackett"
    here, token = atomic._machine(), "0123456789ab"
    monkeypatch.setattr(atomic, "_alive", lambda process: process == 1)
    hour, days = 3600, 5 * 86_400
    ages = {
        f".m.plackett.{here}-999-{token}.tmp": (hour, False),  # its process is gone
        f".m.plackett.{here}-1-{token}.tmp": (hour, True),  # alive
        f".m.plackett.{here}-998-{token}.tmp": (0, True),  # too new to be sure
        f".m.plackett.elsewhere-999-{token}.tmp": (hour, True),  # another machine's
        f".m.plackett.elsewhere-998-{token}.tmp": (days, False),
        f".other.plackett.{here}-999-{token}.tmp": (days, True),  # another file's
        ".m.plackett.backup": (days, True),  # somebody's own
    }
    now = time.time()
    for name, (age, _) in ages.items():
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (now - age, now - age))
    with atomic.replacing(target) as file:
        file.write(b"whole")
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"m.plackett", *(name for name, (_, stays) in ages.items() if stays)}
