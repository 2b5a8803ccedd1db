from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.text import Boolean


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("w0", lambda d: "w0" in d),
        ("w0 w1", lambda d: "w0" in d and "w1" in d),
        ("w0 AND NOT w1", lambda d: "w0" in d and "w1" not in d),
        ("w5 OR w6 AND w0", lambda d: "w5" in d or ("w6" in d and "w0" in d)),
        ("(w5 OR w6) w0", lambda d: ("w5" in d or "w6" in d) and "w0" in d),
        ("NOT (w0 OR w1)", lambda d: not ("w0" in d or "w1" in d)),
        ("NOT w0 AND NOT w1", lambda d: not ("w0" in d or "w1" in d)),  # De Morgan
        ("NOT NOT w2", lambda d: "w2" in d),
        ("unknown", lambda d: False),
        ("NOT unknown", lambda d: True),
    ],
)
def test_set_algebra(small, text, condition):
    expected = [d for d, tokens in enumerate(small.documents) if condition(tokens)]
    result = Boolean().search(small.index, text)
    assert result.documents.tolist() == expected
    scores = Boolean().scores(small.index, text, [0, small.n], range(small.n))
    assert scores.tolist() == [float(condition(tokens)) for tokens in small.documents]


def test_words_may_be_joined_by_or(small):
    result = Boolean(default="or").search(small.index, "w7 w8")
    assert result.documents.tolist() == [d for d, tokens in enumerate(small.documents) if {"w7", "w8"} & set(tokens)]


@pytest.mark.parametrize("text", ["w0 AND", "OR w0", "(w0", "w0)", "NOT", "()", "(" * 300 + "w0" + ")" * 300])
def test_bad_expressions_are_rejected(small, text):
    with pytest.raises(DataError, match="query"):
        Boolean().search(small.index, text)


def test_random_expressions_are_answered_or_rejected(small):
    rng = np.random.default_rng(0)
    parts = ["AND", "OR", "NOT", "(", ")", "w0", "w1", "zz"]
    for _ in range(200):
        text = " ".join(rng.choice(parts, rng.integers(0, 9)))
        try:
            result = Boolean().search(small.index, text)
        except DataError:
            continue
        assert result.documents.size <= small.n
