"""The Boolean model: documents that satisfy an expression."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.text.analysis import Analyzer
from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.base import Results, RetrievalModel, best
from plackett.text.retrieval.queries import Queries

__all__ = ["Boolean"]

_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")


@dataclass(frozen=True, kw_only=True)
class Boolean(RetrievalModel):
    """Boolean model: 1 for documents that satisfy the query, 0 for others.

    A query is an expression of words with ``AND``, ``OR``, ``NOT`` (in capitals) and parentheses. NOT binds tighter
    than AND, AND tighter than OR. Words next to each other are joined by the ``default`` operator. A word that the
    analyzer removes is satisfied by every document, one that it cuts into several terms needs all of them.

    Parameters
    ----------
    default
        ``"and"`` or ``"or"``.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> index = Index.build([Document("a", {"body": "blue whales"}), Document("b", {"body": "blue blue sky"})])
    >>> Boolean().search(index, "blue AND NOT (whale OR sea)").documents.tolist()
    [1]

    References
    ----------
    Baeza-Yates, Ribeiro-Neto: Modern information retrieval. Addison-Wesley 1999, section 2.5.2.
    """

    name: ClassVar[str] = "Boolean"

    default: str = "and"

    def _check(self) -> None:
        self.expect(self.default in ("and", "or"), "default", "give 'and' or 'or'")

    def satisfied(self, field: Field, analyzer: Analyzer, query: str) -> np.ndarray:
        """Whether each document satisfies a query."""
        return _Parser(query, field, analyzer, self.default).parse()

    def _search(self, index: Index, queries: Queries, k: int, field: str | None, n_jobs: int | None) -> Results:
        chosen = index.field(field)
        lists = [np.flatnonzero(self.satisfied(chosen, index.analyzer, text)) for text in queries.texts]
        offsets = np.concatenate(([0], np.cumsum([numbers.size for numbers in lists], dtype=np.int64)))
        documents = np.concatenate([np.empty(0, np.int64), *lists])
        return best(offsets, documents, np.ones(documents.size), k)

    def _scores(
        self,
        index: Index,
        queries: Queries,
        offsets: np.ndarray,
        documents: np.ndarray,
        field: str | None,
        n_jobs: int | None,
    ) -> np.ndarray:
        chosen = index.field(field)
        out = np.empty(documents.size)
        for q, text in enumerate(queries.texts):
            part = slice(offsets[q], offsets[q + 1])
            out[part] = self.satisfied(chosen, index.analyzer, text)[documents[part]]
        return out


class _Parser:
    """Recursive descent: or := and (OR and)*; and := not (AND not)*; not := NOT not | (or) | word."""

    #: Deepest nesting of parentheses.
    MOST = 200

    def __init__(self, text: str, field: Field, analyzer: Analyzer, default: str) -> None:
        self.text, self.field, self.analyzer = text, field, analyzer
        self.tokens = _TOKEN.findall(text)
        self.default = default
        self.at = self.depth = 0

    def parse(self) -> np.ndarray:
        if not self.tokens:
            return np.zeros(self.field.n_documents, np.bool_)
        mask = self._or()
        if self.at < len(self.tokens):
            raise DataError(f"query {self.text!r:.100}: unexpected {self.tokens[self.at]!r}")
        return mask

    def _next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def _or(self) -> np.ndarray:
        mask = self._and()
        while self._next() == "OR" or (self.default == "or" and self._next() not in ("", ")", "AND")):
            self.at += self._next() == "OR"
            mask = mask | self._and()
        return mask

    def _and(self) -> np.ndarray:
        mask = self._not()
        while self._next() == "AND" or (self.default == "and" and self._next() not in ("", ")", "OR")):
            self.at += self._next() == "AND"
            mask = mask & self._not()
        return mask

    def _not(self) -> np.ndarray:
        token = self._next()
        self.at += 1
        self.depth += 1
        if self.depth > self.MOST:
            raise DataError(f"query {self.text!r:.100}: nested more than {self.MOST} deep")
        if token == "NOT":
            mask = ~self._not()
        elif token == "(":
            mask = self._or()
            if self._next() != ")":
                raise DataError(f"query {self.text!r:.100}: a parenthesis is not closed")
            self.at += 1
        elif token in ("", ")", "AND", "OR"):
            raise DataError(
                f"query {self.text!r:.100}: a word is missing {f'before {token!r}' if token else 'at the end'}"
            )
        else:
            mask = self._word(token)
        self.depth -= 1
        return mask

    def _word(self, word: str) -> np.ndarray:
        mask = np.ones(self.field.n_documents, np.bool_)
        postings = self.field.postings
        for term in self.field.term_ids(self.analyzer.tokens(word)):
            has = np.zeros(self.field.n_documents, np.bool_)
            if term >= 0:
                has[postings.documents[postings.offsets[term] : postings.offsets[term + 1]]] = True
            mask &= has
        return mask
