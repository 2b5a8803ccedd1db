"""Features as queries of Lucene give them: never below 0, and with a number for a document that lacks the field.

A query must not score below 0. A feature that may be negative is read twice: its part above 0, and its part below 0
without the sign. ``x <= t`` with ``t < 0`` is the opposite of ``-x < -t``, so all decisions stay exactly the same, and
a tree without such thresholds needs the part above 0 only.

Engines disagree on a feature whose query does not match, and so each query matches every document here. A document
without the field has a number that takes the branch of a missing value at every split. Where the splits of a feature
want two different numbers, it is read twice: as 0 by those that send it left, and as a large number by the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett.export._forest import above32_finite
from plackett.export._form import Part, SumOfParts
from plackett.scorers.parts import Line

#: Names of the ways to read one feature. Odd ones have the larger number for a document without the field.
_SUFFIXES = ("", "_missing_high", "_negative", "_negative_missing_high")


class Reading(NamedTuple):
    """How a feature of an engine reads a numeric field."""

    name: str
    field: str
    #: 1 and -1: the part above or below 0, without its sign. 0: the number itself, which is never negative.
    side: int
    #: Its value for a document without the field; None if its query does not match such a document.
    missing: float | None

    def query(self) -> dict[str, Any]:
        """The query whose score is the feature."""
        matched: dict[str, Any] = {"exists": {"field": self.field}} if self.missing is None else {"match_all": {}}
        otherwise = {} if self.missing is None else {"missing": self.missing}
        if self.side == 0:
            factor = {"field": self.field} | otherwise
            return {"function_score": {"query": matched, "field_value_factor": factor, "boost_mode": "replace"}}
        source = "Math.max(0, params.side * doc[params.field].value)"
        if otherwise:
            source = f"doc[params.field].size() == 0 ? params.missing : {source}"
        params = {"field": self.field, "side": self.side} | otherwise
        return {"script_score": {"query": matched, "script": {"source": source, "params": params}}}

    @classmethod
    def of(cls, name: str, query: Any) -> Reading:
        """The reading that has this query."""
        try:
            if "function_score" in query:
                factor = query["function_score"]["field_value_factor"]
                found = cls(name, factor["field"], 0, factor.get("missing"))
            else:
                params = query["script_score"]["script"]["params"]
                found = cls(name, params["field"], params["side"], params.get("missing"))
        except (KeyError, TypeError):
            found = None
        if found is None or found.query() != query:
            raise DataError(
                f"the query of feature {name!r} was changed; only an export as it was written can be scored"
            )
        return found


def as_read(form: SumOfParts, rule: str = "", *, zero: bool = False) -> tuple[SumOfParts, list[Reading]]:
    """The form in terms of what an engine reads, and how it reads it.

    Features that the model does not use are not read. Without a ``rule``, each document has a number for each feature.
    The rule of an engine says what a feature is whose query does not match: ``"zero"``, ``"right"`` (the right side of
    each split) or ``"missing"`` (the side for missing values). Then queries match the documents that have the field,
    and a model that treats the others in another way is refused. With ``zero``, fields that are missing are 0, whatever
    the model learned.
    """
    if form.all_lines:
        part, needed, missing, wrong = _lines(form, zero)
    else:
        part, needed, missing, wrong = _trees(form, rule, zero)
    if rule and wrong.any():
        others = [form.names[j] for j in np.flatnonzero(wrong)]
        what = _RULES["zero" if form.all_lines else rule]
        raise DataError(
            f"{what}, but this {form.algorithm} treats a missing value of {', '.join(others[:5])}"
            f"{' and others' if len(others) > 5 else ''} in another way. Leave out the version: then each query of the "
            "feature set matches all documents, which is right in every version"
        )
    always = not form.all_lines  # trees are right without the part below 0 if they have no threshold there
    readings = []
    for way in np.flatnonzero(needed).tolist():
        j, kind = divmod(way, 4)
        side = (-1 if kind >= 2 else 1) if always or needed[4 * j + 2] else 0
        number = None if rule else float(missing[way])
        readings.append(Reading(form.names[j] + _SUFFIXES[kind], form.names[j], side, number))
    names = tuple(reading.name for reading in readings)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{twice!r} is a feature, and the name of a part of another one; give other feature_names")
    return replace(form, names=names, parts=((1.0, part),)), readings


_RULES = {
    "zero": "this version reads 0 where the query of a feature does not match",
    "right": "this version takes the right side of every split where the query of a feature does not match",
}

#: The model in terms of readings; which of the four readings of each feature are needed; their values for a document
#: without the field; and the features that would be wrong where a query does not match.
_Found = tuple[Part, np.ndarray, np.ndarray, np.ndarray]


def _trees(form: SumOfParts, rule: str, zero: bool) -> _Found:
    forest, n = form.forest("a search engine"), len(form.names)
    below = forest.threshold < 0
    threshold = np.where(below, np.nextafter(-forest.threshold, np.float32(-np.inf)), forest.threshold)
    missing_left = forest.missing_left ^ below
    half = 2 * forest.feature + below
    above = above32_finite(threshold)  # the number itself is above the threshold, everything before it is not
    high, low = np.zeros(2 * n, np.float32), np.full(2 * n, np.inf, np.float32)
    if not zero and not rule:
        np.maximum.at(high, half[~missing_left], above[~missing_left])
        np.minimum.at(low, half[missing_left], above[missing_left])
    torn = high >= low
    way = 2 * half + (torn[half] & ~missing_left)
    missing = np.stack([np.where(torn, 0, high), high], axis=1).ravel()
    needed = np.zeros(4 * n, bool)
    needed[way] = True
    _need_one(needed)
    wrong = np.zeros(n, bool)
    if rule in ("zero", "right"):
        wrong[forest.feature[missing_left == (rule == "right")]] = True
    place = np.cumsum(needed) - 1
    read = replace(
        forest,
        feature=place[way].astype(forest.feature.dtype),
        threshold=threshold,
        missing_left=missing_left,
        left=np.where(below, forest.right, forest.left),
        right=np.where(below, forest.left, forest.right),
    )
    return read, needed, missing, wrong


def _lines(form: SumOfParts, zero: bool) -> _Found:
    line, n = form.line("a search engine"), len(form.names)
    fills = np.zeros(n, np.float32) if zero or form.fills is None else form.fills
    needed = np.zeros((n, 4), bool)
    signed = form.signed | (fills < 0)
    needed[:, 0] = line.weights != 0
    needed[:, 2] = signed & needed[:, 0]
    _need_one(needed.reshape(-1))
    weights = np.stack([line.weights, line.weights, -line.weights, -line.weights], axis=1)
    missing = np.maximum(np.stack([fills, fills, -fills, -fills], axis=1), 0)
    return Line(weights[needed], line.intercept), needed.ravel(), missing.ravel(), fills != 0


def _need_one(needed: np.ndarray) -> None:
    """A model that uses no feature reads the first one all the same: engines expect one."""
    if not needed.any():
        needed[:4:2] = True


def columns_of(readings: Sequence[Reading], X: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
    """What each feature is for each row; NaN where its query does not match. Queries that fail are an error."""
    place, columns = {name: j for j, name in enumerate(names)}, {}
    for reading in readings:
        x = X[:, place[reading.field]]
        if reading.side == 0 and (x < 0).any():
            raise DataError(
                f"{reading.field} is below 0 in {int((x < 0).sum())} rows, and the engine refuses queries that score "
                "below 0. The training data had few such values or none; give documents that have them (data=)"
            )
        x = np.maximum(x * np.float32(reading.side), np.float32(0)) if reading.side else x  # NaN stays
        columns[reading.name] = x if reading.missing is None else np.where(np.isnan(x), np.float32(reading.missing), x)
    return columns


def readable(readings: Sequence[Reading], X: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Whether the engine can read each row: no number below 0 where only the number itself is read."""
    plain = [names.index(reading.field) for reading in readings if reading.side == 0]
    return np.logical_not((X[:, plain] < 0).any(axis=1))
