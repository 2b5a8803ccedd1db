"""Kinds of queries, and of URLs."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, QueryIntent

HOME = ["nasa homepage", "city of boston", "university of leeds", "mit home page", "bank of america homepage"]
TOPIC = [
    "how to treat asthma",
    "causes of global warming",
    "history of jazz",
    "how does radar work",
    "effects of sugar",
]


def test_equal_collections_say_nothing():
    intent = QueryIntent(weights=(1, 1, 0, 0, 0)).fit(HOME, HOME)
    np.testing.assert_allclose(intent.features([*TOPIC, "words never seen", ""])[:, :2], 0.0, atol=1e-12)
    assert np.isfinite(intent.predict_proba(["words never seen"])).all()


def test_planted_collections():
    intent = QueryIntent().fit(HOME, TOPIC)
    assert intent.predict(["leeds homepage", "city homepage", "how to treat warming", "history of sugar"]) == [
        *("home", "home", "topic", "topic")
    ]
    assert intent.coef_[0] > 0 > intent.coef_[3]  # likelier under home; verbs speak for topics
    signs = intent.features(["city of boston", "how does radar work"])
    assert signs[0, 0] > 0 > signs[1, 0]
    assert signs[:, 3].tolist() == [0.0, 1.0]


def test_signals_by_hand():
    intent = QueryIntent(smoothing=1.0, weights=(1, 0, 0, 0, 0)).fit(
        ["a b"], ["a c"], emphasised=["a"], plain=["a a c"]
    )
    tokens = 3 + 1  # a, b, c and one for unseen words
    p = {"a": 2 / (2 + tokens), "b": 2 / (2 + tokens), "c": 1 / (2 + tokens)}
    home = p["a"] * (1 + tokens * p["b"]) / (1 + tokens)
    topic = p["a"] * (0 + tokens * p["c"]) / (1 + tokens)
    result = intent.features(["a b"])[0]
    assert result[0] == pytest.approx(np.log(home / topic))
    assert result[2] == pytest.approx(1 / 3)  # "a" occurs once in titles and twice elsewhere, "b" nowhere


def test_refusals():
    with pytest.raises(DataError, match="at least one query of each kind"):
        QueryIntent().fit([], TOPIC)
    with pytest.raises(DataError, match="not fitted"):
        QueryIntent().predict(["x"])
    with pytest.raises(DataError, match="weights has shape"):
        QueryIntent(weights=(1, 2)).fit(HOME, TOPIC)
