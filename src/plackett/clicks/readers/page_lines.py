"""One record per page: query, documents, clicked documents."""

from __future__ import annotations

import os
from collections.abc import Iterator

from plackett._base.errors import DataError
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import ClickLog
from plackett.clicks.readers._pages import Pages
from plackett.clicks.readers.lines import lines

__all__ = ["read_pages"]


def read_pages(path: str | os.PathLike[str], *, max_pages: int | None = None) -> ClickLog:
    r"""Read records ``query TAB document,document,… : clicked , clicked;`` in the order of the clicks.

    Records end with ``;`` or with the line. The sample of Yandex's log that comes with PyClick has this form.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "sample.txt"
    >>> _ = path.write_text("q1\ta,b,c : c , a; q1\ta,b,c :;\n")
    >>> read_pages(path).clicks.tolist()
    [1, 0, 1, 0, 0, 0]
    """
    return next(iter_pages(path, max_pages=max_pages))


def iter_pages(
    path: str | os.PathLike[str], n_rows: int | None = None, *, max_pages: int | None = None
) -> Iterator[ClickLog]:
    """Read such records in parts with about this many rows; see `read_pages`."""
    bad = BadLines(os.fspath(path))
    pages, before = Pages(bad), 0
    for number, text in lines(path):
        for record in text.split(";"):
            if not record.strip() or (max_pages is not None and before + len(pages) >= max_pages):
                continue
            bad.total += 1
            query, tab, rest = record.strip().partition("\t")
            shown, colon, clicked = rest.partition(":")
            documents = [document.strip() for document in shown.split(",")]
            if not (tab and colon and query and all(documents)):
                bad.add("not a record 'query TAB documents : clicked'", number, record.strip())
                continue
            pages.add(number, query, documents, [word.strip() for word in clicked.split(",") if word.strip()])
            if n_rows is not None and len(pages.documents) >= n_rows:
                yield pages.log(users=False, times=False, dwell=False)
                before += len(pages)
                pages.clear()
        if max_pages is not None and before + len(pages) >= max_pages:
            break
    if not before and not len(pages):
        raise DataError(f"{path}: no result pages; {bad}")
    if len(pages):
        yield pages.log(users=False, times=False, dwell=False)
