"""A formula as a scorer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers.base import Scorer, Size
from plackett.scorers.formulas.machine import by_column, evaluate
from plackett.scorers.formulas.program import Program

__all__ = ["FormulaScorer"]

#: Documents scored at once, which bounds the copy of their features.
_ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class FormulaScorer(Scorer):
    """Scores are the values of a formula; stored as codes and constants, which are checked and never executed."""

    kind: ClassVar[str] = "formulas"
    program: Program
    n_features: int

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        code, constants = self.program.arrays()
        return {"code": code, "constants": constants, "n_features": np.array([self.n_features], np.int64)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> FormulaScorer:
        """The scorer that `to_arrays` wrote."""
        code, constants, n_features = (np.array(arrays.get(name)) for name in ("code", "constants", "n_features"))
        if code.dtype != np.int32 or constants.dtype != np.float64 or n_features.dtype != np.int64:
            raise DataError("the formula is damaged: its arrays have the wrong types")
        if code.ndim != 1 or constants.shape != code.shape or n_features.shape != (1,):
            raise DataError(
                f"a formula of codes {code.shape}, constants {constants.shape} and sizes {n_features.shape}"
            )
        program = Program(tuple(code.tolist()), tuple(constants.tolist()))
        program.check(int(n_features[0]))
        return cls(program, int(n_features[0]))
