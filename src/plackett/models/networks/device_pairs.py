"""Pair losses on an accelerator: scores stay there, and the gradient is made there."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.losses.pairwise.base import AllPairs
from plackett.models._torch import load_torch
from plackett.models.networks.blocks import cut_by_length, rows_of

__all__ = ["DevicePairs"]

#: Most pairs at once: what bounds the memory, some 200 MB.
MOST_PAIRS = 1 << 24


class DevicePairs:
    """All pairs of unequal labels, in tables of lists of similar length; long lists a band of rows at a time.

    An accelerator does many simple things at once, so all pairs of a band are formed, where the kernels of the host
    keep numbers per document only. In float32, as the network is.
    """

    def __init__(self, bound: AllPairs, device: Any, most_pairs: int = MOST_PAIRS) -> None:
        assert bound.loss.device_slope is not None
        self.loss, self.slope, self.most_pairs = bound.loss, bound.loss.device_slope, most_pairs
        data = bound.data
        by_length = np.argsort(-data.group, kind="stable")
        by_length = by_length[data.group[by_length] > 1]
        runs = cut_by_length(by_length, data.group**2, most_pairs)
        self.tables = [_Table(bound, queries, device) for queries in runs]

    def gradient(self, outputs: Any, share: float) -> Any:
        """Gradient, divided by ``share``, for the outputs (rows × 1) of the network; a tensor like them."""
        torch = load_torch()
        with torch.no_grad():
            gradient = torch.zeros_like(outputs)
            for table in self.tables:
                gradient[table.rows, 0] = self._of(table, outputs[table.rows, 0]) / share
        return gradient

    def _of(self, table: _Table, scores: Any) -> Any:
        torch = load_torch()
        s = scores.new_zeros(table.label.numel()).index_copy(0, table.place, scores).view(table.label.shape)
        found = torch.zeros_like(s)
        lists, places = s.shape
        band = max(1, self.most_pairs // (lists * places))
        for start in range(0, places, band):
            some = slice(start, start + band)
            apart = s[:, some, None] - s[:, None, :] - self.loss.margin
            slope = self.slope(torch, apart, *self.loss.shape)
            slope *= table.label[:, some, None] > table.label[:, None, :]  # never where one of them is NaN
            if table.weight is not None:
                slope *= table.weight[:, some, None] * table.weight[:, None, :]
            found[:, some] += slope.sum(2)
            found -= slope.sum(1)
        return (found * table.scale).view(-1)[table.place]


class _Table:
    """Some lists side by side: which rows they are, the place of each, and labels and weights at the places."""

    def __init__(self, bound: AllPairs, queries: np.ndarray, device: Any) -> None:
        torch = load_torch()
        data = bound.data
        rows = rows_of([queries], data.offsets)
        mask = np.arange(data.group[queries].max()) < data.group[queries][:, None]

        def table(values: np.ndarray, empty: float) -> Any:
            full = np.full(mask.shape, empty, np.float32)
            full[mask] = values[rows]
            return torch.from_numpy(full).to(device)

        labels = np.where(data.labels >= 0, data.labels, np.nan)
        # float32 would take labels for equal that differ in their last digits
        self.label = table(np.unique(labels, return_inverse=True)[1].astype(np.float32), np.nan)
        self.label[table(np.isnan(labels), 0.0) > 0] = torch.nan
        self.weight = None if (bound.sample_weight == 1.0).all() else table(bound.sample_weight, 0.0)
        self.scale = torch.from_numpy(bound.scale[queries].astype(np.float32)[:, None]).to(device)
        self.rows = torch.from_numpy(rows).to(device)
        self.place = torch.from_numpy(np.flatnonzero(mask)).to(device)
