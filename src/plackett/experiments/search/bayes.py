"""Bayesian search with Optuna, the optional extra ``tune``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from plackett._base.search_space import Integer, Real, SearchSpace
from plackett._names.optional import optional
from plackett.experiments.search.base import DEFAULT_TRIALS, Objective

__all__ = ["bayes"]


def load_optuna() -> Any:
    """The module `optuna`."""
    return optional("optuna", 'search="bayes" needs')


def bayes(
    objective: Objective,
    space: SearchSpace,
    *,
    n_trials: int | None,
    out_of_time: Callable[[], bool],
    random_state: int,
) -> None:
    """Try what the tree-structured Parzen estimator expects to be good, given the trials so far.

    The first trial uses the parameters as given, a quarter of the others (at least three) are random, and Optuna's
    `TPESampler` proposes the rest. The same seed and number of trials give the same settings.

    References
    ----------
    Bergstra, Bardenet, Bengio, Kégl: Algorithms for hyper-parameter optimization. NIPS 2011.
    """
    optuna = load_optuna()
    objective({})
    if not space:
        return
    startup = max(3, (n_trials or 4 * DEFAULT_TRIALS) // 4)
    distributions = {name: _distribution(optuna, choice) for name, choice in space.items()}
    with _quiet(optuna):
        sampler = optuna.samplers.TPESampler(seed=random_state, n_startup_trials=startup)
        study = optuna.create_study(direction="maximize", sampler=sampler)
        left = math.inf if n_trials is None else n_trials - 1
        while left > 0 and not out_of_time():
            trial = study.ask(distributions)
            worth = objective({name: _value(space[name], trial.params[name]) for name in space})
            if math.isfinite(worth):
                study.tell(trial, worth)
            else:
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            left -= 1


def _distribution(optuna: Any, choice: Any) -> Any:
    if isinstance(choice, Real):
        return optuna.distributions.FloatDistribution(choice.low, choice.high, log=choice.log)
    if isinstance(choice, Integer):
        return optuna.distributions.IntDistribution(choice.low, choice.high, log=choice.log)
    return optuna.distributions.CategoricalDistribution(range(len(choice)))  # values may be of any type


def _value(choice: Any, suggested: Any) -> Any:
    return suggested if isinstance(choice, (Real, Integer)) else choice[suggested]


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Suppress Optuna's line on stderr for every trial."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
