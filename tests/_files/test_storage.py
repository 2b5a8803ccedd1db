"""The container of datasets and models."""

from __future__ import annotations

import itertools
import json
import os
import stat
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plackett import DataError
from plackett._files import storage
from plackett._files.atomic import replacing

ARRAYS = {
    "weights": np.arange(12, dtype=np.float32).reshape(3, 4),
    "blob": np.frombuffer(b"tree\nversion=v4", np.uint8),
    "scalar": np.float64(2.5),
    "empty": np.empty((0, 7), np.int64),
    "flags": np.array([True, False]),
    "big_endian": np.array([1, 2], ">i4"),
    "columns": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
}
META = {"kind": "model", "name": "ñ"}


def file_of(path, header: dict | bytes, data: bytes = b"") -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def entry(dtype="F32", shape=(2,), offsets=(0, 8)) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


GOOD_META = {"format_version": "1", "kind": "model"}


@pytest.mark.parametrize("mmap", [True, False])
def test_round_trip(tmp_path, mmap):
    storage.write(tmp_path / "a", ARRAYS, META)
    arrays, metadata = storage.read(tmp_path / "a", kind="model", mmap=mmap)
    assert metadata == {**META, "format_version": "1"}
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].shape == np.shape(array)
        assert arrays[name].flags.aligned
        assert not arrays[name].flags.writeable


def test_layout_is_that_of_safetensors(tmp_path):
    """Rules of the format: length, JSON padded with spaces, data from 0 on without holes, little endian."""
    storage.write(tmp_path / "a", ARRAYS, META)
    raw = (tmp_path / "a").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    assert (8 + length) % 64 == 0
    assert raw[8:9] == b"{"
    header = json.loads(raw[8 : 8 + length])
    header.pop("__metadata__")
    places = sorted(e["data_offsets"] for e in header.values())
    assert places[0][0] == 0
    assert all(a[1] == b[0] for a, b in itertools.pairwise(places))
    assert places[-1][1] == len(raw) - 8 - length
    begin, end = header["big_endian"]["data_offsets"]
    assert raw[8 + length + begin : 8 + length + end] == b"\1\0\0\0\2\0\0\0"


def test_safetensors_reads_it_and_we_read_safetensors(tmp_path):
    numpy_io = pytest.importorskip("safetensors.numpy", reason="the safetensors package is not installed")
    storage.write(tmp_path / "a", ARRAYS, META)
    loaded = numpy_io.load_file(tmp_path / "a")
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(loaded[name], array)
    numpy_io.save_file({"w": np.ones((2, 3), np.float32)}, tmp_path / "b", metadata=GOOD_META)
    arrays, _ = storage.read(tmp_path / "b", kind="model")
    np.testing.assert_array_equal(arrays["w"], np.ones((2, 3)))


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a"
    storage.write(path, {"x": np.zeros(2)}, META)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        storage.write(path, {"x": np.ones(3)}, META)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_a_mapped_file_keeps_the_old_view(tmp_path):
    path = tmp_path / "a"
    storage.write(path, {"x": np.zeros(2)}, META)
    old = storage.read(path)[0]["x"]
    storage.write(path, {"x": np.ones(2)}, META)
    assert old.tolist() == [0, 0]
    assert storage.read(path)[0]["x"].tolist() == [1, 1]


def test_new_file_has_ordinary_permissions(tmp_path):
    umask = os.umask(0o022)
    try:
        storage.write(tmp_path / "a", {}, META)
    finally:
        os.umask(umask)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.array([1j])])
def test_refuses_what_has_no_plain_bytes(tmp_path, array):
    with pytest.raises(ValueError, match=r"'x'.*cannot be stored"):
        storage.write(tmp_path / "a", {"x": array}, META)
    with pytest.raises(ValueError, match="kind"):
        storage.write(tmp_path / "a", {}, {})


