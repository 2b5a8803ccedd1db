"""The transformers of a pipeline as JSON and back: plackett's own, which model files may hold before the scorer."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers.plain_values import from_plain, to_plain

_COLUMNS = ("n_features_in_", "feature_names_in_", "_columns_in")
#: Transformers that can be saved, with the module that has them and what they learned.
TRANSFORMERS = {
    "QueryNormalizer": ("plackett.data.query_normalizer", _COLUMNS),
    "Imputer": ("plackett.data.imputer", (*_COLUMNS, "statistics_", "indicator_features_")),
    "OrderedTargetEncoder": ("plackett.data.target_encoding", ("n_features_in_", "statistics_", "categories_")),
    "GreedySelector": ("plackett.feature_selection.greedy", (*_COLUMNS, "selected_")),
    "CheapestSelector": ("plackett.feature_selection.cheapest_selector", (*_COLUMNS, "selected_")),
}


def described(name: str, step: Any) -> dict[str, Any]:
    """A fitted transformer as JSON."""
    kind = type(step).__name__
    if kind not in TRANSFORMERS or type(step).__module__ != TRANSFORMERS[kind][0]:
        raise DataError(
            f"step {name!r} of the pipeline is a {kind}; a pipeline can be saved whose steps before the ranker are "
            f"plackett's own ({', '.join(TRANSFORMERS)}; Imputer replaces SimpleImputer). Save the ranker alone, and "
            "keep the other steps with the tool they come from"
        )
    learned = {key: getattr(step, key) for key in TRANSFORMERS[kind][1] if hasattr(step, key)}
    return {
        "step": name,
        "transformer": kind,
        "parameters": {key: to_plain(value, f"{name}__{key}") for key, value in step.get_params().items()},
        "fitted": {key: to_plain(value, key) for key, value in learned.items()},
    }


def made(description: dict[str, Any]) -> Any:
    """The transformer that `described` wrote."""
    kind = description["transformer"]
    if kind not in TRANSFORMERS:
        raise DataError(f"the transformer {kind!r} is not known to this version of plackett")
    module, learned = TRANSFORMERS[kind]
    step = getattr(import_module(module), kind)(**{k: from_plain(v) for k, v in description["parameters"].items()})
    for key, value in description["fitted"].items():
        if key not in learned:
            raise DataError(f"{kind} has no attribute {key!r}")
        if key in ("feature_names_in_", "_columns_in") and not all(isinstance(name, str) for name in value):
            raise DataError(f"{kind}: the names of the features are damaged")
        setattr(step, key, np.array(value, dtype=object) if isinstance(value, list) else int(value))
    if hasattr(step, "restored"):
        step.restored()
    return step
