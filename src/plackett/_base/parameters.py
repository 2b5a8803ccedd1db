"""Parameters checked against the types that their dataclass declares, and against what their names mean everywhere."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import NumberLimits, number_problem
from plackett._base.errors import DataError


class _Kind(NamedTuple):
    """Values that a parameter may have: a description for messages, and a test."""

    description: str
    fits: Callable[[Any], bool]


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_switch(value: Any) -> bool:
    return _is_bool(value) or (isinstance(value, Integral) and value in (0, 1))


def _is_number(value: Any) -> bool:
    if not isinstance(value, Real) or _is_bool(value):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset, np.ndarray, range))


_NONE = _Kind("None", lambda value: value is None)
_TEXT = _Kind("text", lambda value: isinstance(value, str))
_LIST = _Kind("a list", _is_list)
_TABLE = _Kind("a dictionary", lambda value: isinstance(value, Mapping))
_KINDS = {
    "bool": _Kind("True or False", _is_switch),
    "int": _Kind("a whole number", lambda value: isinstance(value, Integral) and not _is_bool(value)),
    "float": _Kind("a number", _is_number),
    "str": _TEXT,
    "None": _NONE,
    "tuple": _LIST,
    "Sequence": _LIST,
    "dict": _TABLE,
    "Mapping": _TABLE,
}


_COUNT = NumberLimits(least=1, most=math.inf)
_AMOUNT = NumberLimits(least=0, most=math.inf)
_FINITE = NumberLimits()
_POSITIVE = NumberLimits(above=0)
_SHARE = NumberLimits(above=0, most=1)
#: Ranges of the numbers with these names, the same in every ranker and model.
_RANGES = {
    **dict.fromkeys(("batch_size", "max_iter", "n_bags", "n_heads", "n_layers"), _COUNT),
    **dict.fromkeys(("degree", "margin", "max_exact", "min_child_samples", "min_child_weight"), _AMOUNT),
    **dict.fromkeys(("reg_alpha", "reg_lambda", "tol", "weight_decay"), _AMOUNT),
    **dict.fromkeys(("coef0", "noise"), _FINITE),
    **dict.fromkeys(("learning_rate", "prior_variance", "scale"), _POSITIVE),
    **dict.fromkeys(("rank_steepness", "steepness"), _POSITIVE),
    **dict.fromkeys(("colsample_bynode", "colsample_bytree", "subsample"), _SHARE),
    "max_grad_norm": NumberLimits(above=0, most=math.inf),
    "max_bin": NumberLimits(least=2, most=math.inf),
    "gamma": NumberLimits(least=0),
}
#: Larger whole numbers are mistakes, and too large for the libraries underneath; only seeds may be larger.
_LARGEST = 2**31 - 1


@cache
def _kinds(annotation: str) -> tuple[_Kind, ...]:
    """Kinds of values that an annotation allows; empty if it names a type that is not plain."""
    parts = [_kind(part) for part in _split(annotation, " | ")]
    return tuple(part for part in parts if part is not None) if all(parts) else ()


def _admitted(annotation: Any) -> tuple[_Kind, ...]:
    return _kinds(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))


def _kind(annotation: str) -> _Kind | None:
    head, bracket, inside = annotation.partition("[")
    kind = _KINDS.get(head)
    if kind is not _LIST or not bracket:
        return kind
    entries = _kinds(_split(inside.removesuffix("]"), ", ")[0])
    if not entries:  # objects: text instead of one of them is left to the ranker, which knows what it means
        return _Kind(kind.description, lambda value: _is_list(value) or isinstance(value, str))
    description = " or ".join(each.description for each in entries)
    return _Kind(
        f"a list, each entry {description}",
        lambda value: _is_list(value) and all(any(each.fits(entry) for each in entries) for entry in value),
    )


def _split(annotation: str, separator: str) -> list[str]:
    """The parts of an annotation, cut at separators outside of brackets."""
    parts = [""]
    for piece in annotation.split(separator):
        inner = parts[-1].count("[") > parts[-1].count("]")
        if inner:
            parts[-1] += separator + piece
        else:
            parts.append(piece)
    return parts[1:]


def parameter_problem(name: str, value: Any, annotation: Any) -> str | None:
    """What is wrong with the type of a value, in words; None if nothing is.

    Objects are left to whoever reads them: a parameter that names a measure may be given the measure itself.

    >>> parameter_problem("max_iter", None, "int")
    'max_iter=None; give a whole number'
    >>> parameter_problem("k", "ten", "int | None")
    "k='ten'; give a whole number or None"
    >>> parameter_problem("k", 10, "int | None")
    """
    kinds = _admitted(annotation)
    if not kinds or any(kind.fits(value) for kind in kinds):
        return None
    plain = value is None or isinstance(value, (Real, np.bool_, str, Mapping)) or _is_list(value)
    if not plain and (_TEXT in kinds or any("list" in kind.description for kind in kinds)):
        return None
    *others, last = (kind.description for kind in kinds)
    return f"{name}={value!r:.80}; give {', '.join(others) + ' or ' if others else ''}{last}"


def _range_problem(name: str, value: Any, annotation: Any) -> str | None:
    if not isinstance(value, Real) or _is_bool(value):
        return None
    if name in _RANGES and (wanted := number_problem(value, **_RANGES[name])):
        return f"{name}={value!r}; give {wanted}"
    if name != "random_state" and isinstance(value, Integral) and abs(int(value)) > _LARGEST:
        return None if _KINDS["float"] in _admitted(annotation) else f"{name}={value!r}; give at most {_LARGEST}"
    return None


def _is_ours(cls: type, name: str) -> bool:
    """Whether a field is declared in this package, where its name means what it means everywhere."""
    declaring = next(each for each in cls.__mro__ if name in inspect.get_annotations(each))
    return declaring.__module__.partition(".")[0] == "plackett"


def check_parameters(owner: Any) -> None:
    """Reject parameters of a ranker or model, a dataclass, whose values make no sense.

    Fields that a user's own class declares may have any number of their type, and their default, whatever its type.

    >>> import plackett as pk
    >>> check_parameters(pk.ListNet(max_iter=None))
    Traceback (most recent call last):
        ...
    plackett._base.errors.DataError: ListNet: max_iter=None; give a whole number
    >>> check_parameters(pk.ListNet(max_iter=0))
    Traceback (most recent call last):
        ...
    plackett._base.errors.DataError: ListNet: max_iter=0; give a number of 1 or more
    """
    for field in dataclasses.fields(owner) if dataclasses.is_dataclass(owner) else ():
        if not field.init:
            continue
        name, value = field.name, getattr(owner, field.name)
        problem = parameter_problem(name, value, field.type) or _range_problem(name, value, field.type)
        if problem and not _is_ours(type(owner), name):
            problem = None if repr(value) == repr(field.default) else parameter_problem(name, value, field.type)
        if problem:
            raise DataError(f"{type(owner).__name__}: {problem}")
