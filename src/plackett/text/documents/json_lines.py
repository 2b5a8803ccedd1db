"""Documents as JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from plackett._errors import DataError
from plackett.text.document import Document
from plackett.text.documents.lines import lines
from plackett.text.documents.records import document_of

__all__ = ["read_json_lines"]


def read_json_lines(path: Path, *, id_field: str | None = None) -> Iterator[Document]:
    """Read one JSON object per line: an id, fields, and perhaps ``links``.

    Parameters
    ----------
    id_field
        Name of the id; by default ``id``, ``_id``, ``docid``, ``doc_id``, ``docno`` or ``document_id``.
    """
    for number, line in lines(path):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}:{number}: not JSON: {error}") from None
        if not isinstance(record, dict):
            raise DataError(f"{path}:{number}: a document is a JSON object, found {line!r:.60}")
        yield document_of(record, f"{path}:{number}", id_field)
