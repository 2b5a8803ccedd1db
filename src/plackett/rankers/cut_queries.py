"""A warning for cross-validation that splits a query between training and test data."""

from __future__ import annotations

import sys
import warnings
import zlib
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import PlackettWarning
from plackett.data.dataset import RankingDataset


class TrainedPart(NamedTuple):
    """The part of the data that a ranker was fitted to inside scikit-learn's cross-validation."""

    queries: frozenset[Any]
    checksum: int

    @classmethod
    def of(cls, data: RankingDataset) -> TrainedPart:
        """What to remember of a dataset."""
        values = data.X if isinstance(data.X, np.ndarray) else data.X.data
        return cls(frozenset(data.qids.tolist()), zlib.crc32(np.ascontiguousarray(values).data.cast("B")))

    def warn_if_cut(self, test: RankingDataset) -> bool:
        """Warn if test queries were also trained on, and return whether; the training part itself is exempt."""
        shared = self.queries & set(test.qids.tolist())
        if not shared or self == TrainedPart.of(test):
            return False
        warnings.warn(
            f"{len(shared)} of the {test.n_queries} queries of a test part have documents in its training part: this "
            "cross-validation cuts queries, and its values are too good. Use cv=plackett.QueryKFold(…)",
            PlackettWarning,
            stacklevel=4,
        )
        return True


def inside_model_selection() -> bool:
    """Whether the caller is a scikit-learn search or cross-validation, which splits one table into train and test."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection."):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
