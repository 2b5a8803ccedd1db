"""What scores are made of for an engine that scores one document at a time: lines, networks, steps, and trees.

Trees are `plackett.scorers.trees.arrays.TreeArrays`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from plackett.scorers.trees.arrays import TreeArrays


@dataclass(frozen=True)
class Line:
    """``x @ weights + intercept``."""

    weights: np.ndarray
    intercept: float


@dataclass(frozen=True)
class Layer:
    """``activation(norm(x @ weights + bias))``, added to its input where it skips."""

    weights: np.ndarray
    bias: np.ndarray
    #: ``relu``, ``gelu``, ``silu``, ``tanh``, ``sigmoid`` or ``identity``.
    activation: str
    #: Scale and shift after each row was brought to mean 0 and variance 1 (plus 1e-5).
    norm: tuple[np.ndarray, np.ndarray] | None = None
    skip: bool = False


@dataclass(frozen=True)
class NetworkLayers:
    """Layers of a network; the first one receives ``(g(x) - mean) * scale``, where g is x or sign(x) log(1 + |x|)."""

    log1p: bool
    mean: np.ndarray
    scale: np.ndarray
    layers: tuple[Layer, ...]

    def folded(self) -> tuple[Layer, ...]:
        """The layers with mean and scale in the weights of the first one."""
        first = self.layers[0]
        weights = first.weights * self.scale[:, None]
        bias = first.bias - (self.mean * self.scale) @ first.weights
        return (Layer(weights, bias, first.activation, first.norm, first.skip), *self.layers[1:])


@dataclass(frozen=True)
class Steps:
    """A piecewise constant function of some features each, which an export writes as one tree per feature."""

    features: tuple[int, ...]
    #: With ``edges``, ``values`` and ``missing``.
    functions: tuple[Any, ...]


Part: TypeAlias = "Line | NetworkLayers | Steps | TreeArrays"
