"""Files of plain text, each a document."""

from __future__ import annotations

from pathlib import Path

from plackett._base.errors import DataError
from plackett._files.checks import open_regular
from plackett.text.document import Document
from plackett.text.documents.encoding import decoded

#: A larger file is refused.
_LARGEST = 1 << 28
#: A longer first line is not taken as the title.
_TITLE = 200


def read_plain(path: Path, name: str | None = None) -> Document:
    """Read a file as one document: the first line is its title if it is short, all of it is its text.

    Parameters
    ----------
    name
        Id of the document; by default the name of the file.
    """
    with open_regular(path) as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DataError(f"{path}: a text of more than {_LARGEST} bytes, the most that is read")
    text = decoded(content).strip()
    title = text.partition("\n")[0].strip("# \t\r")
    fields = {"title": title if len(title) <= _TITLE else "", "text": text}
    return Document(name or path.name, {key: value for key, value in fields.items() if value})
