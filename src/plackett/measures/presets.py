"""Rules of other tools, to reproduce their results to the last digit."""

from __future__ import annotations

import dataclasses
from typing import Any

from plackett._base.arguments import choice
from plackett._base.errors import MeasureError
from plackett.measures.base import Measure

#: For each tool, the parameters that differ from our defaults; a measure uses those that it has. A key
#: ``Measure.parameter`` applies to one measure only. ``complete`` and ``subtopics`` are defaults of
#: `plackett.evaluate_run`: whether judged queries that the run lacks count, and whether judgements are by subtopic.
PRESETS: dict[str, dict[str, Any]] = {
    "letor3": {"discount": "letor", "short": "zero", "ties": "stable"},
    "letor4": {"discount": "letor", "nDCG.short": "zero", "ties": "stable"},
    "mslr": {"discount": "letor", "nDCG.short": "zero", "ties": "stable", "max_label": 4.0},
    "trec": {"gain": "linear", "ties": "trec", "RBP.p": 0.9, "reach": "nearest", "complete": False},
    "trec9": {"gain": "linear", "ties": "trec", "RBP.p": 0.9, "complete": False},
    "ndeval": {
        "ties": "trec",
        "ideal_ties": "docid",
        "ERR_IA.alpha": 0.5,
        "scaled": True,
        "missing": "renormalise",
        "complete": False,
        "subtopics": True,
    },
    "gdeval": {"ties": "trec", "max_label": 4.0, "complete": False},
    "yahoo": {"ties": "stable", "max_label": 4.0},
    "sklearn": {"gain": "linear"},
    "lightgbm": {"ties": "stable", "empty": 1.0, "AP.divisor": "reachable"},
    "xgboost": {"ties": "stable", "nDCG.empty": 1.0, "AP.empty": 1.0, "AP.divisor": "reachable", "P.short": "list"},
}


def with_preset(measure: Measure, preset: str | None) -> Measure:
    """Apply another tool's rules to every parameter of a measure that was not given.

    >>> from plackett.measures import nDCG
    >>> with_preset(nDCG(ties="optimistic") @ 5, "trec")
    nDCG(ties="optimistic", gain="linear")@5
    >>> with_preset(nDCG(gain="exp2"), "trec")  # our default, but written down
    nDCG(ties="trec", gain="exp2")
    """
    if preset is None:
        return measure
    choice("preset", preset, PRESETS, error=MeasureError)
    rules = PRESETS[preset]
    changes = {}
    for field in dataclasses.fields(measure):
        if field.name in measure.given:
            continue
        for key in (f"{measure.name}.{field.name}", field.name):
            if key in rules:
                changes[field.name] = rules[key]
                break
    return measure(**changes)
