"""The rankers of an experiment: names, classes, estimators or functions, in one common form."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from plackett._base.errors import DataError
from plackett._base.search_space import SearchSpace
from plackett._names.nearest import hint
from plackett.experiments.search.foreign import space_of
from plackett.rankers.named import ranker_named

#: Parameters for the number of threads.
THREAD_PARAMETERS = ("n_jobs", "thread_count")


@dataclass(frozen=True)
class Contestant:
    """One ranker of an experiment: its name, the estimator (or a function that builds one), and its search space."""

    name: str
    ranker: Any
    space: SearchSpace

    def imputed(self, imputer: Any) -> Contestant:
        """The same, with missing values filled in first, if the ranker does not accept them itself."""
        from sklearn.utils import get_tags

        from plackett._base.estimator import clone
        from plackett.rankers.pipelines import Pipeline

        try:
            accepts = get_tags(self.ranker).input_tags.allow_nan
        except (AttributeError, TypeError):  # CatBoost has no tags, and accepts missing values
            accepts = True
        if accepts:
            return self
        space = {f"ranker__{name}": choice for name, choice in self.space.items()}
        return dataclasses.replace(
            self, ranker=Pipeline([("imputer", clone(imputer)), ("ranker", self.ranker)]), space=space
        )

    def with_threads(self, n_jobs: int) -> Any:
        """A copy of the ranker (and the model inside it) set to use ``n_jobs`` threads."""
        if not hasattr(self.ranker, "get_params"):
            return self.ranker
        from plackett._base.estimator import clone

        ranker = clone(self.ranker)
        known = ranker.get_params(deep=True)
        accepted = inspect.signature(type(ranker).__init__).parameters  # CatBoost lists only what was set
        names = [name for name in (known | dict(accepted)) if name.rpartition("__")[2] in THREAD_PARAMETERS]
        model = known.get("model")
        if dataclasses.is_dataclass(model) and not isinstance(model, type) and hasattr(model, "n_jobs"):
            ranker.set_params(model=dataclasses.replace(model, n_jobs=n_jobs))
        return ranker.set_params(**dict.fromkeys(names, n_jobs))


def contestants(
    rankers: Any, spaces: Mapping[str, SearchSpace] | None = None, random_state: int | None = None
) -> list[Contestant]:
    """The rankers by name, each with its search space.

    Parameters
    ----------
    rankers
        One or a list of: names, optionally with parameters (``"LambdaMART(num_leaves=7)"``), classes, estimators,
        functions that build an estimator from a setting; or a dict of them by name.
    spaces
        Search spaces by the name of the ranker, instead of those that the rankers declare. Declared search spaces leave
        out parameters that were set by hand.
    random_state
        Seed of rankers given by name or class, and of estimators whose own is None.

    Examples
    --------
    >>> [(c.name, list(c.space)) for c in contestants(["LinearRegression", "MART(num_leaves=7)"])]
    [('LinearRegression', ['alpha']), ('MART(num_leaves=7)', ['learning_rate', 'min_child_samples'])]
    """
    named = rankers.items() if isinstance(rankers, Mapping) else _with_names(rankers)
    by_name: dict[str, Contestant] = {}
    for name, given in named:
        if str(name) in by_name:
            raise DataError(
                f"two rankers are called {name!r}; list each only once, or pass a dict with names of your own"
            )
        by_name[str(name)] = _contestant(str(name), given, random_state)
    if not by_name:
        raise DataError("no ranker given; `plackett list --kind ranker` shows what there is")
    unknown = sorted(set(spaces or {}) - set(by_name))
    if unknown:
        raise DataError(f"a search space is given for {unknown[0]!r}, but the rankers are {', '.join(by_name)}")
    return [_searching(entry, (spaces or {}).get(entry.name)) for entry in by_name.values()]


def _with_names(rankers: Any) -> Iterable[tuple[str, Any]]:
    several = isinstance(rankers, Iterable) and not isinstance(rankers, (str, type)) and not hasattr(rankers, "fit")
    for ranker in rankers if several else [rankers]:
        if isinstance(ranker, str):
            yield ranker, ranker
        elif isinstance(ranker, type) or not hasattr(ranker, "fit"):
            yield getattr(ranker, "__name__", type(ranker).__name__), ranker
        else:
            yield type(ranker).__name__, ranker


def _contestant(name: str, given: Any, random_state: int | None) -> Contestant:
    if isinstance(given, Contestant):
        return given
    excluded: set[str] = set()
    if isinstance(given, str):
        given, chosen = ranker_named(given)
        excluded = set(chosen)  # what was fixed by hand is not searched
        fresh = True
    elif isinstance(given, type):
        given, fresh = given(), True
    else:
        excluded, fresh = _changed(given), False
    if not hasattr(given, "fit") and not callable(given):
        raise DataError(f"{name}: {given!r} is not a ranker; give a name, a class, an estimator or a function")
    if hasattr(given, "get_params"):
        seed = given.get_params(deep=False).get("random_state", "none")
        if seed is None or (fresh and seed != "none" and "random_state" not in excluded):
            from plackett._base.estimator import clone

            given = clone(given).set_params(random_state=random_state)
    space = {key: choice for key, choice in space_of(given).items() if key not in excluded}
    return Contestant(name, given, space)


def _changed(ranker: Any) -> set[str]:
    """The parameters of an estimator, or of the last step of a pipeline, that are not at their defaults."""
    steps = getattr(ranker, "steps", None)
    if steps:
        return {f"{steps[-1][0]}__{name}" for name in _changed(steps[-1][1])}
    if not hasattr(ranker, "get_params") or not hasattr(type(ranker), "_get_param_names"):
        return set()
    defaults = inspect.signature(type(ranker).__init__).parameters
    return {
        name
        for name, value in ranker.get_params(deep=False).items()
        if name not in defaults or repr(value) != repr(defaults[name].default)
    }


def _searching(entry: Contestant, space: SearchSpace | None) -> Contestant:
    if space is None:
        return entry
    if hasattr(entry.ranker, "get_params"):
        known = entry.ranker.get_params(deep=True)
        for name in space:
            if name not in known:
                raise DataError(
                    f"{entry.name} has no parameter {name!r} to search; {hint(name, sorted(known), 'it has')}"
                )
    for name, choice in space.items():
        if isinstance(choice, str) or not (hasattr(choice, "grid") or (hasattr(choice, "__len__") and len(choice))):
            raise DataError(
                f"the search space of {entry.name} has {name}={choice!r}; give a list of values, or a range "
                "(plackett._base.search_space.Real, Integer)"
            )
    return dataclasses.replace(entry, space=space)
