"""Margin penalties φ(z) for a score that is on the right side of a threshold by z."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

#: The exponential penalty is at most e^300; beyond that its gradient is constant.
_MOST = 300.0


class Penalty(NamedTuple):
    """Value, slope and curvature of a margin penalty, elementwise; whether its slope is continuous."""

    at: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
    smooth: bool
    exact: bool


def _hinge(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    short = (z < 1.0).astype(float)
    return short * (1.0 - z), -short, short


def _perceptron(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    wrong = (z <= 0.0).astype(float)
    return -wrong * z, -wrong, wrong


def _squared_hinge(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    short = np.maximum(0.0, 1.0 - z)
    return short**2, -2.0 * short, 2.0 * (short > 0.0)


def _square(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (1.0 - z) ** 2, 2.0 * (z - 1.0), np.full_like(z, 2.0)


def _logistic(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    value = np.logaddexp(0.0, -z)
    wrong = np.exp(-np.logaddexp(0.0, z))
    return value, -wrong, wrong * np.exp(-value)


def _exponential(z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    value = np.exp(np.minimum(-z, _MOST))
    return value, -value, value


#: The penalties by name. A hinge has no curvature, so 1 is used where its value is positive.
PENALTIES = {
    "logistic": Penalty(_logistic, True, True),
    "squared_hinge": Penalty(_squared_hinge, True, True),
    "hinge": Penalty(_hinge, False, False),
    "perceptron": Penalty(_perceptron, False, False),
    "exponential": Penalty(_exponential, True, True),
    "square": Penalty(_square, True, True),
}
