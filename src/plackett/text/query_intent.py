"""What kind of result a query asks for: a homepage, or documents on a topic."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.text.analysis import Analyzer

__all__ = ["QueryIntent"]

#: A few verbs that mark a query as a question about a topic; forms of "be" do not.
_WORDS = (
    "add bake become build buy calculate change choose clean compare convert cook create cure cut delete do does did "
    "draw find fix get grow have help improve increase install know learn lose make meet open play prevent read "
    "reduce remove repair run save sell send start stop take teach tell treat use want work works write"
)
_VERBS = frozenset(_WORDS.split())


@dataclass
class QueryIntent:
    r"""Tells queries that look for a homepage from queries that look for documents on a topic.

    Four signals are combined linearly: (1) the difference of the log-likelihoods of the query under language
    models (bigrams backed by unigrams) of two collections of queries or page texts, homepages and topics; (2) the
    difference of the mutual information of its words, :math:`\log \frac{P(w_1 \dots w_n)}{\prod P(w_i)}` over adjacent
    pairs; (3) the share of occurrences of its words in titles and anchor texts, if those are given; (4) whether it
    contains a verb. Weights are learned by logistic regression from the two collections' own queries, or set by hand.

    Parameters
    ----------
    analyzer
        How text becomes words; None lower-cases and keeps all words.
    smoothing
        Added to all counts, so that unseen words have a probability.
    weights
        Weights of the four signals and the intercept, to set them by hand; None learns them.

    Examples
    --------
    >>> home = ["nasa homepage", "city of boston", "university of leeds", "mit home page"]
    >>> topic = ["how to treat asthma", "causes of global warming", "history of jazz", "how does radar work"]
    >>> intent = QueryIntent().fit(home, topic)
    >>> intent.predict(["stanford homepage", "how to treat warming"])
    ['home', 'topic']

    References
    ----------
    Kang and Kim: Query type classification for web document retrieval. SIGIR 2003.
    """

    analyzer: Analyzer | None = None
    smoothing: float = 0.5
    weights: Sequence[float] | None = None
    _models: tuple[_Model, ...] = field(default=(), init=False, repr=False)

    def fit(
        self, home: Iterable[str], topic: Iterable[str], *, emphasised: Iterable[str] = (), plain: Iterable[str] = ()
    ) -> QueryIntent:
        """Learn from queries (or texts) of both kinds.

        Parameters
        ----------
        home, topic
            Queries of the two kinds.
        emphasised, plain
            Titles and anchor texts, and body texts, of the collection, for the third signal.
        """
        at_home, on_topic = [self._words(text) for text in home], [self._words(text) for text in topic]
        if not at_home or not on_topic:
            raise DataError("QueryIntent needs at least one query of each kind")
        number("smoothing", self.smoothing, above=0.0)
        words = {w for text in (*at_home, *on_topic) for w in text}
        self._models = tuple(_Model(texts, len(words), self.smoothing) for texts in (at_home, on_topic))
        self._strong = Counter(w for text in emphasised for w in self._words(text))
        self._weak = Counter(w for text in plain for w in self._words(text))
        if self.weights is not None:
            table = np.asarray(self.weights, np.float64)
            if table.shape != (5,):
                raise DataError(f"weights has shape {table.shape}; give one for each of four signals, and an intercept")
        else:
            table = self._learned([*at_home, *on_topic], np.repeat([1.0, 0.0], [len(at_home), len(on_topic)]))
        self.coef_, self.intercept_ = table[:4], float(table[4])
        return self

    def _learned(self, texts: list[list[str]], home: np.ndarray) -> np.ndarray:
        """Penalised logistic regression on the signals; each text is left out of its own language model."""
        from scipy.optimize import minimize

        rows = []
        for text, is_home in zip(texts, home, strict=True):
            models = tuple(
                m.without(text) if own == bool(is_home) else m
                for m, own in zip(self._models, (True, False), strict=True)
            )
            rows.append(self._signals(text, models))
        X = np.array(rows)
        scale = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
        X = np.hstack([X / scale, np.ones((len(X), 1))])

        def value(w: np.ndarray) -> tuple[float, np.ndarray]:
            margin = (2.0 * home - 1.0) * (X @ w)
            pull = -(2.0 * home - 1.0) / (1.0 + np.exp(margin))
            return np.logaddexp(0.0, -margin).sum() + 0.5 * w[:4] @ w[:4], X.T @ pull + np.append(w[:4], 0.0)

        weights = minimize(value, np.zeros(5), jac=True, method="L-BFGS-B").x
        return np.append(weights[:4] / scale, weights[4])

    def features(self, queries: Iterable[str]) -> np.ndarray:
        """The four signals of each query, for use as query features."""
        self._check()
        return np.array([self._signals(self._words(text), self._models) for text in queries]).reshape(-1, 4)

    def predict_proba(self, queries: Iterable[str]) -> np.ndarray:
        """Probability that each query looks for a homepage."""
        return 1.0 / (1.0 + np.exp(-(self.features(queries) @ self.coef_ + self.intercept_)))

    def predict(self, queries: Iterable[str]) -> list[str]:
        """``"home"`` or ``"topic"`` for each query."""
        return ["home" if p > 0.5 else "topic" for p in self.predict_proba(queries)]

    def _check(self) -> None:
        if not self._models:
            raise DataError("this QueryIntent is not fitted yet; call fit first")

    def _words(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower()) if self.analyzer is None else self.analyzer.tokens(text)

    def _signals(self, words: list[str], models: tuple[_Model, ...]) -> list[float]:
        home, topic = models
        strong, weak = sum(self._strong[w] for w in words), sum(self._weak[w] for w in words)
        return [
            home.likelihood(words) - topic.likelihood(words),
            home.information(words) - topic.information(words),
            strong / (strong + weak) if strong + weak else 0.0,
            float(any(w in _VERBS for w in words)),
        ]


class _Model:
    """Smoothed unigram and bigram counts of texts."""

    def __init__(self, texts: Iterable[Sequence[str]], n_words: int, smoothing: float) -> None:
        self.n_words, self.smoothing = n_words + 1, smoothing
        self.words: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()
        for text in texts:
            self.words.update(text)
            self.pairs.update(pairwise(text))
        self.total = self.words.total()

    def without(self, text: Sequence[str]) -> _Model:
        """The model without one of its texts."""
        copy = _Model((), self.n_words - 1, self.smoothing)
        copy.words, copy.pairs = self.words.copy(), self.pairs.copy()
        copy.words.subtract(text)
        copy.pairs.subtract(pairwise(text))
        copy.total = self.total - len(text)
        return copy

    def p(self, word: str) -> float:
        """Probability of a word."""
        return (self.words[word] + self.smoothing) / (self.total + self.smoothing * self.n_words)

    def next(self, first: str, word: str) -> float:
        """Probability of a word after another, backed by that of the word."""
        weight = self.smoothing * self.n_words
        return (self.pairs[first, word] + weight * self.p(word)) / (self.words[first] + weight)

    def likelihood(self, words: Sequence[str]) -> float:
        """Log-likelihood of a text."""
        if not words:
            return 0.0
        later = sum(np.log(self.next(a, b)) for a, b in pairwise(words))
        return float(np.log(self.p(words[0])) + later)

    def information(self, words: Sequence[str]) -> float:
        """Mutual information of adjacent words."""
        pairs = pairwise(words)
        return float(sum(np.log(self.next(a, b) / self.p(b)) for a, b in pairs))
