"""Checks of arguments: numbers in a range, and choices among names, refused in the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isfinite
from typing import Any, TypedDict, Unpack

import numpy as np

from plackett._base.errors import DataError


class NumberLimits(TypedDict, total=False):
    """The limits of a number: above and below exclude the limit, least and most include it.

    Infinity is a number only where ``most`` is infinity.
    """

    above: float
    least: float
    below: float
    most: float


class NumberCheck(NumberLimits, total=False):
    """The limits of an argument, and the error for one outside, a `DataError` unless said otherwise."""

    error: type[Exception]


def number_problem(value: Any, kind: str = "number", **limits: Unpack[NumberLimits]) -> str | None:
    """What to give instead of a value that is not a number within limits; None if it is one.

    >>> number_problem(0, above=0), number_problem("a", least=0, most=1), number_problem(3, least=1)
    ('a number above 0', 'a number from 0 to 1', None)
    """
    above, least = limits.get("above", -inf), limits.get("least", -inf)
    below, most = limits.get("below", inf), limits.get("most", inf)
    given = _float(value)
    inside = above < given and least <= given <= most and (given < below or below == inf)
    if inside and (isfinite(given) or "most" in limits) and (kind == "number" or given.is_integer()):
        return None
    if isfinite(least) and isfinite(most):
        return f"a {kind} from {least:.12g} to {most:.12g}"
    bounds = [f"above {above:.12g}"] * isfinite(above) + [f"of {least:.12g} or more"] * isfinite(least)
    bounds += [f"below {below:.12g}"] * isfinite(below) + [f"up to {most:.12g}"] * isfinite(most)
    if bounds or kind != "number" or "most" in limits:
        return f"a {kind} {' and '.join(bounds)}".strip()
    return "a finite number"


def _float(value: Any) -> float:
    """A number as a float; NaN for what is none, such as text and truth values."""
    if isinstance(value, (str, bytes, bool, np.bool_)):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
    except OverflowError:  # a whole number beyond all floats
        return inf


def _refusal(name: str, value: Any, wanted: str, error: type[Exception]) -> Exception:
    shown = str(value) if isinstance(value, (float, np.number)) else repr(value)
    return error(f"{name}={shown:.80}; give {wanted}")


def _split(check: NumberCheck) -> tuple[NumberLimits, type[Exception]]:
    limits = {name: limit for name, limit in check.items() if name != "error"}
    return limits, check.get("error", DataError)  # type: ignore[return-value]


def number(name: str, value: Any, **check: Unpack[NumberCheck]) -> float:
    """An argument as a finite number inside its limits: above and below exclude the limit, least and most include it.

    >>> number("rho", 0.5, above=0)
    0.5
    >>> number("rho", 0, above=0)
    Traceback (most recent call last):
    ...
    plackett._base.errors.DataError: rho=0; give a number above 0
    """
    limits, error = _split(check)
    if wanted := number_problem(value, **limits):
        raise _refusal(name, value, wanted, error)
    return float(value)


def whole(name: str, value: Any, **check: Unpack[NumberCheck]) -> int:
    """An argument as a whole number inside its limits.

    >>> whole("judgements", 2e4, least=4)
    20000
    >>> whole("k", None, least=1)
    Traceback (most recent call last):
    ...
    plackett._base.errors.DataError: k=None; give a whole number of 1 or more
    """
    limits, error = _split(check)
    if wanted := number_problem(value, "whole number", **limits):
        raise _refusal(name, value, wanted, error)
    return int(value)


def number_or_none(name: str, value: Any, **check: Unpack[NumberCheck]) -> float | None:
    """An argument as `number` gives it, or None.

    >>> number_or_none("share", 2, least=0, most=1)
    Traceback (most recent call last):
    ...
    plackett._base.errors.DataError: share=2; give a number from 0 to 1, or None
    """
    limits, error = _split(check)
    if value is not None and (wanted := number_problem(value, **limits)):
        raise _refusal(name, value, f"{wanted}, or None", error)
    return None if value is None else float(value)


def whole_or_none(name: str, value: Any, **check: Unpack[NumberCheck]) -> int | None:
    """An argument as `whole` gives it, or None.

    >>> whole_or_none("k", None, least=1)
    """
    limits, error = _split(check)
    if value is not None and (wanted := number_problem(value, "whole number", **limits)):
        raise _refusal(name, value, f"{wanted}, or None", error)
    return None if value is None else int(value)


def positive(**values: Any) -> None:
    """Raise an error unless all numbers are positive and finite."""
    for name, value in values.items():
        number(name, value, above=0)


def probability(name: str, value: Any) -> float:
    """A probability strictly between 0 and 1."""
    return number(name, value, above=0, below=1)


def choice(name: str, value: Any, options: Iterable[Any], error: type[Exception] = DataError) -> None:
    """Raise an error unless the value is one of the options.

    >>> choice("ties", "frist", ("first", "last"))
    Traceback (most recent call last):
    ...
    plackett._base.errors.DataError: ties='frist'; give one of 'first', 'last'
    """
    known = list(options)
    if isinstance(value, np.ndarray) or value not in known:
        raise _refusal(name, value, f"one of {', '.join(map(repr, known))}", error)
