"""The measure language: ``nDCG@10``, ``AP(rel=2)@100``, and the spellings of other tools."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

from plackett._errors import MeasureError
from plackett.catalogue import Item, find, items
from plackett.measures.base import Measure

__all__ = ["all_measures", "get", "parse", "parse_all"]

_FORM = re.compile(r"(?P<name>\w[\w%+.-]*?)(?:\((?P<parameters>.*)\))?(?:@(?P<k>[^@()]+))?", re.DOTALL)
_UNDERSCORE_CUTOFF = re.compile(r"(?P<name>\D[\w%]*?)_(?P<k>\d+(\.\d+)?)")  # trec_eval: P_5, iprec_at_recall_0.10


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Item]:
    """Every name and alias, in lower case too, with the item it means."""
    names: dict[str, Item] = {}
    for item in items("measure"):
        for name in (item.name, *item.aliases):
            names[name] = item
    for name, item in list(names.items()):
        names.setdefault(name.lower(), item)
    return names


_registered: dict[str, Measure] = {}


def register(measure: Measure) -> None:
    """Make a user's own measure known to the language under its name."""
    if measure.name in _by_name():
        raise MeasureError(f"{measure.name!r} is already the name of a measure; choose another")
    _registered[measure.name] = measure


def get(name: str) -> Measure:
    """The measure with this name (or alias) and default parameters."""
    if name in _registered:
        return _registered[name]
    names = _by_name()
    item = names.get(name) or names.get(name.lower())
    if item is None:
        item = find("measure", name, error=MeasureError, more=_registered)
    return getattr(import_module(item.module), item.symbol)()


def parse(text: str | Measure) -> Measure:
    """The measure that a string means.

    Understood are ir-measures' language (``nDCG@10``, ``AP(rel=2)@100``, ``RBP(p=0.8)``), our additional parameters
    (``gain=``, ``discount=``, ``ties=``, ``empty=``), and the names of trec_eval (``ndcg_cut_10``), ranx, LightGBM and
    XGBoost (``ndcg@10``), RankLib (``NDCG@10``). An unknown name is refused with the nearest known one.

    >>> parse("ndcg_cut_10"), parse('nDCG(gain="linear", ties="stable")@5')
    (nDCG@10, nDCG(ties="stable", gain="linear")@5)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise MeasureError(f"a measure is a name such as 'nDCG@10' or a Measure, got {type(text).__name__}")
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise MeasureError(f"{text!r} is not a measure; write it as nDCG@10 or AP(rel=2)@100")
    name, parameters, k = match["name"], match["parameters"], match["k"]
    if k is None and parameters is None and name not in _by_name() and (cut := _UNDERSCORE_CUTOFF.fullmatch(name)):
        name, k = cut["name"], cut["k"]
    measure = get(name)
    if parameters:
        measure = measure(**_parameters(parameters, text))
    if k is not None:
        try:
            measure = measure @ (int(k) if k.strip().isdecimal() else float(k))
        except ValueError as error:
            if isinstance(error, MeasureError):
                raise
            raise MeasureError(f"{text!r}: the cut-off must be a number, got {k!r}") from None
    return measure


def parse_all(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """One measure or several, parsed; the same one twice counts once."""
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    parsed = list(dict.fromkeys(parse(measure) for measure in measures))
    if not parsed:
        raise MeasureError("no measure given; try 'nDCG@10'")
    return parsed


def _parameters(text: str, whole: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"f({text})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError
        return {str(word.arg): ast.literal_eval(word.value) for word in call.keywords}
    except (SyntaxError, ValueError):
        raise MeasureError(
            f"{whole!r}: cannot read the parameters {text!r}; write them as name=value, strings in quotes"
        ) from None


def all_measures() -> dict[str, Measure]:
    """Every measure by name, with default parameters."""
    return {item.name: get(item.name) for item in items("measure")} | _registered
