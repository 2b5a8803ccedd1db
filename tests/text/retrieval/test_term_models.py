"""Models that are sums over query terms, against their formulas as plain loops."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from plackett import DataError
from plackett.text import (
    BM25,
    BM25F,
    LSI,
    TFIDF,
    AbsoluteDiscount,
    AdditiveSmoothing,
    BinaryIndependence,
    BM25Plus,
    Dirichlet,
    Document,
    Index,
    JelinekMercer,
    TwoStage,
    VectorSpace,
)
from plackett.text.retrieval.binary_independence import probability_order
from plackett.text.retrieval.vector_space import document_vectors


def idf(small, name):
    n = small.n
    return {
        "log": lambda t: log(n / small.df(t)),
        "smooth": lambda t: log((n + 1) / (small.df(t) + 1)) + 1,
        "rsj": lambda t: log((n - small.df(t) + 0.5) / (small.df(t) + 0.5)),
        "lucene": lambda t: log(1 + (n - small.df(t) + 0.5) / (small.df(t) + 0.5)),
        "none": lambda t: 1.0,
    }[name]


def saturated(small, tokens, t, k1=1.2, b=0.75):
    tf = tokens.count(t)
    return (k1 + 1) * tf / (tf + k1 * (1 - b + b * len(tokens) / small.average))


@pytest.mark.parametrize("name", ["log", "smooth", "rsj", "lucene", "none"])
def test_bm25(small, name):
    weight = idf(small, name)
    small.check(BM25(idf=name), lambda q, d: sum(weight(t) * saturated(small, d, t) for t in q if t in d))


def test_bm25_of_repeated_query_terms(small):
    weight = idf(small, "lucene")

    def formula(q, d):
        factor = lambda t: 8 * q.count(t) / (7 + q.count(t))  # noqa: E731
        return sum(weight(t) * saturated(small, d, t) * factor(t) for t in set(q) if t in d)

    small.check(BM25(k3=7), formula)


def test_bm25_limits(small):
    weight = idf(small, "lucene")
    small.check(BM25(k1=0), lambda q, d: sum(weight(t) for t in q if t in d))
    small.check(BM25(b=0), lambda q, d: sum(weight(t) * saturated(small, d, t, b=0) for t in q if t in d))
    plus = lambda q, d: sum(weight(t) * (saturated(small, d, t) + 0.5) for t in q if t in d)  # noqa: E731
    small.check(BM25Plus(delta=0.5), plus)


def test_a_term_saturates():
    index = Index.build([Document("a", {"body": "x " * 10_000}), Document("b", {"body": "y"})])
    assert BM25(b=0, idf="log").search(index, "x").scores[0] == pytest.approx(2.2 * log(2), rel=1e-3)


def test_bm25f():
    rng = np.random.default_rng(0)
    tokens = [[rng.choice(list("vwxyz"), rng.integers(0, 6)).tolist() for _ in range(2)] for _ in range(20)]
    index = Index.build(
        [Document(str(i), {"title": " ".join(t), "body": " ".join(b)}) for i, (t, b) in enumerate(tokens)]
    )
    average = [sum(len(pair[f]) for pair in tokens) / 20 for f in (0, 1)]
    query = ["w", "x", "z"]

    def formula(pair):
        total = 0.0
        for t in query:
            count = sum(
                w * pair[f].count(t) / (1 - b + b * len(pair[f]) / average[f])
                for f, w, b in ((0, 3.0, 0.5), (1, 1.0, 0.9))
            )
            df = sum(t in one + two for one, two in tokens)
            total += log(1 + (20 - df + 0.5) / (df + 0.5)) * 2.2 * count / (count + 1.2) if count else 0.0
        return total

    model = BM25F(weights={"title": 3.0, "body": 1.0}, b={"title": 0.5, "body": 0.9})
    result = model.scores(index, [" ".join(query)], [0, 20], range(20))
    np.testing.assert_allclose(result, [formula(pair) for pair in tokens], rtol=1e-9)
    one = BM25F(weights={"body": 1.0}, idf="none").scores(index, ["w x"], [0, 20], range(20))
    np.testing.assert_allclose(one, BM25(idf="none").scores(index, ["w x"], [0, 20], range(20), field="body"))


LANGUAGE = {
    "jm": (JelinekMercer(weight=0.3), lambda tf, n, u, p, v: 0.7 * (tf / n if n else 0.0) + 0.3 * p),
    "dirichlet": (Dirichlet(mu=20), lambda tf, n, u, p, v: (tf + 20 * p) / (n + 20)),
    "absolute": (
        AbsoluteDiscount(delta=0.6),
        lambda tf, n, u, p, v: max(tf - 0.6, 0) / n + 0.6 * u / n * p if n else p,
    ),
    "additive": (AdditiveSmoothing(amount=0.2), lambda tf, n, u, p, v: (tf + 0.2) / (n + 0.2 * v)),
    "two-stage": (
        TwoStage(mu=20, weight=0.3),
        lambda tf, n, u, p, v: 0.7 * (tf + 20 * p) / (n + 20) + 0.3 * p,
    ),
}


@pytest.mark.parametrize("name", LANGUAGE)
def test_query_likelihood(small, name):
    model, probability = LANGUAGE[name]
    vocabulary = sorted({t for tokens in small.documents for t in tokens})

    def p(t, d):
        return probability(d.count(t), len(d), len(set(d)), small.cf(t) / small.total, len(vocabulary))

    for tokens in small.documents[:10]:
        assert sum(p(t, tokens) for t in vocabulary) == pytest.approx(1.0 if tokens or name != "jm" else 0.3)
    small.check(model, lambda q, d: sum(log(p(t, d)) for t in q if t in vocabulary))


def test_relations_of_the_smoothings(small):
    # a document without words has no maximum-likelihood model: leave those out
    documents = np.array([d for d, tokens in enumerate(small.documents) if tokens])
    pairs = [0, documents.size], documents
    scores = lambda model: model.scores(small.index, small.texts[:1], *pairs)  # noqa: E731
    np.testing.assert_allclose(scores(TwoStage(mu=30, weight=0)), scores(Dirichlet(mu=30)))
    np.testing.assert_allclose(scores(TwoStage(mu=0, weight=0.4)), scores(JelinekMercer(weight=0.4)))
    assert np.ptp(scores(JelinekMercer(weight=1.0))) < 1e-12
    lacks = [not set(small.queries[0][:-1]) <= set(small.documents[d]) for d in documents]
    np.testing.assert_array_equal(np.isneginf(scores(JelinekMercer(weight=0.0))), lacks)


TF = {
    "raw": lambda tf, n, most: tf,
    "log": lambda tf, n, most: 1 + log(tf),
    "length": lambda tf, n, most: tf / n,
    "max": lambda tf, n, most: tf / most,
    "augmented": lambda tf, n, most: 0.5 + 0.5 * tf / most,
    "binary": lambda tf, n, most: 1.0,
    "log1p": lambda tf, n, most: log(1 + tf),
    "log1p-length": lambda tf, n, most: log(1 + tf / n),
}


@pytest.mark.parametrize("name", TF)
def test_tf_idf(small, name):
    weight = idf(small, "log")

    def formula(q, d):
        most = max((d.count(t) for t in d), default=1)
        return sum(TF[name](d.count(t), len(d), most) * weight(t) for t in q if t in d)

    small.check(TFIDF(tf=name), formula)


def test_a_term_of_every_document_has_idf_0():
    index = Index.build([Document(str(i), {"body": "x" if i else "x y"}) for i in range(100)])
    assert TFIDF().search(index, "x").scores.max() == 0.0
    assert TFIDF().search(index, "y").scores.tolist() == [log(100)]
    assert TFIDF().search(index, "z").documents.size == 0


@pytest.mark.parametrize("cosine", [False, True])
def test_vector_space_is_a_product_of_vectors(small, cosine):
    field = small.index.field()
    vectors = document_vectors(field, "log", "smooth").toarray()
    for q, tokens in enumerate(small.queries):
        query = np.zeros(field.n_terms)
        for t in set(tokens[:-1]):
            query[field.term_ids([t])[0]] = (1 + log(tokens.count(t))) * idf(small, "smooth")(t)
        expected = vectors @ query
        if cosine:
            norms = np.linalg.norm(vectors, axis=1)
            expected = expected / np.where(norms > 0, norms, 1) / np.linalg.norm(query)
        model = VectorSpace(tf="log", idf="smooth", cosine=cosine)
        result = model.scores(small.index, [small.texts[q]], [0, small.n], range(small.n))
        np.testing.assert_allclose(result, expected, atol=1e-12)


def test_a_document_is_its_own_neighbour(small):
    long = int(np.argmax([len(tokens) for tokens in small.documents]))
    text = " ".join(small.documents[long])
    assert VectorSpace().scores(small.index, [text], [0, 1], [long])[0] == pytest.approx(1.0)


def test_lsi_of_full_rank_is_the_vector_space():
    from plackett.text import Analyzer

    texts = ["a b", "b c c", "a d", "d e b", "e e a", "c d e"]  # six documents, five terms
    index = Index.build(
        [Document(str(i), {"body": t}) for i, t in enumerate(texts)], analyzer=Analyzer(stop_words=None)
    )
    pairs = [0, 6], range(6)
    full = LSI(k=4, cosine=False).scores(index, ["a c"], *pairs)
    matrix = document_vectors(index.field()).toarray()
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    query = np.zeros(5)
    query[index.field().term_ids(["a", "c"])] = np.log(
        6 / index.field().document_frequency[index.field().term_ids(["a", "c"])]
    )
    np.testing.assert_allclose(full, (left[:, :4] * values[:4]) @ (right[:4] @ query), atol=1e-9)
    space = LSI(k=3).space(index.field())
    error = np.linalg.norm(matrix - space.documents @ space.terms.T) ** 2
    assert error == pytest.approx((values[3:] ** 2).sum())  # Eckart and Young
    ranked = LSI(k=2).search(index, ["a"], k=6)
    assert ranked.documents.size == 6


def test_lsi_search_and_scores_agree(small):
    model = LSI(k=5)
    result = model.search(small.index, small.texts, k=7)
    again = model.scores(small.index, small.texts, result.offsets, result.documents)
    np.testing.assert_allclose(result.scores, again, atol=1e-12)
    everything = model.scores(small.index, small.texts, *small.pairs()).reshape(-1, small.n)
    np.testing.assert_allclose(result.scores.reshape(-1, 7), -np.sort(-everything, axis=1)[:, :7], atol=1e-12)


def test_binary_independence_is_bm25_of_presence(small):
    weight = idf(small, "rsj")
    small.check(BinaryIndependence(), lambda q, d: sum(weight(t) for t in set(q) if t in d))
    pairs = small.pairs()
    bm25 = BM25(k1=0, idf="rsj", k3=0).scores(small.index, small.texts, *pairs)
    np.testing.assert_allclose(BinaryIndependence().scores(small.index, small.texts, *pairs), bm25, atol=1e-9)


def test_no_order_is_better_than_that_of_probability():
    from itertools import permutations

    p = np.random.default_rng(0).random(5)
    best = probability_order(p)
    discount = 1 / np.log2(np.arange(2, 7))
    for order in permutations(range(5)):
        chosen = p[list(order)]
        assert discount @ p[best] >= discount @ chosen - 1e-12
        assert (np.cumsum(p[best]) >= np.cumsum(chosen) - 1e-12).all()
    with pytest.raises(DataError, match="from 0 to 1"):
        probability_order([2.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BM25(k1=-1), "BM25: k1=-1"),
        (lambda: BM25(b=2), "BM25: b=2"),
        (lambda: BM25(idf="x"), "idf='x'"),
        (lambda: BM25Plus(delta=-1), "BM25Plus: delta=-1"),
        (lambda: JelinekMercer(weight=2), "weight=2"),
        (lambda: Dirichlet(mu=0), "mu=0"),
        (lambda: AbsoluteDiscount(delta=2), "delta=2"),
        (lambda: AdditiveSmoothing(amount=0), "amount=0"),
        (lambda: TwoStage(mu=-1), "mu=-1"),
        (lambda: TFIDF(tf="x"), "tf='x'"),
        (lambda: VectorSpace(tf="max"), "tf='max'"),
        (lambda: LSI(k=0), "k=0"),
    ],
)
def test_parameters_are_checked(make, message):
    with pytest.raises(DataError, match=message):
        make()


def test_searches_do_not_depend_on_the_number_of_threads(small):
    texts = small.texts * 50
    one, two = (BM25().search(small.index, texts, 10, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.documents, two.documents)
    np.testing.assert_array_equal(one.scores, two.scores)


def test_queries_and_results(small):
    result = BM25().search(small.index, {"x": small.texts[0], "y": "nothing"}, k=3)
    from plackett.text.retrieval.queries import Queries

    queries = Queries({"x": small.texts[0], "y": "nothing"}, small.index.analyzer)
    run = result.run(queries, small.index)
    assert list(run["x"].values()) == result.scores.tolist()
    assert run["y"] == {}
    with pytest.raises(DataError, match="k=0"):
        BM25().search(small.index, "w1", k=0)
    with pytest.raises(DataError, match="numbers of documents"):
        BM25().scores(small.index, "w1", [0, 1], [99])
    with pytest.raises(DataError, match="queries need"):
        BM25().scores(small.index, "w1", [0, 5], [1])
    with pytest.raises(DataError, match="queries are text"):
        BM25().search(small.index, [3])
