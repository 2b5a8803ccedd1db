"""Reading a dataset that goes with another one or with a model."""

from __future__ import annotations

from pathlib import Path

from plackett.data.dataset import RankingDataset
from plackett.data.files import LETOR, format_of, read

__all__ = ["read_like"]


def read_like(path: Path, n_features: int) -> RankingDataset:
    """Dataset with this number of features: LETOR text names only those that are not 0."""
    options = {"n_features": n_features} if format_of(path) is LETOR else {}
    return read(path, **options)
