"""Queries as models read them: weighted terms of a field, in flat arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.text.analysis import Analyzer
from plackett.text.index.columns import offsets_of
from plackett.text.index.field import Field
from plackett.text.index.index import Index

__all__ = ["Queries"]


class QueryTerms(NamedTuple):
    """Distinct terms of each query and their weights; term -1 does not occur in the field."""

    #: int64, one more than queries.
    offsets: np.ndarray
    #: int32, in the order of the query.
    terms: np.ndarray
    #: float64: how often the query has the term, or its weight after expansion.
    weights: np.ndarray

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    def of(self, q: int) -> tuple[np.ndarray, np.ndarray]:
        """Terms and weights of one query."""
        part = slice(self.offsets[q], self.offsets[q + 1])
        return self.terms[part], self.weights[part]

    def part(self, lo: int, hi: int) -> QueryTerms:
        """Some of the queries."""
        rows = slice(self.offsets[lo], self.offsets[hi])
        return QueryTerms(self.offsets[lo : hi + 1] - self.offsets[lo], self.terms[rows], self.weights[rows])

    @property
    def query_of_term(self) -> np.ndarray:
        """Number of the query that each term belongs to."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.offsets))


class Queries:
    """Analysed queries.

    Parameters
    ----------
    texts
        Queries as text: a mapping from ids, or a sequence (ids are then ``"1"``, ``"2"``, …).
    analyzer
        The index's analyzer.

    Attributes
    ----------
    ids
        Ids in order.
    sequences
        Terms of each query as text, in order; None stands for a stop word.

    Examples
    --------
    >>> queries = Queries({"q1": "to be or not: wing, wing, flow"}, Analyzer())
    >>> queries.ids, queries.tokens
    (['q1'], [['wing', 'wing', 'flow']])
    """

    def __init__(self, texts: Mapping[Any, str] | Sequence[str], analyzer: Analyzer) -> None:
        given = texts if isinstance(texts, Mapping) else {str(i + 1): text for i, text in enumerate(texts)}
        for qid, text in given.items():
            if not isinstance(text, str):
                raise DataError(f"query {qid!r} is a {type(text).__name__}; queries are text")
        self.ids = [str(qid) for qid in given]
        self.texts = list(given.values())
        self.sequences = [analyzer.sequence(text) for text in self.texts]
        self.tokens = [[token for token in sequence if token is not None] for sequence in self.sequences]

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, lo: int, hi: int) -> Queries:
        """The queries from number ``lo`` to before ``hi``."""
        selected = Queries.__new__(Queries)
        selected.ids, selected.texts = self.ids[lo:hi], self.texts[lo:hi]
        selected.sequences, selected.tokens = self.sequences[lo:hi], self.tokens[lo:hi]
        return selected

    def terms(self, field: Field) -> QueryTerms:
        """The queries' terms in a field."""
        counted = [Counter(tokens) for tokens in self.tokens]
        numbers = field.term_ids([token for counts in counted for token in counts])
        weights = np.array([n for counts in counted for n in counts.values()], float)
        return QueryTerms(offsets_of([len(counts) for counts in counted]), numbers, weights)

    def numbers(self, field: Field) -> tuple[np.ndarray, np.ndarray]:
        """Offsets of the queries and the terms of each in order, -1 for a stop word or an unknown term."""
        offsets = offsets_of([len(sequence) for sequence in self.sequences])
        return offsets, field.term_ids([token for sequence in self.sequences for token in sequence])


@dataclass(frozen=True, eq=False)
class Inquiry:
    """Queries that are asked of a field of an index."""

    index: Index
    queries: Queries
    #: None: the default field.
    field_name: str | None = None
    n_jobs: int | None = None

    @cached_property
    def field(self) -> Field:
        """The field."""
        return self.index.field(self.field_name)

    @cached_property
    def terms(self) -> QueryTerms:
        """Terms of the queries in the field."""
        return self.queries.terms(self.field)
