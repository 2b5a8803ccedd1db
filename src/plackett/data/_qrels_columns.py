"""Judgements whose lines are not in TREC's order: the user names the columns."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plackett._base.errors import DataError
from plackett.data.file_bytes import read_bytes
from plackett.data.trec_lines import refuse_repeats

if TYPE_CHECKING:
    import polars as pl

_SKIPPED = "-"
_ROLES = {"query": "qid", "document": "docid", "label": "label"}


def read_columns(path: str | os.PathLike[str], columns: str) -> pl.DataFrame:
    """Judgements from lines whose fields are named, such as ``"query document - label"``."""
    import polars as pl

    names = columns.replace(",", " ").split()
    known = [*_ROLES, _SKIPPED]
    for name in names:
        if name not in known or (name != _SKIPPED and names.count(name) > 1):
            raise DataError(f"columns={columns!r}: {name!r}; give each of {', '.join(_ROLES)} once, and - to skip one")
    if not {"query", "document"} <= set(names):
        raise DataError(f"columns={columns!r}; query and document are needed")
    text = read_bytes(path).tobytes().decode("utf-8-sig", "replace")
    lines = pl.DataFrame({"text": text.split("\n")}).with_row_index("line", offset=1)
    lines = lines.with_columns(fields=pl.col("text").str.extract_all(r"\S+"))
    lines = lines.filter((pl.col("fields").list.len() > 0) & ~pl.col("fields").list.first().str.starts_with("#"))
    short = lines.filter(pl.col("fields").list.len() < len(names))
    if short.height:
        line, content, fields = short.row(0)
        raise DataError(f"{path}, line {line}: expected {columns!r}, found {len(fields)} fields: {content[:80]!r}")
    at = {role: pl.col("fields").list.get(names.index(name)) for name, role in _ROLES.items() if name in names}
    label = at.pop("label", pl.lit("1"))
    frame = lines.select("line", **at, label=label.cast(pl.Float64, strict=False))
    wrong = frame["label"].is_null() | frame["label"].is_nan()
    if wrong.any():
        line, content = lines.select("line", "text").row(wrong.arg_max() or 0)
        raise DataError(f"{path}, line {line}: the label is not a number in {content[:80]!r}")
    refuse_repeats(frame, ("qid", "docid"), lambda row: f"{path}, line {frame['line'][row]}")
    return frame.drop("line")
