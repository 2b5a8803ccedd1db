"""Anchor text: what other documents call a document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from plackett.text.document import Document

__all__ = ["with_anchors"]


def with_anchors(documents: Iterable[Document], field: str = "anchor") -> list[Document]:
    """Add a field with the anchor texts of the links that point to each document, one per line.

    Links of a document to itself do not count. All documents are held in memory.

    >>> from plackett.text.document import Link
    >>> pages = [Document("a", {}, (Link("b", "see b"),)), Document("b", {"title": "B"})]
    >>> with_anchors(pages)[1].fields
    {'title': 'B', 'anchor': 'see b'}
    """
    every = list(documents)
    found: dict[str, list[str]] = {document.id: [] for document in every}
    for document in every:
        for link in document.links:
            if link.anchor and link.target != document.id and link.target in found:
                found[link.target].append(link.anchor)
    return [
        replace(document, fields={**document.fields, field: "\n".join(found[document.id])})
        if found[document.id]
        else document
        for document in every
    ]
