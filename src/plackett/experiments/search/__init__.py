"""Ways to search for good parameters, one per file; `SEARCHES` has them by name.

A search is a function of an objective (trains with a setting and returns its value on validation data), a search
space, the number of trials, a function that tells when time is up, and a seed. It only decides what to try: the
objective records trials and keeps the best one.
"""

from __future__ import annotations

from plackett._base.arguments import choice
from plackett.experiments.search.base import DEFAULT_TRIALS, Objective, Search
from plackett.experiments.search.bayes import bayes
from plackett.experiments.search.grid import grid
from plackett.experiments.search.halving import halving
from plackett.experiments.search.nothing import nothing
from plackett.experiments.search.random import random

__all__ = ["DEFAULT_TRIALS", "SEARCHES", "Objective", "Search", "search_named"]

#: Searches by name; None trains once, with the parameters as given.
SEARCHES: dict[str | None, Search] = {
    None: nothing,
    "grid": grid,
    "random": random,
    "bayes": bayes,
    "halving": halving,
}


def search_named(name: str | None) -> Search:
    """Look up a search by name; raise if it is unknown."""
    choice("search", name, SEARCHES, error=ValueError)
    return SEARCHES[name]
