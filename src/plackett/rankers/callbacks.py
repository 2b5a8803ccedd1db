"""User callbacks that run after each training round, as in LightGBM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from plackett._base.errors import DataError
from plackett.solvers.monitor import Monitor

#: LightGBM's name for the first validation set.
VALIDATION = "valid_0"


def after_round(callbacks: Any, ranker: Any) -> Callable[[Monitor], bool] | None:
    """The function a monitor calls after each round. It runs the callbacks in LightGBM's order, each with a
    `CallbackEnv`.

    ``env.model`` is the ranker, ``env.params`` its parameters, and ``env.evaluation_result_list`` has the value of its
    measure on the validation data, and is empty without any. A callback stops training by returning True or raising
    LightGBM's `EarlyStopException`; the best round on the validation data is kept in any case.
    """
    if callbacks is None:
        return None
    ordered = _checked(callbacks)

    def call(monitor: Monitor) -> bool:
        import lightgbm as lgb
        from lightgbm.callback import CallbackEnv, EarlyStopException

        result = getattr(lgb, "EvalResult", lambda *values: values)  # a plain tuple before LightGBM 4.7
        results = []
        if monitor.history and monitor.measure is not None:
            results = [result(VALIDATION, str(monitor.measure), monitor.history[-1], monitor.measure.ascending)]
        env = CallbackEnv(
            model=ranker,
            params=ranker.get_params(deep=False),
            iteration=monitor.n_rounds - 1,
            begin_iteration=0,
            end_iteration=max(monitor.most_rounds, monitor.n_rounds),
            evaluation_result_list=results,
        )
        try:
            return any([bool(callback(env)) for callback in ordered])  # noqa: C419 - every callback is called
        except EarlyStopException:
            return True

    return call


def _checked(callbacks: Any) -> Sequence[Callable[[Any], Any]]:
    if not isinstance(callbacks, (list, tuple, set)) or not all(map(callable, callbacks)):
        raise DataError(f"callbacks={callbacks!r}; give a list of functions of one argument")
    for callback in callbacks:
        if getattr(callback, "before_iteration", False):
            raise DataError(
                f"callbacks: {type(callback).__name__} must run before each round (like "
                "lightgbm.reset_parameter), but rankers run callbacks after it; set the parameters in the constructor"
            )
    return sorted(callbacks, key=lambda callback: getattr(callback, "order", 0))
