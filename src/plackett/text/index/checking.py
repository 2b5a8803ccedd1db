"""Checks of arrays read from a file: what the kernels rely on."""

from __future__ import annotations

import numpy as np

from plackett._base.errors import DataError
from plackett._files.checks import offsets_fit
from plackett._kernels.kernel import kernel
from plackett.data.strings import Strings
from plackett.text.index.field import Field
from plackett.text.index.table import DocumentTable


def check_offsets(offsets: np.ndarray, n: int, size: int, where: str) -> None:
    """Raise an error unless ``n`` parts fill ``size`` items one after the other."""
    if not offsets_fit(offsets, size, n):
        raise DataError(f"{where}: damaged, the offsets do not fit the data")


def check_strings(column: Strings, n: int, where: str) -> None:
    """Raise an error unless a column has ``n`` strings."""
    check_offsets(column.offsets, n, column.data.size, where)


def check_table(table: DocumentTable, where: str) -> None:
    """Raise an error unless every column has a value for each document."""
    n = table.ids.offsets.size - 1
    check_strings(table.ids, n, where)
    for name, values in table.values.items():
        if isinstance(values, Strings):
            check_strings(values, n, where)
        elif values.shape != (n,):
            raise DataError(f"{where}: damaged, field {name!r} has {values.shape} values for {n} documents")
    n_links = len(table.links.targets)
    check_offsets(table.links.offsets, n, n_links, where)
    check_strings(table.links.targets, n_links, where)
    check_strings(table.links.anchors, n_links, where)


def check_field(field: Field, n_documents: int, where: str) -> None:
    """Raise an error unless the arrays of a field are what its terms in reading order give."""
    n_terms = field.vocabulary.offsets.size - 1
    postings, forward, stream = field.postings, field.forward, field.stream
    check_strings(field.vocabulary, n_terms, where)
    check_offsets(stream.offsets, n_documents, stream.terms.size, where)
    check_offsets(forward.offsets, n_documents, forward.terms.size, where)
    check_offsets(postings.offsets, n_terms, postings.documents.size, where)
    check_offsets(postings.position_offsets, n_terms, postings.positions.size, where)
    sizes = (
        forward.counts.size == forward.terms.size,
        postings.counts.size == postings.documents.size,
        field.lengths.shape == (n_documents,),
        n_documents < 2**31 and n_terms < 2**31,
    )
    if not all(sizes):
        raise DataError(f"{where}: damaged, arrays that belong together differ in length")
    if not _sorted(field.vocabulary.data, field.vocabulary.offsets):
        raise DataError(f"{where}: damaged, the vocabulary is not in order")
    fault = _fault(stream, forward, postings, field.lengths, n_terms)
    if fault >= 0:
        raise DataError(f"{where}: damaged, {_FAULTS[fault]}")


_FAULTS = (
    "a term in reading order is out of range",
    "the terms of a document are not in order",
    "counts of terms do not add up to the length of the document",
    "the documents of a term are not in order",
    "the positions of a term are not those of its documents",
)


@kernel
def _sorted(data, offsets):  # type: ignore[no-untyped-def]
    """Whether strings increase and none is empty."""
    for i in range(offsets.size - 1):
        b, c = offsets[i], offsets[i + 1]
        if b == c:
            return False
        if i == 0:
            continue
        a = offsets[i - 1]
        less = b - a < c - b  # if one is the beginning of the other
        for j in range(min(b - a, c - b)):
            if data[a + j] != data[b + j]:
                less = data[a + j] < data[b + j]
                break
        if not less:
            return False
    return True


@kernel
def _fault(stream, forward, postings, lengths, n_terms):  # type: ignore[no-untyped-def]
    """Number of the first fault, -1 if there is none."""
    for i in range(stream.terms.size):
        if not -1 <= stream.terms[i] < n_terms:
            return 0
    n_documents = lengths.size
    for document in range(n_documents):
        before, total = -1, 0
        for i in range(forward.offsets[document], forward.offsets[document + 1]):
            if not before < forward.terms[i] < n_terms:
                return 1
            before = forward.terms[i]
            if forward.counts[i] < 1:
                return 2
            total += forward.counts[i]
        if total != lengths[document] or total > stream.offsets[document + 1] - stream.offsets[document]:
            return 2
    for term in range(n_terms):
        before = -1
        position = postings.position_offsets[term]
        stop = postings.position_offsets[term + 1]
        for i in range(postings.offsets[term], postings.offsets[term + 1]):
            document = postings.documents[i]
            if not before < document < n_documents:
                return 3
            before = document
            count = postings.counts[i]
            if count < 1 or count > stop - position:
                return 4
            begin, end = stream.offsets[document], stream.offsets[document + 1]
            for j in range(position, position + count):
                token_position = postings.positions[j]
                if not 0 <= token_position < end - begin or stream.terms[begin + token_position] != term:
                    return 4
                if j > position and token_position <= postings.positions[j - 1]:
                    return 4
            position += count
        if position != stop:
            return 4
    return -1
