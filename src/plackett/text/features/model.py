"""A retrieval model as a feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.text.features.base import Batch, Feature
from plackett.text.retrieval.base import RetrievalModel, TermModel

__all__ = ["ModelFeature"]


@dataclass(frozen=True, kw_only=True)
class ModelFeature(Feature):
    """Score of a retrieval model on a field.

    Parameters
    ----------
    model
        Any of the models, such as ``BM25(k1=0.9)``.
    field
        Field of the documents; by default the index's default field.
    name, transform
        See `Feature`.

    Examples
    --------
    >>> from plackett.text import BM25
    >>> feature = ModelFeature(model=BM25(b=0.3), field="title", transform="log1p")
    >>> feature.title, feature.kind, feature.stream, feature.cost
    ('log1p(BM25(b=0.3) title)', 'pair', 'title', 1.0)
    """

    key: ClassVar[str] = "model"

    model: RetrievalModel
    field: str | None = None

    @property
    def stream(self) -> str:
        """The field."""
        return self.field or "default"

    @property
    def cost(self) -> float:
        """As the model says."""
        return self.model.cost

    def _label(self) -> str:
        return f"{self.model} {self.field}" if self.field else str(self.model)

    def _values(self, batch: Batch) -> np.ndarray:
        if isinstance(self.model, TermModel):
            return self.model.of_matches(batch.matches(self.field), batch.field(self.field), 1)
        return self.model.scores(batch.index, batch.queries, batch.offsets, batch.documents, field=self.field, n_jobs=1)
