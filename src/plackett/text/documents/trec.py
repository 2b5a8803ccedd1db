"""Documents in TREC's text format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from plackett._base.errors import DataError
from plackett.text.document import Document
from plackett.text.documents.lines import lines

_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9_-]*)[^<>]*>")
#: Text outside of named tags, and inside TREC's own tag for it.
_TEXT = "text"


def read_trec(path: Path) -> Iterator[Document]:
    """Read ``<DOC>`` … ``</DOC>`` with a ``<DOCNO>``.

    Each tag directly inside a document is a field, named in lower case; text outside of them belongs to the field
    ``text``. Tags that occur several times are joined by lines.
    """
    block: list[str] | None = None
    first = 0
    for number, line in lines(path):
        mark = line.strip().upper()
        if mark == "<DOC>":
            if block is not None:
                raise DataError(f"{path}:{number}: <DOC> inside the document that begins in line {first}")
            block, first = [], number
        elif mark == "</DOC>":
            if block is None:
                raise DataError(f"{path}:{number}: </DOC> without <DOC>")
            yield _document("\n".join(block), f"{path}:{first}")
            block = None
        elif block is not None:
            block.append(line)
        elif mark:
            raise DataError(f"{path}:{number}: text outside of <DOC> … </DOC>: {line!r:.60}")
    if block is not None:
        raise DataError(f"{path}:{first}: the document has no </DOC>")


def _document(text: str, where: str) -> Document:
    parts: dict[str, list[str]] = {}
    name, depth, begin = _TEXT, 0, 0
    for match in _TAG.finditer(text):
        closing, tag = match[1] == "/", match[2].lower()
        if depth == 0 and not closing:
            parts.setdefault(_TEXT, []).append(text[begin : match.start()])
            name, depth, begin = tag, 1, match.end()
        elif depth and tag == name:
            depth += -1 if closing else 1
            if depth == 0:
                parts.setdefault(name, []).append(_TAG.sub(" ", text[begin : match.start()]))
                name, begin = _TEXT, match.end()
    if depth:
        raise DataError(f"{where}: <{name.upper()}> is not closed")
    parts.setdefault(_TEXT, []).append(text[begin:])
    fields = {tag: "\n".join(stripped for part in texts if (stripped := part.strip())) for tag, texts in parts.items()}
    number = fields.pop("docno", "")
    if not number:
        raise DataError(f"{where}: the document has no <DOCNO>")
    return Document(number, {tag: value for tag, value in fields.items() if value})
