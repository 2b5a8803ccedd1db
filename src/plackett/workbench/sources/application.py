"""A saved application as a source: its examples with their texts, its ranker and its baselines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plackett.applications.application import saved_examples
from plackett.workbench.columns.base import Query
from plackett.workbench.sources.dataset import DatasetSource


class ApplicationSource(DatasetSource):
    """The examples of an application; a document is an item, and its id is its position in the list."""

    def __init__(self, path: Path) -> None:
        saved = saved_examples(path)
        super().__init__(saved.data, path.name)
        self.queries = dict(zip(map(str, saved.data.qids.tolist()), saved.queries, strict=True))
        self._texts = saved.items
        self.add_ranker(path.name, saved.ranker, ())
        for name in saved.baselines:
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
