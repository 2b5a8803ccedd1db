"""The list-aware scorer of linear cost: documents exchange what they know through a few learned points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.torch_threads import load_torch
from plackett.scorers.networks import plain
from plackett.scorers.networks.attention import AttentionNetwork
from plackett.scorers.networks.base import dropped, hidden_layers, hidden_shapes, layer_shapes, linear, normalised
from plackett.scorers.networks.lists import Lists, PlainLists

#: Number of learned points.
POINTS = 16


@dataclass(frozen=True, kw_only=True)
class InducedNetwork(AttentionNetwork):
    """A set transformer: like `AttentionNetwork`, but documents attend to learned points, and these to all documents.

    Time and memory grow with the length of a list instead of its square.

    References
    ----------
    Lee, Lee, Kim, Kosiorek, Choi, Teh: Set Transformer: a framework for attention-based permutation-invariant neural
    networks. ICML 2019.
    """

    name: ClassVar[str] = "set"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array of weights."""
        width = self.hidden[-1]
        shapes = hidden_shapes(self)
        for i in range(self.n_layers):
            shapes[f"encoder.{i}.points"] = (POINTS, width)
            shapes |= layer_shapes(f"encoder.{i}.look", width, 3 * width, norm=width)
            shapes |= layer_shapes(f"encoder.{i}.tell", width, 2 * width, norm=width)
            shapes |= layer_shapes(f"encoder.{i}.mix", width, width)
            shapes |= layer_shapes(f"encoder.{i}.widen", width, 2 * width, norm=width)
            shapes |= layer_shapes(f"encoder.{i}.narrow", 2 * width, width)
        return shapes | layer_shapes("output", width, self.n_outputs, norm=width)

    def initial(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Initial weights; points have the norm of a normalised row, so that they attend to different documents."""
        weights = super().initial(rng)
        for i in range(self.n_layers):
            weights[f"encoder.{i}.points"] *= np.float32(np.sqrt(self.hidden[-1]))
        return weights

    def scores(self, weights: dict[str, Any], rows: Any, lists: Lists | None, random: Any = None) -> Any:
        """Outputs for a tensor of features."""
        assert lists is not None
        activation = getattr(load_torch().nn.functional, self.activation)
        rows = hidden_layers(self, weights, rows, random)
        for i in range(self.n_layers):
            name = f"encoder.{i}"
            seen = self._exchange(weights, name, normalised(weights, f"{name}.look", rows), lists)
            rows = rows + dropped(linear(weights, f"{name}.mix", seen), self.dropout, random)
            wide = activation(linear(weights, f"{name}.widen", normalised(weights, f"{name}.widen", rows)))
            rows = rows + dropped(linear(weights, f"{name}.narrow", wide), self.dropout, random)
        return linear(weights, "output", normalised(weights, "output", rows))

    def _exchange(self, weights: dict[str, Any], name: str, rows: Any, lists: Lists) -> Any:
        """Points attend to the documents, then documents to the points."""
        attend = load_torch().nn.functional.scaled_dot_product_attention
        width, heads, n = self.hidden[-1], self.n_heads, lists.n_lists
        table = lists.padded(linear(weights, f"{name}.look", rows)).view(n, lists.longest, 3, heads, width // heads)
        query, key, value = table.permute(2, 0, 3, 1, 4).unbind(0)
        points = weights[f"{name}.points"].view(POINTS, heads, width // heads).transpose(0, 1)
        summary = attend(points.expand(n, heads, POINTS, width // heads), key, value, attn_mask=lists.real)
        summary = normalised(weights, f"{name}.tell", summary.transpose(1, 2).reshape(n, POINTS, width))
        pair = linear(weights, f"{name}.tell", summary).view(n, POINTS, 2, heads, width // heads).permute(2, 0, 3, 1, 4)
        seen = attend(query, pair[0], pair[1])
        return lists.flat(seen.transpose(1, 2).reshape(n, lists.longest, width))

    def plain(self, weights: dict[str, np.ndarray], rows: np.ndarray, lists: PlainLists | None) -> np.ndarray:
        """Outputs for an array of features."""
        assert lists is not None
        activation = plain.ACTIVATIONS[self.activation]
        rows = plain.hidden_layers(self, weights, rows)
        for i in range(self.n_layers):
            name = f"encoder.{i}"
            seen = self._plain_exchange(weights, name, plain.normalised(weights, f"{name}.look", rows), lists)
            rows = rows + plain.linear(weights, f"{name}.mix", seen)
            wide = plain.linear(weights, f"{name}.widen", plain.normalised(weights, f"{name}.widen", rows))
            rows = rows + plain.linear(weights, f"{name}.narrow", activation(wide))
        return plain.linear(weights, "output", plain.normalised(weights, "output", rows))

    def _plain_exchange(
        self, weights: dict[str, np.ndarray], name: str, rows: np.ndarray, lists: PlainLists
    ) -> np.ndarray:
        width, heads = self.hidden[-1], self.n_heads
        n, longest = lists.mask.shape
        table = np.zeros((n, longest, 3 * width))
        table[lists.mask] = plain.linear(weights, f"{name}.look", rows)
        query, key, value = table.reshape(n, longest, 3, heads, width // heads).transpose(2, 0, 3, 1, 4)
        points = weights[f"{name}.points"].reshape(POINTS, heads, width // heads).transpose(1, 0, 2)
        summary = _attended(np.broadcast_to(points, (n, *points.shape)), key, value, lists.mask[:, None, None, :])
        summary = summary.transpose(0, 2, 1, 3).reshape(n * POINTS, width)
        pair = plain.linear(weights, f"{name}.tell", plain.normalised(weights, f"{name}.tell", summary))
        pair = pair.reshape(n, POINTS, 2, heads, width // heads).transpose(2, 0, 3, 1, 4)
        seen = _attended(query, pair[0], pair[1], None)
        return seen.transpose(0, 2, 1, 3).reshape(n, longest, width)[lists.mask]


def _attended(query: np.ndarray, key: np.ndarray, value: np.ndarray, mask: np.ndarray | None) -> np.ndarray:
    logits = query @ key.swapaxes(2, 3) / np.sqrt(query.shape[3])
    if mask is not None:
        np.copyto(logits, -np.inf, where=~mask)
    share = np.exp(logits - logits.max(axis=3, keepdims=True))
    return share / share.sum(axis=3, keepdims=True) @ value
