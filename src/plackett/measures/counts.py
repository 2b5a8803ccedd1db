"""Counts of queries and documents, summed over queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import hits, n_relevant

__all__ = ["QueryCount", "Relevant", "RelevantRetrieved", "Retrieved"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Count(Measure):
    """A number of documents; `mean` is the sum over queries, as trec_eval and ir-measures report it."""

    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))

    def mean(self, values: np.ndarray) -> float:
        """Sum over queries."""
        return float(np.nansum(values))


@dataclass(frozen=True, kw_only=True, repr=False)
class QueryCount(Count):
    """Number of queries.

    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["NumQ"], qid=["a", "a", "b"]).mean["NumQ"]
    2.0
    """

    name: ClassVar[str] = "NumQ"
    aliases: ClassVar[tuple[str, ...]] = ("num_q",)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return np.ones(ranking.data.n_queries)


@dataclass(frozen=True, kw_only=True, repr=False)
class Retrieved(Count):
    """Number of retrieved documents.

    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["NumRet"]).mean["NumRet"]
    3.0
    """

    name: ClassVar[str] = "NumRet"
    aliases: ClassVar[tuple[str, ...]] = ("num_ret",)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return ranking.depth.astype(np.float64)


@dataclass(frozen=True, kw_only=True, repr=False)
class Relevant(Count):
    """Number of relevant documents, retrieved or not: those with a label of at least ``rel``.

    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["NumRel"]).mean["NumRel"]
    2.0
    """

    name: ClassVar[str] = "NumRel"
    aliases: ClassVar[tuple[str, ...]] = ("num_rel",)

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return n_relevant(ranking, self.rel).astype(np.float64)


@dataclass(frozen=True, kw_only=True, repr=False)
class RelevantRetrieved(Count):
    """Number of relevant documents among the first ``k`` (default: all retrieved ones). Ties: exact mean.

    >>> import plackett as pk
    >>> pk.evaluate([1, 0, 1], [3, 2, 1], ["NumRelRet@2"]).mean["NumRelRet@2"]
    1.0
    """

    name: ClassVar[str] = "NumRelRet"
    aliases: ClassVar[tuple[str, ...]] = ("num_rel_ret", "hits")

    k: int | None = None
    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return hits(ranking, self.rel, self.k).copy()


NumQ = QueryCount()
NumRet = Retrieved()
NumRel = Relevant()
NumRelRet = RelevantRetrieved()
