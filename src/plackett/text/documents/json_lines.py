"""Documents as JSON: an object per line, or one array of objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett.text.document import Document
from plackett.text.documents.lines import lines
from plackett.text.documents.records import document_of

#: A longer array is refused: it is held in memory as a whole.
_LARGEST = 1 << 28


def read_json_lines(path: Path, *, id_field: str | None = None) -> Iterator[Document]:
    """Read one JSON object per line, or an array of them: an id, fields, and perhaps ``links``.

    An array is read as a whole; lines are read one after the other and may be a file of any size.

    Parameters
    ----------
    id_field
        Name of the id; by default ``id``, ``_id``, ``docid``, ``doc_id``, ``docno`` or ``document_id``.
    """
    numbered = ((number, line) for number, line in lines(path) if line.strip())
    first = next(numbered, (1, ""))
    if first[1].lstrip().startswith("["):
        yield from _array(path, chain([first], numbered), id_field)
        return
    for number, line in chain([first] if first[1] else [], numbered):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}:{number}: not JSON: {error}") from None
        yield document_of(_object(record, f"{path}:{number}"), f"{path}:{number}", id_field)


def _array(path: Path, numbered: Iterable[tuple[int, str]], id_field: str | None) -> Iterator[Document]:
    parts: list[str] = []
    size = 0
    for _, line in numbered:
        parts.append(line)
        size += len(line)
        if size > _LARGEST:
            raise DataError(f"{path}: a JSON array of more than {_LARGEST} characters; write one object per line")
    try:
        records = json.loads("\n".join(parts))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from None
    for number, record in enumerate(records, 1):
        where = f"{path}, entry {number}"
        yield document_of(_object(record, where), where, id_field)


def _object(record: Any, where: str) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DataError(f"{where}: a document is a JSON object, found {record!r:.60}")
    return record
