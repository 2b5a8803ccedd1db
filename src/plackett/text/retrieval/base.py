"""Base classes of retrieval models, which search an index and score given candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel_from, over_queries
from plackett.text.index.columns import join_lists, join_offsets
from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.matches import Matches, match, no_candidates
from plackett.text.retrieval.queries import Inquiry, Queries, QueryTerms
from plackett.text.retrieval.top import insert, sort_heap

__all__ = ["RetrievalModel"]


class Results(NamedTuple):
    """Ranked documents of each query, the best first; among equal scores the smaller document number is first."""

    #: int64, one more than queries.
    offsets: np.ndarray
    #: int64: numbers of documents.
    documents: np.ndarray
    #: float64.
    scores: np.ndarray

    @classmethod
    def joined(cls, parts: Sequence[Results]) -> Results:
        """Results of some queries, then those of others."""
        return cls(
            join_offsets([part.offsets for part in parts]),
            np.concatenate([np.empty(0, np.int64), *(part.documents for part in parts)]),
            np.concatenate([np.empty(0), *(part.scores for part in parts)]),
        )

    def of(self, q: int) -> tuple[np.ndarray, np.ndarray]:
        """Documents and scores of one query."""
        part = slice(self.offsets[q], self.offsets[q + 1])
        return self.documents[part], self.scores[part]

    def run(self, queries: Queries, index: Index) -> dict[str, dict[str, float]]:
        """Scores by query id and document id, as `plackett.evaluate_run` takes them."""
        names = index.ids.to_numpy()
        return {
            qid: dict(zip(names[d].tolist(), s.tolist(), strict=True))
            for q, qid in enumerate(queries.ids)
            for d, s in [self.of(q)]
        }


@dataclass(frozen=True, kw_only=True)
class RetrievalModel:
    """A conventional ranking model: ranks the documents of an index, and scores given pairs as a feature.

    Models are small immutable objects with parameters. Queries are texts, a mapping from ids to texts, or `Queries`.
    """

    name: ClassVar[str]
    #: Rough cost of a pair, relative to a term model.
    cost: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        self._check()

    def _check(self) -> None:
        """Reject parameters out of range."""

    def expect(self, condition: bool, parameter: str, advice: str) -> None:
        """Raise an error about a parameter unless the condition holds."""
        if not condition:
            raise DataError(f"{type(self).__name__}: {parameter}={getattr(self, parameter)!r}; {advice}")

    def search(
        self, index: Index, queries: Any, k: int = 1000, *, field: str | None = None, n_jobs: int | None = None
    ) -> Results:
        """The k best documents of each query."""
        inquiry = Inquiry(index, as_queries(queries, index), field, n_jobs)
        whole("k", k, least=1)
        return self.find_best(inquiry, k)

    def scores(
        self,
        index: Index,
        queries: Any,
        offsets: Any,
        documents: Any,
        *,
        field: str | None = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Scores of given candidates: ``documents[offsets[q]:offsets[q + 1]]`` are those of query q, by number."""
        inquiry = Inquiry(index, as_queries(queries, index), field, n_jobs)
        offsets, documents = np.asarray(offsets, np.int64), np.asarray(documents, np.int64)
        n = len(inquiry.queries)
        if offsets.size != n + 1 or (offsets.size and offsets[-1] != documents.size):
            raise DataError(f"{n} queries need {n + 1} offsets that end at {documents.size}")
        return self.score_pairs(inquiry, offsets, documents)

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best documents of each query; by default all that have a term of it are scored."""
        offsets, documents = matching((inquiry.field, inquiry.terms))
        return best(offsets, documents, self.score_pairs(inquiry, offsets, documents), k)

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        raise NotImplementedError

    def __str__(self) -> str:
        changed = [f for f in fields(self) if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{f.name}={getattr(self, f.name)}' for f in changed)})"


def as_queries(queries: Any, index: Index) -> Queries:
    """Queries analysed as the index's documents were."""
    if isinstance(queries, Queries):
        return queries
    if isinstance(queries, str):
        return Queries([queries], index.analyzer)
    if isinstance(queries, (Mapping, Sequence)):
        return Queries(queries, index.analyzer)
    raise DataError(f"queries are a {type(queries).__name__}; give texts, or a mapping from ids to texts")


