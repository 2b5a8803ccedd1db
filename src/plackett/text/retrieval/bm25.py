"""BM25."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._kernels.kernel import kernel
from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, TermModel, term_kernels
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.matches import Matches
from plackett.text.retrieval.queries import QueryTerms
from plackett.text.search.top_k import POSITIVE_IDF, bm25_impacts, top_k_of_queries

__all__ = ["BM25"]


@kernel(inline=True)
def _weight(tf, length, unique, extra, a, b, c, p):
    return a * tf / (tf + b + c * length)


@dataclass(frozen=True, kw_only=True)
class BM25(TermModel):
    r"""Okapi BM25.

    .. math:: \sum_{t \in q} \mathrm{idf}(t)
              \frac{(k_1 + 1)\, \mathrm{tf}}{\mathrm{tf} + k_1 (1 - b + b\, \mathrm{len} / \overline{\mathrm{len}})}
              \cdot \frac{(k_3 + 1)\, \mathrm{qtf}}{k_3 + \mathrm{qtf}}

    Parameters
    ----------
    k1
        How slowly the weight of a term saturates with its count. With 0 only its presence matters.
    b
        From 0 (length does not matter) to 1.
    k3
        How slowly the weight saturates with the count in the query; None: a term that the query repeats counts as often
        as it is repeated.
    idf
        ``"lucene"``: ln(1 + (N − n + ½) / (n + ½)), never negative; ``"rsj"``: ln((N − n + ½) / (n + ½)) of Robertson
        and Spärck Jones; ``"log"``: ln(N / n), as in the textbook; ``"smooth"``: ln((N + 1) / (n + 1)) + 1; ``"none"``.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> results = BM25().search(index, ["whale sky", "blue"], k=1)
    >>> results.documents.tolist(), results.scores.round(3).tolist()
    ([0, 1], [0.755, 0.237])

    References
    ----------
    Robertson, Walker, Jones, Hancock-Beaulieu, Gatford: Okapi at TREC-3. 1994.
    """

    name: ClassVar[str] = "BM25"
    _kernels = term_kernels(_weight)

    k1: float = 1.2
    b: float = 0.75
    k3: float | None = None
    idf: str = "lucene"

    def _check(self) -> None:
        self.expect(self.k1 >= 0, "k1", "give a number of 0 or more")
        self.expect(0 <= self.b <= 1, "b", "give a share from 0 to 1")
        self.expect(self.k3 is None or self.k3 >= 0, "k3", "give a number of 0 or more, or None")
        choice("idf", self.idf, IDF)

    def search_terms(self, field: Field, query: QueryTerms, k: int, n_jobs: int | None = None) -> Results:
        """The k best documents for weighted terms of a field, as `plackett.search` finds them."""
        other_formula = type(self) is not BM25  # a subclass, such as BM25+
        not_positive = self.idf not in POSITIVE_IDF or bool((query.weights <= 0).any())
        if other_formula or not_positive:
            return super().search_terms(field, query, k, n_jobs)
        impacts = bm25_impacts(field, self.k1, self.b, self.idf)
        offsets, documents, scores = top_k_of_queries(
            impacts, query.offsets, query.terms, self._in_query(query.weights), k, n_jobs
        )
        return Results(offsets, documents.astype(np.int64), scores.astype(np.float64))

    def _in_query(self, qtf: np.ndarray) -> np.ndarray:
        """Factor of a term by its count in the query."""
        return qtf if self.k3 is None else (self.k3 + 1.0) * qtf / (self.k3 + qtf)

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        qtf = matches.weights
        query = self._in_query(qtf)
        idf = IDF[self.idf](matches.document_frequency, matches.collection.n_documents)
        average = matches.collection.average_length
        scale = np.full(qtf.size, self.k1 * self.b / average if average > 0 else 0.0)
        return idf * (self.k1 + 1.0) * query, np.full(qtf.size, self.k1 * (1.0 - self.b)), scale
