"""The checks of measures notice what is wrong: each measure is perturbed, and its definition must disagree."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys

import numpy as np
import pytest

import plackett as pk
from plackett._names.catalogue import items
from plackett.measures.base import Measure
from plackett.measures.custom import measure as make_measure
from plackett.measures.ndcg import NDCG
from plackett.testing import CheckFailed, check_measure, checks
from plackett.testing.measures import PARAMETERS, check_definition
from written_out.measures import DEFINITIONS

MEASURES = [pk.measures()[item.name] for item in items("measure")]


def refuted(measure):
    """Whether the check against the definition fails."""
    try:
        check_definition(measure, np.random.default_rng(0), DEFINITIONS[measure.name])
    except CheckFailed:
        return True
    return False


@pytest.mark.parametrize("measure", MEASURES, ids=str)
def test_a_factor_of_one_percent_is_noticed(measure, monkeypatch):
    values = type(measure).values
    monkeypatch.setattr(type(measure), "values", lambda self, ranking: 0.99 * values(self, ranking))
    assert refuted(measure)


#: What these say does not depend on the order of the documents.
UNORDERED = {"NumQ", "NumRel", "NumRet", "SetAP"}
#: What these say depends on the order where they have a cut-off.
SETS = {"Judged", "NumRelRet", "P", "P_IA", "R", "F", "Success", "StRecall", "Utility"}


@pytest.mark.parametrize("measure", [m for m in MEASURES if m.name not in UNORDERED], ids=str)
def test_two_ranks_exchanged_are_noticed(measure, monkeypatch):
    """The first two documents change places before the measure looks, which keeps all bounds and symmetries."""
    values = type(measure).values

    def wrong(self, ranking):
        first = ranking.offsets[:-1][ranking.depth >= 2]
        labels, rows = ranking.labels.copy(), ranking.rows.copy()
        for array in (labels, rows):
            array[first], array[first + 1] = array[first + 1], array[first].copy()
        return values(self, dataclasses.replace(ranking, labels=labels, rows=rows))

    monkeypatch.setattr(type(measure), "values", wrong)
    cut = measure @ 1 if measure.name in SETS else measure
    assert refuted(cut)


#: The same measure: a default, a parameter for ``alpha`` only, a rounding that makes no difference to halves.
SAME = {'ARP(gain="linear")', "ERR_IA(rel=2)", 'IPrec(reach="nearest")@0.5', "StPrecision(recall=1)"}


def other_parameters():
    for measure in MEASURES:
        for field in dataclasses.fields(measure):
            for value in PARAMETERS.get(field.name, []):
                try:
                    other = measure(**{field.name: value})
                except ValueError:
                    continue
                if str(other) not in SAME:
                    yield measure, other


#: Without a cut-off these parameters change nothing.
NEEDS_CUTOFF = {"short", "divisor"}


@pytest.mark.parametrize(("measure", "other"), list(other_parameters()), ids=lambda m: str(m))
def test_another_parameter_is_noticed(measure, other, monkeypatch):
    """A measure that computes with another cut-off, threshold, gain, discount, … than it says."""
    changed = {name: getattr(other, name) for name in other.given}
    if NEEDS_CUTOFF & set(changed):
        measure, other = measure @ 3, other @ 3
    values = type(measure).values

    def wrong(self, ranking):
        return values(self(**changed) if not changed.items() <= vars(self).items() else self, ranking)

    monkeypatch.setattr(type(measure), "values", wrong)
    assert refuted(measure)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class WrongDiscount(NDCG):
    """nDCG with 1/log2(2 + r) in place of 1/log2(1 + r), in numerator and denominator."""

    def _wrong(self):
        return NDCG(k=self.k, discount=tuple(1 / math.log2(2 + r) for r in range(1, 10_001)))

    def values(self, ranking):
        return self._wrong().values(ranking)

    def swap_state(self, ranking):
        return self._wrong().swap_state(ranking)


def test_a_wrong_formula_keeps_every_other_rule():
    """Which is why measures have a definition to be compared with."""
    broken = []
    for check in checks(WrongDiscount(), definition=DEFINITIONS["nDCG"]):
        if check.name in ("string", "evaluate"):  # those look the name up, and find the right nDCG
            continue
        try:
            check()
        except CheckFailed:
            broken.append(check.name)
    assert broken == ["definition"]


def test_messages_say_what_was_found():
    with pytest.raises(
        CheckFailed, match=r"(?s)breaks the rule 'definition'.*plain loops.*labels \[.*found: .*expected:"
    ):
        check_measure(WrongDiscount(), definition=DEFINITIONS["nDCG"], skip=("string",))

    @make_measure(name="OutOfBounds", bounds=(0, 1), compiled=False)
    def out_of_bounds(labels):
        return 2.0

    with pytest.raises(CheckFailed, match=r"OutOfBounds breaks the rule 'bounds'.\nRule: .*\nvalues from 2.0 to 2.0"):
        check_measure(out_of_bounds)


def test_a_definition_of_ones_own():
    @make_measure(name="RelevantAtTop", bounds=(0, 1), compiled=False)
    def relevant_at_top(labels, k):
        return float((labels[:k] >= 1).sum()) / k if labels.size else math.nan

    def definition(measure, q):
        k = measure.k or q.depth
        return sum(label >= 1 for label in q.labels[: min(k, q.depth)]) / k if q.depth else math.nan

    slow = ("bounds", "long_list", "threads", "row_order")  # in plain Python
    check_measure(relevant_at_top @ 2, definition=definition, skip=slow)
    with pytest.raises(CheckFailed, match="differs from"):
        check_measure(relevant_at_top @ 2, definition=lambda measure, q: definition(measure, q) * 0.9)


def test_pytest_is_not_needed():
    code = """
import sys, plackett as pk
for subject in (pk.measures.RR, pk.losses.Logistic, pk.ListNet):
    assert len(list(pk.testing.checks(subject))) > 10
assert "pytest" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_measure_class_says_whether_it_reads_subtopics():
    assert not Measure.reads_subtopics
    assert {m.name for m in MEASURES if m.reads_subtopics} == {
        m.name for m in MEASURES if "subtopic" in str(type(m).__doc__)
    }