BAD_HEADERS = {
    "not JSON": (b"{" + b"x" * 20, b""),
    "not a JSON object": (b"[1, 2, 3]", b""),
    "damaged one": (b"[" * 100_000, b""),
    "twice": (b'{"a":1,"a":2}', b""),
    "no __metadata__": ({"x": entry()}, bytes(8)),
    "format_version is": ({"__metadata__": {"kind": "model"}}, b""),
    "newer plackett": ({"__metadata__": {**GOOD_META, "format_version": "2"}}, b""),
    "holds a dataset, not a model": ({"__metadata__": {**GOOD_META, "kind": "dataset"}}, b""),
    "unknown dtype 'F8_E4M3'": ({"__metadata__": GOOD_META, "x": entry("F8_E4M3")}, bytes(8)),
    "unknown dtype \\['F32'\\]": ({"__metadata__": GOOD_META, "x": entry(["F32"])}, bytes(8)),
    "needs dtype, shape": ({"__metadata__": GOOD_META, "x": {"dtype": "F32"}}, bytes(8)),
    "cannot take 8 bytes": ({"__metadata__": GOOD_META, "x": entry(shape=[3])}, bytes(8)),
    "cannot take -8 bytes": ({"__metadata__": GOOD_META, "x": entry(offsets=[8, 0])}, bytes(8)),
    "has shape \\[-2\\]": ({"__metadata__": GOOD_META, "x": entry(shape=[-2])}, bytes(8)),
    "has shape \\[2.0\\]": ({"__metadata__": GOOD_META, "x": entry(shape=[2.0])}, bytes(8)),
    "has shape \\[0, ": ({"__metadata__": GOOD_META, "x": entry(shape=[0, 2**62, 2**62], offsets=[0, 0])}, b""),
    "truncated; array 'x'": ({"__metadata__": GOOD_META, "x": entry()}, bytes(7)),
    "after the last array": ({"__metadata__": GOOD_META, "x": entry()}, bytes(9)),
    "overlaps": ({"__metadata__": GOOD_META, "x": entry(), "y": entry(offsets=[4, 12])}, bytes(12)),
    "leaves a hole": ({"__metadata__": GOOD_META, "x": entry(), "y": entry(offsets=[9, 17])}, bytes(17)),
    "not booleans": ({"__metadata__": GOOD_META, "x": entry("BOOL", [2], [0, 2])}, b"\1\2"),
}


@pytest.mark.parametrize("problem", BAD_HEADERS)
def test_damaged_files_are_named_with_their_problem(tmp_path, problem):
    header, data = BAD_HEADERS[problem]
    file_of(tmp_path / "bad.file", header, data)
    with pytest.raises(DataError, match=rf"bad\.file.*{problem}"):
        storage.read(tmp_path / "bad.file", kind="model")


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b"", "too few"),
        (b"\5\0\0", "too few"),
        (b"\xff" * 20, "header would have 18446744073709551615 bytes"),
        ((100).to_bytes(8, "little") + b"{}", "truncated"),
        (b"2 qid:10 1:0.5\n", "not a plackett file"),
    ],
)
def test_other_files_are_refused(tmp_path, raw, problem):
    (tmp_path / "a").write_bytes(raw)
    with pytest.raises(DataError, match=problem):
        storage.read(tmp_path / "a")
    with pytest.raises(DataError, match="folder"):
        storage.read(tmp_path)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "a"
    storage.write(path, ARRAYS, META)
    return path, path.read_bytes()


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_corruption_is_an_error_or_harmless(image, data):
    path, raw = image
    damaged = bytearray(raw)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    path.with_name("b").write_bytes(damaged[: cut if data.draw(st.booleans()) else None])
    try:
        arrays, _ = storage.read(path.with_name("b"))
    except DataError:
        return
    assert sum(array.nbytes for array in arrays.values()) < len(raw)


@pytest.mark.skipif(os.name != "posix", reason="no pipes and devices in the file system")
def test_pipes_and_devices_are_written_into_and_never_replaced(tmp_path):
    """A user with the rights to do so must not lose /dev/full by saving to it."""
    os.mkfifo(tmp_path / "pipe")
    result = []
    reader = threading.Thread(target=lambda: result.append((tmp_path / "pipe").read_bytes()), daemon=True)
    reader.start()
    with replacing(tmp_path / "pipe") as file:
        file.write(b"through")
    reader.join(10)
    assert result == [b"through"] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    ends = os.pipe()
    with replacing(f"/dev/fd/{ends[1]}") as file:  # as in --out >(command)
        file.write(b"through")
    assert os.read(ends[0], 100) == b"through"
    for end in ends:
        os.close(end)
    try:
        os.mknod(tmp_path / "full", 0o666 | stat.S_IFCHR, os.makedev(1, 7))
    except PermissionError:
        return
    with pytest.raises(OSError, match="No space left") as caught, replacing(tmp_path / "full") as file:
        file.write(b"x" * 100_000)
    assert caught.value.filename == str(tmp_path / "full")
    assert stat.S_ISCHR((tmp_path / "full").stat().st_mode) and len(list(tmp_path.iterdir())) == 2


def test_errors_name_the_file_alone(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"nowhere/model.plackett'$"),
        replacing(tmp_path / "nowhere/model.plackett"),
    ):
        pass