def matching(*terms: tuple[Field, QueryTerms]) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and numbers of all documents that have a term of the query in a field, in increasing order."""
    lists: list[np.ndarray] = []
    for q in range(terms[0][1].n_queries):
        parts = [np.empty(0, np.int32)]
        for field, query in terms:
            offsets, documents = field.postings[:2]
            parts += [documents[offsets[t] : offsets[t + 1]] for t in query.of(q)[0] if t >= 0]
        lists.append(np.unique(np.concatenate(parts)))
    return join_lists(lists)


def best(offsets: np.ndarray, documents: np.ndarray, scores: np.ndarray, k: int) -> Results:
    """The k best of each query's candidates in order."""
    query = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    order = np.lexsort((documents, -scores, query))
    rank = np.arange(order.size) - offsets[:-1][query]
    order = order[rank < k]
    return Results(np.concatenate(([0], np.cumsum(np.minimum(np.diff(offsets), k)))), documents[order], scores[order])


class TermModel(RetrievalModel):
    r"""A model that is a sum over query terms.

    .. math:: s(q, d) = \sum_{t \in q} w(\mathrm{tf}(t, d), \mathrm{len}(d), \ldots)

    A subclass computes the constants of each query term (`_constants`) and has the formula of a term's weight as a
    kernel, from which `term_kernels` makes the loops. Query terms that do not occur in the collection are left out.
    """

    #: Loops of the model, made by `term_kernels`.
    _kernels: ClassVar[TermKernels]
    #: Whether a query term that the document lacks has a weight.
    absent: ClassVar[bool] = False

    def _parameters(self) -> tuple[float, ...]:
        """Numbers that the kernel reads."""
        return ()

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        """Up to three numbers per query term, from its weight in the query and its frequencies."""
        raise NotImplementedError

    @property
    def _reads_documents(self) -> bool:
        """Whether the kernel needs a number per document besides its length: `_per_document`."""
        return False

    def _per_document(self, field: Field) -> np.ndarray:
        """A number per document of a field."""
        raise NotImplementedError

    def document_values(self, field: Field) -> np.ndarray | None:
        """The number that the model needs for each document of a field, if any, computed once per field."""
        if not self._reads_documents:
            return None
        return field.kept.of(self, lambda: np.ascontiguousarray(self._per_document(field), np.float64))

    def of_matches(self, matches: Matches, field: Field | None = None, n_jobs: int | None = None) -> np.ndarray:
        """Scores from term statistics; ``field`` is needed only by models that read more of a document."""
        out = np.empty(matches.n_pairs)
        values = self.document_values(field) if field is not None else None
        if self._reads_documents and (values is None or matches.documents is None):
            raise DataError(f"{type(self).__name__} needs an index, not only term statistics")
        extra = values[matches.documents] if values is not None else np.empty(0)
        arrays = (matches.term_offsets, matches.bases, matches.counts, matches.lengths, matches.unique, extra)
        over_queries(
            self._kernels.pairs,
            matches.offsets,
            *arrays,
            *self._padded(matches),
            np.array([*self._parameters(), 0.0]),
            self.absent,
            out,
            n_jobs=n_jobs,
        )
        return out

    def _padded(self, matches: Matches) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        with np.errstate(divide="ignore", invalid="ignore"):
            given = self._constants(matches)
        full = [np.ascontiguousarray(array, np.float64) for array in given]
        full += [np.zeros(matches.weights.size)] * (3 - len(full))
        return full[0], full[1], full[2], matches.document_frequency > 0

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Scores of candidates."""
        return self.score_terms(inquiry.field, inquiry.terms, offsets, documents, inquiry.n_jobs)

    def score_terms(
        self,
        field: Field,
        query: QueryTerms,
        offsets: np.ndarray,
        documents: np.ndarray,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Scores of candidates for weighted terms of a field."""
        return self.of_matches(match(field, query, offsets, documents, n_jobs), field, n_jobs)

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The k best documents of each query."""
        return self.search_terms(inquiry.field, inquiry.terms, k, inquiry.n_jobs)

    def search_terms(self, field: Field, query: QueryTerms, k: int, n_jobs: int | None = None) -> Results:
        """The k best documents for weighted terms of a field, among those that have one of the terms."""
        n, matches = query.n_queries, no_candidates(field, query)
        values = self.document_values(field)
        unique = np.diff(field.forward.offsets).astype(np.int32)
        width = min(k, max(field.n_documents, 1))
        documents, scores = np.empty((n, width), np.int64), np.empty((n, width))
        sizes = np.zeros(n, np.int64)
        work = np.concatenate(([0], np.cumsum(matches.document_frequency)))[query.offsets].astype(np.int64)
        over_queries(
            self._kernels.search,
            work,
            query.offsets,
            query.terms,
            *field.postings[:3],
            field.lengths,
            unique,
            np.empty(0) if values is None else values,
            *self._padded(matches),
            np.array([*self._parameters(), 0.0]),
            self.absent,
            documents,
            scores,
            sizes,
            n_jobs=n_jobs,
        )
        keep = np.arange(width) < sizes[:, None]
        return Results(np.concatenate(([0], np.cumsum(sizes))), documents[keep], scores[keep])


class TermKernels(NamedTuple):
    """The loops of a term model."""

    pairs: Callable[..., Any]
    search: Callable[..., Any]


def term_kernels(weight: Any) -> TermKernels:
    """Loops over candidates and over postings for a term's weight.

    ``weight(tf, length, unique, extra, a, b, c, p)`` is a kernel: count in the document, the document's number of terms
    and of distinct terms, its number from `TermModel._per_document`, the constants of the term, and the parameters.
    """
    return TermKernels(kernel_from(_pairs, weight=weight), kernel_from(_search, weight=weight))


def weight(tf, length, unique, extra, a, b, c, p):
    """Stands for a model's formula in the templates."""
    raise NotImplementedError


