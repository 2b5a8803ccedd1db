"""A collection of documents with queries and judgements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plackett.text.document import Document

if TYPE_CHECKING:
    from plackett.text.index.index import Index


@dataclass(frozen=True, repr=False)
class TextCollection:
    """Documents, queries and graded judgements.

    Attributes
    ----------
    name
        What it is called.
    documents
        The documents, in the order of their ids.
    queries
        Texts by query id.
    judgements
        Grades by query id and document id; documents that are not listed are not judged.
    parents
        The document that each one is a part of, by id.
    kinds
        Kinds of fields, as `plackett.text.Index.build` takes them.
    """

    name: str
    documents: tuple[Document, ...]
    queries: Mapping[str, str]
    judgements: Mapping[str, Mapping[str, float]]
    parents: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        judged = sum(map(len, self.judgements.values()))
        return (
            f"TextCollection({self.name!r}, {len(self.documents)} documents, {len(self.queries)} queries, "
            f"{judged} judgements)"
        )

    def index(self) -> Index:
        """The documents indexed in memory."""
        from plackett.text.index.index import Index

        return Index.build(self.documents, kinds=dict(self.kinds))
