"""How much effort training takes and how much was needed: declared by our rankers, listed here for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plackett.rankers.base import Ranker

#: Parameters of other libraries' rankers that are training effort, in the order in which they are looked for.
FOREIGN = ("n_estimators", "iterations", "max_iter")
#: Attributes with the best round in other libraries' rankers; XGBoost and CatBoost count from 0.
BEST_ROUND: dict[str, Callable[[Any], int | None]] = {
    "lightgbm": lambda ranker: ranker.best_iteration_,
    "xgboost": lambda ranker: ranker.best_iteration + 1,
    "catboost": lambda ranker: None if ranker.best_iteration_ is None else ranker.best_iteration_ + 1,
}


def effort_of(ranker: Any, searched: Any = ()) -> str | None:
    """The parameter that controls training effort; None if there is none or if it is being searched over.

    >>> from plackett.rankers import LambdaMART, StochasticRank
    >>> effort_of(LambdaMART()), effort_of(StochasticRank())
    ('n_estimators', 'n_steps')
    """
    steps = getattr(ranker, "steps", None)
    if steps:
        inner = effort_of(steps[-1][1])
        name = None if inner is None else f"{steps[-1][0]}__{inner}"
    elif isinstance(ranker, Ranker):
        name = getattr(ranker, "effort", None)
    else:
        known = ranker.get_params(deep=False) if hasattr(ranker, "get_params") else {}
        name = next((n for n in FOREIGN if type(known.get(n)) is int and known[n] > 0), None)
    return None if name in searched else name


def full_effort(ranker: Any, name: str) -> int:
    """Value of that parameter."""
    steps = getattr(ranker, "steps", None)
    if steps:
        return full_effort(steps[-1][1], name.removeprefix(f"{steps[-1][0]}__"))
    full = ranker.full_effort() if isinstance(ranker, Ranker) else ranker.get_params(deep=False)[name]
    assert full is not None  # a ranker that declares the parameter has a value for it
    return full


def settled(ranker: Any) -> dict[str, Any]:
    """What validation data decided in a fitted ranker, as parameters for training without validation data."""
    steps = getattr(ranker, "steps", None)
    if steps:
        return {f"{steps[-1][0]}__{name}": value for name, value in settled(steps[-1][1]).items()}
    if isinstance(ranker, Ranker):
        return ranker.settled()
    if getattr(ranker, "early_stopping_rounds", None) is None:
        return {}
    setting: dict[str, Any] = {"early_stopping_rounds": None}
    libraries = [cls.__module__.partition(".")[0] for cls in type(ranker).__mro__]  # of a subclass too
    best = next((BEST_ROUND[library](ranker) for library in libraries if library in BEST_ROUND), None)
    name = effort_of(ranker)
    return setting if not best or name is None else setting | {name: int(best)}
