"""A learned text feature: low-rank bilinear matching of query and document."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.text.features.base import Batch, Feature
from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.idf import IDF
from plackett.text.retrieval.queries import Queries, QueryTerms
from plackett.text.retrieval.vector_space import unit_rows, unit_vectors

__all__ = ["BilinearFeature"]


@dataclass(frozen=True, kw_only=True)
class BilinearFeature(Feature):
    r"""Supervised semantic indexing: :math:`f(q, d) = q^\top (U^\top V + I)\, d`, fitted to pairs of documents.

    q and d are TF-IDF vectors of length 1. With rank 0 it is the cosine; with more it learns which words go together.
    Make it with `fit`; fit it on training queries only.

    Parameters
    ----------
    query_factors, document_factors
        U and V: rank × terms.
    field
        Field of the documents.
    name, transform
        See `Feature`.

    References
    ----------
    Bai, Weston, Grangier, Collobert, Sadamasa, Qi, Chapelle, Weinberger: Supervised semantic indexing. CIKM 2009.
    """

    key: ClassVar[str] = "bilinear"

    query_factors: np.ndarray = field(hash=False, compare=False, repr=False)
    document_factors: np.ndarray = field(hash=False, compare=False, repr=False)
    field_name: str | None = None

    @property
    def stream(self) -> str:
        """The field."""
        return self.field_name or "default"

    @property
    def cost(self) -> float:
        """Grows with the rank."""
        return 1.0 + 0.05 * len(self.query_factors)

    def _label(self) -> str:
        return f"bilinear rank {len(self.query_factors)}"

    def _values(self, batch: Batch) -> np.ndarray:
        chosen = batch.field(self.field_name)
        q, d = _vectors(chosen, batch.terms(self.field_name)), unit_vectors(chosen)[batch.documents]
        plain = np.asarray(q[batch.query].multiply(d).sum(axis=1)).ravel()
        return plain + np.einsum("ij,ij->i", (q @ self.query_factors.T)[batch.query], d @ self.document_factors.T)

    @classmethod
    def fit(
        cls,
        index: Index,
        queries: Any,
        data: RankingDataset,
        *,
        rank: int = 20,
        steps: int = 20_000,
        learning_rate: float = 0.05,
        field: str | None = None,
        random_state: int = 0,
    ) -> BilinearFeature:
        """Fit the factors by stochastic gradient descent on the hinge loss of pairs of documents.

        Parameters
        ----------
        queries
            Texts by query id, at least those of ``data``.
        data
            Judged documents, as `plackett.extract` gives them.
        rank
            Number of factors; 0 gives the cosine.
        steps
            Number of pairs that are drawn.
        """
        if rank < 0 or steps < 0 or learning_rate <= 0:
            raise DataError(f"rank={rank}, steps={steps}, learning_rate={learning_rate}; give numbers of 0 or more")
        chosen = index.field(field)
        if data.y is None or data.docids is None:
            raise DataError("the data needs labels and document ids")
        rng = np.random.default_rng(random_state)
        left = rng.standard_normal((rank, chosen.n_terms)) * 0.1
        right = rng.standard_normal((rank, chosen.n_terms)) * 0.1
        texts = {str(q): text for q, text in dict(queries).items()}
        q = _vectors(chosen, Queries({str(i): texts[str(i)] for i in data.qids}, index.analyzer).terms(chosen))
        documents = unit_vectors(chosen)[index.numbers([str(d) for d in data.docids])]
        for _ in range(steps if rank else 0):
            i = int(rng.integers(data.n_queries))
            labels = data.y[data.offsets[i] : data.offsets[i + 1]]
            a, b = rng.integers(labels.size, size=2)
            if labels[a] == labels[b]:
                continue
            a, b = (a, b) if labels[a] > labels[b] else (b, a)
            _step(left, right, q, documents, i, int(data.offsets[i] + a), int(data.offsets[i] + b), learning_rate)
        return cls(query_factors=left, document_factors=right, field_name=field)


def _row(matrix: Any, i: int) -> tuple[np.ndarray, np.ndarray]:
    part = slice(matrix.indptr[i], matrix.indptr[i + 1])
    return matrix.indices[part], matrix.data[part]


def gradients(
    left: np.ndarray, right: np.ndarray, query: np.ndarray, difference: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Hinge loss of a pair and its gradient in both factors, for a query and the difference of two documents."""
    u, v = left @ query, right @ difference
    loss = 1.0 - (query @ difference + u @ v)
    if loss <= 0:
        return 0.0, np.zeros_like(left), np.zeros_like(right)
    return loss, -np.outer(v, query), -np.outer(u, difference)


def _step(
    left: np.ndarray, right: np.ndarray, q: Any, documents: Any, i: int, better: int, worse: int, rate: float
) -> None:
    """One step on a pair; only columns of terms that occur are touched."""
    qt, qv = _row(q, i)
    (at, av), (bt, bv) = _row(documents, better), _row(documents, worse)
    terms = np.union1d(np.union1d(qt, at), bt)
    query, difference = np.zeros(terms.size), np.zeros(terms.size)
    query[np.searchsorted(terms, qt)] = qv
    difference[np.searchsorted(terms, at)] += av
    difference[np.searchsorted(terms, bt)] -= bv
    _, du, dv = gradients(left[:, terms], right[:, terms], query, difference)
    left[:, terms] -= rate * du
    right[:, terms] -= rate * dv


def _vectors(chosen: Field, terms: QueryTerms) -> Any:
    import scipy.sparse as sp

    known = terms.terms >= 0
    row = terms.query_of_term[known]
    idf = IDF["smooth"](chosen.document_frequency, chosen.n_documents)
    value = (1.0 + np.log(terms.weights[known])) * idf[terms.terms[known]]
    return unit_rows(sp.csr_array((value, (row, terms.terms[known])), (terms.n_queries, chosen.n_terms)))
