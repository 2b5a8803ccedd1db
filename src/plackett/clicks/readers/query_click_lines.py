"""Lines of queries and clicks: the format of Yandex's Relevance Prediction Challenge and of CLARA2."""

from __future__ import annotations

import os
from collections.abc import Iterator

from plackett._base.errors import DataError
from plackett.clicks.bad_lines import BadLines
from plackett.clicks.log import ClickLog
from plackett.clicks.readers._pages import Pages
from plackett.clicks.readers.lines import lines

__all__ = ["read_yandex"]


def read_yandex(
    path: str | os.PathLike[str],
    *,
    time_unit: float = 1.0,
    key: bytes | str | None = None,
    max_pages: int | None = None,
) -> ClickLog:
    r"""Read lines of queries and clicks, separated by tabs: Yandex's Relevance Prediction Challenge, CLARA2.

    ``session  time  Q  query  region  document…`` shows a page, ``session  time  C  document`` clicks on the last page
    of the session that showed the document. Sessions become users. The time between a click and the next
    click of its page is its dwell time.

    Parameters
    ----------
    time_unit
        Seconds per unit of the time column (0.001 for milliseconds). Yandex does not say what its unit is.
    key
        Key of the hash of session ids.
    max_pages
        Stop after this many pages.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "log.tsv"
    >>> _ = path.write_text("7\t0\tQ\t12\t0\t5\t6\t9\n7\t3\tC\t9\n7\t8\tC\t5\n")
    >>> read_yandex(path).click_order.tolist()
    [2, 0, 1]
    """
    return next(iter_yandex(path, time_unit=time_unit, key=key, max_pages=max_pages))


def iter_yandex(
    path: str | os.PathLike[str],
    n_rows: int | None = None,
    *,
    time_unit: float = 1.0,
    key: bytes | str | None = None,
    max_pages: int | None = None,
) -> Iterator[ClickLog]:
    """Read such lines in parts with about this many rows, whole sessions in each; see `read_yandex`."""
    bad = BadLines(os.fspath(path))
    pages, before = Pages(bad), 0
    current = None  # pages of the current session: line, query, documents, clicks, times
    session_pages: list[tuple[int, str, list[str], list[str], list[float]]] = []

    def close() -> None:
        for line, query, documents, clicked, moments in session_pages:
            pages.add(line, query, documents, clicked, user=current, time=moments[0], click_times=moments[1:])
        session_pages.clear()

    for number, text in lines(path):
        bad.total += 1
        fields = text.rstrip("\t ").split("\t")
        if len(fields) < 4 or fields[2] not in ("Q", "C"):
            if text.strip() and not text.startswith("#"):
                bad.add("not a line of a query (Q) or a click (C)", number, text)
            continue
        try:
            time = float(fields[1]) * time_unit
        except ValueError:
            bad.add("the time is not a number", number, text)
            continue
        if fields[0] != current:
            close()
            current = fields[0]
            if max_pages is not None and before + len(pages) >= max_pages:
                break
            if n_rows is not None and len(pages.documents) >= n_rows:
                yield pages.log(key=key, users=True, times=True, dwell=True)
                before += len(pages)
                pages.clear()
        if fields[2] == "Q":
            documents = [field for field in fields[5:] if field]
            if not documents:
                bad.add("a page without documents", number, text)
                continue
            session_pages.append((number, fields[3], documents, [], [time]))
        else:
            for _, _, documents, clicked, moments in reversed(session_pages):
                if fields[3] in documents:
                    clicked.append(fields[3])
                    moments.append(time)
                    break
            else:
                bad.add("a click on a document that no page of the session shows", number, text)
    close()
    if not before and not len(pages):
        raise DataError(f"{path}: no result pages; {bad}")
    if len(pages):
        yield pages.log(key=key, users=True, times=True, dwell=True)
