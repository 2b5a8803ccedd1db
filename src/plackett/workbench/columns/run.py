"""A column that is a list of results: a TREC run or a snapshot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from plackett._base.errors import DataError
from plackett.workbench.columns.base import Column, Query, Ranked, ranked


class RunColumn(Column):
    """Results by query id: scores by document. It has no other queries."""

    kind: ClassVar[str] = "run"

    def __init__(self, name: str, results: Mapping[str, Mapping[str, float]], about: str = "run") -> None:
        super().__init__(name, about)
        self.results = results

    def rank(self, query: Query, k: int, filters: str = "") -> Ranked:
        """The k best documents; none for a query that the run lacks."""
        if filters:
            raise DataError(f"{self.name}: filters need an index")
        return ranked(self.results.get(query.qid or "", {}), k)
