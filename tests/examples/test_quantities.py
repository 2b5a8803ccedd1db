from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.applications import Application, CandidateLists
from quantities import Interval, QuantityFeatures, _agreement, consensus_intervals, read_quantities


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("3.5 hours", 12_600, "s"),
        ("$1,200", 1200, "$"),
        ("12 km", 12_000, "m"),
        ("12km", 12_000, "m"),
        ("2.5 million dollars", 2.5e6, "$"),
        ("40%", 40, "%"),
        ("40 percent", 40, "%"),
        ("a 6-foot man", 1.8288, "m"),
        ("1,234,567.5 people", 1_234_567.5, ""),
        ("150 lbs", 68.0388555, "kg"),
        ("60 mph", 96.56064, "km/h"),
        ("1889", 1889, ""),
    ],
)
def test_units(text, value, unit):
    assert [tuple(q) for q in read_quantities(text)] == [(pytest.approx(value), unit)]


def test_texts_without_quantities():
    for text in ("", "no numbers", "B2B", "v1.2.3x"):
        assert read_quantities(text) == []


def brute(values, weight, max_width):
    """All intervals between two values, members by a plain loop."""
    result = {}
    distinct = sorted({v for v, _ in values})
    for low in distinct:
        for high in distinct:
            width = 0.0 if low == high else 2 * (high - low) / (abs(high) + abs(low))
            if low <= high and width <= max_width:
                inside = sorted({i for v, i in values if low <= v <= high})
                result[low, high] = (tuple(inside), sum(weight[i] for i in inside) / (1 + np.log1p(width)))
    return result


def test_intervals_are_those_of_plain_loops():
    rng = np.random.default_rng(0)
    for _ in range(5):
        numbers = rng.integers(20, 40, (8, 2))
        texts = [f"it is {a} m, or {b} m" for a, b in numbers]
        weight = rng.random(8)
        expected = brute([(float(v), i) for i, row in enumerate(numbers) for v in row], weight, 0.3)
        for interval in consensus_intervals(texts, relevance=weight, k=1000, max_width=0.3):
            snippets, merit = expected[interval.low, interval.high]
            assert interval.snippets == snippets and interval.merit == pytest.approx(merit)
        best = max(merit for _, merit in expected.values())
        assert consensus_intervals(texts, relevance=weight, k=1, max_width=0.3)[0].merit == pytest.approx(best)


def test_units_are_not_mixed():
    texts = ["5 km", "5000 m", "5 kg", "5000 metres"]
    best = consensus_intervals(texts)[0]
    assert (best.low, best.high, best.unit, best.snippets) == (5000, 5000, "m", (0, 1, 3))
    assert consensus_intervals(texts, unit="kg")[0].snippets == (2,)
    assert consensus_intervals(["nothing"]) == [] and consensus_intervals([]) == []
    assert consensus_intervals(["0 m", "0 m"])[0].snippets == (0, 1)


def test_agreement():
    def of(*values):
        return _agreement(Interval(min(values), max(values), "", (), values, 0.0))

    assert of(7.0) == of(7.0, 7.0) == 1.0
    assert of(3.5, 4.0) == pytest.approx(1 - 2 / 5)
    assert of(1.0, 2.0) == 0.0
    assert of(100.0, 200.0, 200.0) == pytest.approx(0.98)


def test_a_planted_value_is_ranked_first(tmp_path):
    rng = np.random.default_rng(0)

    def lists(n):
        entries = []
        for i in range(n):
            truth = int(rng.integers(50, 500))
            right = [f"the tower{i} is {truth + int(d)} m tall" for d in rng.integers(-1, 2, 4)]
            wrong = [f"some noise {int(v)} m" for v in rng.integers(10, 900, 6)]
            texts = tuple(rng.permutation([*right, *wrong]).tolist())
            result = consensus_intervals(texts, k=15)
            entries.append(((f"how tall is tower{i}", texts), result, [x.low <= truth <= x.high for x in result]))
        return CandidateLists.of(entries)

    application = Application(features=QuantityFeatures(), ranker=pk.RankSVM(C=0.01), measures=("P@1",)).fit(lists(25))
    test = lists(15)
    scores, right = application.predict(test), test.labels
    first = [a + int(np.argmax(scores[a:b])) for a, b in zip(test.offsets[:-1], test.offsets[1:], strict=True)]
    assert right[first].mean() > 0.9
    application.save(tmp_path / "app")
    assert np.array_equal(Application.load(tmp_path / "app", features=QuantityFeatures).predict(test), scores)


def test_bad_input():
    for parameters in ({"relevance": [1.0]}, {"k": 0}, {"max_width": -1.0}, {"relevance": [np.nan, 1.0]}):
        with pytest.raises(DataError, match=next(iter(parameters))):
            consensus_intervals(["1 m", "2 m"], **parameters)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9" * 400 + " m", []),
        ("1e400 m", []),
        ("3e8 m", [(3e8, "m")]),
        ("$5k, £3m and €2 million", [(5e3, "$"), (3e6, "£"), (2e6, "€")]),
        ("in the 1990s for 30s", [(1990.0, ""), (30.0, "s")]),
        ("opened 1889 in Paris, 5 in wide and 6 in.", [(1889.0, ""), (0.127, "m"), (0.1524, "m")]),
        ("٣ m", [(3.0, "m")]),
        ("½", []),
    ],
)
def test_numbers_that_mislead(text, expected):
    assert [tuple(quantity) for quantity in read_quantities(text)] == expected
