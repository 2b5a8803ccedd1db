"""Base class of networks: shape, initial weights and scoring, as plain functions of named arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import LossError
from plackett._kernels.torch_threads import load_torch
from plackett.scorers.networks.lists import Lists, PlainLists

ACTIVATIONS = ("relu", "gelu", "silu", "tanh")


@dataclass(frozen=True, kw_only=True)
class Network:
    """Description of a network. The weights are separate named arrays, so that a scorer consists only of arrays.

    Parameters
    ----------
    n_features, n_outputs
        Number of input and output columns.
    hidden
        Width of each hidden layer.
    activation, dropout, n_heads, n_layers
        See `plackett.models.networks.neural.Neural`; a network ignores parameters that do not apply to it.
    """

    name: ClassVar[str]
    #: Whether a document's score depends on the other documents of its list.
    list_aware: ClassVar[bool] = False
    #: Default used for None in the parameters of the model.
    default_hidden: ClassVar[tuple[int, ...]]
    default_log1p: ClassVar[bool] = True

    n_features: int
    n_outputs: int
    hidden: tuple[int, ...]
    activation: str = "relu"
    dropout: float = 0.0
    n_heads: int = 1
    n_layers: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(int(width) for width in self.hidden))
        if any(width < 1 for width in self.hidden):
            raise LossError(f"hidden={self.hidden}; every layer needs a width of at least 1")
        choice("activation", self.activation, ACTIVATIONS, error=LossError)
        number("dropout", self.dropout, least=0.0, below=1.0, error=LossError)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array of weights; matrices are (out, in)."""
        raise NotImplementedError

    def scores(self, weights: dict[str, Any], rows: Any, lists: Lists | None, random: Any = None) -> Any:
        """Outputs (rows × outputs) for a tensor of features.

        ``lists`` says which rows belong together; ``random`` is the generator of the dropout, None when not training.
        """
        raise NotImplementedError

    def plain(self, weights: dict[str, np.ndarray], rows: np.ndarray, lists: PlainLists | None) -> np.ndarray:
        """The same with NumPy, as serving does it."""
        raise NotImplementedError

    def initial(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial weights: matrices of variance 1 / inputs; the last one is small, so that all scores start near 0."""
        weights = {}
        for name, shape in self.shapes().items():
            if len(shape) == 2:
                weights[name] = rng.standard_normal(shape, dtype=np.float32) / np.float32(np.sqrt(max(shape[1], 1)))
            else:  # the scale of a normalisation or a bias
                weights[name] = np.full(shape, float(name.endswith("weight")), np.float32)
        weights["output.weight"] *= np.float32(0.1)
        return weights


def layer_shapes(name: str, inputs: int, outputs: int, *, norm: int = 0) -> dict[str, tuple[int, ...]]:
    """Shapes of a linear layer and, where ``norm`` is its width, of a normalisation called ``<name>.norm``."""
    shapes: dict[str, tuple[int, ...]] = {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}
    if norm:
        shapes |= {f"{name}.norm.weight": (norm,), f"{name}.norm.bias": (norm,)}
    return shapes


def linear(weights: dict[str, Any], name: str, rows: Any) -> Any:
    """The linear layer of that name."""
    return load_torch().nn.functional.linear(rows, weights[f"{name}.weight"], weights[f"{name}.bias"])


def normalised(weights: dict[str, Any], name: str, rows: Any) -> Any:
    """Layer normalisation: each row to mean 0 and variance 1, then scaled and shifted."""
    scale, shift = weights[f"{name}.norm.weight"], weights[f"{name}.norm.bias"]
    return load_torch().nn.functional.layer_norm(rows, rows.shape[-1:], scale, shift)


def dropped(rows: Any, share: float, random: Any) -> Any:
    """Dropout with its own generator; the global one would let threads and other code disturb each other."""
    if share == 0.0 or random is None:
        return rows
    kept = load_torch().empty_like(rows).bernoulli_(1.0 - share, generator=random)
    return rows * kept.div_(1.0 - share)


def hidden_shapes(network: Network) -> dict[str, tuple[int, ...]]:
    """Shapes of the hidden layers, each with its normalisation."""
    shapes: dict[str, tuple[int, ...]] = {}
    for i, (inputs, outputs) in enumerate(pairwise((network.n_features, *network.hidden))):
        shapes |= layer_shapes(f"hidden.{i}", inputs, outputs, norm=outputs)
    return shapes


def hidden_layers(network: Network, weights: dict[str, Any], rows: Any, random: Any) -> Any:
    """Linear, normalisation, activation and dropout for each hidden layer; added to its input where widths agree."""
    activation = getattr(load_torch().nn.functional, network.activation)
    for i, width in enumerate(network.hidden):
        new = activation(normalised(weights, f"hidden.{i}", linear(weights, f"hidden.{i}", rows)))
        new = dropped(new, network.dropout, random)
        rows = rows + new if i > 0 and rows.shape[1] == width else new
    return rows
