"""Does a query look for a page or for a topic? Signals from the collection, and a classifier."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.graph.urls import url_type
from plackett.text.index.field import Field
from plackett.text.index.index import Index
from plackett.text.retrieval.base import as_queries
from plackett.text.retrieval.queries import Queries

__all__ = ["QueryTypeClassifier", "query_type_signals"]

#: Columns of `query_type_signals`.
QUERY_TYPE_SIGNALS = ("likelihood", "dependence", "usage", "verb")
#: Verbs that queries for topics have; forms are found by the index's analyser.
VERBS = (
    "add avoid become begin book bring build buy calculate call change choose clean compare convert cook cost create "
    "cure cut delete do download draw drive eat feel find fix fly get give go grow happen help improve install keep "
    "know learn live lose make mean move need open pay play prevent print read reduce remove rent repair run sell "
    "send show sing sleep speak spell start stop study swim take teach tell think travel treat turn use visit wash "
    "watch wear win work write"
)


def query_type_signals(
    index: Index,
    queries: Any,
    *,
    home: Any = None,
    url: str = "url",
    titles: Sequence[str] = ("title", "anchor"),
    field: str | None = None,
    verbs: Collection[str] | None = None,
    mu: float = 100.0,
) -> np.ndarray:
    r"""Four signals that tell queries for a home page from queries for a topic, a row per query.

    ``likelihood``: :math:`\frac1n \sum_t \ln P_{\mathrm{home}}(t) - \ln P_{\mathrm{topic}}(t)`, with language models of
    the entry pages and of all other pages, both smoothed with the collection.
    ``dependence``: the same difference for the mean mutual information of two terms,
    :math:`\ln (P(t, u) / P(t) P(u))`, estimated from numbers of documents as
    :math:`\ln \bigl((n_{tu} + \frac12) / (n_t n_u / N + \frac12)\bigr)`: the terms of a name occur together.
    ``usage``: share of the occurrences of the query's terms that are in titles and anchor texts.
    ``verb``: 1 if the query has a verb other than *be*, as queries for topics have.

    Parameters
    ----------
    home
        Boolean by document: entry pages. By default those whose URL is the root of a site or of a directory.
    url
        Stored field with URLs.
    titles
        Fields of titles and anchor texts; those that the index lacks are left out.
    field
        Field of all text.
    verbs
        Verbs; by default a list of common English ones.
    mu
        Weight of the collection in the language models, in terms.

    Examples
    --------
    >>> from plackett.text import Document, Index
    >>> pages = [("http://acme.org/", "acme rockets"), ("http://acme.org/x/y.html", "how rockets fly in space")]
    >>> documents = [Document(u, {"url": u, "title": t, "body": t}) for u, t in pages]
    >>> index = Index.build(documents, kinds={"url": "keyword"})
    >>> query_type_signals(index, ["acme", "space fly"]).round(2).tolist()
    [[0.15, 0.0, 0.5, 0.0], [-0.08, 0.0, 0.5, 1.0]]

    References
    ----------
    Kang, Kim: Query type classification for web document retrieval. SIGIR 2003.
    """
    analysed: Queries = as_queries(queries, index)
    chosen = index.field(field)
    entry = _entries(index, home, url)
    query = analysed.terms(chosen)
    owner = np.repeat(np.arange(len(analysed)), np.diff(query.offsets))
    known = query.terms >= 0
    terms, owner = query.terms[known].astype(np.int64), owner[known]
    offsets = np.searchsorted(owner, np.arange(len(analysed) + 1))
    length = np.maximum(np.diff(offsets), 1)

    out = np.zeros((len(analysed), len(QUERY_TYPE_SIGNALS)))
    out[:, 0] = np.bincount(owner, _log_ratio(chosen, entry, terms, mu), len(analysed)) / length
    dependence = np.zeros(len(analysed))
    over_queries(_dependence, offsets, terms, *chosen.postings[:2], entry, dependence, rows_per_thread=100)
    out[:, 1] = dependence
    inside = sum(_occurrences(index.field(n), analysed) for n in titles if n in index.fields and n != chosen.name)
    out[:, 2] = np.minimum(inside / np.maximum(_occurrences(chosen, analysed), 1.0), 1.0)
    stems = set(index.analyzer.tokens(" ".join(VERBS.split() if verbs is None else verbs)))
    out[:, 3] = [any(token in stems for token in tokens) for tokens in analysed.tokens]
    return out


class QueryTypeClassifier:
    """Queries for a home page and queries for a topic, told apart by a weighted sum of `query_type_signals`.

    Parameters
    ----------
    weights
        Of the four signals; `fit` learns them.
    threshold
        A query above it looks for a home page.

    References
    ----------
    Kang, Kim: Query type classification for web document retrieval. SIGIR 2003.

    Examples
    --------
    >>> classifier = QueryTypeClassifier()
    >>> classifier.predict([[0.4, 0.1, 0.8, 0.0], [-0.5, 0.0, 0.1, 1.0]]).tolist()
    ['home', 'topic']
    """

    def __init__(self, weights: Sequence[float] = (1.0, 1.0, 1.0, -1.0), threshold: float = 0.0) -> None:
        if len(weights) != len(QUERY_TYPE_SIGNALS):
            raise DataError(f"weights={weights!r}; give {len(QUERY_TYPE_SIGNALS)}: {', '.join(QUERY_TYPE_SIGNALS)}")
        self.weights = np.asarray(weights, np.float64)
        self.threshold = float(threshold)

    def fit(self, signals: Any, types: Sequence[str], *, C: float = 1.0) -> QueryTypeClassifier:
        """Learn weights and threshold by logistic regression; ``types`` are ``"home"`` and ``"topic"``."""
        from sklearn.linear_model import LogisticRegression

        wrong = sorted(set(types) - {"home", "topic"})
        if wrong or len(set(types)) < 2:
            raise DataError(f"types {', '.join(map(repr, wrong or set(types)))}; give both 'home' and 'topic'")
        rows = np.asarray(signals, np.float64)
        spread = np.maximum(rows.std(axis=0), 1e-12)
        model = LogisticRegression(C=C).fit(rows / spread, [kind == "home" for kind in types])
        self.weights, self.threshold = model.coef_[0] / spread, -float(model.intercept_[0])
        return self

    def decision(self, signals: Any) -> np.ndarray:
        """Weighted sums of the signals, less the threshold; with learned weights the log odds of a home page."""
        return np.asarray(signals, np.float64) @ self.weights - self.threshold

    def predict(self, signals: Any) -> np.ndarray:
        """``"home"`` or ``"topic"`` for each row of signals."""
        return np.where(self.decision(signals) > 0, "home", "topic")


def _entries(index: Index, home: Any, url: str) -> np.ndarray:
    if home is None:
        if url not in index.kinds:
            raise DataError(f"the index has no stored field {url!r} of URLs; name it (url=…), or pass home=…")
        home = [kind in ("root", "subroot") for kind in url_type(index.values(url).tolist())]
    is_entry = np.asarray(home, np.bool_)
    if is_entry.shape != (index.n_documents,):
        raise DataError(
            f"home has shape {is_entry.shape}; give a Boolean for each of the {index.n_documents} documents"
        )
    return is_entry


def _log_ratio(field: Field, entry: np.ndarray, terms: np.ndarray, mu: float) -> np.ndarray:
    """Logarithm of each term's probability in entry pages over that in the others."""
    counts = np.zeros((2, terms.size))
    _count(terms, *field.postings[:3], entry, counts)
    whole = field.collection_frequency[terms] / max(field.total_length, 1)
    inside = float(field.lengths[entry].sum())
    sizes = np.array([[field.total_length - inside], [inside]])
    shares = (counts + mu * whole) / (sizes + mu)
    return np.log(shares[1]) - np.log(shares[0])


