"""The list-aware scorer: documents of a list attend to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
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
class AttentionNetwork(Network):
    """Hidden layers per document, then encoder layers of self-attention over the list, then a linear output.

    The documents carry no positions: permuting them permutes their scores. Everything but the attention itself works
    on rows without padding, and the attention never stores a table of documents × documents.

    References
    ----------
    Pobrotyn, Bartczak, Synowiec, Białobrzeski, Bojar: Context-aware learning to rank with self-attention. 2020.
    """

    name: ClassVar[str] = "attention"
    list_aware: ClassVar[bool] = True
    default_hidden: ClassVar[tuple[int, ...]] = (128,)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.hidden:
            raise LossError(f"architecture={self.name!r} needs at least one entry in hidden: the last is its width")
        if self.n_layers < 1 or self.n_heads < 1 or self.hidden[-1] % self.n_heads:
            raise LossError(
                f"n_layers={self.n_layers}, n_heads={self.n_heads}; both must be at least 1, and the heads must "
                f"divide the width {self.hidden[-1]} (the last entry of hidden)"
            )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array of weights."""
        width = self.hidden[-1]
        shapes = hidden_shapes(self)
        for i in range(self.n_layers):
            shapes |= layer_shapes(f"encoder.{i}.look", width, 3 * width, norm=width)
            shapes |= layer_shapes(f"encoder.{i}.mix", width, width)
            shapes |= layer_shapes(f"encoder.{i}.widen", width, 2 * width, norm=width)
            shapes |= layer_shapes(f"encoder.{i}.narrow", 2 * width, width)
        return shapes | layer_shapes("output", width, self.n_outputs, norm=width)

    def scores(self, weights: dict[str, Any], rows: Any, lists: Lists | None, random: Any = None) -> Any:
        """Outputs for a tensor of features."""
        assert lists is not None
        activation = getattr(load_torch().nn.functional, self.activation)
        rows = hidden_layers(self, weights, rows, random)
        for i in range(self.n_layers):
            name = f"encoder.{i}"
            seen = self._look(linear(weights, f"{name}.look", normalised(weights, f"{name}.look", rows)), lists)
            rows = rows + dropped(linear(weights, f"{name}.mix", seen), self.dropout, random)
            wide = activation(linear(weights, f"{name}.widen", normalised(weights, f"{name}.widen", rows)))
            rows = rows + dropped(linear(weights, f"{name}.narrow", wide), self.dropout, random)
        return linear(weights, "output", normalised(weights, "output", rows))

    def plain(self, weights: dict[str, np.ndarray], rows: np.ndarray, lists: PlainLists | None) -> np.ndarray:
        """Outputs for an array of features."""
        assert lists is not None
        activation = plain.ACTIVATIONS[self.activation]
        rows = plain.hidden_layers(self, weights, rows)
        for i in range(self.n_layers):
            name = f"encoder.{i}"
            projected = plain.linear(weights, f"{name}.look", plain.normalised(weights, f"{name}.look", rows))
            rows = rows + plain.linear(weights, f"{name}.mix", plain.attend(projected, lists, self.n_heads))
            wide = plain.linear(weights, f"{name}.widen", plain.normalised(weights, f"{name}.widen", rows))
            rows = rows + plain.linear(weights, f"{name}.narrow", activation(wide))
        return plain.linear(weights, "output", plain.normalised(weights, "output", rows))

    def _look(self, rows: Any, lists: Lists) -> Any:
        """Attention of all heads; ``rows`` holds query, key and value of each document side by side."""
        attend = load_torch().nn.functional.scaled_dot_product_attention
        width, dtype = self.hidden[-1], rows.dtype
        rows = rows if lists.precision is None else rows.to(lists.precision)
        table = lists.padded(rows).view(lists.n_lists, lists.longest, 3, self.n_heads, width // self.n_heads)
        query, key, value = table.permute(2, 0, 3, 1, 4).unbind(0)
        seen = attend(query, key, value, attn_mask=lists.mask)
        return lists.flat(seen.transpose(1, 2).reshape(lists.n_lists, lists.longest, width)).to(dtype)
