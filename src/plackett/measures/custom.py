"""A user's own measure: one function of the labels of one ranked list."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import MeasureError, PlackettWarning
from plackett._kernels.kernel import over_queries, template
from plackett.measures import language
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import any_positive

__all__ = ["measure"]


def measure(
    function: Callable[..., float] | None = None,
    *,
    name: str | None = None,
    ascending: bool = True,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    compiled: bool = True,
) -> Any:
    """Turn a function of one ranked list into a measure. Use it as a decorator.

    Parameters
    ----------
    function
        ``f(labels)`` or ``f(labels, k)``. It receives the labels of the retrieved documents of one query, best rank
        first, as a float64 array (below 0 is unjudged), and the cut-off (the length of the list if none is given).
        It is not given scores: the order of the labels is all that a measure of a ranking sees.
        It returns a number, or NaN if there is nothing to measure. A query with nothing relevant then gets the value
        `empty`. If other queries can return NaN, set it explicitly: ``mine(empty=0)`` or ``mine(empty="skip")``.
    name
        Name of the measure; by default the function's. From then on you can use it in strings: ``"mine"``,
        ``"mine@5"``.
    ascending, bounds
        Whether larger is better; smallest and largest value.
    compiled
        Whether to compile the function with Numba. A function that Numba cannot compile runs as plain Python, with a
        warning; pass False to choose plain Python without the warning.

    Returns
    -------
    CustomMeasure
        A measure like any other: ``mine @ 5``, ``mine(ties="stable")``, ``evaluate(data, scores, ["mine@5"])``.

    Notes
    -----
    Ties: estimated from seeded random orders. The function is compiled once per process. A pickled measure is looked
    up by name, so the process that loads it must have defined it too.

    Examples
    --------
    >>> import plackett as pk
    >>> @measure(name="GoodAtTop")
    ... def good_at_top(labels, k):
    ...     return (labels[:k] >= 2).mean()
    >>> pk.evaluate([2, 0, 3], [3, 2, 1], ["GoodAtTop@2"]).mean
    {'GoodAtTop@2': 0.5}
    """
    if function is None:
        return lambda f: measure(f, name=name, ascending=ascending, bounds=bounds, compiled=compiled)
    name = name or function.__name__
    if not name.replace("_", "a").isalnum() or name[0].isdigit():
        raise MeasureError(f"{name!r} is not a valid measure name; use letters, digits and underscores")
    signature = inspect.signature(function)
    parameters = list(signature.parameters)
    plain = all(each.kind is each.POSITIONAL_OR_KEYWORD for each in signature.parameters.values())
    if not plain or not parameters or parameters[0] == "k" or parameters[1:] not in ([], ["k"]):
        raise MeasureError(
            f"{name}{signature}: a measure is a function of (labels) or (labels, k): the labels of one query's "
            "documents in the order in which they were ranked, and the cut-off. It is not given scores"
        )
    members: dict[str, Any] = {
        "__doc__": function.__doc__,
        "name": name,
        "aliases": (),
        "ids": (),
        "ascending": ascending,
        "bounds": bounds,
        "function": staticmethod(function),
        "compiled": compiled,
    }
    if len(parameters) == 2:
        members |= {"k": None, "__annotations__": {"k": int | None}}
    kind: Any = dataclass(frozen=True, kw_only=True, repr=False)(type(name, (CustomMeasure,), members))
    made = kind()
    language.register(made)
    return made


@dataclass(frozen=True, kw_only=True, repr=False)
class CustomMeasure(Measure):
    """A measure made by `measure`."""

    exact_ties: ClassVar[bool] = False
    function: ClassVar[Any]
    compiled: ClassVar[bool]

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        out = np.empty(ranking.data.n_queries)
        k = getattr(self, "k", None) or 0
        driver, function = _driver(self.function, self.name, hasattr(self, "k"), self.compiled)
        jobs = ranking.n_jobs if self.compiled else 1
        over_queries(driver, ranking.offsets, ranking.labels, ranking.depth, function, k, out, n_jobs=jobs)
        if "empty" not in self.given and np.isnan(out).any():
            nothing = np.flatnonzero(np.isnan(out) & any_positive(ranking))
            if nothing.size:
                raise MeasureError(
                    f"{self.name} returned NaN for {nothing.size} of {out.size} queries with relevant documents, such "
                    f"as query {ranking.data.qids[nothing[0]]}; if they have nothing to measure, set their value: "
                    f'{self.name}(empty=0), or {self.name}(empty="skip") to leave them out of the mean'
                )
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return language.parse, (str(self),)


@cache
def _driver(function: Any, name: str, takes_k: bool, compiled: bool) -> tuple[Any, Any]:
    """The loop over queries and the function that it calls, both compiled or both plain."""
    plain = _with_k if takes_k else _without_k
    if compiled:
        import numba

        kernel, inner = numba.njit(nogil=True, error_model="numpy")(plain), numba.njit(nogil=True)(function)
        try:
            nothing = np.zeros(1)
            kernel(0, 0, np.zeros(1, np.int64), nothing, np.zeros(1, np.int64), inner, 0, nothing)
        except numba.core.errors.NumbaError as error:
            reason = str(error).strip().splitlines()[-1]
            warnings.warn(
                f"{function.__name__} runs as plain Python, since Numba cannot compile it ({reason}); "
                "pass compiled=False if that is intended",
                PlackettWarning,
                stacklevel=2,
            )
        else:
            # Compiled code turns None into 0, so a function that may return None runs as plain Python,
            # where we can detect it.
            returned = [signature.return_type for signature in inner.nopython_signatures]
            if all(isinstance(kind, (numba.types.Number, numba.types.Boolean)) for kind in returned):
                return kernel, inner
    return plain, _checked(function, name)


def _checked(function: Any, name: str) -> Any:
    """Wrap the function so that it raises if it returns anything but a number."""

    def checked(*arguments: Any) -> float:
        value = function(*arguments)
        if isinstance(value, (Real, np.bool_)) or (isinstance(value, np.ndarray) and value.shape == ()):
            return float(value)
        size = arguments[0].size
        raise MeasureError(f"{name} returned {value!r} for a query of {size} documents; it must return a number")

    return checked


@template
def _with_k(lo, hi, offsets, labels, depth, function, k, out):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        out[q] = function(labels[a : a + depth[q]], k if k > 0 else depth[q])


@template
def _without_k(lo, hi, offsets, labels, depth, function, k, out):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        out[q] = function(labels[a : a + depth[q]])
