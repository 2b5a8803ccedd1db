"""Kinds of fields, and the values of documents as columns."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.strings import Strings
from plackett.text.document import Document
from plackett.text.index.columns import strings, utf8

#: Text is analysed and can be searched; the other kinds are stored, to filter by and to show.
KINDS = ("text", "keyword", "number", "date")

#: A missing date, in microseconds since 1970: NumPy's NaT.
NO_DATE = np.iinfo(np.int64).min


#: A day, or a time of a day, as ISO 8601 writes it.
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?")


def is_date(text: str) -> bool:
    """Whether a text is an ISO date, such as 2024-05-31 or 2024-05-31T12:00:00Z.

    >>> is_date("2024-05-31"), is_date("2024-05-32"), is_date("2024")
    (True, False, False)
    """
    if _ISO_DATE.fullmatch(text) is None:
        return False
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def kind_of(value: Any, where: str) -> str:
    """The kind of a field that has this value."""
    if isinstance(value, str):
        return "date" if is_date(value) else "text"
    if isinstance(value, (bool, int, float, np.integer, np.floating)):
        return "number"
    if isinstance(value, (datetime.date, np.datetime64)):
        return "date"
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return "text"
    raise DataError(f"{where} is a {type(value).__name__}; a field holds text, a list of texts, a number or a date")


def text_of(value: Any, where: str) -> str:
    """A text field's value as one text; the texts of a list become lines."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(part, str) for part in value):
        return "\n".join(value)
    if isinstance(value, (int, float)):
        return str(value)
    raise DataError(f"{where} is a {type(value).__name__}, but the field holds text")


def _number(value: Any, where: str) -> float:
    if value is None or value == "":
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise DataError(f"{where} is {value!r:.100}, but the field holds numbers") from None


def _date(value: Any, where: str) -> int:
    if value is None or value == "":
        return int(NO_DATE)
    try:
        if isinstance(value, str) and is_date(value):
            value = datetime.datetime.fromisoformat(value)
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        return int(np.datetime64(value, "us").astype(np.int64))
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"{where} is {value!r:.100}, but the field holds dates, written as 2024-05-31 or 2024-05-31T12:00:00; "
            "if it holds other text too, declare it as text"
        ) from None


_READ: dict[str, tuple[Callable[[Any, str], Any], Any]] = {"number": (_number, np.float64), "date": (_date, np.int64)}


def column(documents: Sequence[Document], name: str, kind: str) -> Strings | np.ndarray:
    """Values of a field of several documents."""
    if kind in ("text", "keyword"):
        values = [document.fields.get(name) for document in documents]
        return strings(
            [
                utf8(value if isinstance(value, str) else text_of(value, f"document {document.id!r}: field {name!r}"))
                for document, value in zip(documents, values, strict=True)
            ]
        )
    read, dtype = _READ[kind]
    parsed = (read(document.fields.get(name), f"document {document.id!r}: field {name!r}") for document in documents)
    return np.fromiter(parsed, dtype, len(documents))


def is_empty(values: Strings | np.ndarray) -> bool:
    """Whether no document has a value in a column."""
    if isinstance(values, Strings):
        return values.offsets[-1] == values.offsets[0]
    return bool((np.isnan(values) if values.dtype.kind == "f" else values == NO_DATE).all())
