"""The textbook's network: sigmoid layers and a linear output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers.networks import plain
from plackett.scorers.networks.base import Network, layer_shapes, linear
from plackett.scorers.networks.lists import Lists, PlainLists


@dataclass(frozen=True, kw_only=True)
class SigmoidNetwork(Network):
    r"""Two layers, :math:`f(x) = \sum_h v_h\,\sigma(W_h \cdot x + b_h) + c`.

    More entries in ``hidden`` make more sigmoid layers; none makes a linear function. There is no dropout.

    References
    ----------
    Burges, Shaked, Renshaw, Lazier, Deeds, Hamilton, Hullender: Learning to rank using gradient descent. ICML 2005.
    """

    name: ClassVar[str] = "sigmoid"
    default_hidden: ClassVar[tuple[int, ...]] = (32,)
    default_log1p: ClassVar[bool] = False

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array of weights."""
        widths = (self.n_features, *self.hidden)
        shapes: dict[str, tuple[int, ...]] = {}
        for i, width in enumerate(self.hidden):
            shapes |= layer_shapes(f"hidden.{i}", widths[i], width)
        return shapes | layer_shapes("output", widths[-1], self.n_outputs)

    def scores(self, weights: dict[str, Any], rows: Any, lists: Lists | None, random: Any = None) -> Any:
        """Outputs for a tensor of features."""
        for i in range(len(self.hidden)):
            rows = linear(weights, f"hidden.{i}", rows).sigmoid()
        return linear(weights, "output", rows)

    def plain(self, weights: dict[str, np.ndarray], rows: np.ndarray, lists: PlainLists | None) -> np.ndarray:
        """Outputs for an array of features."""
        for i in range(len(self.hidden)):
            rows = plain.sigmoid(plain.linear(weights, f"hidden.{i}", rows))
        return plain.linear(weights, "output", rows)
