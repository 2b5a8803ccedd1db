"""Rankers written as text: understood, or refused with a clear error."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.experiments.contestants import ranker_named


@pytest.mark.parametrize(
    "text",
    [
        "ListNet(alpha=" + "-" * 3000 + "1)",
        "(" * 3000,
        "-" * 3000,
        "ListNet" + "()" * 3000,
        "a" + ".b" * 3000,
        "ListNet(**{})",
        "ListNet(alpha=1)(alpha=2)",
        "ListNet(alpha=1, alpha=2)",
        "ListNet(1)",
        "ListNet(alpha={[]: 1})",
        "os.abort()",
        "lambda: 0",
        "[x for x in y]",
        "a.b.",
        "",
        "\0",
    ],
    ids=range(16),
)
def test_refusals(text):
    with pytest.raises(DataError) as caught:
        ranker_named(text)
    assert len(str(caught.value)) < 20_000


def test_fuzzed_texts_are_rankers_or_clear_errors():
    rng = np.random.default_rng(0)
    rankers = pk.rankers()
    names = list(rankers)
    values = ["1", "-1", "'x'", "None", "[]", "{}", "1e999", "True", "(" * 50 + ")" * 50, "1j", "..."]
    understood = 0
    for _ in range(500):
        name = names[rng.integers(len(names))]
        parameters = list(inspect.signature(rankers[name]).parameters)
        text = f"{name}({parameters[rng.integers(len(parameters))]}={values[rng.integers(len(values))]})"
        if rng.random() < 0.5:
            a, b = sorted(rng.integers(len(text) + 1, size=2))
            text = text[:a] + text[b:] if rng.random() < 0.5 else text[:b] + text[a:]
        try:
            ranker_named(text)
        except ValueError:
            continue
        understood += 1
    assert 50 < understood < 200, "most of the values fit no parameter"
