"""The groupwise scorer: documents are compared in pairs, and the comparisons averaged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._base.time_limit import check_time
from plackett._kernels.torch_threads import load_torch
from plackett.scorers.networks import plain
from plackett.scorers.networks.base import (
    Network,
    dropped,
    hidden_layers,
    hidden_shapes,
    layer_shapes,
    linear,
    normalised,
)
from plackett.scorers.networks.lists import Lists, PlainLists


@dataclass(frozen=True, kw_only=True)
class GroupwiseNetwork(Network):
    """Hidden layers per document, then a layer over every pair of documents of the list, averaged over the others.

    A document's score is the mean of the outputs of a network over all pairs that contain the document, so permuting
    the documents permutes their scores. Time and memory grow with the square of the length of a list.

    References
    ----------
    Ai, Wang, Bruch, Golbandi, Bendersky, Najork: Learning groupwise multivariate scoring functions using deep neural
    networks. ICTIR 2019.
    """

    name: ClassVar[str] = "groupwise"
    list_aware: ClassVar[bool] = True
    default_hidden: ClassVar[tuple[int, ...]] = (64, 32)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden:
            raise LossError("architecture='groupwise' needs at least one entry in hidden: the last is its width")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array of weights."""
        width = self.hidden[-1]
        shapes = hidden_shapes(self)
        shapes |= layer_shapes("own", width, width) | layer_shapes("other", width, width)
        shapes |= layer_shapes("mix", width, width)
        return shapes | layer_shapes("output", width, self.n_outputs, norm=width)

    def scores(self, weights: dict[str, Any], rows: Any, lists: Lists | None, random: Any = None) -> Any:
        """Outputs for a tensor of features."""
        assert lists is not None
        activation = getattr(load_torch().nn.functional, self.activation)
        rows = hidden_layers(self, weights, rows, random)
        own = lists.padded(linear(weights, "own", rows))
        other = lists.padded(linear(weights, "other", rows))
        pairs = activation(own[:, :, None] + other[:, None])
        others: Any = max(lists.longest - 1, 1)
        real = lists.real
        if real is not None:
            pairs = pairs * real[:, 0, 0, None, :, None]
            others = (real.sum(dim=3).view(-1, 1, 1) - 1).clamp(min=1)
        mean = (pairs.sum(dim=2) - activation(own + other)) / others  # a document is not compared with itself
        rows = rows + dropped(linear(weights, "mix", lists.flat(mean)), self.dropout, random)
        return linear(weights, "output", normalised(weights, "output", rows))

    def plain(self, weights: dict[str, np.ndarray], rows: np.ndarray, lists: PlainLists | None) -> np.ndarray:
        """Outputs for an array of features."""
        assert lists is not None
        activation = plain.ACTIVATIONS[self.activation]
        rows = plain.hidden_layers(self, weights, rows)
        own, other = plain.linear(weights, "own", rows), plain.linear(weights, "other", rows)
        mean = np.zeros_like(rows)
        start = 0
        for size in lists.mask.sum(axis=1):
            part = slice(start, start + size)
            for i in range(start, start + size):  # one row of comparisons at a time: memory grows with the list
                check_time()
                mean[i] = activation(own[i] + other[part]).sum(axis=0) - activation(own[i] + other[i])
            mean[part] /= max(size - 1, 1)
            start += size
        rows = rows + plain.linear(weights, "mix", mean)
        return plain.linear(weights, "output", plain.normalised(weights, "output", rows))
