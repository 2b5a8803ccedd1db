"""What a source of documents and rankings can do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.workbench.columns.base import Column, Query

#: What grades mean unless somebody says otherwise.
GRADES = ("not relevant", "marginal", "relevant", "very relevant", "perfect")


class WorkbenchSource:
    """Documents, the rankers that order them, and the queries and labels that came with them."""

    kind: ClassVar[str] = ""
    #: Whether any text can be searched for, or only the queries that there are.
    searchable: ClassVar[bool] = False

    def __init__(self, title: str) -> None:
        self.title = title
        self.columns: dict[str, Column] = {}
        self.queries: dict[str, str] = {}
        self.labels: dict[str, dict[str, float]] = {}
        #: What each grade means to a rater, from 0 on.
        self.grades: tuple[str, ...] = GRADES

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        raise NotImplementedError

    def add(self, given: str) -> Column:
        """Add a column by the name that the command line or the page gives it."""
        raise DataError(f"{given!r}: this source takes no more rankers")

    def add_ranker(self, name: str, ranker: Any, features: Sequence[Any]) -> Column:
        """Add a column for a ranker that was trained on features of this source."""
        raise NotImplementedError

    def complete(self) -> None:
        """Add a column to start with, or to compare with, if there is too little."""

    def put(self, column: Column) -> Column:
        """Add a column under its name, numbered if there is one of that name."""
        name, number = column.name, 2
        while column.name in self.columns:
            column.name, number = f"{name} ({number})", number + 1
        self.columns[column.name] = column
        return column

    def cards(self, ids: Sequence[str], query: Query) -> list[dict[str, Any]]:
        """What a list of results shows of each document: ``id``, ``title``, ``snippet`` (texts and whether marked).

        If the snippet does not begin where the document does, ``lead`` has the beginning, for raters.
        """
        return [{"id": docid, "title": docid, "snippet": []} for docid in ids]

    def document(self, docid: str, query: Query) -> dict[str, Any]:
        """All that is known of a document: ``fields`` with ``name``, ``kind`` and ``value``."""
        return {"id": docid, "title": docid, "fields": []}

    def matches(self, docid: str, query: Query) -> list[dict[str, Any]]:
        """The terms of the query in a document, by field."""
        return []

    @property
    def filterable(self) -> list[dict[str, str]]:
        """Fields that filters can name, with their kinds."""
        return []

    def feature_choice(self) -> list[dict[str, Any]]:
        """Features that a ranker can be trained on: ``name`` and whether it is chosen by default."""
        return []

    def training_data(
        self,
        queries: Mapping[str, str],
        labels: Mapping[str, Mapping[str, float]],
        features: Sequence[str],
        *,
        judged_only: bool = False,
    ) -> RankingDataset:
        """Features and labels of judged queries."""
        raise NotImplementedError
