"""Search spaces of other libraries' rankers, so that they are tuned like ours."""

from __future__ import annotations

from typing import Any

from plackett._base.search_space import Integer, Real, SearchSpace

#: By the name of the class. LightGBM's is that of `plackett.models.Trees`, whose engine it is.
FOREIGN: dict[str, SearchSpace] = {
    "LGBMRanker": {
        "learning_rate": Real(0.02, 0.2, log=True),
        "num_leaves": Integer(4, 32, log=True),
        "min_child_samples": Integer(5, 80, log=True),
    },
    "XGBRanker": {
        "learning_rate": Real(0.02, 0.3, log=True),
        "max_depth": Integer(2, 8),
        "min_child_weight": Real(0.1, 10.0, log=True),
    },
    "CatBoostRanker": {"learning_rate": Real(0.02, 0.3, log=True), "depth": Integer(2, 8)},
    "Ridge": {"alpha": Real(1e-3, 1e3, log=True)},
    "SVR": {"C": Real(1e-2, 1e2, log=True)},
}


def space_of(ranker: Any) -> SearchSpace:
    """The search space that a ranker declares, or the one listed here for its class; empty if there is none.

    That of a pipeline is the one of its last step.

    >>> from sklearn.linear_model import Ridge
    >>> list(space_of(Ridge()))
    ['alpha']
    """
    steps = getattr(ranker, "steps", None)
    if steps:
        return {f"{steps[-1][0]}__{name}": choice for name, choice in space_of(steps[-1][1]).items()}
    declared = getattr(ranker, "search_space", None)
    return FOREIGN.get(type(ranker).__name__, {}) if declared is None else declared
