"""One call for one list."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from numbers import Integral
from operator import index
from random import Random
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._names.nearest import plain
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.online.interleaving.balanced import Balanced
from plackett.online.interleaving.base import Interleaved, Interleaving
from plackett.online.interleaving.optimised import Optimised
from plackett.online.interleaving.probabilistic import Probabilistic
from plackett.online.interleaving.team_draft import TeamDraft

__all__ = ["interleave"]

METHODS: dict[str, Interleaving] = {each.name: each() for each in (TeamDraft, Balanced, Probabilistic, Optimised)}
_BY_PLAIN_NAME = {plain(name): each for name, each in METHODS.items()}


def find_interleaving(method: str | Interleaving) -> Interleaving:
    """A way of interleaving, by its name; case, hyphens and underscores do not matter."""
    if isinstance(method, Interleaving):
        return method
    if not isinstance(method, str) or plain(method) not in _BY_PLAIN_NAME:
        raise DataError(f"method={method!r}; give {', '.join(METHODS)}")
    return _BY_PLAIN_NAME[plain(method)]


def interleave(
    lists: Sequence[Any],
    *,
    data: RankingDataset | None = None,
    k: int = 10,
    method: str | Interleaving = "team-draft",
    seed: Any = None,
) -> Interleaved:
    """Draw one list from the lists of two rankers or more.

    Nothing is kept between calls: the same lists and seed give the same list, so that a page can be made again from
    the session's id instead of being stored.

    Parameters
    ----------
    lists
        Documents of each ranker from the top; no list may have a document twice. With ``data``: fitted rankers, or
        arrays of scores of its documents.
    data
        Documents of one query, with their ids, for rankers or scores.
    k
        Documents to show.
    method
        team-draft, balanced, probabilistic or optimised, or an object with parameters such as `Probabilistic`.
    seed
        Number or text, such as the id of the session; None draws anew every time.

    Examples
    --------
    >>> shown = interleave([["a", "b", "c"], ["c", "a", "d"]], k=3, seed="session 1")
    >>> shown.documents
    ['a', 'c', 'b']
    >>> shown.score({"c": 1, "b": 5})  # a click, and an order that is worth five
    [5.0, 1.0]
    """
    if isinstance(lists, Mapping):
        raise DataError("the lists of the rankers are given in a list, without names: list(lists.values())")
    if len(lists) < 2:
        raise DataError(f"the lists of at least two rankers are needed, {len(lists)} given")
    whole("k", k, least=1)
    lists = [_list(each, data, f"ranker {i}") for i, each in enumerate(lists)]
    for i, each in enumerate(lists):
        if len(set(each)) != len(each):
            repeated = next(d for d in each if list(each).count(d) > 1)
            raise DataError(f"ranker {i}: document {repeated!r} is in the list twice")
    try:
        rng = Random(index(seed) if isinstance(seed, Integral) else seed)
    except TypeError:
        raise DataError(f"seed={seed!r}; give a number or a text, such as str(…) of it") from None
    return find_interleaving(method).make(lists, int(k), rng)


def _list(given: Any, data: RankingDataset | None, name: str) -> Sequence[Hashable]:
    """The documents of a ranker from the top; equal scores keep the order of the rows."""
    if data is None:
        if hasattr(given, "predict"):
            raise DataError(f"{name} is a {type(given).__name__}: give the documents of the query, data=…")
        if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
            raise DataError(f"{name}: a list of documents was expected, got a {type(given).__name__}")
        return list(given)
    if data.n_queries != 1 or data.docids is None:
        raise DataError(f"data must be one query with document ids, got {data!r}")
    order = np.argsort(-scores_of(data, given), kind="stable")
    return list(data.docids[order].tolist())
