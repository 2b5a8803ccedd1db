"""Proximity of query terms as features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett.text.features.base import Batch, Feature
from plackett.text.retrieval.proximity import PROXIMITY

__all__ = ["ProximityFeature"]


@dataclass(frozen=True, kw_only=True)
class ProximityFeature(Feature):
    """How close to each other the query terms are in a document.

    Parameters
    ----------
    statistic
        ``"minimum_distance"``, ``"average_distance"``, ``"span"``, ``"cover"``, ``"ordered"`` or ``"unordered"`` pairs,
        ``"first"`` position, or ``"matched"`` distinct terms. All come from one pass over the document's words.
    field
        Field of the documents; by default the index's default field.
    name, transform
        See `Feature`.
    """

    key: ClassVar[str] = "proximity"

    statistic: str
    field: str | None = None

    def _check(self) -> None:
        choice(f"{self.key} statistic", self.statistic, PROXIMITY)

    @property
    def stream(self) -> str:
        """The field."""
        return self.field or "default"

    @property
    def cost(self) -> float:
        """More than a term model: the words of the document are read."""
        return 2.0

    def _label(self) -> str:
        return f"{self.statistic} {self.field}" if self.field else self.statistic

    def _values(self, batch: Batch) -> np.ndarray:
        return batch.proximity(self.field)[:, PROXIMITY.index(self.statistic)]
