"""The Boolean model: documents that satisfy an expression."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.text.analysis import Analyzer
from plackett.text.index.columns import join_lists
from plackett.text.index.field import Field
from plackett.text.retrieval.base import Results, RetrievalModel, best
from plackett.text.retrieval.queries import Inquiry

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

    def find_best(self, inquiry: Inquiry, k: int) -> Results:
        """The documents that satisfy each query."""
        offsets, documents = join_lists([np.flatnonzero(mask) for mask in self._masks(inquiry)])
        return best(offsets, documents, np.ones(documents.size), k)

    def score_pairs(self, inquiry: Inquiry, offsets: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """1 for candidates that satisfy the query."""
        out = np.empty(documents.size)
        for q, mask in enumerate(self._masks(inquiry)):
            part = slice(offsets[q], offsets[q + 1])
            out[part] = mask[documents[part]]
        return out

    def _masks(self, inquiry: Inquiry) -> Iterator[np.ndarray]:
        return (self.satisfied(inquiry.field, inquiry.index.analyzer, text) for text in inquiry.queries.texts)


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
