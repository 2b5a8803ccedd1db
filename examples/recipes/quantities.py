"""Quantity questions: the number that many snippets agree on, as an interval ranked among others.

    python examples/recipes/quantities.py [SNIPPETS]

prints the intervals that the lines of a file agree on, the best first; without a file, those of a few snippets.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from plackett import DataError
from plackett.applications import CandidateLists, Features
from plackett.text import Analyzer
from terms import TermStatistics

#: Size of each unit in the first unit of its kind.
_UNITS: dict[str, tuple[str, float]] = {}
_TABLES: dict[str, dict[str, float]] = {
    "s": {"s sec secs second seconds": 1, "min mins minute minutes": 60, "h hr hrs hour hours": 3600,
          "day days": 86_400, "week weeks": 604_800, "year years yr yrs": 31_557_600,
          "ms millisecond milliseconds": 1e-3},
    "m": {"m metre metres meter meters": 1, "km kilometre kilometres kilometer kilometers": 1000,
          "cm centimetre centimetres centimeter centimeters": 0.01,
          "mm millimetre millimetres millimeter millimeters": 1e-3,
          "mile miles mi": 1609.344, "ft foot feet": 0.3048, "in inch inches": 0.0254, "yd yard yards": 0.9144},
    "kg": {"kg kilogram kilograms kilo kilos": 1, "g gram grams": 1e-3, "mg milligram milligrams": 1e-6,
           "lb lbs pound pounds": 0.45359237, "oz ounce ounces": 0.028349523125, "t tonne tonnes": 1000},
    "$": {"$ usd dollar dollars": 1, "cent cents": 0.01},
    "€": {"€ eur euro euros": 1},
    "£": {"£ gbp": 1},
    "%": {"% percent": 1},
    "byte": {"byte bytes b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
    "km/h": {"km/h kph kmh": 1, "mph": 1.609344},
    "L": {"l litre litres liter liters": 1, "ml millilitre millilitres milliliter milliliters": 1e-3,
          "gallon gallons": 3.785411784},
}  # fmt: skip
for _kind, _table in _TABLES.items():
    for _names, _size in _table.items():
        _UNITS.update(dict.fromkeys(_names.split(), (_kind, float(_size))))
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
#: Letters that are scales after the sign of a currency: $5k, £3m.
_MONEY_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9}
#: Words that may follow *in* when it is the unit, and not "1889 in Paris".
_EXTENT = r"(?:long|wide|tall|high|deep|thick|across|by|x|diameter)"
_NUMBER = re.compile(
    r"(?P<sign>[$€£])?\s?(?<![\w.,])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<power>[eE][+-]?\d{1,3}\b)?"
    r"(?:\s?(?P<scale>hundred|thousand|million|billion|trillion|bn)\b)?"
    rf"(?:[\s-]?(?!in\s+(?!{_EXTENT}\b)\w)(?P<unit>km/h|[%€£$]|[^\W\d_]+))?"
)

#: The 1990s are not seconds.
_DECADE = re.compile(r"1\d\d0s|20\d0s")


class Quantity(NamedTuple):
    """A number with its unit in a text; units of the same kind are converted to one."""

    value: float
    #: Kind of the unit by its standard one (``"s"``, ``"m"``, ``"kg"``, ``"$"``, …); empty if there is none.
    unit: str


def read_quantities(text: str) -> list[Quantity]:
    """The quantities of a text, converted to standard units.

    >>> read_quantities("It took 3.5 hours and cost $1,200, or 1.2 thousand dollars, for 12 km.")
    ... # doctest: +NORMALIZE_WHITESPACE
    [Quantity(value=12600.0, unit='s'), Quantity(value=1200.0, unit='$'), Quantity(value=1200.0, unit='$'),
     Quantity(value=12000.0, unit='m')]
    """
    quantities = []
    for match in _NUMBER.finditer(text):
        unit = (match["unit"] or "").lower()
        value = float(match["number"].replace(",", "") + (match["power"] or ""))
        value *= _SCALES.get(match["scale"] or "", 1.0)
        if match["sign"]:
            value *= _MONEY_SCALES.get(unit, 1.0)
        kind, size = _UNITS.get(match["sign"] or unit, ("", 1.0))
        if unit == "s" and _DECADE.fullmatch(match[0].strip()):
            kind = ""
        value = round(value * size, 9)
        if np.isfinite(value):
            quantities.append(Quantity(value, kind))
    return quantities


class Interval(NamedTuple):
    """Quantities near each other, with the snippets that name them."""

    low: float
    high: float
    unit: str
    #: Numbers of the snippets, in ascending order, and of all quantities inside.
    snippets: tuple[int, ...]
    values: tuple[float, ...]
    merit: float


def consensus_intervals(
    snippets: Sequence[str], *, relevance: Any = None, unit: str | None = None, k: int = 20, max_width: float = 0.5
) -> list[Interval]:
    r"""Intervals of the number axis that many relevant snippets agree on, the best first.

    The quantities of all snippets, of one unit, are sorted. Every pair of them bounds an interval, whose merit is the
    relevance of the snippets inside, each counted once, divided by :math:`1 + \log(1 + \text{width})`; the width is
    relative to the middle, so that 2–4 m is as wide as 2–4 km. Sums run along the sorted values, so an interval costs
    one step. An interval that another contains with the same snippets and a greater merit is left out.

    Parameters
    ----------
    snippets
        The texts, from a search.
    relevance
        Weight of each; by default 1.
    unit
        Standard unit that is asked for (see `Quantity`); by default the one that most snippets have.
    k
        Maximum number of intervals.
    max_width
        Largest relative width.

    Examples
    --------
    >>> texts = ["It is 324 m tall.", "a tower of 330 metres", "324 metres high", "built in 1889, 7 m wide"]
    >>> best = consensus_intervals(texts)[0]
    >>> best.low, best.high, best.snippets
    (324.0, 330.0, (0, 1, 2))
    """
    weight = np.ones(len(snippets)) if relevance is None else np.asarray(relevance, np.float64)
    if weight.shape != (len(snippets),) or not np.isfinite(weight).all() or (weight < 0).any():
        raise DataError(f"relevance has shape {weight.shape}; give {len(snippets)} numbers that are not negative")
    if k < 1 or not max_width >= 0:
        raise DataError(f"k={k}, max_width={max_width}; give at least 1 and a number that is not negative")
    read = [(q.value, q.unit, i) for i, text in enumerate(snippets) for q in read_quantities(text)]
    if unit is None:
        support: dict[str, set[int]] = {}
        for _, kind, i in read:
            support.setdefault(kind, set()).add(i)
        unit = max(support, key=lambda kind: (len(support[kind]), kind != ""), default="")
    values = sorted((value, i) for value, kind, i in read if kind == unit)
    intervals: list[Interval] = []
    for a, (low, _) in enumerate(values):
        inside: dict[int, None] = {}
        total = 0.0
        for b in range(a, len(values)):
            high, i = values[b]
            width = 2.0 * (high - low) / (abs(high) + abs(low)) if high != low else 0.0
            if width > max_width:
                break
            if i not in inside:
                inside[i] = None
                total += float(weight[i])
            if b + 1 < len(values) and values[b + 1][0] == high:
                continue  # equal values belong together
            if a and values[a - 1][0] == low:
                continue
            merit = total / (1.0 + np.log1p(width))
            intervals.append(
                Interval(low, high, unit, tuple(sorted(inside)), tuple(v for v, _ in values[a : b + 1]), float(merit))
            )
    intervals.sort(key=lambda interval: (-interval.merit, interval.low, interval.high))
    kept: list[Interval] = []
    for interval in intervals:
        if len(kept) == k:
            break
        if not any(o.low >= interval.low and o.high <= interval.high and o.snippets == interval.snippets for o in kept):
            kept.append(interval)
    return kept


@dataclass(kw_only=True, eq=False)
class QuantityFeatures(Features):
    """Features of a question and an interval of quantities. Queries are pairs of a question and all its snippets.

    ============================  ====================================================================================
    ``all: query word``           all snippets of the interval have some word of the question
    ``all: common word``          … the word of the question with the least idf
    ``all: rare word``            … the one with the greatest
    ``distinct words``            distinct words in these snippets
    ``shared words``              words that all of them have
    ``agreement``                 1 − (distinct quantities) / (length of the interval); 1 if there is one quantity
    ``share of snippets``         snippets of the interval, divided by all
    ``merit``                     relevance of the snippets for the width, see `consensus_intervals`
    ``relative width``            width of the interval, divided by its middle
    ============================  ====================================================================================

    Length of the interval counts in units of its last digit: from 3.5 to 4.0 it is 5. So an interval with many
    different values scores low on agreement, and one with a few values that repeat scores high.

    Examples
    --------
    >>> texts = ("It is 324 m tall.", "a tower of 330 metres", "324 metres high", "7 m wide")
    >>> lists = CandidateLists.of([(("how tall is the tower", texts), consensus_intervals(texts))])
    >>> data = QuantityFeatures().fit(lists).transform(lists)
    >>> data.X[0, [data.feature_names.index("share of snippets")]].tolist()
    [0.75]

    References
    ----------
    Banerjee, Chakrabarti, Ramakrishnan: Learning to rank for quantity consensus queries. SIGIR 2009.
    """

    names: ClassVar[tuple[str, ...]] = (
        "all: query word",
        "all: common word",
        "all: rare word",
        "distinct words",
        "shared words",
        "agreement",
        "share of snippets",
        "merit",
        "relative width",
    )

    analyzer: Analyzer = field(default_factory=Analyzer)

    def fit(self, lists: CandidateLists) -> Self:
        """Count the words of the snippets."""
        texts = (text for _, snippets in lists.queries for text in snippets)
        self._terms = TermStatistics().fit(self.analyzer.tokens(text) for text in texts)
        return self

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row for each interval."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        rows = []
        bounds = lists.offsets.tolist()
        for number, (question, snippets) in enumerate(lists.queries):
            asked = sorted(set(self.analyzer.tokens(question)), key=lambda word: (self._terms.idf(word), word))
            texts = [set(self.analyzer.tokens(text)) for text in snippets]
            for interval in lists.items[bounds[number] : bounds[number + 1]]:
                own = [texts[i] for i in interval.snippets]
                middle = (abs(interval.low) + abs(interval.high)) / 2
                rows.append(
                    [
                        bool(asked) and all(not text.isdisjoint(asked) for text in own),
                        bool(asked) and all(asked[0] in text for text in own),
                        bool(asked) and all(asked[-1] in text for text in own),
                        len(set().union(*own)),
                        len(set.intersection(*own)) if own else 0,
                        _agreement(interval),
                        len(own) / max(len(texts), 1),
                        interval.merit,
                        (interval.high - interval.low) / middle if middle else 0.0,
                    ]
                )
        return np.array(rows, np.float64).reshape(len(rows), len(self.names))

    def state(self) -> dict[str, Any]:
        """Settings and counts."""
        if not hasattr(self, "_terms"):
            raise DataError("the features are not trained; call fit first")
        return {"analyzer": self.analyzer.to_json(), **self._terms.state()}

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Trained features from their state."""
        made = cls(analyzer=Analyzer.from_json(state["analyzer"]))
        made._terms = TermStatistics.restore(state)
        return made


def _agreement(interval: Interval) -> float:
    """1 − distinct values / length in units of the last digit; 1 where there is a single value."""
    distinct = len(set(interval.values))
    if distinct < 2:
        return 1.0
    digits = max(len(f"{value:.9f}".rstrip("0").partition(".")[2]) for value in interval.values)
    return max(1.0 - distinct / ((interval.high - interval.low) * 10.0**digits), 0.0)


_SAMPLE = ("The tower is 324 m tall.", "a tower of 330 metres", "1,083 feet high", "built in 1889", "7 m wide")


def main() -> None:
    """Print the intervals that snippets agree on."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("snippets", nargs="?", type=Path, help="a file with a snippet on each line")
    file = parser.parse_args().snippets
    snippets = file.read_text("utf-8").splitlines() if file else _SAMPLE
    for interval in consensus_intervals(snippets, k=5):
        named = ", ".join(str(number + 1) for number in interval.snippets)
        print(f"{interval.low:g} to {interval.high:g} {interval.unit} (merit {interval.merit:.2f}, snippets {named})")


if __name__ == "__main__":
    main()
