"""One call for one list."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from random import Random
from typing import Any

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.online.interleaving.balanced import Balanced
from plackett.online.interleaving.base import Interleaved, Interleaving
from plackett.online.interleaving.optimised import Optimised
from plackett.online.interleaving.probabilistic import Probabilistic
from plackett.online.interleaving.team_draft import TeamDraft

__all__ = ["METHODS", "find_interleaving", "interleave"]

METHODS: dict[str, Interleaving] = {each.name: each() for each in (TeamDraft, Balanced, Probabilistic, Optimised)}


def find_interleaving(method: str | Interleaving) -> Interleaving:
    """A way of interleaving, by its name."""
    if isinstance(method, Interleaving):
        return method
    if method not in METHODS:
        raise DataError(f"method={method!r}; give {', '.join(METHODS)}")
    return METHODS[method]


@fulfils("online.interleave")
def interleave(
    lists: Sequence[Sequence[Hashable]],
    *,
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
        Documents of each ranker from the top, no document twice in a list.
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
    if len(lists) < 2:
        raise DataError(f"the lists of at least two rankers are needed, {len(lists)} given")
    if k < 1:
        raise DataError(f"k={k}; show at least one document")
    for i, each in enumerate(lists):
        if len(set(each)) != len(each):
            repeated = next(d for d in each if list(each).count(d) > 1)
            raise DataError(f"ranker {i}: document {repeated!r} is in the list twice")
    return find_interleaving(method).make(lists, k, Random(seed))
