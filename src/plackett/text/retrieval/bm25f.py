"""BM25F: BM25 of several fields at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, RetrievalModel, best, matching
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.matches import match
from plackett.text.retrieval.queries import Inquiry, QueryTerms

__all__ = ["BM25F"]


@dataclass(frozen=True, kw_only=True)
class BM25F(RetrievalModel):
    r"""BM25F: counts of a term in the fields are normalised by length, weighted and added before they saturate.

    .. math:: \sum_t \mathrm{idf}(t) \frac{(k_1 + 1)\, \tilde c}{\tilde c + k_1}, \qquad
              \tilde c = \sum_f \frac{w_f\, \mathrm{tf}_f}{1 - b_f + b_f\, \mathrm{len}_f / \overline{\mathrm{len}}_f}

    Document frequencies are those in the index's default field. With one field of weight 1 it is `BM25`.

    Parameters
    ----------
    weights
        Weight of each field; by default every text field of the index has weight 1.
    b
        Length normalisation: a number, or one per field.
    k1, idf
        As for `BM25`.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"title": "Whales", "body": "blue"}), Document("b", {"title": "Blue"})])
    >>> BM25F(weights={"title": 3, "body": 1}).search(index, "blue").documents.tolist()
    [1, 0]

    References
    ----------
    Robertson, Zaragoza, Taylor: Simple BM25 extension to multiple weighted fields. CIKM 2004.
    """

    name: ClassVar[str] = "BM25F"
    cost: ClassVar[float] = 3.0

    weights: Mapping[str, float] | None = field(default=None, hash=False)
    b: float | Mapping[str, float] = field(default=0.75, hash=False)
    k1: float = 1.2
    idf: str = "lucene"

    def _check(self) -> None:
        self.expect(self.k1 >= 0, "k1", "give a number of 0 or more")
        shares = self.b.values() if isinstance(self.b, Mapping) else (self.b,)
        self.expect(all(0 <= share <= 1 for share in shares), "b", "give shares from 0 to 1")
        choice("idf", self.idf, IDF)

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best documents of each query, of those with a term of it in one of the fields."""
        fields = [inquiry.index.field(name) for name in self._fields(inquiry.index)]
        offsets, documents = matching(*((field, inquiry.queries.terms(field)) for field in fields))
        return best(offsets, documents, self.score_pairs(inquiry, offsets, documents), k)

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        index, queries, n_jobs = inquiry.index, inquiry.queries, inquiry.n_jobs
        combined: np.ndarray | None = None
        for name, weight in self._fields(index).items():
            chosen = index.field(name)
            matches = match(chosen, queries.terms(chosen), offsets, documents, n_jobs)
            b = self.b.get(name, 0.75) if isinstance(self.b, Mapping) else self.b
            norm = 1.0 - b + b * matches.lengths / (chosen.average_length or 1.0)
            scale = weight / np.where(norm > 0, norm, 1.0)
            sizes = np.diff(matches.term_offsets)[np.repeat(np.arange(matches.n_queries), np.diff(offsets))]
            counts = matches.counts * np.repeat(scale, sizes)
            combined = counts if combined is None else combined + counts
        whole = index.field()
        terms: QueryTerms = queries.terms(whole)
        matches = match(whole, terms, offsets, documents, n_jobs)
        idf = IDF[self.idf](matches.document_frequency, whole.n_documents) * (matches.document_frequency > 0)
        pair = np.repeat(np.arange(documents.size), sizes)
        first = matches.term_offsets[np.repeat(np.arange(matches.n_queries), np.diff(offsets))]
        position = np.arange(pair.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        term = np.repeat(first, sizes) + position
        assert combined is not None
        value = (idf * matches.weights)[term] * (self.k1 + 1.0) * combined / np.maximum(combined + self.k1, 1e-300)
        return np.bincount(pair, value, documents.size)

    def _fields(self, index: Index) -> Mapping[str, float]:
        if self.weights is None:
            return dict.fromkeys(index.settings.text_fields, 1.0)
        if not self.weights or not all(weight >= 0 for weight in self.weights.values()):
            raise DataError(f"BM25F: weights={self.weights!r}; give a weight of 0 or more for at least one field")
        return self.weights
