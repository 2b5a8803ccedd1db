"""The measure language: ``nDCG@10``, ``AP(rel=2)@100``, and the spellings of other tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

from plackett._base.errors import MeasureError
from plackett._base.literals import call
from plackett._names.catalogue import Item, find, items
from plackett.measures.base import Measure

__all__ = ["parse"]

_FORM = re.compile(r"(?P<name>\w[\w%+.-]*?)(?:\((?P<parameters>.*)\))?(?:@(?P<k>[^@()]+))?", re.DOTALL)
_UNDERSCORE_CUTOFF = re.compile(r"(?P<name>\D[\w%]*?)_(?P<k>\d+(\.\d+)?)")  # trec_eval: P_5, iprec_at_recall_0.10

#: trec_eval measures whose name ends in values of our parameters: ``Rprec_mult_0.20``, ``utility_2,-1,0,0``.
_TREC_EVAL: dict[str, tuple[str, Callable[..., dict[str, Any]]]] = {
    "relative_P": ("P", lambda k: {"relative": True, "k": int(k)}),
    "Rprec_mult": ("Rprec", lambda mult: {"mult": float(mult)}),
    "11pt_avg": ("IPrec11", lambda *levels: {"levels": tuple(map(float, levels))}),
    "utility": ("Utility", lambda a, b, c, d: {"a": float(a), "b": float(b), "c": float(c)} if float(d) == 0 else {}),
}
#: Names in other tools for our measures with certain parameters.
_SPELLINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "relative_P": ("P", {"relative": True}),
    "set_relative_P": ("P", {"relative": True}),
    "alpha-DCG": ("alpha_nDCG", {"ideal": "full"}),
    "nERR-IA": ("alpha_nDCG", {"discount": "reciprocal"}),
    "nNRBP": ("NRBP", {"normalised": True}),
}
_TREC_EVAL_FORM = re.compile(rf"(?P<name>{'|'.join(_TREC_EVAL)})_(?P<values>[-\d.,]+)")


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Item]:
    """Every name and alias, also in lower case, and the item it refers to."""
    names: dict[str, Item] = {}
    for item in items("measure"):
        for name in (item.name, *item.aliases):
            names[name] = item
    for name, item in list(names.items()):
        names.setdefault(name.lower(), item)
    return names


_registered: dict[str, Measure] = {}


def register(measure: Measure) -> None:
    """Register a user-defined measure under its name."""
    if measure.name in _by_name():
        raise MeasureError(f"{measure.name!r} is already the name of a measure; choose another name")
    _registered[measure.name] = measure
    _parsed.cache_clear()


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
    """Parse a measure from a string.

    Accepts the language of ir-measures (``nDCG@10``, ``AP(rel=2)@100``, ``RBP(p=0.8)``), our additional parameters
    (``gain=``, ``discount=``, ``ties=``, ``empty=``), and the names used by trec_eval (``ndcg_cut_10``), ranx, LightGBM
    and XGBoost (``ndcg@10``), and RankLib (``NDCG@10``). The error for an unknown name suggests the closest known one.

    >>> parse("ndcg_cut_10"), parse('nDCG(gain="linear", ties="stable")@5')
    (nDCG@10, nDCG(ties="stable", gain="linear")@5)
    """
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        raise MeasureError(f"a measure must be a name such as 'nDCG@10' or a Measure, got {type(text).__name__}")
    return _parsed(text)


@lru_cache(maxsize=256)  # measures are immutable, and rankers ask for theirs with every prediction
def _parsed(text: str) -> Measure:
    if trec_eval := _TREC_EVAL_FORM.fullmatch(text.strip()):
        return _trec_eval(trec_eval["name"], trec_eval["values"], text)
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise MeasureError(f"{_short(text)} is not a measure; write it as nDCG@10 or AP(rel=2)@100")
    name, parameters, k = match["name"], match["parameters"], match["k"]
    if k is None and parameters is None and name not in _by_name() and (cut := _UNDERSCORE_CUTOFF.fullmatch(name)):
        name, k = cut["name"], cut["k"]
    name, implied = _SPELLINGS.get(name, (name, {}))
    measure = get(name)(**implied)
    if parameters:
        measure = measure(**_parameters(parameters, text))
    if k is not None:
        try:
            measure = measure @ (int(k) if k.strip().isdecimal() else float(k))
        except ValueError as error:
            if isinstance(error, MeasureError):
                raise
            raise MeasureError(f"{_short(text)}: the cut-off must be a number, got {_short(k)}") from None
    return measure


def parse_all(measures: str | Measure | Iterable[str | Measure]) -> list[Measure]:
    """Parse one measure or several; duplicates are dropped."""
    if isinstance(measures, (str, Measure)):
        measures = [measures]
    parsed = list({str(measure): measure for measure in map(parse, measures)}.values())
    if not parsed:
        raise MeasureError("no measure given; try 'nDCG@10'")
    return parsed


def _parameters(text: str, whole: str) -> dict[str, Any]:
    try:
        name, parameters = call(f"f({text})")
        if name != "f":
            raise ValueError
        return parameters
    except ValueError:
        raise MeasureError(
            f"{_short(whole)}: cannot read the parameters {_short(text)}; write them as name=value, strings in quotes"
        ) from None


def _trec_eval(name: str, values: str, whole: str) -> Measure:
    measure, parameters = _TREC_EVAL[name]
    try:
        keywords = parameters(*values.split(","))
    except (TypeError, ValueError):
        raise MeasureError(
            f"{_short(whole)}: cannot read the parameters {_short(values)} of trec_eval's {name}"
        ) from None
    if not keywords:
        raise MeasureError(
            f"{_short(whole)}: the last number of trec_eval's {name} must be 0: it is not known how many "
            "irrelevant documents were not retrieved"
        )
    return get(measure)(**keywords)


def _short(text: str, most: int = 200) -> str:
    """A string, shortened for an error message."""
    return repr(text if len(text) <= most else f"{text[:most]}…")


def all_measures() -> dict[str, Measure]:
    """Every measure by name, with default parameters."""
    return {item.name: get(item.name) for item in items("measure")} | _registered
