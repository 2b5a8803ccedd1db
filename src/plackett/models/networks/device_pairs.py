"""Pair losses on an accelerator: scores stay on the device, and the gradient is computed there."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.torch_threads import load_torch
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, DeviceForm
from plackett.losses.pairwise.device import MOST_PAIRS
from plackett.scorers.networks.blocks import rows_of


class DevicePairs:
    """All pairs of unequal labels, in padded tables of lists; long lists are processed one band of rows at a time.

    An accelerator does many simple operations at once, so all pairs of a band are formed, whereas the kernels of the
    host only keep numbers per document. Computed in float32, like the network.
    """

    def __init__(self, bound: BoundLoss, device: Any, most_pairs: int = MOST_PAIRS) -> None:
        form = bound.device_form()
        assert form is not None and form.pairs
        self.form, self.most_pairs = form, most_pairs
        self.tables = [
            PaddedTable(form, bound.data, queries, device) for queries in cut_by_pairs(bound.data.group, most_pairs)
        ]

    def gradient(self, outputs: Any, share: float) -> Any:
        """Gradient, divided by ``share``, for the outputs (rows × 1) of the network, as a tensor of the same shape."""
        torch = load_torch()
        with torch.no_grad():
            scores = outputs[:, 0]
            if len(self.tables) == 1 and self.tables[0].rows is None:
                return self._of(self.tables[0], scores, share)[:, None]
            gradient = torch.zeros_like(scores)
            for table in self.tables:
                gradient[table.rows] = self._of(table, scores[table.rows], share)
        return gradient[:, None]

    def _of(self, table: PaddedTable, scores: Any, share: float) -> Any:
        torch = load_torch()
        shape = table.per_row[0].shape
        s = scores.new_zeros(shape.numel()).index_copy(0, table.place, scores).view(shape)
        gradient = self.form.gradient(torch, s, *table.per_row, most_pairs=self.most_pairs)
        return (gradient * (table.scale / share)).view(-1)[table.place]


def cut_by_pairs(group: np.ndarray, most_pairs: int) -> list[np.ndarray]:
    """Runs of queries whose padded tables have at most this many pairs, in the given order if possible."""
    if group.size * int(group.max(initial=0)) ** 2 <= most_pairs:
        return [np.arange(group.size)]
    by_length = np.argsort(-group, kind="stable")
    runs, start = [], 0
    while start < group.size:
        end = start + max(1, most_pairs // max(1, int(group[by_length[start]])) ** 2)
        runs.append(by_length[start:end])
        start = end
    return runs


class PaddedTable:
    """Some lists side by side: which rows they are, the slot of each, and what the loss knows of each slot."""

    def __init__(self, form: DeviceForm, data: RankingDataset, queries: np.ndarray, device: Any) -> None:
        torch = load_torch()
        rows = rows_of([queries], data.offsets)
        mask = np.arange(data.group[queries].max()) < data.group[queries][:, None]

        def table(values: np.ndarray, empty: float) -> Any:
            full = np.full(mask.shape, empty, np.float32)
            full[mask] = values[rows]
            return torch.from_numpy(full).to(device)

        self.per_row = [table(values, empty) for values, empty in form.per_row]
        self.scale = torch.from_numpy(form.scale[queries].astype(np.float32)[:, None]).to(device)
        whole = rows.size == data.n_rows and (rows == np.arange(rows.size)).all()
        self.rows = None if whole else torch.from_numpy(rows).to(device)
        self.place = torch.from_numpy(np.flatnonzero(mask)).to(device)
