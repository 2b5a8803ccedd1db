"""A feature, and the batches of pairs that features are computed for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.cached import cached_property
from plackett.text.features.transforms import TRANSFORMS
from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.matches import Matches, match
from plackett.text.retrieval.proximity import proximity_table
from plackett.text.retrieval.queries import Queries, QueryTerms


class FeatureJob:
    """Queries and their candidates, with the state that all batches share."""

    def __init__(self, index: Index, queries: Queries, offsets: np.ndarray, documents: np.ndarray) -> None:
        self.index, self.queries = index, queries
        self.offsets, self.documents = offsets, documents
        self._terms: dict[str, QueryTerms] = {}
        self._numbers: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def terms(self, field: Field) -> QueryTerms:
        """Terms of all queries in a field."""
        if field.name not in self._terms:
            self._terms[field.name] = self.queries.terms(field)
        return self._terms[field.name]

    def numbers(self, field: Field) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and terms of all queries in order."""
        if field.name not in self._numbers:
            self._numbers[field.name] = self.queries.numbers(field)
        return self._numbers[field.name]

    def batches(self, rows: int) -> list[tuple[int, int]]:
        """Ranges of queries with about ``rows`` pairs each."""
        cuts = [0]
        n = self.offsets.size - 1
        while cuts[-1] < n:
            upto = int(np.searchsorted(self.offsets, self.offsets[cuts[-1]] + rows, side="right")) - 1
            cuts.append(min(max(upto, cuts[-1] + 1), n))
        return list(pairwise(cuts))


class Batch:
    """The pairs of some of the queries. Statistics that several features need are computed once."""

    def __init__(self, job: FeatureJob, lo: int, hi: int) -> None:
        self.job, self.lo, self.hi = job, lo, hi
        self.index = job.index
        first = job.offsets[lo]
        self.offsets = job.offsets[lo : hi + 1] - first
        self.documents = job.documents[first : job.offsets[hi]]
        self._matches: dict[str, Matches] = {}
        self._proximity: dict[str, np.ndarray] = {}

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self.documents.size

    @cached_property
    def queries(self) -> Queries:
        """The queries of the batch."""
        return self.job.queries.part(self.lo, self.hi)

    @cached_property
    def query(self) -> np.ndarray:
        """Number of the query of each pair, within the batch."""
        return np.repeat(np.arange(self.hi - self.lo), np.diff(self.offsets))

    def field(self, name: str | None) -> Field:
        """A field of the index."""
        return self.index.field(name)

    def terms(self, name: str | None) -> QueryTerms:
        """Query terms in a field."""
        return self.job.terms(self.field(name)).part(self.lo, self.hi)

    def matches(self, name: str | None) -> Matches:
        """Term statistics of the pairs in a field."""
        field = self.field(name)
        if field.name not in self._matches:
            self._matches[field.name] = match(field, self.terms(name), self.offsets, self.documents, 1)
        return self._matches[field.name]

    def proximity(self, name: str | None) -> np.ndarray:
        """Proximity of the query terms in a field."""
        field = self.field(name)
        if field.name not in self._proximity:
            offsets, terms = self.job.numbers(field)
            part = slice(offsets[self.lo], offsets[self.hi])
            own = offsets[self.lo : self.hi + 1] - offsets[self.lo]
            self._proximity[field.name] = proximity_table(field, own, terms[part], self.offsets, self.documents, 1)
        return self._proximity[field.name]


@dataclass(frozen=True, kw_only=True)
class Feature:
    """A feature: a number per query–document pair.

    Parameters
    ----------
    name
        Name of the column; by default one is made from the settings.
    transform
        Applied to the values: ``"none"``, ``"log"``, ``"log1p"``, ``"sqrt"``, ``"square"``, ``"reciprocal"``,
        ``"negative"``, ``"sigmoid"`` or ``"known"`` (1 for a value, 0 for a missing one). Where it is not defined the
        value is missing (NaN).
    """

    #: ``"pair"`` (of query and document), ``"document"`` or ``"query"``.
    kind: ClassVar[str] = "pair"
    #: Name of the feature's kind in files.
    key: ClassVar[str] = ""

    name: str = ""
    transform: str = "none"

    def __post_init__(self) -> None:
        choice("transform", self.transform, TRANSFORMS)
        self._check()

    def _check(self) -> None:
        """Reject settings out of range."""

    @property
    def stream(self) -> str:
        """Field of the documents, or other source, that the feature is computed from."""
        return ""

    @property
    def by_query(self) -> bool:
        """Whether values are looked up by the id of the query, which a new query does not have."""
        return False

    @property
    def cost(self) -> float:
        """Rough cost per pair; a term model costs 1."""
        return 0.1

    @property
    def title(self) -> str:
        """Name of the column."""
        label = self.name or self._label()
        return label if self.name or self.transform == "none" else f"{self.transform}({label})"

    def _label(self) -> str:
        raise NotImplementedError

    def values(self, batch: Batch) -> np.ndarray:
        """Values of a batch of pairs, transformed."""
        return TRANSFORMS[self.transform](np.asarray(self._values(batch), np.float64))

    def _values(self, batch: Batch) -> np.ndarray:
        raise NotImplementedError
