"""Documents from wherever they are."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from plackett._base.errors import DataError
from plackett._files.checks import check_regular
from plackett._names.nearest import nearest, plural, question
from plackett.data._bytes import bare_suffix
from plackett.text.document import Document
from plackett.text.documents.ir_datasets import PREFIX, read_ir_datasets
from plackett.text.documents.lines import lines
from plackett.text.documents.plain import read_plain

__all__ = ["read_documents"]

_log = logging.getLogger("plackett.text")


class DocumentFormat(NamedTuple):
    """A format of files: the module and function that read it, and the suffixes by which it is recognised."""

    module: str
    function: str
    suffixes: tuple[str, ...]


FORMATS = {
    "jsonl": DocumentFormat("json_lines", "read_json_lines", (".jsonl", ".ndjson", ".jsonlines", ".json")),
    "table": DocumentFormat("table", "read_table", (".csv", ".tsv", ".tab", ".parquet")),
    "trec": DocumentFormat("trec", "read_trec", (".trec", ".sgml", ".trectext")),
    "smart": DocumentFormat("smart", "read_smart", (".all", ".smart")),
    "html": DocumentFormat("html", "read_html", (".html", ".htm", ".xhtml")),
    "text": DocumentFormat("plain", "read_plain", (".txt", ".md", ".rst", ".text")),
}
#: Beginnings of the first line of a file without a known suffix.
_BEGINNINGS = {"{": "jsonl", "[": "jsonl", "<DOC>": "trec", ".I ": "smart", "*TEXT ": "smart"}


def read_documents(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,
    id_field: str | None = None,
    separator: str | None = None,
) -> Iterator[Document]:
    """Read documents from a file, a folder, or a collection of ir_datasets.

    Parameters
    ----------
    source
        A file of JSON lines, CSV, TSV, parquet, TREC or SMART text (plain or compressed); a folder of such files, of
        HTML pages or of plain text, a document each; or ``ir_datasets:NAME``. Ids must be unique in a folder: a file
        of queries among the documents has ids of its own, which would replace documents.
    format
        ``"jsonl"``, ``"table"``, ``"trec"``, ``"smart"``, ``"html"`` or ``"text"``; by default the suffix decides,
        or else the beginning of the file.
    id_field
        Name of the id in JSON lines and tables.
    separator
        Separator of the columns of text tables; by default a comma, or a tab for ``.tsv``.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "docs.jsonl"
    >>> _ = path.write_text('{"id": "d1", "title": "Wings"}')
    >>> [document.id for document in read_documents(path)]
    ['d1']
    """
    if isinstance(source, str) and source.startswith(PREFIX):
        yield from read_ir_datasets(source)
        return
    if format is not None and format not in FORMATS:
        near = nearest(format, FORMATS, 3) or list(FORMATS)
        raise DataError(f"unknown format of documents {format!r}; {question(near)}")
    path = Path(source)
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if not path.is_dir():
        check_regular(path)
        yield from _read(path, format or _format_of(path), id_field, separator)
        return
    files = sorted(child for child in path.rglob("*") if child.is_file() and not child.name.startswith("."))
    format_of = {child: name for child in files if (name := format or _in_folder(child)) is not None}
    if not format_of:
        raise DataError(f"{path}: no file of a known format in this folder; give the format")
    others = [child for child in files if child not in format_of]
    if others:
        _log.warning(
            "%s: %s left out, of no known format, such as %s", path, plural(len(others), "file"), others[0].name
        )
    owners: dict[str, Path] = {}
    if "html" in format_of.values():
        yield from _owned(_read(path, "html", id_field, separator), path, owners)
    for child, name in format_of.items():
        if name == "text":
            yield from _owned([read_plain(child, child.relative_to(path).as_posix())], child, owners)
        elif name != "html":
            yield from _owned(_read(child, name, id_field, separator), child, owners)


def _owned(documents: Iterable[Document], path: Path, owners: dict[str, Path]) -> Iterator[Document]:
    """The documents of a file; an error if another file of the folder has a document with the same id."""
    for document in documents:
        if owners.setdefault(document.id, path) is not path:
            raise DataError(
                f"{path}: document {document.id!r} is also in {owners[document.id]}. Name the files with documents "
                "instead of their folder; if both have them, the one named last replaces the documents of the others"
            )
        yield document


def _read(path: Path, name: str, id_field: str | None, separator: str | None) -> Iterator[Document]:
    if name == "text":
        yield read_plain(path)
        return
    format = FORMATS[name]
    read = getattr(import_module(f"plackett.text.documents.{format.module}"), format.function)
    options: dict[str, Any] = {"id_field": id_field} if name in ("jsonl", "table") else {}
    options |= {"separator": separator} if name == "table" else {}
    if name == "html" and not path.is_dir():
        raise DataError(f"{path}: HTML is read from a folder of pages")
    yield from read(path, **options)


def _by_suffix(path: Path) -> str | None:
    suffix = bare_suffix(path)
    return next((name for name, format in FORMATS.items() if suffix in format.suffixes), None)


def _in_folder(path: Path) -> str | None:
    """Format of a file of a folder: a text file may hold documents in a format of their own."""
    name = _by_suffix(path)
    return (_by_beginning(path) or name) if name == "text" else name


def _by_beginning(path: Path) -> str | None:
    first = next((line.lstrip() for _, line in lines(path) if line.strip()), "")
    return next((name for beginning, name in _BEGINNINGS.items() if first.startswith(beginning)), None)


def _format_of(path: Path) -> str:
    name = _in_folder(path) or _by_beginning(path)
    if name is None:
        raise DataError(f"{path}: unknown format of documents; give one of {', '.join(FORMATS)}")
    return name
