"""Depth pooling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import Choice, Pool

__all__ = ["DepthPool"]


@dataclass(frozen=True)
class DepthPool(Pool):
    """Depth pooling: the first documents of every run, then the second ones, …

    Documents are taken by their best rank in any run, over all queries alike. At the last rank that the budget reaches,
    documents that more runs have there come first. A budget that ends with a rank k gives the union of the first k
    documents of every run, as `plackett.pool` does. Nothing is random: what is chosen has inclusion probability 1, the
    rest 0, and the rest counts as not relevant in estimates.

    Examples
    --------
    >>> runs = [{"q": {"x": 3, "y": 2, "z": 1}}, {"q": {"y": 9, "w": 5, "x": 1}}]
    >>> sorted(DepthPool().select(runs, budget=3).frame["docid"])
    ['w', 'x', 'y']

    References
    ----------
    Spärck Jones, van Rijsbergen: Report on the need for and provision of an ideal test collection. 1975.
    """

    name: ClassVar[str] = "depth"

    def choose(self, candidates: Candidates, budget: int, rng: np.random.Generator) -> Choice:
        """Choose ``budget`` of the open rows."""
        rank = candidates.rank
        best = np.where(rank > 0, rank, np.iinfo(np.int64).max).min(axis=0)
        n_best = (rank == best).sum(axis=0)
        rows = np.lexsort((-n_best, best, ~candidates.open))[:budget]
        chosen = np.zeros(candidates.n_rows)
        chosen[rows] = 1.0
        n_runs = len(rank)
        return Choice(
            rows,
            1.0 / best,
            chosen,
            lambda row: f"rank {best[row]} in {n_best[row]} of {n_runs} run{'s'[: n_runs > 1]}",
        )
