"""Similarity of given embeddings as a feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.text.features.base import Batch, Feature
from plackett.text.retrieval.vector_space import directions

__all__ = ["EmbeddingFeature"]


@dataclass(frozen=True, kw_only=True)
class EmbeddingFeature(Feature):
    """Similarity of dense vectors of query and document, made elsewhere.

    Parameters
    ----------
    documents
        A row per document of the index, in its order, or a mapping from document ids to vectors.
    queries
        A mapping from query ids to vectors.
    similarity
        ``"cosine"`` or ``"dot"``. A pair without a vector is NaN.
    name, transform
        See `Feature`.
    """

    key: ClassVar[str] = "embedding"

    documents: Any = field(hash=False, compare=False)
    queries: Mapping[str, Any] = field(hash=False, compare=False)
    similarity: str = "cosine"

    def _check(self) -> None:
        choice("similarity", self.similarity, ("cosine", "dot"))

    @property
    def stream(self) -> str:
        """Embeddings."""
        return "embedding"

    @property
    def by_query(self) -> bool:
        """Vectors of queries are found by id."""
        return True

    def _label(self) -> str:
        return f"{self.similarity} of embeddings"

    def _values(self, batch: Batch) -> np.ndarray:
        documents = self._rows(batch)
        size = documents.shape[1]
        queries = np.full((len(batch.queries), size), np.nan)
        for q, qid in enumerate(batch.queries.ids):
            if qid in self.queries:
                vector = np.asarray(self.queries[qid], np.float64)
                if vector.shape != (size,):
                    raise DataError(
                        f"query {qid!r} has a vector of shape {vector.shape}; documents have {size} numbers"
                    )
                queries[q] = vector
        if self.similarity == "cosine":
            documents, queries = directions(documents), directions(queries)
        return np.einsum("ij,ij->i", documents, queries[batch.query])

    def _rows(self, batch: Batch) -> np.ndarray:
        if isinstance(self.documents, Mapping):
            ids = batch.index.ids.take(batch.documents).to_numpy().tolist()
            size = len(next(iter(self.documents.values()), ()))
            missing = np.full(size, np.nan)
            return np.array([self.documents.get(docid, missing) for docid in ids], np.float64).reshape(len(ids), size)
        table = self.documents
        if table.ndim != 2 or table.shape[0] != batch.index.n_documents:
            raise DataError(f"documents have shape {table.shape}; the index has {batch.index.n_documents} documents")
        return np.asarray(table[batch.documents], np.float64)
