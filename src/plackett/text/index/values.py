"""Kinds of fields, and the values of documents as columns."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plackett._errors import DataError
from plackett.data.strings import Strings
from plackett.text.document import Document
from plackett.text.index.columns import strings

__all__ = ["KINDS", "NO_DATE", "column", "kind_of", "text_of"]

#: Text is analysed and can be searched; the other kinds are stored, to filter by and to show.
KINDS = ("text", "keyword", "number", "date")

#: A missing date, in microseconds since 1970: NumPy's NaT.
NO_DATE = np.iinfo(np.int64).min


def kind_of(value: Any, where: str) -> str:
    """The kind of a field that has this value."""
    if isinstance(value, str):
        return "text"
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
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            value = value.astimezone(datetime.UTC).replace(tzinfo=None)
        elif isinstance(value, str) and value.endswith("Z"):
            value = value[:-1]
        return int(np.datetime64(value, "us").astype(np.int64))
    except (TypeError, ValueError):
        raise DataError(f"{where} is {value!r:.100}; dates are written as 2024-05-31 or 2024-05-31T12:00:00") from None


_READ: dict[str, tuple[Callable[[Any, str], Any], Any]] = {"number": (_number, np.float64), "date": (_date, np.int64)}


def column(documents: Sequence[Document], name: str, kind: str) -> Strings | np.ndarray:
    """Values of a field of several documents."""
    if kind in ("text", "keyword"):
        values = [document.fields.get(name) for document in documents]
        return strings(
            [
                (
                    value if isinstance(value, str) else text_of(value, f"document {document.id!r}: field {name!r}")
                ).encode("utf-8", "replace")
                for document, value in zip(documents, values, strict=True)
            ]
        )
    read, dtype = _READ[kind]
    found = (read(document.fields.get(name), f"document {document.id!r}: field {name!r}") for document in documents)
    return np.fromiter(found, dtype, len(documents))
