"""Coordinate ascent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett._base.search_space import SearchSpace
from plackett.rankers.listwise._searched import Searched
from plackett.solvers.search.coordinate import Coordinate

__all__ = ["CoordinateAscent"]


@dataclass(kw_only=True, eq=False, repr=False)
class CoordinateAscent(Searched):
    """Coordinate ascent: a linear model whose weights are optimised one at a time to maximise a measure.

    Along one weight a measure is a step function, which changes only where two documents of a list have equal scores.
    The exact line search visits all these points and finds the best value; the other one tries doubling steps, like
    RankLib. Either way, the measure never decreases on the training data.

    Parameters
    ----------
    measure
        The measure to maximise; an error measure is minimised.
    line_search
        ``"exact"``, for measures that provide the change from swapping two neighbours (nDCG, DCG, AP, P, RR, ERR and
        others); ``"steps"`` for any; ``"auto"`` is exact where the measure and the size of the data allow it.
    tol
        Stop a search after a pass over the features that improves the measure by no more than this.
    max_iter
        Maximum number of passes over the features in each search.
    n_restarts
        Number of additional searches from random weights.
    standardize
        Divide each feature by its standard deviation while searching, so that step sizes fit; the exact search does not
        depend on it.

    Attributes
    ----------
    value_
        Value of the measure on the training data for the kept weights.

    Notes
    -----
    Documents of weight 0 are left out of their lists. The weight of a query is ``query_weight`` times the mean weight
    of its documents.

    Examples
    --------
    >>> ranker = CoordinateAscent(measure="AP").fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Metzler, Croft: Linear feature-based models for information retrieval. Information Retrieval 2007.
    """

    search_space: ClassVar[SearchSpace] = {"tol": (1e-2, 1e-3, 1e-4), "measure": ("nDCG", "nDCG@10", "AP")}

    line_search: str = "auto"
    tol: float = 1e-3
    max_iter: int = 25

    def make_solver(self) -> Coordinate:
        """The solver with its settings."""
        return Coordinate(max_iter=self.max_iter, tol=self.tol, line_search=self.line_search)
