"""Published figures, as printed: ``published.tsv`` and ``stability.tsv`` beside this file.

Each version of a dataset has its own figures: features and documents differ. LETOR 3.0 and 4.0 are from the book's
chapter 11, LETOR 2.0 from the IsoRank paper.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class PublishedTable(NamedTuple):
    """One table: figures by method and measure, means over five folds."""

    dataset: str
    version: str
    source: str
    figures: dict[str, dict[str, float]]


@cache
def tables() -> tuple[PublishedTable, ...]:
    """All tables."""
    found: dict[str, PublishedTable] = {}
    for row in _rows("published.tsv"):
        dataset, version, source, method = (row.pop(key) for key in ("dataset", "version", "source", "method"))
        table = found.setdefault(dataset, PublishedTable(dataset, version, source, {}))
        table.figures[method] = {measure: float(value) for measure, value in row.items() if value}
    return tuple(found.values())


@cache
def stability() -> dict[str, tuple[float, ...]]:
    """By ranker: largest change of a test pair's hinge loss without one of 200 training queries, for 30 of them."""
    rows = _rows("stability.tsv")
    return {ranker: tuple(float(row[ranker]) for row in rows) for ranker in rows[0]}


def _rows(name: str) -> list[dict[str, str]]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))
