"""Uniform samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.selection.budget import share
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import Choice, Pool, best_of_each_query

__all__ = ["UniformPool"]


@dataclass(frozen=True)
class UniformPool(Pool):
    """Uniform sample without replacement of each query's candidates: what infAP needs.

    The budget is spread evenly over the queries, as far as each has documents; of its N open documents n are drawn,
    each with inclusion probability n/N. The priority is the order of the draw, so that the beginning of a query's list
    is a uniform sample too.

    Examples
    --------
    >>> run = {"q": {"w": 4, "x": 3, "y": 2, "z": 1}}
    >>> UniformPool().select([run], budget=2).frame["inclusion"].to_list()
    [0.5, 0.5]

    References
    ----------
    Yilmaz, Aslam: Estimating average precision with incomplete and imperfect judgments. CIKM 2006.
    """

    name: ClassVar[str] = "uniform"
    aliases: ClassVar[tuple[str, ...]] = ("random", "infap")

    def choose(self, candidates: Candidates, budget: int, rng: np.random.Generator) -> Choice:
        """Choose ``budget`` of the open rows."""
        key = rng.random(candidates.n_rows)
        available = candidates.count(candidates.open)
        quota = share(budget, available)
        chance = (quota / np.maximum(available, 1))[candidates.query_of_row]

        def reason(row: int) -> str:
            q = candidates.query_of_row[row]
            return f"drawn: {quota[q]} of {available[q]} documents"

        return Choice(best_of_each_query(candidates, key, budget), key, chance, reason)
