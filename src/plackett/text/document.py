"""A document: what readers yield and an index takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Document", "Link"]


class Link(NamedTuple):
    """A link to another document: its id (or its address, if it has no id) and the link's anchor text."""

    target: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document with an id, named fields and links.

    Parameters
    ----------
    id
        Unique in a collection.
    fields
        Text (a string, or a list of strings), numbers, and dates by name. A missing value is None or left out.
    links
        Links that leave the document, in order.

    Examples
    --------
    >>> Document("d1", {"title": "A wing in a slipstream", "year": 1958}, (Link("d2", "see also"),)).fields["year"]
    1958
    """

    id: str
    fields: Mapping[str, Any]
    links: tuple[Link, ...] = field(default=())
