"""Published figures, as printed. Each version of a dataset has its own: features and documents differ."""

from __future__ import annotations

from importlib.resources import files
from typing import NamedTuple


class PublishedTable(NamedTuple):
    """One table: figures by method and measure, means over five folds."""

    dataset: str
    version: str
    source: str
    figures: dict[str, dict[str, float]]


def _tables() -> tuple[PublishedTable, ...]:
    """The tables of ``published_figures.tsv``."""
    tables: dict[str, PublishedTable] = {}
    lines = files(__package__).joinpath("published_figures.tsv").read_text("utf-8").splitlines()
    for line in lines[1:]:
        dataset, version, source, method, measure, value = line.split("\t")
        table = tables.setdefault(dataset, PublishedTable(dataset, version, source, {}))
        table.figures.setdefault(method, {})[measure] = float(value)
    return tuple(tables.values())


#: LETOR 3.0 and 4.0 as in the book's chapter 11, LETOR 2.0 as in the IsoRank paper.
TABLES = _tables()

#: Precision at the K % of pairs with the largest difference of scores, on the IsoRank paper's search-engine data.
PRECISION_AT_PERCENT = {
    "IsoRank": {20: 0.9852, 40: 0.9224, 60: 0.8519, 80: 0.7927, 100: 0.7413},
    "QBRank": {20: 0.9785, 40: 0.9123, 60: 0.8427, 80: 0.7858, 100: 0.7372},
    "RankSVM": {20: 0.9543, 40: 0.8900, 60: 0.8222, 80: 0.7656, 100: 0.7185},
}

#: What is known about this data, which is not public: numbers of queries and documents, documents by grade.
SEARCH_ENGINE = {
    "queries": 4_372,
    "documents": 115_278,
    "grades": {"perfect": 768, "excellent": 4_288, "good": 30_325, "fair": 42_571, "bad": 37_326},
}

#: Largest change of a test pair's hinge loss when one of 200 training queries is left out, for 30 such queries.
STABILITY = {
    "RankSVM": (
        3.59, 1.14, 0.88, 0.81, 1.84, 1.15, 0.89, 1.30, 0.90, 1.42, 1.38, 1.39, 0.56, 1.43, 1.42,
        1.01, 1.13, 1.34, 1.04, 0.86, 0.43, 0.51, 0.64, 0.92, 0.50, 0.88, 4.53, 0.99, 1.13, 0.62,
    ),
    "IRSVM": (
        0.07, 0.07, 0.06, 0.06, 0.05, 0.24, 0.18, 0.06, 0.09, 0.08, 0.11, 0.15, 0.11, 0.13, 0.14,
        0.11, 0.06, 0.11, 0.08, 0.05, 0.09, 0.20, 0.27, 0.14, 0.18, 0.08, 0.12, 0.09, 0.21, 0.14,
    ),
}  # fmt: skip
