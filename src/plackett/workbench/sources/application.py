"""A saved application as a source: its examples with their texts, its ranker and its baselines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError, reading
from plackett.applications.application import Application
from plackett.workbench.columns.base import Query
from plackett.workbench.sources.dataset import DatasetSource


class ApplicationSource(DatasetSource):
    """The examples of an application; a document is an item, and its id is its position in the list."""

    def __init__(self, path: Path) -> None:
        application, lists = Application.load(path), Application.load_examples(path)
        if lists is None:
            raise DataError(f"{path}: the application was saved without examples; see save(…, examples=…)")
        with reading(path, "the list of examples"):
            lists = replace(lists, items=[application.features.item(item) for item in lists.items])
            data = application.features.transform(lists)
        super().__init__(data, path.name)
        self.queries = {str(qid): str(query) for qid, query in zip(lists.qids, lists.queries, strict=True)}
        self._texts = [str(item) for item in lists.items]
        self.add_ranker(path.name, application.ranker, ())
        for name in application.baselines:
            self.add(name)

    def cards(self, ids: Sequence[str], query: Query) -> list[dict[str, Any]]:
        """The items, with the features that set each apart."""
        own = self._rows.get(query.qid or "", {})
        cards = super().cards(ids, query)
        return [card | {"title": self._texts[own[card["id"]]]} if card["id"] in own else card for card in cards]

    def document(self, docid: str, query: Query) -> dict[str, Any]:
        """The item, and all features."""
        document = super().document(docid, query)
        return document | {"title": self._texts[self._rows[query.qid or ""][docid]]}
