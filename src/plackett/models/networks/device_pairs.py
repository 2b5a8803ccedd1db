"""Pair losses on an accelerator: scores stay there, and the gradient is made there."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.losses.pairwise.base import AllPairs
from plackett.models._torch import load_torch
from plackett.models.networks.blocks import rows_of

__all__ = ["DevicePairs"]

#: Most pairs at once: what bounds the memory, some 400 MB.
MOST_PAIRS = 1 << 25


class DevicePairs:
    """All pairs of unequal labels, in padded tables of lists; long lists a band of rows at a time.

    An accelerator does many simple things at once, so all pairs of a band are formed, where the kernels of the host
    keep numbers per document only. In float32, as the network is.
    """

    def __init__(self, bound: AllPairs, device: Any, most_pairs: int = MOST_PAIRS) -> None:
        assert bound.loss.device_slope is not None
        self.loss, self.slope, self.most_pairs = bound.loss, bound.loss.device_slope, most_pairs
        self.tables = [_Table(bound, queries, device) for queries in _cut(bound.data.group, most_pairs)]

    def gradient(self, outputs: Any, share: float) -> Any:
        """Gradient, divided by ``share``, for the outputs (rows × 1) of the network; a tensor like them."""
        torch = load_torch()
        with torch.no_grad():
            scores = outputs[:, 0]
            if len(self.tables) == 1 and self.tables[0].rows is None:
                return self._of(self.tables[0], scores, share)[:, None]
            gradient = torch.zeros_like(scores)
            for table in self.tables:
                gradient[table.rows] = self._of(table, scores[table.rows], share)
        return gradient[:, None]

    def _of(self, table: _Table, scores: Any, share: float) -> Any:
        torch = load_torch()
        s = scores.new_zeros(table.label.numel()).index_copy(0, table.place, scores).view(table.label.shape)
        lists, places = s.shape
        found = None
        band = max(1, self.most_pairs // (lists * places))
        for start in range(0, places, band):
            some = slice(start, start + band)
            apart = s[:, some, None] - s[:, None, :]
            if self.loss.margin:
                apart -= self.loss.margin
            slope = self.slope(torch, apart, *self.loss.shape)
            slope *= table.label[:, some, None] > table.label[:, None, :]  # never where one of them is NaN
            if table.weight is not None:
                slope *= table.weight[:, some, None] * table.weight[:, None, :]
            if band >= places:
                found = slope.sum(2) - slope.sum(1)
                break
            found = torch.zeros_like(s) if found is None else found
            found[:, some] += slope.sum(2)
            found -= slope.sum(1)
        return (found * (table.scale / share)).view(-1)[table.place]


def _cut(group: np.ndarray, most_pairs: int) -> list[np.ndarray]:
    """Queries whose padded tables have at most so many pairs: all of them in their order, or else by length."""
    if group.size * int(group.max(initial=0)) ** 2 <= most_pairs:
        return [np.arange(group.size)]
    by_length = np.argsort(-group, kind="stable")
    runs, start = [], 0
    while start < group.size:
        end = start + max(1, most_pairs // max(1, int(group[by_length[start]])) ** 2)
        runs.append(by_length[start:end])
        start = end
    return runs


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
        self.scale = torch.from_numpy(bound.pairs.scale[queries].astype(np.float32)[:, None]).to(device)
        whole = rows.size == data.n_rows and (rows == np.arange(rows.size)).all()
        self.rows = None if whole else torch.from_numpy(rows).to(device)
        self.place = torch.from_numpy(np.flatnonzero(mask)).to(device)
