"""Input features of a network: log-transformed, then scaled to mean 0 and standard deviation 1."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._kernels.torch_threads import load_torch
from plackett.data.dense import dense

_BLOCK = 16_384


@dataclass(frozen=True, eq=False)
class FeatureMap:
    r"""Maps each feature to :math:`(g(x) - \text{mean}) \cdot \text{scale}`.

    With ``log1p`` :math:`g(x) = \mathrm{sign}(x) \log(1 + |x|)`, which tames counts and lengths, otherwise g(x) = x.
    Learned from the training data and kept with the scorer.
    """

    log1p: bool
    mean: np.ndarray
    scale: np.ndarray

    @classmethod
    def learn(cls, X: Any, *, log1p: bool, standardize: bool, weight: np.ndarray | None = None) -> FeatureMap:
        """The map that standardises these weighted rows; constant features become 0."""
        n, d = X.shape
        if not standardize:
            return cls(log1p, np.zeros(d, np.float32), np.ones(d, np.float32))
        weight = np.ones(n) if weight is None else weight
        moments = _sparse_moments if hasattr(X, "tocsr") else _dense_moments
        mean, variance = moments(X, log1p, weight, max(float(weight.sum()), np.finfo(float).tiny))
        deviation = np.sqrt(variance)
        constant = deviation <= 1e-6 * np.abs(mean)  # its deviation is rounding noise
        scale = np.where(constant, 0.0, 1.0 / np.where(constant, 1.0, deviation))
        return cls(log1p, mean.astype(np.float32), scale.astype(np.float32))

    def on(self, device: Any) -> FeatureMap:
        """The same map with its arrays as tensors on a device."""
        torch = load_torch()
        return FeatureMap(self.log1p, *(torch.from_numpy(np.array(a)).to(device) for a in (self.mean, self.scale)))

    def __call__(self, rows: Any) -> Any:
        """Map a tensor of features; only for a map that is `on` a device."""
        if self.log1p:
            rows = rows.abs().log1p_().copysign_(rows)
        return (rows - self.mean).mul_(self.scale)

    def plain(self, rows: np.ndarray) -> np.ndarray:
        """Map an array of features."""
        if self.log1p:
            rows = _signed_log(rows.astype(np.float64)).astype(np.float32)
        return (rows - self.mean) * self.scale


def dense_rows(X: Any, rows: Any) -> np.ndarray:
    """Some rows of the features, given by number or a slice, as a dense array."""
    taken = X[rows]
    return dense(taken)


def _signed_log(values: np.ndarray) -> np.ndarray:
    return np.copysign(np.log1p(np.abs(values)), values)


def _dense_moments(X: np.ndarray, log1p: bool, weight: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each column, in blocks because they are taken in double precision."""

    def blocks() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, X.shape[0], _BLOCK):
            block = X[start : start + _BLOCK].astype(np.float64)
            yield weight[start : start + _BLOCK], _signed_log(block) if log1p else block

    none = np.zeros(X.shape[1])
    mean = sum((w @ block for w, block in blocks()), none) / total
    return mean, sum((w @ (block - mean) ** 2 for w, block in blocks()), none) / total


def _sparse_moments(X: Any, log1p: bool, weight: np.ndarray, total: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of each column; what is not stored is 0, and so is its logarithm."""
    d = X.shape[1]
    values = X.data.astype(np.float64)
    values = _signed_log(values) if log1p else values
    stored = np.repeat(weight, np.diff(X.indptr))
    mean = np.bincount(X.indices, stored * values, d) / total
    spread = np.bincount(X.indices, stored * (values - mean[X.indices]) ** 2, d)
    return mean, (spread + (total - np.bincount(X.indices, stored, d)) * mean**2) / total
