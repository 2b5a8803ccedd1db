"""Site maps: which page is above which, by their URLs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.graph.urls import INDEX_PAGE, host, path_of

__all__ = ["SiteMap"]


class SiteMap:
    """A forest of pages: the parent of each page, −1 for the root of a site.

    Parameters
    ----------
    parent
        Number of the page above each page, or −1.

    Attributes
    ----------
    n_children
        Number of pages directly below each page.

    Examples
    --------
    >>> site = SiteMap.from_urls(["a.org/", "a.org/b/", "a.org/b/c.html", "a.org/x/y/z.html"])
    >>> site.parent.tolist(), site.n_children.tolist()
    ([-1, 0, 1, 0], [2, 1, 0, 0])
    """

    def __init__(self, parent: Any) -> None:
        self.parent = np.asarray(parent, np.int64)
        n = self.parent.size
        if self.parent.ndim != 1 or (n and not (self.parent.min() >= -1 and self.parent.max() < n)):
            raise DataError(f"parents must be numbers from -1 (no parent) to {n - 1}")
        above = self.parent.copy()  # twice as far up in each round: a page that never leaves is on a circle
        for _ in range(max(n, 1).bit_length()):
            above = np.where(above >= 0, above[above], -1)
        if (above >= 0).any():
            raise DataError(f"page {int(np.argmax(above >= 0))} is above itself: parents form a circle")
        self.n_children = np.bincount(self.parent[self.parent >= 0], minlength=n)

    @classmethod
    def from_urls(cls, urls: Iterable[str]) -> SiteMap:
        """The parent of a page is the nearest page above it: the URL without its last part, or its last two, …"""
        keys = [host(url) + INDEX_PAGE.sub("/", path_of(url)) for url in urls]
        number: dict[str, int] = {}
        for i, key in enumerate(keys):
            number.setdefault(key.rstrip("/"), i)
        parent = []
        for i, key in enumerate(keys):
            above = key.rstrip("/")
            nearest = number[above] if number[above] != i else -1  # two spellings of one page: the first is above
            while nearest == -1 and "/" in above:
                above = above.rpartition("/")[0]
                nearest = number.get(above, -1)
            parent.append(nearest)
        return cls(parent)

    @property
    def n_pages(self) -> int:
        """Number of pages."""
        return int(self.parent.size)

    def mean_of_children(self, values: np.ndarray) -> np.ndarray:
        """Mean of the values of each page's children; 0 without children. Also for tables with a row per page."""
        below = self.parent >= 0
        sums = np.zeros_like(values, dtype=np.float64)
        np.add.at(sums, self.parent[below], values[below])
        count = np.maximum(self.n_children, 1)
        return sums / (count if values.ndim == 1 else count[:, None])
