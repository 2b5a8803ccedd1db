"""Transforms of feature values by name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._base.arguments import choice


def _log(x: np.ndarray) -> np.ndarray:
    return np.log(x, out=np.full(x.shape, np.nan), where=x > 0)


def _log1p(x: np.ndarray) -> np.ndarray:
    return np.log1p(x, out=np.full(x.shape, np.nan), where=x > -1)


def _sqrt(x: np.ndarray) -> np.ndarray:
    return np.sqrt(x, out=np.full(x.shape, np.nan), where=x >= 0)


def _reciprocal(x: np.ndarray) -> np.ndarray:
    return np.divide(1.0, x, out=np.full(x.shape, np.nan), where=x != 0)


#: Functions of arrays; a value for which a function is not defined becomes NaN: missing.
TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda x: x,
    "log": _log,
    "log1p": _log1p,
    "sqrt": _sqrt,
    "square": np.square,
    "reciprocal": _reciprocal,
    "negative": np.negative,
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-np.clip(x, -700.0, 700.0))),
    "known": lambda x: (~np.isnan(x)).astype(np.float64),
}


def transform_name(name: str) -> str:
    """Return the name, or raise an error if there is no such transform."""
    choice("transform", name, TRANSFORMS)
    return name
