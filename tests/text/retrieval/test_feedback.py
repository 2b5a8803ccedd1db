from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest

from plackett import DataError
from plackett.text import (
    BM25,
    RM3,
    Dirichlet,
    KLDivergence,
    RegularizedFeedback,
    Rocchio,
    SVMFeedback,
    VectorSpace,
)
from plackett.text.retrieval.mixture import FeedbackTerms, feedback_terms, mixture_topics, regularized_topics
from plackett.text.retrieval.queries import Queries
from plackett.text.retrieval.vector_space import document_vectors, unit_vectors
from plackett.theory import rocchio_hidden_loss


def query_terms(small):
    return Queries(small.texts, small.index.analyzer).terms(small.index.field())


@pytest.mark.parametrize("model", [BM25(), Dirichlet(mu=20)])
def test_rm3_by_hand(small, model):
    result = RM3(model=model, n_documents=4, n_terms=5, weight=0.4)
    field = small.index.field()
    expanded = result.expanded(field, query_terms(small))
    first = model.search(small.index, small.texts, 4)
    for q, tokens in enumerate(small.queries):
        documents, scores = first.of(q)
        weights = np.exp(scores - scores.max()) if model != BM25() else scores
        weights = weights / weights.sum()
        language: Counter[str] = Counter()
        for d, share in zip(documents, weights, strict=True):
            for t in small.documents[d]:
                language[t] += share / len(small.documents[d])
        best = sorted(language.items(), key=lambda item: (-round(item[1], 12), field.term_ids([item[0]])[0]))[:5]
        expected = Counter({t: 0.6 * n / len(tokens) for t, n in Counter(tokens).items()})
        for t, value in best:
            expected[t] += 0.4 * value / sum(v for _, v in best)
        terms, values = expanded.of(q)
        got = {field.term(t) if t >= 0 else "unknown": v for t, v in zip(terms, values, strict=True)}
        assert got == pytest.approx(dict(expected))


def test_without_feedback_it_is_the_model(small):
    pairs = small.pairs()
    likelihood = Dirichlet(mu=20).scores(small.index, small.texts, *pairs).reshape(-1, small.n)
    for model in (RM3(model=Dirichlet(mu=20), weight=0.0), KLDivergence(model=Dirichlet(mu=20), weight=0.0)):
        result = model.scores(small.index, small.texts, *pairs).reshape(-1, small.n)
        lengths = np.array([len(tokens) for tokens in small.queries])[:, None]
        np.testing.assert_allclose(result, likelihood / lengths, atol=1e-12)


def dense(counts, background):
    """Feedback terms of one query, from a table of documents and terms."""
    row, position = np.nonzero(counts)
    rows = np.concatenate(([0], np.cumsum((counts > 0).sum(axis=1))))
    n = counts.shape[1]
    result = FeedbackTerms(
        np.array([0, n]), np.arange(n, dtype=np.int32), background, rows, position, counts[row, position]
    )
    return result, np.array([0, counts.shape[0]])


def mixture_topic(counts, background, noise, steps=50, tol=1e-8):
    """EM on tables."""
    total = counts.sum(axis=0)
    topic, values = total / total.sum(), []
    for _ in range(steps):
        mixed = (1 - noise) * topic + noise * background
        values.append(total @ np.log(np.maximum(mixed, 1e-300)))
        if len(values) > 1 and values[-1] - values[-2] < tol * abs(values[-1]):
            break
        own = total * (1 - noise) * topic / np.maximum(mixed, 1e-300)
        topic = own / own.sum()
    return topic


def regularized_topic(counts, background, query, start, decay, steps):
    """EM with a prior on tables."""
    share, prior = np.full((len(counts), 1), 0.5), start
    topic = start * query + counts.sum(axis=0)
    topic /= topic.sum()
    for _ in range(steps):
        own = counts * share * topic / np.maximum(share * topic + (1 - share) * background, 1e-300)
        share = own.sum(axis=1, keepdims=True) / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        topic = prior * query + own.sum(axis=0)
        topic /= topic.sum()
        if own.sum() >= prior:
            break
        prior *= decay
    return topic


