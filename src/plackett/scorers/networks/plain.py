"""Networks evaluated with NumPy, so that serving a model does not need PyTorch.

In double precision, then rounded to single, as PyTorch does it here on the CPU: sums depend slightly on the neighbours
of a row, and rounding removes that.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import numpy as np

from plackett._base.time_limit import check_time
from plackett._kernels.cores import n_threads
from plackett.scorers.networks.base import Network
from plackett.scorers.networks.blocks import cut_by_length, rows_of
from plackett.scorers.networks.features import FeatureMap, dense_rows
from plackett.scorers.networks.lists import PlainLists

#: Rows, or slots of a padded table, that go through a network together.
_ROWS = 512
#: Numbers of an attention matrix that are held at once.
_ATTENTION = 1 << 22
#: PyTorch's default, added to the variance in a layer normalisation.
_EPSILON = 1e-5

Weights = dict[str, np.ndarray]


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(−x)), without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def _gelu(x: np.ndarray) -> np.ndarray:
    from scipy.special import ndtr

    return x * ndtr(x)


ACTIVATIONS: dict[str, Any] = {
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": _gelu,
    "silu": lambda x: x * sigmoid(x),
    "tanh": np.tanh,
}


def linear(weights: Weights, name: str, rows: np.ndarray) -> np.ndarray:
    """The linear layer of that name."""
    return rows @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def normalised(weights: Weights, name: str, rows: np.ndarray) -> np.ndarray:
    """Layer normalisation: each row to mean 0 and variance 1, then scaled and shifted."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    centred /= np.sqrt(np.square(centred).mean(axis=1, keepdims=True) + _EPSILON)
    return centred * weights[f"{name}.norm.weight"] + weights[f"{name}.norm.bias"]


def hidden_layers(network: Network, weights: Weights, rows: np.ndarray) -> np.ndarray:
    """Linear, normalisation and activation for each hidden layer; added to its input where widths agree."""
    activation = ACTIVATIONS[network.activation]
    for i, width in enumerate(network.hidden):
        new = activation(normalised(weights, f"hidden.{i}", linear(weights, f"hidden.{i}", rows)))
        rows = rows + new if i > 0 and rows.shape[1] == width else new
    return rows


def attend(rows: np.ndarray, lists: PlainLists, n_heads: int) -> np.ndarray:
    """Attention of all heads; ``rows`` holds query, key and value of each document side by side."""
    n_lists, longest = lists.mask.shape
    width = rows.shape[1] // 3
    table = np.zeros((n_lists, longest, 3 * width))
    table[lists.mask] = rows
    split = table.reshape(n_lists, longest, 3, n_heads, width // n_heads).transpose(2, 0, 3, 1, 4)
    query, key, value = split[0] / np.sqrt(width // n_heads), split[1].swapaxes(2, 3), split[2]
    seen = np.empty(query.shape)
    band = max(1, _ATTENTION // max(n_lists * n_heads * longest, 1))
    for start in range(0, longest, band):  # very long lists a few rows at a time
        check_time()
        logits = query[:, :, start : start + band] @ key
        np.copyto(logits, -np.inf, where=~lists.mask[:, None, None, :])
        logits -= logits.max(axis=3, keepdims=True)
        share = np.exp(logits, out=logits)
        share /= share.sum(axis=3, keepdims=True)
        seen[:, :, start : start + band] = share @ value
    return seen.transpose(0, 2, 1, 3).reshape(n_lists, longest, width)[lists.mask]


def plain_scores(
    network: Network, features: FeatureMap, weights: Weights, X: Any, offsets: np.ndarray, n_jobs: int | None
) -> np.ndarray:
    """Outputs for all rows, (rows × outputs); ``weights`` are in double precision."""
    n = X.shape[0]
    out = np.empty((n, network.n_outputs))
    blocks: list[tuple[np.ndarray, PlainLists | None]]
    if network.list_aware:
        group = np.diff(offsets)
        queries = cut_by_length(np.argsort(-group, kind="stable"), group, _ROWS)
        blocks = [(rows_of([part], offsets), PlainLists.of(group[part])) for part in queries]
    else:
        blocks = [(np.arange(low, min(low + _ROWS, n)), None) for low in range(0, n, _ROWS)]

    def score(block: tuple[np.ndarray, PlainLists | None]) -> None:
        rows, lists = block
        check_time()
        if rows.size:
            mapped = features.plain(np.ascontiguousarray(dense_rows(X, rows), np.float32))
            out[rows] = network.plain(weights, mapped.astype(np.float64), lists).astype(np.float32)

    threads = min(n_threads(n_jobs), len(blocks))
    if threads <= 1:
        for block in blocks:
            score(block)
        return out
    with ThreadPoolExecutor(threads) as pool:  # a time limit holds there, too
        list(pool.map(lambda context, block: context.run(score, block), [copy_context() for _ in blocks], blocks))
    return out
