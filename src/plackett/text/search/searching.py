"""Search: the best documents for a query, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett.text.document import Document
from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.idf import IDF
from plackett.text.search.query import condition_mask, parse
from plackett.text.search.snippets import snippet
from plackett.text.search.top_k import bm25_impacts, top_k

__all__ = ["search"]


@dataclass(frozen=True)
class Contribution:
    """What a query term adds to the score of a document."""

    field: str
    term: str
    #: Occurrences in the document.
    count: int
    document_frequency: int
    weight: float


@dataclass(frozen=True)
class Hit:
    """A document that was found."""

    id: str
    score: float
    #: Number of the document in the index.
    number: int
    index: Index
    #: Terms of the query by field, with their counts in the query.
    query: Mapping[str, Mapping[str, int]]
    k1: float = 1.2
    b: float = 0.75

    def __repr__(self) -> str:
        return f"Hit({self.id!r}, {self.score:.4f})"

    @property
    def document(self) -> Document:
        """The document as it was stored."""
        return self.index.document(self.number)

    @property
    def title(self) -> str:
        """The stored title on one line, at most 100 characters of it; empty without one."""
        title = self.document.fields.get("title", "")
        return " ".join(title.split())[:100] if isinstance(title, str) else ""

    def snippet(self, *, words: int = 30, marks: tuple[str, str] = ("**", "**"), skip: Collection[str] = ()) -> str:
        """The part of the stored text that best shows why the document was found, with query terms marked.

        Fields to ``skip``, such as a title that is shown anyway, are ignored.
        """
        fields = self.document.fields.items()
        texts = {name: v for name, v in fields if self.index.kinds[name] == "text" and name not in skip}
        weights: dict[str, float] = {}
        for name, terms in self.query.items():
            field = self.index.field(name)
            for term, number in zip(terms, field.term_ids(list(terms)), strict=True):
                if number >= 0:
                    idf = float(IDF["lucene"](field.document_frequency[number], field.n_documents))
                    weights[term] = max(idf, weights.get(term, 0.0))
        named = [name for name in self.query if name in texts]
        chosen = max(
            named or list(texts),
            key=lambda name: sum(weights.get(t, 0) for t in set(self.index.analyzer.tokens(texts[name]))),
            default=None,
        )
        if chosen is None:
            return ""
        return snippet(texts[chosen], self.index.analyzer, weights, words=words, marks=marks)

    def explain(self) -> list[Contribution]:
        """The terms of the BM25 score of the document, the largest first; they add up to the score."""
        contributions = []
        for name, terms in self.query.items():
            field = self.index.field(name)
            impacts = bm25_impacts(field, self.k1, self.b)
            for term, number in zip(terms, field.term_ids(list(terms)), strict=True):
                if number < 0:
                    continue
                impacts.need(np.array([number]))
                a, b = field.postings.offsets[number : number + 2]
                at = a + int(np.searchsorted(field.postings.documents[a:b], self.number))
                if at < b and field.postings.documents[at] == self.number:
                    weight = float(impacts.weights[at]) * terms[term]
                    count, frequency = int(field.postings.counts[at]), int(b - a)
                    contributions.append(Contribution(name, term, count, frequency, weight))
        return sorted(contributions, key=lambda part: -part.weight)


def search(
    index: Index,
    query: str,
    k: int = 10,
    *,
    field: str | None = None,
    plain: bool = False,
    filters: str | None = None,
    k1: float = 1.2,
    b: float = 0.75,
) -> list[Hit]:
    """The k best documents for a query by BM25.

    Parameters
    ----------
    query
        In the query language: words, ``"phrases"``, ``+required``, ``-excluded``, ``AND``, ``OR``, ``NOT``,
        parentheses, ``field:word``, ``year:>=1990``, ``released:2020..2021``, ``keyword:value``.
    field
        Field for words that do not name one; by default the field of all text.
    plain
        Treat the query as plain words, whatever signs it contains.
    filters
        Conditions in the query language that documents must meet; they do not change scores.
    k1, b
        Parameters of BM25.

    Examples
    --------
    >>> from plackett.text import Document, Index, search
    >>> texts = {"a": "Blue whales sing.", "b": "The sky is blue.", "c": "A whale of a time"}
    >>> index = Index.build(Document(name, {"body": text}) for name, text in texts.items())
    >>> search(index, "blue whales")
    [Hit('a', 0.8416), Hit('b', 0.4992), Hit('c', 0.4992)]
    >>> search(index, 'whale -"blue whales"')[0].snippet()
    'A **whale** of a time'
    """
    documents, scores, terms = best_documents(index, query, k, field=field, plain=plain, filters=filters, k1=k1, b=b)
    return [
        Hit(index.id(number), float(score), int(number), index, terms, k1, b)
        for number, score in zip(documents.tolist(), scores.tolist(), strict=True)
    ]


def best_documents(
    index: Index,
    query: str,
    k: int,
    *,
    field: str | None = None,
    plain: bool = False,
    filters: str | None = None,
    k1: float = 1.2,
    b: float = 0.75,
) -> tuple[np.ndarray, np.ndarray, dict[str, Counter[str]]]:
    """Numbers and scores of the k best documents, the best first, and the query's terms by field; see `search`."""
    whole("k", k, least=1)
    default = field if field is not None else index.default_field
    index.field(default)  # an unknown one is an error, whatever the query
    allowed, matching = None, None
    terms: dict[str, Counter[str]] = {}
    if plain:
        terms[default] = Counter(index.analyzer.tokens(query))
    else:
        parsed = parse(query, index, default)
        for name, token in parsed.terms(index):
            terms.setdefault(name, Counter())[token] += 1
        if not parsed.plain:
            allowed = matching = parsed.mask(index)
    if filters:
        mask = condition_mask(filters, index, default)
        allowed = mask if allowed is None else allowed & mask
    lists = [(index.field(name), *_weighted(index.field(name), counts)) for name, counts in terms.items()]
    lists = [entry for entry in lists if entry[1].size]
    if len(lists) == 1:
        ((chosen, numbers, factors),) = lists
        documents, scores = top_k(bm25_impacts(chosen, k1, b), numbers, factors, k, allowed)
    else:
        documents, scores = _several_fields(index, lists, k, allowed, k1, b)
    if matching is not None and allowed is not None and documents.size < k:
        documents, scores = _with_unscored(documents, scores, allowed, k)
    return documents, scores, terms


def _weighted(field: Field, counts: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    numbers = field.term_ids(list(counts))
    factors = np.fromiter(counts.values(), np.float64, len(counts))
    return numbers[numbers >= 0], factors[numbers >= 0]


def _several_fields(
    index: Index, lists: list[Any], k: int, allowed: np.ndarray | None, k1: float, b: float
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of several fields added up."""
    total = np.zeros(index.n_documents)
    for field, numbers, factors in lists:
        documents, scores = top_k(bm25_impacts(field, k1, b), numbers, factors, index.n_documents, allowed)
        total[documents] += scores
    scored = np.flatnonzero(total)
    order = np.lexsort((scored, -total[scored]))[:k]
    return scored[order], total[scored[order]]


def _with_unscored(
    documents: np.ndarray, scores: np.ndarray, allowed: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Documents that match without a scored term, such as those of a filter alone, come last, with score 0."""
    rest = allowed.copy()
    rest[documents] = False
    more = np.flatnonzero(rest)[: k - documents.size]
    return np.concatenate((documents, more)), np.concatenate((scores, np.zeros(more.size, scores.dtype)))
