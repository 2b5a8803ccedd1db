"""Parameters checked against the types that their dataclass declares."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from plackett._errors import DataError

__all__ = ["check_parameters", "parameter_problem"]


class _Kind(NamedTuple):
    """Values that a parameter may have: in words, and as a test."""

    words: str
    fits: Callable[[Any], bool]


def _is_bool(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, set, frozenset, np.ndarray, range))


_NONE = _Kind("None", lambda value: value is None)
_TEXT = _Kind("text", lambda value: isinstance(value, str))
_LIST = _Kind("a list", _is_list)
_TABLE = _Kind("a dictionary", lambda value: isinstance(value, Mapping))
_KINDS = {
    "bool": _Kind("True or False", _is_bool),
    "int": _Kind("a whole number", lambda value: isinstance(value, Integral) and not _is_bool(value)),
    "float": _Kind("a number", lambda value: isinstance(value, Real) and not _is_bool(value) and not math.isnan(value)),
    "str": _TEXT,
    "None": _NONE,
    "tuple": _LIST,
    "Sequence": _LIST,
    "dict": _TABLE,
    "Mapping": _TABLE,
}


@cache
def _kinds(annotation: str) -> tuple[_Kind, ...]:
    """What an annotation admits; nothing if it names a type that is not plain."""
    heads = _without_brackets(annotation).split(" | ")
    return tuple(_KINDS[head] for head in heads) if all(head in _KINDS for head in heads) else ()


def _without_brackets(annotation: str) -> str:
    depth, kept = 0, []
    for character in annotation:
        depth += (character == "[") - (character == "]")
        if depth == 0 and character != "]":
            kept.append(character)
    return "".join(kept)


def parameter_problem(name: str, value: Any, annotation: Any) -> str | None:
    """What is wrong with the type of a value, in words; None if nothing is.

    Objects are left to whoever reads them: a parameter that names a measure may be given the measure itself.

    >>> parameter_problem("max_iter", None, "int")
    'max_iter=None; give a whole number'
    >>> parameter_problem("k", "ten", "int | None")
    "k='ten'; give a whole number or None"
    >>> parameter_problem("k", 10, "int | None")
    """
    kinds = _kinds(annotation if isinstance(annotation, str) else inspect.formatannotation(annotation))
    if not kinds or any(kind.fits(value) for kind in kinds):
        return None
    plain = value is None or isinstance(value, (Real, np.bool_, str, Mapping)) or _is_list(value)
    if not plain and (_TEXT in kinds or _LIST in kinds):
        return None
    *others, last = (kind.words for kind in kinds)
    return f"{name}={value!r:.80}; give {', '.join(others) + ' or ' if others else ''}{last}"


def check_parameters(owner: Any) -> None:
    """Reject parameters of a dataclass whose values have another type than it declares.

    >>> import plackett as pk
    >>> check_parameters(pk.ListNet(max_iter=None))
    Traceback (most recent call last):
        ...
    plackett._errors.DataError: ListNet: max_iter=None; give a whole number
    """
    for field in dataclasses.fields(owner):
        if field.init and (problem := parameter_problem(field.name, getattr(owner, field.name), field.type)):
            raise DataError(f"{type(owner).__name__}: {problem}")
