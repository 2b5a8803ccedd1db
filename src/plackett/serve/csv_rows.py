"""Feature tables out of CSV text: some rows at a time, so that a table that is too large is refused early."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.time_limit import check_time
from plackett.serve.http import RefusedError
from plackett.serve.numbers import Decoded
from plackett.serve.tables import column, narrowed, places

if TYPE_CHECKING:
    from plackett.serve.model import ServedModel
    from plackett.serve.settings import Settings

#: Rows that become numbers at once, and lines after which the time is looked at.
_BLOCK = 1_000
#: Commas that a line may have in its texts, besides those between the values.
_COMMAS = 1_000
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}


def csv_table(model: ServedModel, body: bytes, settings: Settings) -> tuple[np.ndarray, list[str] | None]:
    """Features in training order, and the query ids if there is a column ``qid``.

    Empty lines are no documents. Values and words for missing ones are read as in files of data.
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RefusedError(400, f"the body is not CSV: byte {error.start} is not UTF-8") from None
    rows = _rows(text, model, settings.max_documents)
    header = next(rows, (1, []))[1]
    features, of_ids = places(model, [name.strip() for name in header], "the CSV")
    blocks, ids, block = list[np.ndarray](), list[str](), list[list[str]]()
    for line, row in rows:
        if len(row) != len(header):
            raise RefusedError(400, f"the CSV: line {line} has {len(row)} values; the header has {len(header)}")
        block.append([row[place] for place in features])
        if of_ids is not None:
            ids.append(row[of_ids])
        if len(block) == _BLOCK:
            check_time()
            blocks.append(_numbers(model, block, _BLOCK * len(blocks)))
            settings.check_size(_BLOCK * len(blocks), model.n_features)
            block = []
    if block:
        blocks.append(_numbers(model, block, _BLOCK * len(blocks)))
    X = np.concatenate(blocks) if blocks else np.empty((0, model.n_features), np.float32)
    settings.check_size(*X.shape)
    return X, None if of_ids is None else ids


def _rows(text: str, model: ServedModel, most_empty: int) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers."""
    commas = most = model.n_features + _COMMAS
    n_empty = 0

    def lines() -> Iterator[str]:
        nonlocal commas
        for i, line in enumerate(io.StringIO(text, newline="")):
            if i % _BLOCK == 0:  # lines need not become rows
                check_time()
            commas -= line.count(",")
            if commas < 0:
                raise RefusedError(
                    400, f"the CSV: a line has more than {most} commas; {model.name} has {model.n_features} features"
                )
            yield line

    reader = csv.reader(lines(), strict=True)
    while True:
        commas = most
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise RefusedError(400, f"the body is not CSV: line {reader.line_num}: {str(error)[:200]}") from None
        if row is None:
            return
        if row:
            yield reader.line_num, row
            continue
        n_empty += 1
        if n_empty > most_empty:
            raise RefusedError(413, f"the CSV has more than {most_empty} empty lines")


def _numbers(model: ServedModel, rows: list[list[str]], first: int) -> np.ndarray:
    """Some rows as numbers; ``first`` is the document of the first."""
    named = model.feature_names or [str(j) for j in range(model.n_features)]
    plain = Decoded(None, {})
    table = []
    for j, cells in enumerate(zip(*rows, strict=True)):
        categories = model.codes.get(j, {})
        values = _values(list(cells), texts=any(isinstance(value, str) for value in categories))
        table.append(column(model, j, values, plain, f"the CSV.{named[j]}", True, first))
    return narrowed(np.stack(table, axis=1), "the CSV")


def _values(cells: list[str], *, texts: bool) -> list[Any]:
    """What cells hold: None, a number or a boolean, else their text."""
    from plackett.data.tables import MISSING

    if not texts:
        try:
            return [_number(cell) for cell in cells]
        except ValueError:
            pass
    return [None if cell.strip() in MISSING else cell.strip() if texts else _other(cell.strip()) for cell in cells]


def _number(cell: str) -> float:
    if "_" in cell:  # Python reads it as a number
        raise ValueError(cell)
    return float(cell)


def _other(cell: str) -> Any:
    if cell in _BOOLEANS:
        return _BOOLEANS[cell]
    try:
        return _number(cell)
    except ValueError:
        return cell
