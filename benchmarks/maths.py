"""Cost of the vectorisable functions against NumPy's inside Numba: ``python benchmarks/maths.py``.

Nanoseconds per number over an array that fits the cache, the best of many runs, both in the same process.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from plackett._kernels import vector_math

REFERENCES: dict[str, Callable[..., Any]] = {
    "exp": lambda x: np.exp(x),
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "log": lambda x: np.log(x),
    "log1p": lambda x: np.log1p(x),
    "softplus": lambda x: max(x, 0.0) + np.log1p(np.exp(-abs(x))),
    "exp32": lambda x: np.exp(x),
    "sigmoid32": lambda x: np.float32(1) / (np.float32(1) + np.exp(-x)),
}


def nanoseconds(function: Any, x: np.ndarray) -> float:
    @numba.njit(error_model="numpy")
    def loop(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    out = np.empty_like(x)
    loop(x, out)
    best = np.inf
    for _ in range(300):
        start = time.perf_counter()
        for _ in range(10):
            loop(x, out)
        best = min(best, time.perf_counter() - start)
    return best / 10 / x.size * 1e9


def main() -> None:
    x = np.random.default_rng(0).normal(0, 3, 4096)
    print(f"{'function':10} {'plackett':>9} {'numpy in numba':>15} {'ratio':>6}   ns per number")
    for name in ("exp", "log", "log1p", "sigmoid", "softplus", "exp32", "sigmoid32"):
        values = np.abs(x) if name.startswith("log") else x
        values = values.astype(np.float32) if name.endswith("32") else values
        ours = nanoseconds(getattr(vector_math, name), values)
        theirs = nanoseconds(numba.njit(error_model="numpy")(REFERENCES[name]), values)
        print(f"{name:10} {ours:9.2f} {theirs:15.2f} {theirs / ours:6.1f}")


if __name__ == "__main__":
    main()
