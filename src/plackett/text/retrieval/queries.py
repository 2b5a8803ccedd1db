"""Queries as models read them: weighted terms of a field, in flat arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.text.analysis import Analyzer
from plackett.text.index.field import Field

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

    @classmethod
    def from_lists(cls, lists: Iterable[tuple[Any, Any]]) -> QueryTerms:
        """From terms and weights of each query."""
        pairs = list(lists)
        offsets = np.zeros(len(pairs) + 1, np.int64)
        np.cumsum([len(terms) for terms, _ in pairs], out=offsets[1:])
        terms = np.concatenate([np.empty(0, np.int32), *(np.asarray(t, np.int32) for t, _ in pairs)])
        weights = np.concatenate([np.empty(0), *(np.asarray(w, np.float64) for _, w in pairs)])
        return cls(offsets, terms, weights)


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
        counted = [_counted(tokens) for tokens in self.tokens]
        offsets = np.zeros(len(counted) + 1, np.int64)
        np.cumsum([len(distinct) for distinct, _ in counted], out=offsets[1:])
        tokens = [token for distinct, _ in counted for token in distinct]
        return QueryTerms(
            offsets, field.term_ids(tokens), np.array([n for _, counts in counted for n in counts], float)
        )

    def numbers(self, field: Field) -> tuple[np.ndarray, np.ndarray]:
        """Offsets of the queries and the terms of each in order, -1 for a stop word or an unknown term."""
        offsets = np.zeros(len(self.sequences) + 1, np.int64)
        np.cumsum([len(sequence) for sequence in self.sequences], out=offsets[1:])
        return offsets, field.term_ids([token for sequence in self.sequences for token in sequence])


def _counted(tokens: Sequence[str]) -> tuple[list[str], list[int]]:
    counts: dict[str, int] = {}
    for token in tokens:
        counts[token] = counts.get(token, 0) + 1
    return list(counts), list(counts.values())