def _pairs(lo, hi, offsets, term_offsets, bases, counts, lengths, unique, extra, a, b, c, known, p, absent, out):
    for q in range(lo, hi):
        first, last = term_offsets[q], term_offsets[q + 1]
        at = bases[q] - first
        for i in range(offsets[q], offsets[q + 1]):
            total = 0.0
            more = extra[i] if extra.size else 0.0
            for j in range(first, last):
                tf = counts[at + j]
                if (tf > 0 or absent) and known[j]:
                    total += weight(tf, lengths[i], unique[i], more, a[j], b[j], c[j], p)
            at += last - first
            out[i] = total


def _search(
    lo,
    hi,
    work,
    term_offsets,
    terms,
    starts,
    documents,
    counts,
    lengths,
    unique,
    extra,
    a,
    b,
    c,
    known,
    p,
    absent,
    top_documents,
    scores,
    sizes,
):
    """Term at a time: add up the weights of the postings, then keep the best documents that were touched."""
    n = lengths.size
    k = top_documents.shape[1]
    total = np.zeros(n, np.float64)
    seen = np.zeros(n, np.bool_)
    touched = np.empty(n, np.int32)
    for q in range(lo, hi):
        n_touched = 0
        for j in range(term_offsets[q], term_offsets[q + 1]):
            if not known[j]:
                continue
            t = terms[j]
            for e in range(starts[t], starts[t + 1]):
                d = documents[e]
                if not seen[d]:
                    seen[d] = True
                    touched[n_touched] = d
                    n_touched += 1
                more = extra[d] if extra.size else 0.0
                w = weight(counts[e], lengths[d], unique[d], more, a[j], b[j], c[j], p)
                if absent:
                    w -= weight(0, lengths[d], unique[d], more, a[j], b[j], c[j], p)
                total[d] += w
        size = 0
        for i in range(n_touched):
            d = touched[i]
            score = total[d]
            if absent:
                more = extra[d] if extra.size else 0.0
                for j in range(term_offsets[q], term_offsets[q + 1]):
                    if known[j]:
                        score += weight(0, lengths[d], unique[d], more, a[j], b[j], c[j], p)
            size = insert(scores[q], top_documents[q], size, k, score, d)
            total[d] = 0.0
            seen[d] = False
        sort_heap(scores[q], top_documents[q], size)
        sizes[q] = size
