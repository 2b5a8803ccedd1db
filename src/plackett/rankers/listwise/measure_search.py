"""Search for the linear model that maximises a measure itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from plackett._base.arguments import whole_or_none
from plackett._base.search_space import SearchSpace
from plackett.rankers.listwise._searched import Searched
from plackett.solvers.search.solvers import make_solver

__all__ = ["MeasureSearch"]


@dataclass(kw_only=True, eq=False, repr=False)
class MeasureSearch(Searched):
    """A linear model whose weights are found by a direct search on a measure, with a choice of solvers.

    The first search starts in the direction of steepest descent of the logistic pair loss at zero weights, later ones
    from random weights. The best weights are kept, judged by the measure on the training data or, if there are
    validation data, by `eval_measure` on those.

    Parameters
    ----------
    measure
        The measure to maximise; an error measure is minimised.
    solver
        ``"directions"`` (line searches along promising directions), ``"coordinate"`` (along each feature),
        ``"annealing"`` or ``"random"``; or a configured solver object such as
        ``Annealing(n_chains=16)``.
    max_iter
        Maximum number of solver rounds in each search; None uses the default of the solver.
    n_restarts
        Number of additional searches from random weights.
    standardize
        Divide each feature by its standard deviation while searching. The resulting weights apply to the original
        features.

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
    >>> ranker = MeasureSearch(measure="AP").fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Robertson, Zaragoza: On rank-based effectiveness measures and optimization. Information Retrieval 2007.
    """

    search_space: ClassVar[SearchSpace] = {"solver": ("directions", "coordinate"), "measure": ("nDCG", "nDCG@10", "AP")}

    solver: Any = "directions"
    max_iter: int | None = None

    def make_solver(self) -> Any:
        """The solver with its settings."""
        whole_or_none("MeasureSearch: max_iter", self.max_iter, least=1)
        solver = make_solver(self.solver)
        return solver if self.max_iter is None else replace(solver, max_iter=self.max_iter)
