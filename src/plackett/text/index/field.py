"""The terms of one field of all live documents, as flat arrays for models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from plackett._base.cached import cached_property
from plackett._kernels.kernel import kernel
from plackett.data.strings import Strings
from plackett.text.index.inverting import forward, invert

__all__ = ["Field"]


class Postings(NamedTuple):
    """Documents by term.

    Term ``t`` occurs in ``documents[offsets[t]:offsets[t + 1]]``, which increase, ``counts`` times each. Its positions
    are ``positions[position_offsets[t]:position_offsets[t + 1]]``: those of its first document, then those of its
    second, and so on.
    """

    #: int64, one more than terms.
    offsets: np.ndarray
    #: int32.
    documents: np.ndarray
    #: int32.
    counts: np.ndarray
    #: int64, one more than terms.
    position_offsets: np.ndarray
    #: int32.
    positions: np.ndarray


class Forward(NamedTuple):
    """Terms by document: ``terms[offsets[d]:offsets[d + 1]]`` in increasing order, ``counts`` times each."""

    #: int64, one more than documents.
    offsets: np.ndarray
    #: int32.
    terms: np.ndarray
    #: int32.
    counts: np.ndarray


class TermStream(NamedTuple):
    """Terms of each document in reading order: ``terms[offsets[d] + position]``, -1 for a stop word or a gap."""

    #: int64, one more than documents.
    offsets: np.ndarray
    #: int32.
    terms: np.ndarray


class Field:
    """One field of the live documents of an index.

    Documents and terms are numbers from 0 without holes; terms are in the order of their UTF-8 bytes. Deleted documents
    do not exist here, and it does not matter how many segments the index has.

    Attributes
    ----------
    name
        Name of the field.
    vocabulary
        The terms as text, in order.
    stream, postings, forward
        The terms in reading order, by term and by document.
    lengths
        int32: number of terms of each document, stop words not counted.
    """

    def __init__(
        self,
        name: str,
        vocabulary: Strings,
        stream: TermStream,
        postings: Postings,
        forward: Forward,
        lengths: np.ndarray,
    ) -> None:
        self.name = name
        self.vocabulary = vocabulary
        self.stream = stream
        self.postings = postings
        self.forward = forward
        self.lengths = lengths
        #: What models computed from the field, by their own keys; kept as long as the field.
        self.kept: dict[Any, Any] = {}

    @classmethod
    def from_stream(cls, name: str, vocabulary: Strings, stream: TermStream) -> Field:
        """Derive all arrays from the terms in reading order."""
        n_terms = len(vocabulary)
        offsets, terms, counts, lengths = forward(stream.offsets, stream.terms, n_terms)
        postings = Postings(*invert(stream.offsets, stream.terms, n_terms))
        return cls(name, vocabulary, stream, postings, Forward(offsets, terms, counts), lengths)

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.n_documents} documents, {self.n_terms} terms)"

    @property
    def n_documents(self) -> int:
        """Number of live documents, including those with nothing in this field."""
        return self.lengths.size

    @property
    def n_terms(self) -> int:
        """Number of distinct terms."""
        return len(self.vocabulary)

    @cached_property
    def total_length(self) -> int:
        """Number of terms of all documents together."""
        return int(self.postings.position_offsets[-1])

    @cached_property
    def average_length(self) -> float:
        """Mean number of terms of a document; 0 without documents."""
        return self.total_length / self.n_documents if self.n_documents else 0.0

    @cached_property
    def document_frequency(self) -> np.ndarray:
        """int64: number of documents in which each term occurs."""
        return np.diff(self.postings.offsets)

    @cached_property
    def collection_frequency(self) -> np.ndarray:
        """int64: number of times that each term occurs."""
        return np.diff(self.postings.position_offsets)

    def term_ids(self, tokens: Sequence[str | None]) -> np.ndarray:
        """int32: the number of each token, -1 for one that does not occur (and for None)."""
        if len(tokens) == 0:
            return np.empty(0, np.int32)
        encoded = [(token or "").encode("utf-8", "surrogatepass") for token in tokens]
        block = np.frombuffer(b"".join(encoded) or b"\0", np.uint8)
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum([len(token) for token in encoded], out=offsets[1:])
        numbers = np.empty(len(encoded), np.int32)
        _find(self.vocabulary.data, self.vocabulary.offsets, block, offsets, numbers)
        return numbers

    def term(self, number: int) -> str:
        """The text of a term."""
        return self.vocabulary[number].decode("utf-8", "replace")

    def positions(self, term: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Documents of a term, offsets of each document's positions, and the positions."""
        postings = self.postings
        a, b = postings.offsets[term], postings.offsets[term + 1]
        offsets = np.zeros(b - a + 1, np.int64)
        np.cumsum(postings.counts[a:b], out=offsets[1:])
        start = postings.position_offsets[term]
        return postings.documents[a:b], offsets, postings.positions[start : start + offsets[-1]]


@kernel
def _find(data, offsets, block, block_offsets, numbers):  # type: ignore[no-untyped-def]
    """Binary search of each string of a block in a sorted column of strings; an empty string is not found."""
    for i in range(numbers.size):
        a = block_offsets[i]
        length = block_offsets[i + 1] - a
        lo, hi = 0, offsets.size - 1
        numbers[i] = -1
        while lo < hi and length > 0:
            middle = (lo + hi) >> 1
            b = offsets[middle]
            other = offsets[middle + 1] - b
            order = 0
            for j in range(min(length, other)):
                if data[b + j] != block[a + j]:
                    order = -1 if data[b + j] < block[a + j] else 1
                    break
            if order == 0:
                order = -1 if other < length else (1 if other > length else 0)
            if order == 0:
                numbers[i] = middle
                break
            if order < 0:
                lo = middle + 1
            else:
                hi = middle
