"""The multilayer scorer: normalised layers with skip connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers.networks import plain
from plackett.scorers.networks.base import Network, hidden_layers, hidden_shapes, layer_shapes, linear
from plackett.scorers.networks.lists import Lists, PlainLists


@dataclass(frozen=True, kw_only=True)
class MultilayerNetwork(Network):
    """Layers of linear map, layer normalisation, activation and dropout, then a linear output.

    A layer as wide as the one before it is added to its input instead of replacing it.

    References
    ----------
    Qin, Yan, Zhuang, Tay, Pasumarthi, Wang, Bendersky, Najork: Are neural rankers still outperformed by gradient
    boosted decision trees? ICLR 2021.
    """

    name: ClassVar[str] = "mlp"
    default_hidden: ClassVar[tuple[int, ...]] = (128, 128, 128)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array of weights."""
        width = (self.n_features, *self.hidden)[-1]
        return hidden_shapes(self) | layer_shapes("output", width, self.n_outputs)

    def scores(self, weights: dict[str, Any], rows: Any, lists: Lists | None, random: Any = None) -> Any:
        """Outputs for a tensor of features."""
        return linear(weights, "output", hidden_layers(self, weights, rows, random))

    def plain(self, weights: dict[str, np.ndarray], rows: np.ndarray, lists: PlainLists | None) -> np.ndarray:
        """Outputs for an array of features."""
        return plain.linear(weights, "output", plain.hidden_layers(self, weights, rows))
