"""Coordinate ascent: one weight after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from plackett._base.errors import DataError
from plackett.data.mapped import row_array, row_blocks
from plackett.solvers.search.lines import make_line
from plackett.solvers.search.problem import LinearProblem

__all__ = ["Coordinate"]


@dataclass(frozen=True, kw_only=True)
class Coordinate:
    """Coordinate ascent: a line search along each feature, in random order, until a pass brings too little improvement.

    Parameters
    ----------
    max_iter
        Maximum number of passes over the features.
    tol
        Stop after a pass that improves the measure by no more than this.
    line_search
        ``"exact"`` finds the best possible step, ``"steps"`` tries doubling steps, ``"auto"`` is exact if the measure
        and the size of the data allow it.

    Notes
    -----
    The measure never decreases. An exact search costs O(m² log m) for a list of m documents.

    References
    ----------
    Metzler, Croft: Linear feature-based models for information retrieval. Information Retrieval 2007.
    """

    max_iter: int = 25
    tol: float = 1e-3
    line_search: str = "auto"

    def __post_init__(self) -> None:
        if self.max_iter < 1 or not self.tol >= 0:
            raise DataError(f"{self}: max_iter must be 1 or more, and tol 0 or more")

    def rounds(self, problem: LinearProblem, start: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """The weights after each pass."""
        line = make_line(self.line_search, problem.lists)
        weights = problem.normalised(start)
        last = float(problem.values(weights[None])[0])
        column = row_array(problem.data.X, (problem.data.n_rows,))
        for _ in range(self.max_iter):
            scores, value = problem.scores(weights), last
            for feature in rng.permutation(problem.size):
                problem.column(feature, column)
                step, value = line(scores, column)
                if step != 0.0:
                    weights[feature] += step
                    for rows in row_blocks(scores.size):
                        scores[rows] += step * column[rows]
            weights = problem.normalised(weights)
            yield weights.copy()
            if value - last <= self.tol:
                return
            last = value
