from __future__ import annotations

import numpy as np
import pytest

from plackett.text import BM25, Document, Index, Link, MarginalRelevance, Propagated, RiskMinimization
from plackett.text.retrieval.novelty import new_share, scaled
from plackett.text.retrieval.queries import Queries
from plackett.text.retrieval.vector_space import unit_vectors


def test_full_weight_on_relevance_is_the_model(small):
    plain = BM25().search(small.index, small.texts, k=15)
    for model in (MarginalRelevance(trade_off=1.0), RiskMinimization(old_cost=0.0)):
        np.testing.assert_array_equal(model.search(small.index, small.texts, k=15).documents, plain.documents)


def test_marginal_relevance_by_hand(small):
    first = BM25().search(small.index, small.texts, k=12)
    result = MarginalRelevance(trade_off=0.4, depth=12).search(small.index, small.texts, k=12)
    for q in range(len(small.texts)):
        documents, scores = first.of(q)
        vectors = unit_vectors(small.index.field())[documents].toarray()
        relevance, cosine = scores / scores.max(), vectors @ vectors.T
        chosen: list[int] = []
        while len(chosen) < documents.size:
            value = {
                i: 0.4 * relevance[i] - 0.6 * max((cosine[i, j] for j in chosen), default=0.0)
                for i in range(documents.size)
                if i not in chosen
            }
            chosen.append(max(value, key=lambda i: (round(value[i], 12), -i)))
        assert result.of(q)[0].tolist() == documents[chosen].tolist()
        assert (np.diff(result.of(q)[1]) <= 1e-12).all()


def test_the_share_of_new_text():
    background = np.array([0.25, 0.25, 0.25, 0.25])
    old = np.array([0.5, 0.5, 0.0, 0.0])
    grid = np.linspace(0.0005, 0.9995, 2000)
    for counts in ([3.0, 3.0, 0.0, 0.0], [1.0, 2.0, 2.0, 1.0], [0.0, 0.0, 2.0, 5.0]):
        c = np.array(counts)
        value = [c @ np.log(share * background + (1 - share) * old + 1e-300) for share in grid]
        terms = np.flatnonzero(c)
        assert new_share(terms, c[terms], background, 3 * old, 3) == pytest.approx(
            grid[int(np.argmax(value))], abs=0.02
        )


def test_a_copy_moves_down():
    texts = ["jaguar car engine", "jaguar car engine", "jaguar engine forest cat"]
    index = Index.build([Document(str(i), {"body": text}) for i, text in enumerate(texts)])
    assert BM25().search(index, "jaguar").documents.tolist() == [0, 1, 2]
    assert RiskMinimization(old_cost=1.0).search(index, "jaguar").documents.tolist() == [0, 2, 1]


def test_risk_by_hand(small):
    """At each rank the document with the least risk, all computed anew."""
    first = BM25().search(small.index, small.texts, k=8)
    result = RiskMinimization(old_cost=0.7, depth=6).search(small.index, small.texts, k=8)
    field = small.index.field()
    background = field.collection_frequency / field.total_length

    def share(counts, old):
        value = 0.5
        for _ in range(100):
            before, mixed = value, value * background + (1 - value) * old
            value = (counts * value * background / np.maximum(mixed, 1e-300)).sum() / counts.sum()
            if abs(value - before) < 1e-6:
                break
        return value

    for q in range(len(small.texts)):
        documents, scores = first.of(q)
        table = np.zeros((documents.size, field.n_terms))
        for i, d in enumerate(documents):
            a, b = field.forward.offsets[d : d + 2]
            table[i, field.forward.terms[a:b]] = field.forward.counts[a:b]
        chosen: list[int] = []
        novelty = np.ones(6)
        while len(chosen) < min(6, documents.size):
            if chosen:
                old = (table[chosen] / table[chosen].sum(axis=1, keepdims=True)).mean(axis=0)
                novelty = [min(n, share(table[i], old)) for i, n in enumerate(novelty[: documents.size])]
            value = [scores[i] / scores[0] * (1 - 0.7 * (1 - n)) for i, n in enumerate(novelty) if i < documents.size]
            rest = [i for i in range(min(6, documents.size)) if i not in chosen]
            chosen.append(max(rest, key=lambda i: (round(value[i], 9), -i)))
        chosen += range(6, documents.size)
        assert result.of(q)[0].tolist() == documents[chosen].tolist()


def test_scores_are_scaled_per_query():
    scores = np.array([2.0, 1.0, -1.0, -3.0, 0.0, 0.0])
    expected = [1.0, 0.5, 1.0, np.exp(-2.0), 1.0, 1.0]
    np.testing.assert_allclose(scaled(np.array([0, 2, 2, 4, 6]), scores), expected)


def linked():
    return Index.build(
        [
            Document("a", {"body": "blue sky", "url": "a.org/"}, (Link("b"), Link("c"))),
            Document("b", {"body": "blue whale", "url": "a.org/b/"}, (Link("a"),)),
            Document("c", {"body": "red", "url": "a.org/b/c.html"}),
        ],
        kinds={"url": "keyword"},
    )


@pytest.mark.parametrize("along", ["in", "out", "uniform-out", "site"])
@pytest.mark.parametrize("terms", [False, True])
def test_searches_and_scores_agree(along, terms):
    index = linked()
    model = Propagated(along=along, terms=terms)
    result = model.search(index, "blue whale")
    scores = model.scores(index, "blue whale", [0, result.documents.size], result.documents)
    np.testing.assert_allclose(result.scores, scores)


def test_propagation_by_hand():
    index = linked()
    base = BM25().scores(index, "blue", [0, 3], [0, 1, 2])
    site = Propagated(along="site", alpha=0.25).scores(index, "blue", [0, 3], [0, 1, 2])
    np.testing.assert_allclose(site, [1.25 * base[0] + 0.75 * base[1], 1.25 * base[1], 0.0])
    out = Propagated(along="uniform-out", steps=1).scores(index, "blue", [0, 3], [0, 1, 2])
    expected = [0.5 * base[0] + 0.5 * base[1] / 2, 0.5 * base[1] + 0.5 * base[0], 0.0]
    np.testing.assert_allclose(out, expected)
    same = Propagated(along="out", alpha=1.0).scores(index, "blue", [0, 3], [0, 1, 2])
    np.testing.assert_allclose(same, base)


def test_propagated_terms():
    index = linked()
    queries = Queries(["whale"], index.analyzer)
    result = Propagated(along="site", terms=True, alpha=0.5).of_documents(index, queries, 0, None)
    # a has half of b's whale, b has one and a half: BM25 on these counts
    idf = np.log(1 + 2.5 / 1.5)
    lengths = np.array([2, 2, 1]) / (5 / 3)
    tf = np.array([0.5, 1.5, 0.0])
    np.testing.assert_allclose(result, idf * 2.2 * tf / (tf + 1.2 * (0.25 + 0.75 * lengths)))
