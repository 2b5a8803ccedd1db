"""One score of several outputs per document, such as the expected gain of its grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.losses.base import Loss
from plackett.scorers._finished import FinishedScorer
from plackett.scorers.fields import plain

__all__ = ["CombinedScorer"]


@dataclass(frozen=True)
class CombinedScorer(FinishedScorer):
    """The outputs of a model, combined by the loss that it was trained with.

    Parameters
    ----------
    outputs
        The model.
    loss
        The loss, whose `Loss.ranking_scores` combines them.
    """

    kind: ClassVar[str] = "combined"
    not_exportable: ClassVar[str] = (  # type: ignore[assignment]
        "has several outputs per document, which its loss combines; engines expect one score"
    )
    loss: Loss = plain(lambda value: isinstance(value, Loss))

    def finish(self, outputs: np.ndarray) -> np.ndarray:
        """One score of all outputs of a document."""
        return self.loss.ranking_scores(outputs)

    def check(self) -> None:
        """The loss combines as many outputs."""
        size = self.outputs.size
        array, outputs = ("outputs", 0) if size is None else (size.output_array or size.array, size.n_outputs)
        self.check_that(self.loss.takes(outputs), f"array {array!r} gives {outputs} outputs, but it has {self.loss}")