def test_topics_of_several_queries_equal_tables(small):
    field = small.index.field()
    query = query_terms(small)
    documents = Dirichlet(mu=20).search(small.index, small.texts, 3)
    result = feedback_terms(field, query, documents.offsets, documents.documents)
    weights = np.zeros(result.terms.size)
    for q in range(query.n_queries):
        part = slice(result.offsets[q], result.offsets[q + 1])
        weights[part] = np.isin(result.terms[part], query.of(q)[0])
        weights[part] /= max(weights[part].sum(), 1)
    plain = mixture_topics(result, documents.offsets, 0.4)
    prior = regularized_topics(result, documents.offsets, weights, 500.0, 0.8, 60)
    for q in range(query.n_queries):
        part = slice(result.offsets[q], result.offsets[q + 1])
        names = [field.term(t) for t in result.terms[part]]
        counts = np.array([[small.documents[d].count(name) for name in names] for d in documents.of(q)[0]], float)
        if not counts.size:
            continue
        np.testing.assert_allclose(plain[part], mixture_topic(counts, result.background[part], 0.4), rtol=1e-9)
        expected = regularized_topic(counts, result.background[part], weights[part], 500.0, 0.8, 60)
        np.testing.assert_allclose(prior[part], expected, rtol=1e-9)


def test_the_mixture_finds_its_maximum():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 6, (3, 12)).astype(float)
    background = rng.dirichlet(np.ones(12))
    topic = mixture_topics(*dense(counts, background), 0.6, max_iter=2000, tol=-1.0)
    assert topic.sum() == pytest.approx(1.0)
    total = counts.sum(axis=0)
    value = lambda theta: total @ np.log(0.4 * theta + 0.6 * background)  # noqa: E731
    for _ in range(300):  # the likelihood is concave: no mixture with another topic is better
        other = 0.99 * topic + 0.01 * rng.dirichlet(np.full(12, 0.3))
        assert value(other) <= value(topic) + 1e-6


def test_kl_feedback_by_hand(small):
    field = small.index.field()
    model = KLDivergence(model=Dirichlet(mu=20), n_documents=3, n_terms=4, weight=0.5, noise=0.5)
    terms, weights = model.expanded(field, query_terms(small)).of(0)
    documents, _ = Dirichlet(mu=20).search(small.index, small.texts[:1], 3).of(0)
    counts = np.array([[small.documents[d].count(field.term(t)) for t in range(field.n_terms)] for d in documents])
    topic = mixture_topic(counts, field.collection_frequency / field.total_length, 0.5)
    best = np.argsort(-topic, kind="stable")[:4]
    expected = np.zeros(field.n_terms)
    expected[best] = 0.5 * topic[best] / topic[best].sum()
    for t, n in Counter(small.queries[0][:-1]).items():
        expected[field.term_ids([t])[0]] += 0.5 * n / len(small.queries[0])
    np.testing.assert_allclose(weights[terms >= 0], expected[terms[terms >= 0]], rtol=1e-6)
    assert weights.sum() == pytest.approx(1.0)


def test_regularised_topics():
    background = np.full(4, 0.25)
    query = np.array([1.0, 0.0, 0.0, 0.0])
    counts = np.array([[5.0, 5.0, 0.0, 0.0], [0.0, 0.0, 9.0, 0.0]])  # the second document has no query term
    result, offsets = dense(counts, background)
    topic = regularized_topics(result, offsets, query, 10_000.0, 0.9, 200)
    assert topic.sum() == pytest.approx(1.0)
    assert topic[0] > topic[1] > topic[2] >= topic[3]
    result, offsets = dense(np.zeros((1, 4)), background)
    only_query = regularized_topics(result, offsets, query, 100.0, 0.9, 5)
    np.testing.assert_allclose(only_query, query)


