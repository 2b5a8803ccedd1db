"""Documents that contain a phrase."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.text.index.field import Field


def phrase_mask(field: Field, words: Sequence[str | None]) -> np.ndarray:
    """Boolean by document: whether it has the words in this order side by side; None stands for any one word.

    The words are those of `plackett.text.Analyzer.words`: a stop word inside a phrase matches any word.
    """
    mask = np.zeros(field.n_documents, np.bool_)
    word_offsets = np.array([i for i, word in enumerate(words) if word is not None], np.int64)
    if word_offsets.size == 0:
        return mask
    terms = field.term_ids([words[i] for i in word_offsets])
    if (terms < 0).any():
        return mask
    rarest = int(np.argmin(field.collection_frequency[terms]))
    documents, offsets, positions = field.positions(int(terms[rarest]))
    word_offsets -= word_offsets[rarest]
    _match(documents, offsets, positions, terms, word_offsets, field.stream.offsets, field.stream.terms, mask)
    return mask


@kernel
def _match(documents, offsets, positions, terms, word_offsets, stream_offsets, stream, mask):
    """For each position of the rarest word, check whether the other words are where they should be."""
    for i in range(documents.size):
        document = documents[i]
        begin, end = stream_offsets[document], stream_offsets[document + 1]
        for j in range(offsets[i], offsets[i + 1]):
            good = True
            for t in range(terms.size):
                at = begin + positions[j] + word_offsets[t]
                if not begin <= at < end or stream[at] != terms[t]:
                    good = False
                    break
            if good:
                mask[document] = True
                break
