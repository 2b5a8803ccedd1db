"""Readers and what is not a file: folders, pipes, devices."""

import os

import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett._base.errors import DataError, reading
from plackett._files import checks, storage
from plackett._files.checks import check_regular
from plackett._names.catalogue import formats
from plackett.applications.ratings import read_ratings
from plackett.cli.app import app
from plackett.clicks.readers.tables import read_table
from plackett.data import table_chunks, tables
from plackett.data.file_bytes import read_bytes
from plackett.data.scores import read_scores
from plackett.text.documents.plain import read_plain
from plackett.text.features.declaration import declarations_of_file
from plackett.text.index.manifest import FILE, Manifest

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")

MODELS = {known.name: known.load().read for known in formats() if known.first_line}
TABLES = {
    "read_qrels": pk.read_qrels,
    "read_run": pk.read_run,
    "read_parquet": tables.read_parquet,
    "parquet_chunks": lambda path: next(table_chunks.parquet_chunks(path, 10)),
    "csv_chunks": lambda path: next(table_chunks.csv_chunks(path, 10)),
    "read_table": read_table,
    "read_ratings": read_ratings,
    "read_documents": lambda path: list(pk.read_documents(path, format="table")),
}
TEXT = "2 qid:a 1:0.5 2:1\n0 qid:a 1:0.25 2:0\n"


@pytest.mark.parametrize("read", [pk.load, *MODELS.values(), *TABLES.values()], ids=["load", *MODELS, *TABLES])
def test_a_pipe_or_device_is_refused(read, tmp_path):
    """Nobody writes into the pipe, so opening it would wait for ever; the device has no end."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(DataError, match=f"^{path} is a pipe, socket or device, not a file"):
            read(path)


@pytest.mark.parametrize("arguments", [["import"], ["import", "--from", "xgboost"], ["convert-model"]])
def test_commands_that_read_models_refuse_a_pipe(arguments, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    out = ["--out", str(tmp_path / "m.plackett")] if arguments[0] == "import" else [str(tmp_path / "m.txt")]
    told = CliRunner().invoke(app, [*arguments, str(tmp_path / "pipe"), *out])
    assert "is a pipe, socket or device" in str(told.exception)


@pytest.mark.parametrize("read", [pk.read_letor, read_scores])
def test_a_device_is_refused_where_pipes_are_read(read):
    with pytest.raises(DataError, match="^/dev/zero is a socket or device; give a file or a pipe"):
        read("/dev/zero")


def piped(text):
    """The path of a pipe that holds a text and has no writer any more, as ``<(command)`` gives it."""
    end, start = os.pipe()
    os.write(start, text.encode())
    os.close(start)
    return f"/dev/fd/{end}"


def test_text_is_read_from_a_pipe_from_its_first_byte():
    data = pk.read(piped(TEXT))
    assert data.y.tolist() == [2, 0] and data.X.tolist() == [[0.5, 1.0], [0.25, 0.0]]
    assert read_scores(piped("1.5\n2.5\n")).tolist() == [1.5, 2.5]
    told = CliRunner().invoke(app, ["info", piped(TEXT), "--json"])
    assert told.exit_code == 0 and '"n_rows": 2' in told.output


def test_a_folder_is_named_once(tmp_path):
    with pytest.raises(DataError, match=f"^{tmp_path} is a folder, not a file$"), reading(tmp_path, "the file"):
        check_regular(tmp_path)


READERS = {
    "load": pk.load,
    "read": storage.read,
    "read_metadata": storage.read_metadata,
    "read_bytes": read_bytes,
    "read_plain": read_plain,
    "declarations": declarations_of_file,
    "manifest": lambda path: Manifest.read(path.parent),
}


@pytest.mark.parametrize("read", [*MODELS.values(), *READERS.values()], ids=[*MODELS, *READERS])
def test_a_file_that_becomes_a_pipe_after_it_was_checked_is_not_waited_for(read, tmp_path, monkeypatch):
    """Another process replaces it at the worst moment: between the look at the name and the opening."""
    path = tmp_path / FILE
    path.write_text("a file")
    os.mkfifo(tmp_path / "pipe")
    check = checks.check_regular

    def check_then_replace(name, **options):
        check(name, **options)
        os.replace(tmp_path / "pipe", name)

    monkeypatch.setattr(checks, "check_regular", check_then_replace)
    with pytest.raises(DataError, match="is a pipe, socket or device, not a file"):
        read(path)
