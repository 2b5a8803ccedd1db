"""Documents in SMART's format, that of Cranfield and other classic collections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from plackett._base.errors import DataError
from plackett.text.document import Document
from plackett.text.documents.lines import lines

#: Fields by their letters.
_NAMES = {"T": "title", "A": "author", "B": "source", "W": "text", "K": "keywords", "N": "note", "C": "category"}
#: Letters whose content is not text, such as the citations of CACM and CISI.
_LEFT_OUT = ("X",)


def read_smart(path: Path) -> Iterator[Document]:
    """Read documents that begin with ``.I`` and a number, with fields ``.T`` (title), ``.W`` (text) and so on.

    The TIME collection's ``*TEXT`` is understood as well; its documents are numbered from 1 by their position, as its
    judgements number them.
    """
    document: str | None = None
    fields: dict[str, list[str]] = {}
    field: list[str] | None = None
    position = 0
    for number, line in lines(path):
        if line.startswith((".I ", "*TEXT ", "*STOP")):
            if document is not None:
                yield _document(document, fields)
            if line.startswith("*STOP"):
                document = None
                break
            position += 1
            document = line[3:].strip() if line.startswith(".I ") else str(position)
            if not document:
                raise DataError(f"{path}:{number}: .I without a number")
            fields, field = {}, None
            if line.startswith("*TEXT"):
                field = fields.setdefault("text", [])
        elif re.fullmatch(r"\.[A-Z]\s*", line):
            letter = line[1]
            if document is None:
                raise DataError(f"{path}:{number}: {line.strip()} before the first .I")
            field = [] if letter in _LEFT_OUT else fields.setdefault(_NAMES.get(letter, letter.lower()), [])
        elif line.strip():
            if field is None:
                raise DataError(f"{path}:{number}: text outside of a field: {line!r:.60}")
            field.append(line)
    if document is not None:
        yield _document(document, fields)


def _document(number: str, fields: dict[str, list[str]]) -> Document:
    return Document(number, {name: "\n".join(text) for name, text in fields.items() if text})
