"""Search for the linear model that maximises a measure itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from plackett._errors import DataError
from plackett.models.search_space import SearchSpace
from plackett.rankers.listwise._searched import Searched
from plackett.solvers.search.solvers import make_solver

__all__ = ["MeasureSearch"]


@dataclass(kw_only=True, eq=False, repr=False)
class MeasureSearch(Searched):
    """A linear model whose weights are searched for by the value of a measure, with a choice of solvers.

    The first search starts in the direction in which the logistic pair loss falls fastest from zero weights, each
    further one from random weights. The best weights are kept: by the measure on the training data, or by
    `eval_measure` on validation data where there are any.

    Parameters
    ----------
    measure
        What is maximised: any measure; one of errors is minimised.
    solver
        ``"directions"`` (line searches along promising directions), ``"coordinate"`` (along each feature),
        ``"annealing"`` or ``"random"``; or a solver object with settings of its own, such as
        ``Annealing(n_chains=16)``.
    max_iter
        Most rounds of the solver in each search; None is what the solver has by itself.
    n_restarts
        Further searches from random weights.
    standardize
        Divide each feature by its standard deviation while searching. The weights that come out are for the features
        as they are.

    Attributes
    ----------
    value_
        The measure of the kept weights on the training data.

    Notes
    -----
    Documents of weight 0 are left out of their lists; otherwise a query weighs ``query_weight`` times the mean weight
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

    _ids: ClassVar[tuple[str, ...]] = ("listwise.rank_effectiveness",)
    paper: ClassVar[str] = "Robertson, Zaragoza 2007"
    search_space: ClassVar[SearchSpace] = {"solver": ("directions", "coordinate"), "measure": ("nDCG", "nDCG@10", "AP")}

    solver: Any = "directions"
    max_iter: int | None = None

    def make_solver(self) -> Any:
        """The solver with its settings."""
        if self.max_iter is not None and self.max_iter < 1:
            raise DataError(f"MeasureSearch: max_iter={self.max_iter}; give 1 or more, or None")
        solver = make_solver(self.solver)
        return solver if self.max_iter is None else replace(solver, max_iter=self.max_iter)
