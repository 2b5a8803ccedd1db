"""What to judge next."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple


class Pooled(NamedTuple):
    """A document worth judging: its ranks by ranker (None where it is not found), and how much it matters."""

    docid: str
    ranks: dict[str, int | None]
    priority: float


def _by_depth(ranks: Sequence[int | None]) -> float:
    """The best rank: pools as TREC makes them, from the top."""
    return max(1.0 / rank for rank in ranks if rank is not None)


def _by_disagreement(ranks: Sequence[int | None]) -> float:
    """How differently rankers weigh it: the largest difference of nDCG's discounts, 0 where it is not found."""
    discounts = [0.0 if rank is None else 1.0 / math.log2(1 + rank) for rank in ranks]
    return max(discounts) - min(discounts)


#: Orders in which a pool is judged.
STRATEGIES: dict[str, Callable[[Sequence[int | None]], float]] = {
    "depth": _by_depth,
    "disagreement": _by_disagreement,
}


def pool(lists: Mapping[str, Sequence[str]], depth: int, strategy: str = "depth") -> list[Pooled]:
    """The documents among the first ``depth`` of any list, what matters most first.

    >>> [found.docid for found in pool({"x": ["a", "b", "c"], "y": ["a", "c", "d"]}, 2, "disagreement")]
    ['b', 'c', 'a']
    """
    ranks = {name: {docid: i for i, docid in enumerate(ids, 1)} for name, ids in lists.items()}
    every = dict.fromkeys(docid for ids in lists.values() for docid in ids[:depth])
    worth = STRATEGIES[strategy]
    pooled = []
    for docid in every:
        own: dict[str, Any] = {name: rank_of.get(docid) for name, rank_of in ranks.items()}
        pooled.append(Pooled(docid, own, worth(list(own.values()))))
    return sorted(pooled, key=lambda entry: -entry.priority)
