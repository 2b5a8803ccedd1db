"""The Markov chain MC1 of rank aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.aggregation._markov import MarkovChain
from plackett.aggregation.lists import Places

__all__ = ["MC1"]


@dataclass(frozen=True, kw_only=True)
class MC1(MarkovChain):
    """MC1: go to a document drawn from all those that any list has at or above the current one, counted per list.

    Scores are the stationary probabilities of the walk.

    Parameters
    ----------
    teleport
        Chance of each step to go to any document of the query instead.
    unranked
        ``"below"``: the documents that a list lacks are tied at its end; ``"unknown"``: only the lists that have a
        document count for it, as in the paper.
    tol, max_iter
        The walk ends when the distribution moves by less than this in sum, or after so many steps.

    Examples
    --------
    >>> from plackett.aggregation import RankLists
    >>> MC1().order(RankLists.from_orders([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]]))
    ['a', 'b', 'c']

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar: Rank aggregation methods for the web. WWW 2001.
    """

    name: ClassVar[str] = "MC1"
    _ids: ClassVar[tuple[str, ...]] = ("aggregate.markov_chain",)
    paper: ClassVar[str] = "Dwork, Kumar, Naor, Sivakumar 2001"

    def _steps(self, places: Places, weights: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        everything = (weights * np.maximum(places.upto, 0)).sum(axis=1, keepdims=True)
        return weights / np.where(everything > 0, everything, 1.0), places.before
