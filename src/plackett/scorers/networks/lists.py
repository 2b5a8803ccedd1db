"""Lists of unequal length side by side: from flat rows to a padded table and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._kernels.torch_threads import load_torch


@dataclass(frozen=True)
class Lists:
    """The slots of the rows of some lists in a padded table of ``n_lists × longest`` slots.

    ``slot`` is the number of each row's slot, and ``mask`` (lists × 1 × 1 × slots) tells real slots from empty
    ones. Both are None if all lists have the same length, so that the table needs no padding. ``precision`` is the
    type of the attention; None is that of the rows.
    """

    n_lists: int
    longest: int
    slot: Any = None
    mask: Any = None
    precision: Any = None

    @classmethod
    def of(cls, sizes: np.ndarray, device: Any) -> Lists:
        """The lists of these lengths, one after another; empty ones take no slots."""
        torch = load_torch()
        sizes = sizes[sizes > 0]
        longest = int(sizes.max(initial=0))
        if (sizes == longest).all():
            return cls(sizes.size, longest)
        longest = -(-longest // 8) * 8  # masks of such widths need no copy on CUDA
        mask = np.arange(longest) < sizes[:, None]
        position = torch.from_numpy(np.flatnonzero(mask)).to(device)
        return cls(sizes.size, longest, position, torch.from_numpy(mask[:, None, None, :]).to(device))

    @property
    def real(self) -> Any:
        """Whether each slot has a document; None if all have. On CUDA the mask is what is added to the logits."""
        mask = self.mask
        return mask == 0 if mask is not None and mask.is_floating_point() else mask

    def padded(self, rows: Any) -> Any:
        """Rows as a table (lists × slots × columns), zero at empty slots."""
        if self.slot is not None:
            table = rows.new_zeros((self.n_lists * self.longest, rows.shape[1]))
            rows = table.index_copy(0, self.slot, rows)
        return rows.view(self.n_lists, self.longest, -1)

    def flat(self, table: Any) -> Any:
        """The rows of a table, without the empty slots."""
        rows = table.reshape(self.n_lists * self.longest, -1)
        return rows if self.slot is None else rows.index_select(0, self.slot)


@dataclass(frozen=True)
class PlainLists:
    """Lists side by side: which slots of a table (lists × slots) are documents."""

    mask: np.ndarray

    @classmethod
    def of(cls, sizes: np.ndarray) -> PlainLists:
        """The lists of these lengths, one after another."""
        sizes = sizes[sizes > 0]
        return cls(np.arange(sizes.max(initial=0)) < sizes[:, None])
