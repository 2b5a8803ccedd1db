"""A log cut into a fixed number of parts, so that sums do not depend on the number of threads."""

from __future__ import annotations

import numpy as np

#: Sums are made per part and then added: with more threads than parts some would wait.
N_PARTS = 32


def part_starts(starts: np.ndarray, n_parts: int = N_PARTS) -> tuple[np.ndarray, np.ndarray]:
    """Cut groups into parts with about the same number of rows: first group of each part, and its first row.

    ``starts`` is the first row of each group, with the number of rows at the end.
    """
    n = starts.size - 1
    cuts = np.searchsorted(starts, np.linspace(0, starts[-1], n_parts + 1)[1:-1])
    groups = np.unique(np.concatenate(([0], np.clip(cuts, 0, n), [n])))
    return groups, starts[groups]
