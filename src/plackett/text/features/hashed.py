"""Hashed crosses of query terms and document terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.text.index.index import Index
from plackett.text.retrieval.base import as_queries

if TYPE_CHECKING:
    import scipy.sparse as sp

__all__ = ["hashed_crosses"]


def hashed_crosses(
    index: Index,
    queries: Any,
    offsets: Any,
    documents: Any,
    *,
    n_columns: int = 1 << 18,
    most_terms: int = 50,
    field: str | None = None,
) -> sp.csr_array:
    """A sparse feature for each pair of a query term and a document term, hashed into a number of columns.

    A linear ranker on them learns which words of documents answer which words of queries: two synonyms are different
    terms, but their pair has a column. The value is 1 + ln of the term's count in the document (times its count in the
    query), scaled so that each row has length 1. The sign of half of the crosses is flipped, so that collisions cancel
    on average.

    Parameters
    ----------
    offsets, documents
        Candidates by query, as for `FeatureSet.matrix`.
    n_columns
        Number of columns, a power of 2.
    most_terms
        Terms of a document that are crossed: the rarest ones in the collection.

    Returns
    -------
    scipy.sparse.csr_array
        A row per pair, float32: give it to a ranker that takes sparse features.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "big cats"}), Document("b", {"body": "blue sky"})])
    >>> hashed_crosses(index, ["tiger big"], [0, 2], [0, 1], n_columns=64).shape
    (2, 64)

    References
    ----------
    Weinberger, Dasgupta, Langford, Smola, Attenberg: Feature hashing for large scale multitask learning. ICML 2009.
    Bai et al.: Supervised semantic indexing. CIKM 2009.
    """
    import scipy.sparse as sp

    if n_columns < 2 or n_columns & (n_columns - 1):
        raise DataError(f"n_columns={n_columns}; give a power of 2")
    whole("most_terms", most_terms, least=1)
    analysed, chosen = as_queries(queries, index), index.field(field)
    offsets, documents = np.asarray(offsets, np.int64), np.asarray(documents, np.int64)
    # query terms are hashed as text: a query may have words that no document has
    keys = [np.array([_hash(token) for token in tokens], np.uint64) for tokens in analysed.tokens]
    starts = np.concatenate(([0], np.cumsum([key.size for key in keys], dtype=np.int64)))
    flat = np.concatenate([np.empty(0, np.uint64), *keys])
    term_keys = np.array([_hash(chosen.term(t)) for t in range(chosen.n_terms)], np.uint64)
    per_document = np.minimum(np.diff(chosen.forward.offsets)[documents], most_terms)
    query = np.repeat(np.arange(len(analysed)), np.diff(offsets))
    sizes = per_document * np.diff(starts)[query]
    rows = np.concatenate(([0], np.cumsum(sizes)))
    columns, values = np.empty(rows[-1], np.int32), np.empty(rows[-1], np.float32)
    arrays = (*chosen.forward, chosen.document_frequency, most_terms, n_columns - 1)
    _cross(query, starts, flat, term_keys, documents, rows, *arrays, columns, values)
    crosses = sp.csr_array((values, columns, rows), (documents.size, n_columns))
    crosses.sum_duplicates()
    norm = np.sqrt(crosses.multiply(crosses).sum(axis=1))
    scale = 1.0 / np.where(norm > 0, norm, 1.0)
    crosses.data *= np.repeat(scale, np.diff(crosses.indptr)).astype(np.float32)
    return crosses


def _hash(text: str) -> int:
    """A hash that is the same in every process."""
    value = 0xCBF29CE484222325  # FNV-1a
    for byte in text.encode("utf-8", "surrogatepass"):
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


@kernel
def _cross(query, starts, keys, term_keys, documents, rows, offsets, terms, counts, df, most, mask, columns, values):
    for p in range(documents.size):
        a, b = offsets[documents[p]], offsets[documents[p] + 1]
        own = terms[a:b]
        order = np.argsort(df[own], kind="mergesort") if b - a > most else np.arange(b - a)
        at = rows[p]
        for i in range(min(most, b - a)):
            t = own[order[i]]
            value = 1.0 + np.log(counts[a + order[i]])
            for j in range(starts[query[p]], starts[query[p] + 1]):
                mixed = (keys[j] * np.uint64(0x9E3779B97F4A7C15)) ^ term_keys[t]
                mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
                mixed = mixed ^ (mixed >> np.uint64(29))
                columns[at] = np.int64(mixed >> np.uint64(1)) & mask
                values[at] = value if mixed & np.uint64(1) else -value
                at += 1
