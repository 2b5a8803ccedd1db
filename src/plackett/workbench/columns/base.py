"""What a column of the page can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np


class Query(NamedTuple):
    """A query as the page asks it: its id, if it is one of a set, and its text."""

    qid: str | None
    text: str


class Ranked(NamedTuple):
    """Documents by id with their scores, the best first."""

    ids: list[str]
    scores: list[float]


def ranked(scores: Mapping[str, float], k: int) -> Ranked:
    """The k documents with the highest scores; equal ones in the order given."""
    order = sorted(scores, key=lambda docid: -scores[docid])[:k]
    return Ranked(order, [float(scores[docid]) for docid in order])


class Column:
    """Something that orders documents for a query."""

    #: Which kind it is, for the page.
    kind: ClassVar[str] = ""

    def __init__(self, name: str, about: str = "") -> None:
        self.name, self.about = name, about
        #: Queries that it was trained on here: measures on them flatter it.
        self.trained_on: frozenset[str] = frozenset()

    def rank(self, query: Query, k: int, filters: str = "") -> Ranked:
        """The k best documents for a query."""
        raise NotImplementedError

    def run(self, queries: Mapping[str, str], k: int) -> dict[str, dict[str, float]]:
        """Scores by query and document of the k best documents of many queries."""
        lists = {qid: self.rank(Query(qid, text), k) for qid, text in queries.items()}
        return {qid: dict(zip(own.ids, own.scores, strict=True)) for qid, own in lists.items()}

    def explain(self, query: Query, first: str, second: str | None, k: int, filters: str = "") -> dict[str, Any]:
        """Why a document has its score, or why it is above a second one: parts that add up, largest first.

        ``method`` says how the parts were found and ``parts`` has ``name``, ``value`` and ``contribution`` of each, or
        for two documents ``value`` and ``other``; ``changes`` says what would make the lower one pass.
        """
        return {"method": "none", "parts": [], "changes": []}


def part(name: Any, contribution: Any, **values: Any) -> dict[str, Any]:
    """A part of an explanation; numbers that JSON lacks are None."""
    entry: dict[str, Any] = {"name": str(name), "contribution": _number(contribution)}
    return entry | {key: _number(v) if isinstance(v, (float, np.floating)) else v for key, v in values.items()}


def _number(value: Any) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
