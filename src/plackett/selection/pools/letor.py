"""Pools from one run, as in the LETOR datasets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import Choice, Pool

__all__ = ["LETORPool"]


@dataclass(frozen=True)
class LETORPool(Pool):
    """The first documents of one run, such as BM25: how the LETOR datasets were made.

    Parameters
    ----------
    run
        Number of the run among those given, from 0.

    Examples
    --------
    >>> runs = [{"q": {"a": 3, "b": 2, "c": 1}}, {"q": {"z": 9}}]
    >>> LETORPool().select(runs, budget=2).frame["docid"].to_list()
    ['a', 'b']

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank. Information Retrieval 2010.
    """

    run: int = 0

    name: ClassVar[str] = "letor"

    def choose(self, candidates: Candidates, budget: int, rng: np.random.Generator) -> Choice:
        """Choose ``budget`` of the open rows."""
        if not 0 <= self.run < len(candidates.rank):
            raise DataError(f"run={self.run}, but there are {len(candidates.rank)} runs, numbered from 0")
        rank = candidates.rank[self.run]
        usable = candidates.open & (rank > 0)
        if budget > usable.sum():
            raise DataError(f"budget={budget}, but run {self.run} has only {usable.sum()} unjudged documents")
        rows = np.lexsort((rank, ~usable))[:budget]
        chosen = np.zeros(candidates.n_rows)
        chosen[rows] = 1.0
        priority = np.where(rank > 0, 1.0 / np.maximum(rank, 1), 0.0)
        return Choice(rows, priority, chosen, lambda row: f"rank {rank[row]} in run {self.run + 1}")
