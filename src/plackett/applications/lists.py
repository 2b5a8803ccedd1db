"""Queries with the items that are to be ranked for them: what every application starts from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett._names.nearest import plural

__all__ = ["CandidateLists"]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CandidateLists:
    """Queries, each with candidates and, if they are judged, labels.

    A query and an item may be anything that the features of the application understand: texts, ads, intervals.

    Attributes
    ----------
    queries
        One query per list.
    items
        The candidates of all lists, one list after the other.
    offsets
        First item of each list, and the number of items.
    labels
        How good each item is, or None.
    qids
        Id of each list.

    Examples
    --------
    >>> lists = CandidateLists.of([("what flies", ["a bird", "a stone"], [1, 0]), ("what rolls", ["a wheel"], [1])])
    >>> lists
    CandidateLists(2 lists, 3 items)
    >>> lists.take([1]).items
    ['a wheel']
    """

    queries: list[Any]
    items: list[Any]
    offsets: np.ndarray
    labels: np.ndarray | None
    qids: np.ndarray

    def __post_init__(self) -> None:
        n = len(self.queries)
        if not offsets_fit(self.offsets, len(self.items), n):
            raise DataError(
                f"offsets must start at 0, never fall, end at {len(self.items)} (the number of items) and have {n + 1} "
                "entries, one more than queries"
            )
        if self.labels is not None and self.labels.shape != (len(self.items),):
            raise DataError(f"labels have shape {self.labels.shape}, but there are {plural(len(self.items), 'item')}")
        if self.qids.shape == (n,) and np.unique(self.qids).size < n:
            raise DataError("two lists have the same id")
        if self.qids.shape != (n,):
            raise DataError(f"qids have shape {self.qids.shape}, but there are {plural(n, 'query', 'queries')}")

    @classmethod
    def of(cls, lists: Iterable[Sequence[Any]], *, qids: Any = None) -> CandidateLists:
        """Make lists from tuples of a query, its items and, in all of them or in none, the labels of the items.

        Parameters
        ----------
        qids
            Id of each list; by default 1, 2, ….
        """
        entries = [tuple(entry) for entry in lists]
        lengths = {len(entry) for entry in entries}
        if not lengths <= {2} and not lengths <= {3}:
            raise DataError("give tuples of query and items, or all of query, items and labels")
        for entry in entries:
            if isinstance(entry[1], str):
                raise DataError(f"the items of query {entry[0]!r:.60} are one text; give a list of items")
            for name, values in zip(("items", "labels"), entry[1:], strict=False):
                if not isinstance(values, Iterable):
                    raise DataError(f"the {name} of query {entry[0]!r:.60} are {values!r:.60}; give a list")
        items = [list(entry[1]) for entry in entries]
        labels = None
        if lengths == {3}:
            for entry, own in zip(entries, items, strict=True):
                if len(entry[2]) != len(own):
                    raise DataError(
                        f"query {entry[0]!r:.60} has {plural(len(own), 'item')}, but {len(entry[2])} labels"
                    )
            labels = np.array([_number(label, entry[0]) for entry in entries for label in entry[2]], np.float64)
        return cls(
            queries=[entry[0] for entry in entries],
            items=[item for own in items for item in own],
            offsets=np.concatenate([[0], np.cumsum([len(own) for own in items], dtype=np.int64)]).astype(np.int64),
            labels=labels,
            qids=np.arange(1, len(entries) + 1) if qids is None else np.asarray(qids),
        )

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"CandidateLists({plural(len(self), 'list')}, {plural(len(self.items), 'item')})"

    @property
    def row_queries(self) -> list[Any]:
        """The query of each item."""
        sizes = np.diff(self.offsets).tolist()
        return [query for query, n in zip(self.queries, sizes, strict=True) for _ in range(n)]

    @property
    def positions(self) -> np.ndarray:
        """Position of each item in its list as given, from 0."""
        return np.arange(len(self.items)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def take(self, lists: Any) -> CandidateLists:
        """Some of the lists, by number or by a mask; they keep their ids."""
        wanted = np.asarray(lists)
        chosen = np.arange(len(self))[wanted if wanted.size else np.empty(0, np.int64)]
        starts, ends = self.offsets[:-1][chosen], self.offsets[1:][chosen]
        rows = np.concatenate([np.arange(a, b) for a, b in zip(starts, ends, strict=True)] or [np.empty(0, np.int64)])
        return replace(
            self,
            queries=[self.queries[i] for i in chosen],
            items=[self.items[i] for i in rows],
            offsets=np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int64),
            labels=None if self.labels is None else self.labels[rows],
            qids=self.qids[chosen],
        )

    def folds(self, n_folds: int) -> np.ndarray:
        """Fold of each list, dealt out in turn: ``n_folds`` of them, or as many as there are lists if that is fewer."""
        whole("n_folds", n_folds, least=2)
        if len(self) < 2:
            raise DataError("there are fewer than two lists: what is learned from one must be tested on another")
        return np.arange(len(self)) % min(n_folds, len(self))

    def check_texts(self) -> None:
        """Raise an error if a query or an item is not a text."""
        for name, values in (("query", self.queries), ("item", self.items)):
            for number, value in enumerate(values):
                if not isinstance(value, str):
                    raise DataError(f"{name} {number} (counted from 0) is {value!r:.60}; give a text")

    def filtered(self) -> CandidateLists:
        """The lists without those whose items are all relevant or all irrelevant, or that have no items."""
        if self.labels is None:
            raise DataError("the lists have no labels")
        right = self.labels > 0
        return self.take([bool(right[a:b].any() and not right[a:b].all()) for a, b in pairwise(self.offsets)])


def _number(label: Any, query: Any) -> float:
    try:
        return float(label)
    except (TypeError, ValueError):
        raise DataError(f"label {label!r:.60} of query {query!r:.60} is not a number") from None
