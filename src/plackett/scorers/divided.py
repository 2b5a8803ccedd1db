"""A sum divided by a number, for training that cannot scale down what it added before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers._finished import FinishedScorer
from plackett.scorers.base import Contributions
from plackett.scorers.fields import number
from plackett.scorers.parts import Part

__all__ = ["DividedScorer"]


@dataclass(frozen=True)
class DividedScorer(FinishedScorer):
    """The output of a model, divided.

    Parameters
    ----------
    outputs
        The model, of one output.
    divisor
        A number of 1 or more.
    """

    kind: ClassVar[str] = "divided"
    divisor: float = number(float, least=1.0)

    def finish(self, outputs: np.ndarray) -> np.ndarray:
        """The quotient."""
        return outputs / self.divisor

    def contributions(self, X: Any, n_jobs: int | None = None) -> Contributions | None:
        """Those of the model, divided."""
        return self._divided(self.outputs.contributions(X, n_jobs))

    def relative_contributions(self, X: np.ndarray, background: np.ndarray) -> Contributions | None:
        """Those of the model, divided."""
        return self._divided(self.outputs.relative_contributions(X, background))

    @property
    def ignores_background(self) -> bool:  # type: ignore[override]
        """As its model."""
        return self.outputs.ignores_background

    def _divided(self, parts: Contributions | None) -> Contributions | None:
        if parts is None:
            return None
        return Contributions(parts.values / self.divisor, parts.base / self.divisor, parts.method)

    @property
    def not_exportable(self) -> str:
        """What its model is not."""
        return self.outputs.not_exportable

    def export_parts(self) -> list[tuple[float, Part]]:
        """Those of the model, divided."""
        return [(factor / self.divisor, part) for factor, part in self.outputs.export_parts()]

    def check(self) -> None:
        """The model has one output."""
        size = self.outputs.size
        self.check_that(size is not None and size.n_outputs == 1, "its model does not have one output")
