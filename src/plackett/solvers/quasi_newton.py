"""Minimisation of a smooth function by L-BFGS-B, watched from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def quasi_newton(
    objective: Callable[[np.ndarray], tuple[float, np.ndarray]],
    start: np.ndarray,
    stop: Callable[[np.ndarray], bool] | None = None,
    *,
    bounds: Any = None,
    **options: Any,
) -> Any:
    """SciPy's result for an objective that gives value and gradient.

    ``stop`` is called with the point of each round, and ends the search by returning True. The ``options`` are SciPy's:
    ``maxiter``, ``ftol``, ``gtol``, ``maxls``.

    >>> quasi_newton(lambda x: (float((x - 3.0) @ (x - 3.0)), 2.0 * (x - 3.0)), np.zeros(2)).x
    array([3., 3.])
    """
    from scipy.optimize import minimize

    def after_round(point: np.ndarray) -> None:
        if stop is not None and stop(point):
            raise StopIteration

    return minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_round, options=options)
