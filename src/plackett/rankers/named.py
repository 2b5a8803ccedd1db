"""Rankers by name, with parameters as in a call."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from plackett._base.errors import DataError
from plackett._base.literals import call
from plackett._base.parameters import check_parameters
from plackett._names.catalogue import find
from plackett._names.nearest import hint

#: What stands before the name of a feature that is a ranker by itself.
COLUMN = "column:"


def ranker_named(text: str) -> tuple[Any, dict[str, Any]]:
    """The ranker described by a text, and the parameters the text sets.

    A name of `plackett.rankers()`, whatever its case, or a class of another library by its full name; with parameters
    as in a call. ``"column:NAME"`` is the order of the feature of that name, `plackett.ByFeature`.

    >>> ranker_named("listnet(alpha=0.2)")[0]
    ListNet(alpha=0.2)
    >>> ranker_named("sklearn.linear_model.Ridge")
    (Ridge(), {})
    >>> ranker_named("column:bm25 title")[0]
    ByFeature(feature='bm25 title')
    """
    if text.startswith(COLUMN):
        ranker = _ours("ByFeature")(feature=text.removeprefix(COLUMN))
        return ranker, ranker.get_params(deep=False)  # there is nothing to tune
    try:
        name, parameters = call(text)
    except ValueError:
        raise DataError(
            f"{text!r:.200} is not a ranker; write a name, with parameters as in LambdaMART(num_leaves=7), or "
            "column:NAME for the order of a feature"
        ) from None
    make: Callable[..., Any] = _foreign(name) if "." in name else _ours(name)
    try:
        ranker = make(**parameters)
    except TypeError as error:
        extra = [key for key in parameters if key not in inspect.signature(make).parameters]
        if not extra:
            raise DataError(f"{text}: {error}") from None
        known = sorted(set(inspect.signature(make).parameters) - {"kwargs"})
        raise DataError(f"{name} has no parameter {extra[0]!r}; {hint(extra[0], known, 'it has')}") from None
    if "." not in name:
        check_parameters(ranker)
    return ranker, parameters


def _ours(name: str) -> Any:
    item = find("ranker", name)
    return getattr(import_module(item.module), item.symbol)


def _foreign(name: str) -> Any:
    module, _, symbol = name.rpartition(".")
    try:
        estimator = getattr(import_module(module), symbol)
    except (ImportError, AttributeError) as error:
        if Path(name).exists():
            raise DataError(f"{name!r} is a file, not a ranker: name the ranker, such as LambdaMART") from None
        raise DataError(f"no ranker {name!r}: {error}") from None
    if not (isinstance(estimator, type) and hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise DataError(f"{name} is not an estimator: it needs fit and get_params")
    return estimator
