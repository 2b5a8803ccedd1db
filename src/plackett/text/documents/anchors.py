"""Anchor text: what other documents call a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plackett.text.document import Document


def with_anchors(documents: Iterable[Document], field: str = "anchor") -> list[Document]:
    """Add a field with the anchor texts of the links that point to each document, one per line.

    Links of a document to itself do not count. All documents are held in memory.

    >>> from plackett.text.document import Link
    >>> pages = [Document("a", {}, (Link("b", "see b"),)), Document("b", {"title": "B"})]
    >>> with_anchors(pages)[1].fields
    {'title': 'B', 'anchor': 'see b'}
    """
    collection = list(documents)
    anchors_of: dict[str, list[str]] = {document.id: [] for document in collection}
    for document in collection:
        for link in document.links:
            if link.anchor and link.target != document.id and link.target in anchors_of:
                anchors_of[link.target].append(link.anchor)
    return [
        replace(document, fields={**document.fields, field: "\n".join(anchors_of[document.id])})
        if anchors_of[document.id]
        else document
        for document in collection
    ]
