"""The terms of one field of all live documents, as flat arrays for models.

How a model reads an index
--------------------------
`plackett.text.Index` is a snapshot. ``index.field(name)`` is a `plackett.text.index.field.Field`: one field of all live
documents as flat arrays, however many segments the index has. Deleted documents do not exist in it, so every statistic
is over live documents. An index of one segment without deletions maps the arrays from the file; otherwise the field is
put together in memory when it is first used.

- ``field.n_documents``, ``field.lengths`` (int32 per document, without stop words), ``field.total_length``,
  ``field.average_length``;
- ``field.term_ids(tokens)``: int32 numbers of terms, -1 for unknown ones; ``index.analyzer.tokens(query)`` makes the
  tokens;
- ``field.document_frequency``, ``field.collection_frequency``: int64 per term;
- ``field.postings``: ``offsets``, ``documents``, ``counts``, ``position_offsets``, ``positions``: the documents of term
  ``t`` are ``documents[offsets[t]:offsets[t + 1]]``, increasing; ``field.positions(t)`` gives them by document;
- ``field.forward``: ``offsets``, ``terms``, ``counts``: the distinct terms of a document, increasing;
- ``field.stream``: ``offsets``, ``terms``: the terms of a document in reading order, -1 for a stop word or a gap.

Offsets are int64, everything else int32; the groups are named tuples and can be passed to kernels.
``index.values(name)`` has numbers and dates by document, ``index.edges()`` the links between documents, ``index.id(d)``
and ``index.numbers(ids)`` go between numbers and ids. A field that holds the terms of several (``"all"`` by default) is
a field like any other.

>>> from plackett.text import Document, Index
>>> index = Index.build([Document("a", {"body": "blue whales sing"}), Document("b", {"body": "a blue, blue sky"})])
>>> field = index.field("body")
>>> (term,) = field.term_ids(index.analyzer.tokens("Blue"))
>>> postings = field.postings
>>> part = slice(postings.offsets[term], postings.offsets[term + 1])
>>> postings.documents[part].tolist(), postings.counts[part].tolist()
([0, 1], [1, 2])
>>> field.lengths.tolist(), field.average_length, field.stream.terms[field.stream.offsets[1]:].tolist()
([3, 3], 3.0, [-1, 0, 0, 2])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plackett._base.cached import cached_property
from plackett._kernels.kernel import kernel
from plackett.data.strings import Strings
from plackett.text.index.columns import offsets_of
from plackett.text.index.inverting import forward, invert
from plackett.text.index.kept import Kept

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
        self.kept = Kept()

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
        offsets = offsets_of([len(token) for token in encoded])
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
        offsets = offsets_of(postings.counts[a:b])
        start = postings.position_offsets[term]
        return postings.documents[a:b], offsets, postings.positions[start : start + offsets[-1]]


@kernel
def _find(data, offsets, block, block_offsets, numbers):
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
