"""Files of queries."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path

from plackett._base.errors import DataError
from plackett._files.compression import pieces
from plackett.data._bytes import bare_suffix

__all__ = ["read_queries"]

#: Names of the fields of a query in JSON lines and tables.
_IDS, _TEXTS = ("id", "qid", "_id", "query_id"), ("text", "query", "title")
_TOPIC = re.compile(r"<top>(.*?)</top>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?\s*(.*?)\s*(?=<|$)", re.DOTALL | re.IGNORECASE)


def read_queries(path: str | os.PathLike[str]) -> dict[str, str]:
    r"""Read queries by id from a file.

    Formats: JSON lines with ``id`` (or ``qid``, ``_id``, ``query_id``) and ``text`` (or ``query``, ``title``); TREC
    topics (``<top>``); SMART (``.I``, ``.W``); ``.csv`` with columns of these names; else a line per query: id, tab,
    text. A file without tabs has a query per line, numbered from 1. ``.gz``, ``.xz`` and ``.zst`` are decompressed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "queries.tsv"
    >>> _ = file.write_text("q1\tblue whales\nq2\tsky\n")
    >>> read_queries(file)
    {'q1': 'blue whales', 'q2': 'sky'}
    """
    if bare_suffix(path) == ".parquet":
        raise DataError(f"{path}: queries are read from text; write them as .csv with the columns id and text")
    text = b"".join(pieces(str(path))).decode("utf-8", "replace").removeprefix("\ufeff")
    start = text.lstrip()[:200]
    if start.startswith("{"):
        pairs = _json(text, path)
    elif "<top>" in start.lower():
        pairs = _topics(text, path)
    elif re.match(r"\.I\s", start):
        from plackett.text.documents.smart import read_smart

        pairs = [(d.id, " ".join(map(str, d.fields.values()))) for d in read_smart(Path(path))]
    elif bare_suffix(path) == ".csv":
        pairs = _csv(text, path)
    else:
        pairs = _lines(text, path)
    queries = dict(pairs)
    if len(queries) < len(pairs):
        seen: set[str] = set()
        twice = next(q for q, _ in pairs if q in seen or seen.add(q))  # type: ignore[func-returns-value]
        raise DataError(f"{path}: query {twice!r} occurs more than once")
    if not queries:
        raise DataError(f"{path} has no queries")
    return queries


def _json(text: str, path: object) -> list[tuple[str, str]]:
    pairs = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            raise DataError(f"{path}:{number}: not JSON: {line!r:.60}") from None
        values = []
        for names in (_IDS, _TEXTS):
            value = next((record[n] for n in names if n in record), None) if isinstance(record, dict) else None
            if value is None:
                raise DataError(f"{path}:{number}: a query needs {' or '.join(map(repr, names))}: {line!r:.60}")
            values.append(str(value))
        pairs.append((values[0], values[1]))
    return pairs


def _topics(text: str, path: object) -> list[tuple[str, str]]:
    pairs = []
    for topic in _TOPIC.findall(text):
        number, title = _NUMBER.search(topic), _TITLE.search(topic)
        if number is None or title is None:
            raise DataError(f"{path}: a topic lacks <num> or <title>: {topic.strip()!r:.80}")
        pairs.append((number.group(1), " ".join(title.group(1).split())))
    return pairs


def _csv(text: str, path: object) -> list[tuple[str, str]]:
    rows = csv.reader(io.StringIO(text))
    header = [name.strip() for name in next(rows, [])]
    columns = [next((header.index(name) for name in names if name in header), None) for names in (_IDS, _TEXTS)]
    for names, column in zip((_IDS, _TEXTS), columns, strict=True):
        if column is None:
            raise DataError(
                f"{path}: the queries need a column {' or '.join(map(repr, names))}; the header line has "
                f"{', '.join(map(repr, header))[:200]}"
            )
    pairs = []
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        found = [row[column].strip() if column is not None and column < len(row) else "" for column in columns]
        if len(row) != len(header) or not all(found):
            raise DataError(f"{path}:{rows.line_num}: a query needs an id and a text: {','.join(row)!r:.60}")
        pairs.append((found[0], found[1]))
    return pairs


def _lines(text: str, path: object) -> list[tuple[str, str]]:
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    bare = [(number, line) for number, line in lines if "\t" not in line]
    if bare and len(bare) < len(lines):
        number, line = bare[0]
        lines_have = f"{len(bare)} of {len(lines)} lines have" if len(bare) > 1 else f"1 of {len(lines)} lines has"
        raise DataError(
            f"{path}:{number}: no tab between id and text: {line!r:.60} ({lines_have} none); "
            "write id, tab and text in every line, or queries alone"
        )
    if bare:
        return [(str(i), line.strip()) for i, (_, line) in enumerate(lines, 1)]
    rows = csv.reader([line for _, line in lines], delimiter="\t", quoting=csv.QUOTE_NONE)
    pairs = []
    for (number, line), row in zip(lines, rows, strict=True):
        if not row[0].strip() or not row[1].strip():
            raise DataError(f"{path}:{number}: a query needs an id and a text: {line!r:.60}")
        pairs.append((row[0].strip(), row[1]))
    header = bool(pairs) and pairs[0][0] in _IDS and pairs[0][1].strip() in _TEXTS
    return pairs[header:]
