"""What an index must say, computed by plain loops over the tokens."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np


def check_field(field, sequences):
    """Compare every array of a field with the terms of the live documents in reading order (None: a gap)."""
    tokens = [[t for t in sequence if t is not None] for sequence in sequences]
    terms = sorted({t for document in tokens for t in document}, key=lambda t: t.encode())
    number = {t: i for i, t in enumerate(terms)}
    assert [field.term(i) for i in range(field.n_terms)] == terms
    assert field.n_documents == len(sequences)
    assert field.lengths.tolist() == [len(document) for document in tokens]
    assert field.total_length == sum(map(len, tokens))
    assert np.isclose(field.average_length, sum(map(len, tokens)) / max(1, len(tokens)))
    assert field.document_frequency.tolist() == [sum(t in document for document in tokens) for t in terms]
    assert field.collection_frequency.tolist() == [sum(document.count(t) for document in tokens) for t in terms]
    for d, sequence in enumerate(sequences):
        a, b = field.stream.offsets[d : d + 2]
        assert [None if t < 0 else terms[t] for t in field.stream.terms[a:b]] == sequence
        a, b = field.forward.offsets[d : d + 2]
        counts = sorted((number[t], n) for t, n in Counter(tokens[d]).items())
        assert list(zip(field.forward.terms[a:b], field.forward.counts[a:b], strict=True)) == counts
    for t, term in enumerate(terms):
        places = {d: [i for i, x in enumerate(s) if x == term] for d, s in enumerate(sequences) if term in s}
        documents, offsets, positions = field.positions(t)
        assert documents.tolist() == list(places)
        assert [positions[a:b].tolist() for a, b in pairwise(offsets)] == [*places.values()]
        a, b = field.postings.offsets[t : t + 2]
        assert field.postings.counts[a:b].tolist() == [len(result) for result in places.values()]
    ids = field.term_ids([*terms, "no such term", "", None])
    assert ids.tolist() == [*range(len(terms)), -1, -1, -1]
