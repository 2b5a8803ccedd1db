"""Features that a parameter names: by name or number."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset

#: How many names an error message lists.
_LISTED = 10


def feature_number(data: RankingDataset, given: int | str, parameter: str) -> int:
    """Number of a feature given by name or number."""
    names = list(data.feature_names or ())
    if isinstance(given, str):
        if given not in names:
            listed = ", ".join(map(repr, names[:_LISTED])) + (", …" if len(names) > _LISTED else "")
            known = f"the features are {listed}" if names else "the features have no names, so give a number"
            raise DataError(f"{parameter}: there is no feature {given!r}; {known}")
        return names.index(given)
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or not 0 <= given < data.n_features:
        raise DataError(f"{parameter}: there is no feature {given!r}; give a name, or 0 to {data.n_features - 1}")
    return int(given)


def feature_costs(data: RankingDataset, given: Any, other: float) -> np.ndarray:
    """Cost of each feature: one number per column, or a mapping of names or numbers to costs, and ``other``."""
    costs = np.full(data.n_features, other)
    if isinstance(given, dict):
        for name, cost in given.items():
            costs[feature_number(data, name, "feature_costs")] = cost
    elif given is not None:
        try:
            numbers = np.array(given, np.float64)
        except (TypeError, ValueError):
            numbers = np.empty(())
        if numbers.ndim != 1:
            raise DataError(f"feature_costs={given!r:.80}; give one number per feature, or a dictionary by name")
        if numbers.size != data.n_features:
            raise DataError(f"feature_costs has {numbers.size} entries for {data.n_features} features")
        costs[:] = numbers
    if not (np.isfinite(costs) & (costs >= 0)).all():
        raise DataError("feature_costs must be 0 or more")
    return costs
