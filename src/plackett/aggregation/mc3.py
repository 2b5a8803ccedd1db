"""The Markov chain MC3 of rank aggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.aggregation._markov import MarkovChain
from plackett.aggregation.lists import Places

__all__ = ["MC3"]


@dataclass(frozen=True, kw_only=True)
class MC3(MarkovChain):
    """MC3: draw one of the lists that have the current document and one of its documents; go there if it is better.

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
    >>> MC3().order(RankLists.from_orders([["a", "b", "c"], ["a", "c", "b"], ["b", "a", "c"]]))
    ['a', 'b', 'c']

    References
    ----------
    Dwork, Kumar, Naor, Sivakumar: Rank aggregation methods for the web. WWW 2001.
    """

    name: ClassVar[str] = "MC3"
    _ids: ClassVar[tuple[str, ...]] = ("aggregate.markov_chain",)
    paper: ClassVar[str] = "Dwork, Kumar, Naor, Sivakumar 2001"

    def _steps(self, places: Places, weights: np.ndarray, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        total = weights.sum(axis=1, keepdims=True)
        return weights / np.where(total > 0, total, 1.0) / np.maximum(sizes, 1), places.upto