def _occurrences(field: Field, queries: Queries) -> np.ndarray:
    """Occurrences of each query's distinct terms in a field."""
    query = queries.terms(field)
    owner = np.repeat(np.arange(len(queries)), np.diff(query.offsets))
    known = query.terms >= 0
    return np.bincount(owner[known], field.collection_frequency[query.terms[known]], len(queries))


@kernel
def _count(terms, offsets, documents, counts, entry, out):  # type: ignore[no-untyped-def]
    for i in range(terms.size):
        for p in range(offsets[terms[i]], offsets[terms[i] + 1]):
            out[1 if entry[documents[p]] else 0, i] += counts[p]


@kernel
def _dependence(lo, hi, offsets, terms, starts, documents, entry, out):  # type: ignore[no-untyped-def]
    """Difference of the mean mutual information of two terms, in entry pages and in the others."""
    sizes = np.zeros(2)
    for d in range(entry.size):
        sizes[1 if entry[d] else 0] += 1.0
    single, both = np.zeros((2, 2)), np.zeros(2)
    for q in range(lo, hi):
        total, pairs = 0.0, 0
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(i + 1, offsets[q + 1]):
                single[:] = 0.0
                both[:] = 0.0
                a, a_end = starts[terms[i]], starts[terms[i] + 1]
                b, b_end = starts[terms[j]], starts[terms[j] + 1]
                for p in range(a, a_end):
                    single[0, 1 if entry[documents[p]] else 0] += 1.0
                for p in range(b, b_end):
                    single[1, 1 if entry[documents[p]] else 0] += 1.0
                while a < a_end and b < b_end:
                    if documents[a] == documents[b]:
                        both[1 if entry[documents[a]] else 0] += 1.0
                    if documents[a] <= documents[b]:
                        a += 1
                    else:
                        b += 1
                for part in range(2):
                    expected = single[0, part] * single[1, part] / max(sizes[part], 1.0)
                    value = np.log((both[part] + 0.5) / (expected + 0.5))
                    total += value if part == 1 else -value
                pairs += 1
        if pairs:
            out[q] = total / pairs
