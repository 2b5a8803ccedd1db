"""Signals of query types against plain loops, and on collections made for them."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest

from plackett import DataError
from plackett.text import Analyzer, Document, Index, QueryTypeClassifier, query_type_signals

PLAIN = Analyzer(stop_words=None, stemmer=None)
WORDS = [f"w{i}" for i in range(12)]


def make(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Document(
            str(i),
            {
                "title": " ".join(rng.choice(WORDS, 2)),
                "body": " ".join(rng.choice(WORDS, rng.integers(1, 12))),
                "url": f"http://a{i}.org/" + ("" if i % 3 else "x/y.html"),
            },
        )
        for i in range(n)
    ]


def test_signals_equal_the_formulas():
    documents = make()
    index = Index.build(documents, analyzer=PLAIN, kinds={"url": "keyword"})
    texts = [(d.fields["title"] + " " + d.fields["body"]).split() for d in documents]
    parts = {home: [t for i, t in enumerate(texts) if (i % 3 != 0) == home] for home in (True, False)}
    queries = ["w1 w2 w3", "w4", "w5 unseen", "unseen", "w1 w1 w7"]
    result = query_type_signals(index, queries, mu=20)
    everything = [w for t in texts for w in t]

    def probability(word, home):
        own = [w for t in parts[home] for w in t]
        whole = everything.count(word) / len(everything)
        return (own.count(word) + 20 * whole) / (len(own) + 20)

    def information(a, b, home):
        count = lambda *arguments: sum(all(w in t for w in arguments) for t in parts[home])  # noqa: E731
        return log((count(a, b) + 0.5) / (count(a) * count(b) / len(parts[home]) + 0.5))

    for q, text in enumerate(queries):
        arguments = [w for w in dict.fromkeys(text.split()) if w in everything]
        ratio = [log(probability(w, True)) - log(probability(w, False)) for w in arguments]
        assert result[q, 0] == pytest.approx(np.mean(ratio) if arguments else 0)
        pairs = [information(a, b, True) - information(a, b, False) for a, b in combinations(arguments, 2)]
        assert result[q, 1] == pytest.approx(np.mean(pairs) if pairs else 0)
        titles = [w for d in documents for w in d.fields["title"].split()]
        inside = sum(titles.count(w) for w in arguments) / max(sum(everything.count(w) for w in arguments), 1)
        assert result[q, 2] == pytest.approx(inside)
    assert np.isfinite(result).all()


def test_equal_collections_say_nothing():
    documents = [Document(f"{d.id} {side}", {"body": d.fields["body"]}) for d in make(30) for side in "ab"]
    index = Index.build(documents, analyzer=PLAIN)
    result = query_type_signals(index, ["w1 w2", "w3 w4 w5"], home=[d.id.endswith("a") for d in documents])
    np.testing.assert_allclose(result[:, :2], 0, atol=1e-12)


def test_names_and_questions():
    pages = [
        ("http://hollins.edu/", "Hollins University"),
        ("http://acme.org/", "Acme Rockets"),
        ("http://x.org/", "X"),
    ]
    topics = ["how rockets fly", "university studies", "learn to fly", "what makes rockets fly"]
    documents = [Document(u, {"url": u, "title": t, "body": t + " home"}) for u, t in pages]
    documents += [
        Document(str(i), {"url": f"http://x.org/a/{i}.html", "title": "page", "body": text * 3})
        for i, text in enumerate(topics)
    ]
    index = Index.build(documents, kinds={"url": "keyword"})
    home, topic = query_type_signals(index, ["hollins university", "how do rockets fly"])
    assert home[0] > 0 > topic[0]
    assert home[1] > topic[1]
    assert home[2] > topic[2]
    assert (home[3], topic[3]) == (0, 1)
    assert query_type_signals(index, ["flying"])[0, 3] == 1  # by its stem
    assert query_type_signals(index, ["rockets"], verbs=["rocket"])[0, 3] == 1
    assert QueryTypeClassifier().predict([home, topic]).tolist() == ["home", "topic"]


def test_weights_are_recovered():
    rng = np.random.default_rng(0)
    signals = rng.standard_normal((4000, 4)) * [0.5, 2.0, 0.2, 1.0]
    truth = np.array([2.0, 0.5, -4.0, 1.0])
    chance = 1 / (1 + np.exp(-(signals @ truth - 0.7)))
    types = np.where(rng.random(4000) < chance, "home", "topic").tolist()
    result = QueryTypeClassifier().fit(signals, types, C=1e4)
    np.testing.assert_allclose(result.weights, truth, atol=0.5)
    assert result.threshold == pytest.approx(0.7, abs=0.15)
    assert (result.predict(signals) == np.array(types)).mean() > 0.75


def test_mistakes_are_named():
    index = Index.build([Document("a", {"body": "x"})])
    with pytest.raises(DataError, match="no stored field 'url' of URLs"):
        query_type_signals(index, ["x"])
    with pytest.raises(DataError, match="a Boolean for each of the 1 documents"):
        query_type_signals(index, ["x"], home=[True, False])
    with pytest.raises(DataError, match="give 4: likelihood"):
        QueryTypeClassifier(weights=(1, 2))
    with pytest.raises(DataError, match="give both 'home' and 'topic'"):
        QueryTypeClassifier().fit(np.zeros((2, 4)), ["home", "home"])
