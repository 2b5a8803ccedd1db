from __future__ import annotations

import numpy as np
import pytest

from plackett.text import Analyzer, Document, Index

WORDS = [f"w{i}" for i in range(30)]


class Small:
    """A random collection as lists of words, and as an index."""

    def __init__(self, seed: int = 0, n: int = 40, longest: int = 25) -> None:
        rng = np.random.default_rng(seed)
        chance = 1.0 / np.arange(1, len(WORDS) + 1)
        draw = lambda size: rng.choice(WORDS, size, p=chance / chance.sum()).tolist()  # noqa: E731
        self.documents = [draw(int(rng.integers(0, longest))) for _ in range(n)]
        self.queries = [[*draw(int(rng.integers(1, 6))), "unknown"] for _ in range(8)]
        self.index = Index.build(
            [Document(str(i), {"body": " ".join(tokens)}) for i, tokens in enumerate(self.documents)],
            analyzer=Analyzer(stop_words=None, stemmer=None),
        )
        self.texts = [" ".join(tokens) for tokens in self.queries]
        self.n = n
        self.total = sum(map(len, self.documents))
        self.average = self.total / n

    def df(self, term):
        return sum(term in tokens for tokens in self.documents)

    def cf(self, term):
        return sum(tokens.count(term) for tokens in self.documents)

    def pairs(self):
        """All documents as candidates of all queries."""
        offsets = np.arange(0, (len(self.queries) + 1) * self.n, self.n)
        return offsets, np.tile(np.arange(self.n), len(self.queries))

    def by_hand(self, formula):
        """A score per query and document by a function of two lists of words."""
        return np.array([[formula(query, tokens) for tokens in self.documents] for query in self.queries])

    def check(self, model, formula, rtol=1e-9):
        """Scores of all pairs, and the results of a search, against a formula."""
        expected = self.by_hand(formula)
        result = model.scores(self.index, self.texts, *self.pairs()).reshape(len(self.queries), self.n)
        np.testing.assert_allclose(result, expected, rtol=rtol, atol=1e-12)
        results = model.search(self.index, self.texts, k=10)
        for q, query in enumerate(self.queries):
            documents, scores = results.of(q)
            matched = [d for d, tokens in enumerate(self.documents) if set(tokens) & set(query)]
            ranked = sorted(matched, key=lambda d: (-round(expected[q, d], 9), d))[:10]
            np.testing.assert_allclose(scores, expected[q, ranked], rtol=1e-6, atol=1e-9)  # BM25 adds float32
            np.testing.assert_allclose(scores, expected[q, documents], rtol=1e-6, atol=1e-9)  # BM25 adds float32


@pytest.fixture(params=[0, 1])
def small(request):
    return Small(request.param)


@pytest.fixture
def make_small():
    return Small
