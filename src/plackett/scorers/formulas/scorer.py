"""A formula as a scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.scorers.base import Scorer, Size
from plackett.scorers.fields import array, number
from plackett.scorers.formulas.machine import by_column, evaluate
from plackett.scorers.formulas.program import Program

__all__ = ["FormulaScorer"]

#: Documents scored at once, which bounds the copy of their features.
_ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class FormulaScorer(Scorer):
    """Scores are the values of a formula; stored as codes and constants, which are checked and never executed."""

    kind: ClassVar[str] = "formulas"
    code: np.ndarray = array("nodes", np.int32)
    constants: np.ndarray = array("nodes", finite=False)  # checked as those of a program
    n_features: int = number()

    @classmethod
    def of(cls, program: Program, n_features: int) -> FormulaScorer:
        """The scorer of a formula for tables of this many features."""
        return cls(*program.arrays(), n_features)

    @cached_property
    def program(self) -> Program:
        """The formula."""
        return Program(tuple(self.code.tolist()), tuple(self.constants.tolist()))

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("n_features", self.n_features)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row."""
        if X.shape[1] != self.n_features:
            raise DataError(f"a formula of {self.n_features} features for a table of {X.shape[1]}")
        used = sorted({code for code in self.program.code if code >= 0})
        row_of = {j: row for row, j in enumerate(used)}
        compact = Program(tuple(row_of.get(code, code) for code in self.program.code), self.program.constants)
        scores = np.empty(X.shape[0])
        for start in range(0, X.shape[0], _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            scores[rows] = evaluate([compact], by_column(X[rows], used), n_jobs)[0]
        return scores

    def check(self) -> None:
        """The formula must be complete, and use features that are there."""
        self.program.check(self.n_features)
