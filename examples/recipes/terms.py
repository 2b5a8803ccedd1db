"""How frequent terms are in a collection of texts, and what follows from it for a query and a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from plackett import DataError


class TermStatistics:
    """Document frequencies, lengths and counts of a collection, with the scores that use them.

    >>> terms = TermStatistics().fit([["red", "rose"], ["red", "car"], ["sea"]])
    >>> round(terms.idf("red"), 3), round(terms.idf("sea"), 3)
    (0.47, 0.981)
    >>> round(terms.bm25(["rose"], ["red", "rose"]), 3)
    0.907
    """

    def fit(self, texts: Iterable[Sequence[str]]) -> Self:
        """Count the terms of some texts."""
        self.frequency, self.counts = Counter[str](), Counter[str]()
        self.n_texts = 0
        for text in texts:
            self.n_texts += 1
            self.counts.update(text)
            self.frequency.update(set(text))
        self._settle()
        return self

    def _settle(self) -> None:
        self.n_terms = sum(self.counts.values())
        self.average = max(self.n_terms / max(self.n_texts, 1), 1.0)

    def idf(self, term: str) -> float:
        """Inverse document frequency, log(1 + (N − df + ½) / (df + ½)); never negative."""
        df = self.frequency.get(term, 0)
        return float(np.log1p((self.n_texts - df + 0.5) / (df + 0.5)))

    def bm25(self, query: Iterable[str], text: Sequence[str], k1: float = 1.2, b: float = 0.75) -> float:
        """BM25 of the distinct terms of a query."""
        counts, norm = Counter(text), k1 * (1 - b + b * len(text) / self.average)
        common = [term for term in dict.fromkeys(query) if counts[term]]
        return sum(self.idf(term) * (k1 + 1) * counts[term] / (counts[term] + norm) for term in common)

    def tfidf(self, query: Iterable[str], text: Sequence[str]) -> float:
        """Cosine of the vectors of term counts times idf."""
        q, d = ({t: n * self.idf(t) for t, n in Counter(terms).items()} for terms in (query, text))
        norms = [sum(value * value for value in vector.values()) ** 0.5 for vector in (q, d)]
        return sum(value * d.get(term, 0.0) for term, value in q.items()) / (norms[0] * norms[1]) if all(norms) else 0.0

    def log_probability(self, query: Sequence[str], text: Sequence[str], mu: float = 50.0) -> float:
        """Mean log probability of the query's terms in the language model of the text (Dirichlet's smoothing)."""
        if not query:
            return 0.0
        counts, total = Counter(text), len(text) + mu
        whole = self.n_terms + len(self.counts) + 1
        return float(np.mean([np.log((counts[t] + mu * (self.counts.get(t, 0) + 1) / whole) / total) for t in query]))

    def state(self) -> dict[str, Any]:
        """What was counted, by name."""
        terms = list(self.counts)
        return {
            "terms": terms,
            "counts": np.array([self.counts[t] for t in terms], np.int64),
            "frequency": np.array([self.frequency[t] for t in terms], np.int64),
            "n_texts": self.n_texts,
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """The statistics with a state that `state` returned."""
        made, terms = cls(), [str(term) for term in state["terms"]]
        made.counts = Counter(dict(zip(terms, state["counts"].tolist(), strict=True)))
        made.frequency = Counter(dict(zip(terms, state["frequency"].tolist(), strict=True)))
        made.n_texts = int(state["n_texts"])
        if min(made.frequency.values(), default=0) < 0 or max(made.frequency.values(), default=0) > made.n_texts:
            raise DataError("the counts of terms are damaged")
        made._settle()
        return made
