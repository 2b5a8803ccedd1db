"""Settings of a ranker to choose from."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def expand_settings(settings: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """The settings one by one: all combinations of a dict of lists, or a list of dicts as it is.

    >>> expand_settings({"a": [1, 2], "b": ["x"]})
    [{'a': 1, 'b': 'x'}, {'a': 2, 'b': 'x'}]
    """
    if settings is None:
        return [{}]
    if isinstance(settings, Mapping):
        for name, values in settings.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise ValueError(f"settings[{name!r}] is {values!r}; give a list of values to choose from")
        expanded = [dict(zip(settings, values, strict=True)) for values in itertools.product(*settings.values())]
    else:
        expanded = [dict(setting) for setting in settings]
    if not expanded:
        raise ValueError("settings is empty; leave it out to use the ranker's own parameters")
    return expanded
