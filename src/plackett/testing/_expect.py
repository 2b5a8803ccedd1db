"""How checks report failures, without bare assertions or pytest."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class CheckFailed(AssertionError):  # noqa: N818
    """A rule is broken. The message names what was checked, the rule, and what was found instead."""


def require(condition: Any, message: str) -> None:
    """Fail with what was found unless the condition holds."""
    if not condition:
        raise CheckFailed(message)


def close(actual: Any, expected: Any, what: str, *, rtol: float = 1e-7, atol: float = 0.0) -> None:
    """Fail unless two arrays agree up to rounding; NaN equals NaN."""
    found, wanted = np.asarray(actual), np.asarray(expected)
    alike = found.shape == wanted.shape and found.dtype == wanted.dtype == np.float64
    if alike and np.isfinite(wanted).all() and (np.abs(found - wanted) <= atol + rtol * np.abs(wanted)).all():
        return  # the usual case; NaN, infinities and the message are left to NumPy, which takes longer
    _compare(np.testing.assert_allclose, actual, expected, what, rtol=rtol, atol=atol, equal_nan=True)


def equal(actual: Any, expected: Any, what: str) -> None:
    """Fail unless two arrays are equal to the last bit; NaN equals NaN."""
    _compare(np.testing.assert_array_equal, actual, expected, what)


def _compare(compare: Any, actual: Any, expected: Any, what: str, **options: Any) -> None:
    try:
        compare(actual, expected, **options)
    except AssertionError as error:
        details = str(error).strip().replace("ACTUAL", "found").replace("DESIRED", "expected")
        raise CheckFailed(f"{what}\n{details}") from None


@contextmanager
def refuses(kinds: type[BaseException] | tuple[type[BaseException], ...], match: str, what: str) -> Iterator[None]:
    """Fail unless the block raises an error of one of these kinds whose message matches."""
    names = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
    try:
        yield
    except kinds as error:
        if not re.search(match, str(error)):
            raise CheckFailed(
                f"{what}: the message of the {type(error).__name__} should match {match!r}, but it is: {error}"
            ) from error
    except Exception as error:
        raise CheckFailed(f"{what}: expected {names}, got {type(error).__name__}: {error}") from error
    else:
        raise CheckFailed(f"{what}: expected {names} with a message that matches {match!r}, but nothing was raised")


@contextmanager
def warns(kind: type[Warning], match: str, what: str) -> Iterator[None]:
    """Fail unless the block gives a warning of this kind whose message matches; other kinds are passed on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    fitting = [w for w in caught if issubclass(w.category, kind) and re.search(match, str(w.message))]
    others = [str(w.message) for w in caught]
    require(fitting, f"{what}: expected a {kind.__name__} that matches {match!r}; the warnings were {others}")
    for w in caught:
        if not issubclass(w.category, kind):
            warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)
