from __future__ import annotations

import numpy as np
import pytest

from language import kinds, noun_phrases, sentences, words
from plackett._base.errors import DataError
from terms import TermStatistics


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("  \n ", []),
        ("One. Two? Three!", ["One.", "Two?", "Three!"]),
        ("Mr. Smith met Dr. Ray. They ate.", ["Mr. Smith met Dr. Ray.", "They ate."]),
        ("See no. 5. Done.", ["See no. 5.", "Done."]),
        ("It costs 3.50. Cheap!", ["It costs 3.50.", "Cheap!"]),
        ('He said "Go." Then he left.', ['He said "Go."', "Then he left."]),
        ("no stop\n\nnew block", ["no stop", "new block"]),
        ("See e.g. Paris. Done.", ["See e.g. Paris.", "Done."]),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


def test_words_and_kinds():
    assert words("naïve x_y 12-bit") == ["naïve", "x", "y", "12-bit"]
    assert kinds(["Why", "do", "cats", "purr"]) == ["other", "verb", "noun", "noun"]
    assert kinds([]) == []
    tokens = words("a famous opera by the young Mozart")
    assert [" ".join(tokens[a:b]) for a, b in noun_phrases(tokens)] == ["a famous opera", "the young Mozart"]


def test_counts_of_terms_that_cannot_be_are_refused():
    state = TermStatistics().fit([["red", "rose"], ["red"]]).state()
    for change in ({"n_texts": 1}, {"frequency": np.array([2, -1])}):
        with pytest.raises(DataError, match="counts of terms"):
            TermStatistics.restore(state | change)
