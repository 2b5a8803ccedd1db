"""A fitted ranker as a model file has it: parameters and a model card as JSON, what it learned as plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._names.catalogue import items
from plackett.scorers.model import APART, CALIBRATION, LEARNED, NAME
from plackett.scorers.plain_values import to_plain


def pack(ranker: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """A fitted ranker as JSON and named arrays."""
    ranker.check_fitted()
    algorithm = type(ranker).__name__
    if not any((item.module, item.symbol) == (type(ranker).__module__, algorithm) for item in items("ranker")):
        raise DataError(
            f"a {algorithm} of {type(ranker).__module__} cannot be saved: model files hold the rankers of plackett, "
            "and no code. Use pickle, which needs the class when loading"
        )
    header: dict[str, Any] = {
        "algorithm": algorithm,
        "parameters": {name: to_plain(value, name) for name, value in ranker.get_params(deep=False).items()},
        "fitted": {"n_features_in_": ranker.n_features_in_, "history_": [float(v) for v in ranker.history_]},
        "card": ranker.card_,
        "scorer": ranker.scorer_.kind,
        "strict_part": ranker.strict_part,
    }
    if hasattr(ranker, "feature_names_in_"):
        header["fitted"]["feature_names_in_"] = ranker.feature_names_in_.tolist()
    if hasattr(ranker, "categories_"):
        header["fitted"]["categories_"] = ranker.categories_
    arrays = dict(ranker.scorer_.to_arrays())
    numbers, tables = learned_attributes(ranker)
    header["fitted"]["learned"] = numbers
    arrays |= {LEARNED + name: array for name, array in tables.items()}
    if hasattr(ranker, "calibration_"):
        header["calibration"] = ranker.calibration_.kind
        arrays |= {CALIBRATION + name: array for name, array in ranker.calibration_.to_arrays().items()}
    return header, arrays


def learned_attributes(ranker: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Other learned attributes of a ranker (``gap_``, ``thresholds_``), as long as they are numbers or text."""
    numbers: dict[str, Any] = {}
    tables: dict[str, np.ndarray] = {}
    for name, value in vars(ranker).items():
        if not NAME.fullmatch(name) or name in APART:
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            tables[name] = value
        elif value is None or isinstance(value, (bool, int, float, str, np.integer, np.floating)):
            numbers[name] = to_plain(value, name)
    return numbers, tables