def test_regularised_feedback_keeps_the_query(small):
    field = small.index.field()
    expanded = RegularizedFeedback(model=Dirichlet(mu=20), n_documents=3).expanded(field, query_terms(small))
    for q, tokens in enumerate(small.queries):
        terms, weights = expanded.of(q)
        assert weights.sum() == pytest.approx(1.0)
        assert set(field.term_ids(tokens[:-1])) <= set(terms.tolist())


@pytest.mark.parametrize("cosine", [False, True])
def test_rocchio_is_a_gradient_step_on_its_hidden_loss(small, cosine):
    field = small.index.field()
    space = VectorSpace(tf="log", idf="smooth", cosine=cosine)
    model = Rocchio(model=space, n_terms=1000)
    vectors = document_vectors(field, "log", "smooth").toarray()
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors / np.where(norms > 0, norms, 1.0) if cosine else vectors
    tokens = small.queries[0][:-1]
    query = np.zeros(field.n_terms)
    for t in set(tokens):
        query[field.term_ids([t])[0]] = (1 + log(tokens.count(t))) * (log((small.n + 1) / (small.df(t) + 1)) + 1)
    query = query / np.linalg.norm(query) if cosine else query
    labels = {str(d): int(d % 2) for d in range(1, 9)}
    good, bad = vectors[[1, 3, 5, 7]], vectors[[2, 4, 6, 8]]
    moved = query - rocchio_hidden_loss(query, good, bad).gradient
    result = model.with_judgements(small.index, {"1": small.texts[0]}, {"1": labels}, k=small.n)
    np.testing.assert_allclose(result.scores, (vectors @ moved)[result.documents], atol=1e-10)


def test_rocchio_without_documents_scales_the_query(small):
    plain = VectorSpace(idf="smooth")
    model = Rocchio(model=plain, beta=0.0, gamma=0.0, alpha=2.0)
    pairs = small.pairs()
    twice = 2 * plain.scores(small.index, small.texts, *pairs)
    np.testing.assert_allclose(model.scores(small.index, small.texts, *pairs), twice, atol=1e-12)
    with pytest.raises(DataError, match="model="):
        Rocchio(model=BM25())


def test_svm_feedback_is_the_pointwise_svm_of_one_query(small):
    labels = {str(d): int(d % 2) for d in range(10)}
    text = {"1": "w0 w1 w2 w3 w4"}
    result = SVMFeedback(C=2.0).with_judgements(small.index, text, {"1": labels}, k=small.n)
    vectors = unit_vectors(small.index.field()).toarray()
    x, y = vectors[:10], np.where(np.arange(10) % 2, 1.0, -1.0)
    weights = _dual(x, y, 2.0)
    np.testing.assert_allclose(result.scores, vectors[result.documents] @ weights, atol=2e-3)


def _dual(x, y, C, steps=20_000):
    """Linear SVM without intercept by projected gradient on its dual."""
    gram = (x @ x.T) * np.outer(y, y)
    a = np.zeros(y.size)
    rate = 1.0 / np.linalg.eigvalsh(gram)[-1]
    for _ in range(steps):
        a = np.clip(a + rate * (1.0 - gram @ a), 0.0, C)
    return (a * y) @ x


def test_svm_feedback_needs_both_kinds(small):
    text = {"1": small.texts[0]}
    same = SVMFeedback().with_judgements(small.index, text, {"1": {"0": 1, "1": 1}}, k=10)
    first = BM25().search(small.index, text, k=10)
    np.testing.assert_array_equal(same.documents, first.documents)
    blind = SVMFeedback(n_documents=3).search(small.index, text, k=10)
    again = SVMFeedback(n_documents=3).scores(small.index, text, [0, blind.documents.size], blind.documents)
    np.testing.assert_allclose(blind.scores, again)
