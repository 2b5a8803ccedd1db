from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.applications import Application, CandidateLists
from summaries import SentenceFeatures, summarise
from terms import TermStatistics

SENTENCES = ["The red fox runs.", "A blue whale sings at night.", "Nobody knows.", "Whales sing in blue water."]


def values(query, synonyms=None):
    features = SentenceFeatures(synonyms=synonyms or {})
    data = features.fit(CandidateLists.of([("", SENTENCES)])).transform(CandidateLists.of([(query, SENTENCES)]))
    return {name: data.X[:, i] for i, name in enumerate(data.feature_names)}


def test_each_feature():
    result = values("blue whales", {"whale": ["fox"]})
    assert result["exact match"].tolist() == [0, 1, 0, 0]
    assert result["query terms"].tolist() == [0, 1, 0, 1]
    assert result["synonyms"].tolist() == [0.5, 0, 0, 0]
    assert result["position"] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert result["terms"].tolist() == [len(SentenceFeatures().analyzer.tokens(text)) for text in SENTENCES]
    terms = TermStatistics().fit(SentenceFeatures().analyzer.tokens(text) for text in SENTENCES)
    total = sum(terms.counts.values()) + len(terms.counts) + 1
    tokens = SentenceFeatures().analyzer.tokens(SENTENCES[1])
    by_hand = [
        np.log((tokens.count(t) + 50 * (terms.counts[t] + 1) / total) / (len(tokens) + 50)) for t in ("blue", "whale")
    ]
    assert result["language model"][1] == pytest.approx(np.mean(by_hand), rel=1e-6)
    assert result["similarity"].min() > 0 and result["similarity"].max() < 1


def test_an_empty_query_leaves_what_does_not_depend_on_it():
    result = values("")
    for name in ("exact match", "query terms", "synonyms", "language model"):
        assert not result[name].any()
    assert result["similarity"].any()


@pytest.fixture(scope="module")
def application():
    rng = np.random.default_rng(0)
    vocabulary = [f"w{i}x" for i in range(60)]
    lists = []
    for _ in range(40):
        texts = [" ".join(rng.choice(vocabulary, 6)) for _ in range(6)]
        query = " ".join(rng.choice(vocabulary, 2, replace=False))
        place = rng.integers(6)
        texts[place] = f"{' '.join(texts[place].split()[:4])} {query}"
        lists.append((query, texts, np.arange(6) == place))
    return Application(features=SentenceFeatures(), ranker=pk.ListNet(alpha=0.01), measures=("RPrec",)).fit(
        CandidateLists.of(lists)
    )


def test_summaries_keep_to_the_budget_and_the_order(application, tmp_path):
    document = "W1x w2x w3x. W4x w5x w6x w7x w8x w9x w10x. W20x w21x. W30x w31x."
    assert summarise(application, "w21x w20x", document, n_sentences=1) == ["W20x w21x."]
    two = summarise(application, "w31x w2x", document, n_sentences=2)
    assert two == ["W1x w2x w3x.", "W30x w31x."]
    for budget in (2, 5, 9):
        result = summarise(application, "w5x", document, n_sentences=None, n_words=budget)
        assert sum(len(text.split()) for text in result) <= budget and result
    assert summarise(application, "", document) and summarise(application, "x", "") == []
    application.save(tmp_path / "app")
    loaded = Application.load(tmp_path / "app", features=SentenceFeatures)
    assert summarise(loaded, "w31x w2x", document, n_sentences=2) == two
    with pytest.raises(DataError, match="n_words=0"):
        summarise(application, "", document, n_words=0)
