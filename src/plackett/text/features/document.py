"""Features of the document alone: lengths, stored values, links, URLs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError, PlackettWarning
from plackett.graph.counts import link_counts
from plackett.graph.hits import hits
from plackett.graph.hostrank import hostrank
from plackett.graph.pagerank import pagerank
from plackett.graph.urls import URL_TYPES, host, url_depth, url_length, url_type
from plackett.text.features.base import Batch, Feature
from plackett.text.index.index import Index
from plackett.text.retrieval.propagated import link_graph, site_map

__all__ = ["AttributeFeature", "LengthFeature", "LinkFeature", "UrlFeature"]


@dataclass(frozen=True, kw_only=True)
class DocumentFeature(Feature):
    """A number per document, computed once per index."""

    kind: ClassVar[str] = "document"

    def column(self, index: Index) -> np.ndarray:
        """The number of each document."""
        raise NotImplementedError

    def _values(self, batch: Batch) -> np.ndarray:
        column: np.ndarray = batch.index.kept.of(self, lambda: np.asarray(self.column(batch.index), np.float64))
        return column[batch.documents]


@dataclass(frozen=True, kw_only=True)
class LengthFeature(DocumentFeature):
    """Number of terms of a field, or of its distinct terms.

    Parameters
    ----------
    field
        Field of the documents; by default the index's default field.
    unique
        Whether to count distinct terms.
    name, transform
        See `Feature`.
    """

    key: ClassVar[str] = "length"

    field: str | None = None
    unique: bool = False

    @property
    def stream(self) -> str:
        """The field."""
        return self.field or "default"

    def _label(self) -> str:
        return " ".join(filter(None, ("unique" if self.unique else "length", self.field)))

    def column(self, index: Index) -> np.ndarray:
        """Lengths."""
        field = index.field(self.field)
        return np.diff(field.forward.offsets) if self.unique else field.lengths


@dataclass(frozen=True, kw_only=True)
class AttributeFeature(DocumentFeature):
    """A stored number of the document, or a date as days since 1970. Missing values are NaN.

    Parameters
    ----------
    attribute
        Stored field with numbers or dates.
    name, transform
        See `Feature`.
    """

    key: ClassVar[str] = "attribute"

    attribute: str

    @property
    def stream(self) -> str:
        """The stored field."""
        return self.attribute

    def _label(self) -> str:
        return self.attribute

    def column(self, index: Index) -> np.ndarray:
        """Stored values."""
        stored = index.values(self.attribute)
        if stored.dtype.kind == "M":
            days = (stored - np.datetime64(0, "us")) / np.timedelta64(1, "D")
            return np.where(np.isnat(stored), np.nan, days)
        if stored.dtype.kind != "f":
            raise DataError(f"attribute {self.attribute!r} holds text; a feature needs numbers or dates")
        return stored


#: Numbers per document from the links between the documents of an index.
LINK_STATISTICS: dict[str, Callable[[Index, str], np.ndarray]] = {
    "inlinks": lambda index, url: link_counts(link_graph(index)).inlinks,
    "outlinks": lambda index, url: link_counts(link_graph(index)).outlinks,
    "pagerank": lambda index, url: pagerank(link_graph(index)),
    "authority": lambda index, url: hits(link_graph(index)).authority,
    "hub": lambda index, url: hits(link_graph(index)).hub,
    "hostrank": lambda index, url: _hostrank(index, url),
}


def _hostrank(index: Index, url: str) -> np.ndarray:
    urls = index.values(url).tolist()
    return hostrank(link_graph(index), [host(each) for each in urls], depth=url_depth(urls))


@dataclass(frozen=True, kw_only=True)
class LinkFeature(DocumentFeature):
    """A number from the links between documents: PageRank and its relatives.

    Parameters
    ----------
    statistic
        ``"inlinks"``, ``"outlinks"``, ``"pagerank"``, ``"authority"``, ``"hub"`` or ``"hostrank"``.
    url
        Stored field with URLs, for ``"hostrank"``.
    name, transform
        See `Feature`. PageRank spans several orders of magnitude: ``transform="log"``.
    """

    key: ClassVar[str] = "links"

    statistic: str
    url: str = "url"

    def _check(self) -> None:
        choice(f"{self.key} statistic", self.statistic, LINK_STATISTICS)

    @property
    def stream(self) -> str:
        """The link graph."""
        return "links"

    def _label(self) -> str:
        return self.statistic if self.url == "url" else f"{self.statistic} {self.url}"

    def column(self, index: Index) -> np.ndarray:
        """The statistic."""
        if link_graph(index).n_links == 0:
            warnings.warn(
                f"feature {self.title!r}: no document of the index links to another; it is the same for all of them",
                PlackettWarning,
                stacklevel=2,
            )
        return LINK_STATISTICS[self.statistic](index, self.url)


#: Numbers per document from its URL.
URL_STATISTICS: dict[str, Callable[[Index, str], np.ndarray]] = {
    "depth": lambda index, url: url_depth(index.values(url).tolist()),
    "length": lambda index, url: url_length(index.values(url).tolist()),
    "type": lambda index, url: np.array([URL_TYPES.index(kind) for kind in url_type(index.values(url).tolist())]),
    "children": lambda index, url: site_map(index, url).n_children,
}


@dataclass(frozen=True, kw_only=True)
class UrlFeature(DocumentFeature):
    """A number from the URL of a document.

    Parameters
    ----------
    statistic
        ``"depth"``: number of slashes; ``"length"`` in characters; ``"type"``: 0 for a site's root to 3 for a file;
        ``"children"``: number of pages below it in the site map.
    url
        Stored field with URLs.
    name, transform
        See `Feature`.
    """

    key: ClassVar[str] = "url"

    statistic: str
    url: str = "url"

    def _check(self) -> None:
        choice(f"{self.key} statistic", self.statistic, URL_STATISTICS)

    @property
    def stream(self) -> str:
        """The stored field."""
        return self.url

    def _label(self) -> str:
        return f"url {self.statistic}" if self.url == "url" else f"url {self.statistic} {self.url}"

    def column(self, index: Index) -> np.ndarray:
        """The statistic."""
        return URL_STATISTICS[self.statistic](index, self.url)
