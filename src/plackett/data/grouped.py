"""What preferences, relations and tables need of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np


class Grouped(Protocol):
    """Documents grouped by query: a `plackett.RankingDataset`, for the files that it rests on itself."""

    @property
    def offsets(self) -> np.ndarray:
        """First row of each query."""

    @property
    def qids(self) -> np.ndarray:
        """Id of each query."""

    @property
    def docids(self) -> np.ndarray | None:
        """Id of each document."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Name of each feature."""

    @property
    def categories(self) -> Mapping[str, tuple[Any, ...]] | None:
        """The values of each feature that holds categories."""

    @property
    def n_rows(self) -> int:
        """Number of documents."""

    @property
    def n_features(self) -> int:
        """Number of features."""

    @property
    def labels(self) -> np.ndarray:
        """Label of each document."""

    @property
    def query_of_row(self) -> np.ndarray:
        """Number of the query of each row."""

    def dense(self) -> np.ndarray:
        """The features as an array."""

    def from_input_order(self, values: Any) -> np.ndarray:
        """Values of the input rows in the order of the dataset."""
