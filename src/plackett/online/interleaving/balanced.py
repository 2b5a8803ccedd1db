"""Balanced interleaving and multileaving."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from plackett.online.interleaving.base import Interleaved, Interleaving

__all__ = ["Balanced"]


@dataclass(frozen=True)
class BalancedList(Interleaved):
    """A list made by `Balanced`; ``credits`` holds the rank of each document in each ranker's list (0: not there)."""

    def score(self, clicks: Mapping[Any, float] | Iterable[Any]) -> list[float]:
        """Weight of the clicked documents that each ranker has among its first j.

        j is the smallest depth at which some ranker has the lowest clicked document.
        """
        weights = self.weights(clicks)
        clicked = [(weights[d], row) for d, row in zip(self.documents, self.credits, strict=True) if weights.get(d)]
        if not clicked:
            return [0.0] * (len(self.credits[0]) if self.credits else 0)
        depth = min(rank for rank in clicked[-1][1] if rank)
        return [
            float(sum(weight for weight, row in clicked if 0 < row[ranker] <= depth))
            for ranker in range(len(clicked[0][1]))
        ]


@dataclass(frozen=True)
class Balanced(Interleaving):
    """Lists are merged in turn from a random start: every prefix unites prefixes whose depths differ by at most one.

    A ranker's next document is skipped if it is in the list already. Among the documents down to the lowest click, the
    ranker that has more clicked ones at the same depth wins. Simple, but not fair: with lists such as ``a b c d`` and
    ``b c d a``, random clicks prefer the second ranker. Prefer `TeamDraft` or `Optimised`.

    References
    ----------
    Joachims. 2003.
    Chapelle, Joachims, Radlinski, Yue: Large-scale validation and analysis of interleaved search evaluation. ACM
    Transactions on Information Systems 2012.

    Examples
    --------
    >>> shown = Balanced().make([["a", "b", "c"], ["b", "d", "a"]], 3, Random(2))
    >>> shown.documents, shown.score(["d"])
    (['b', 'a', 'd'], [0.0, 1.0])
    """

    name: ClassVar[str] = "balanced"

    def make(self, lists: Sequence[Sequence[Hashable]], k: int, rng: Random) -> Interleaved:
        """Draw one list of at most k documents."""
        order = list(range(len(lists)))
        rng.shuffle(order)
        documents: list[Any] = []
        used: set[Hashable] = set()
        for depth in range(max(map(len, lists), default=0)):
            for ranker in order:
                if depth < len(lists[ranker]) and lists[ranker][depth] not in used and len(documents) < k:
                    documents.append(lists[ranker][depth])
                    used.add(lists[ranker][depth])
            if len(documents) >= k:
                break
        rank_in_list = [{document: rank for rank, document in enumerate(each, 1)} for each in lists]
        return BalancedList(documents, [[rank_of.get(d, 0) for rank_of in rank_in_list] for d in documents])

    def restore(self, record: Mapping[str, Any]) -> Interleaved:
        """The list that was stored by `Interleaved.record`."""
        return BalancedList(list(record["documents"]), [list(row) for row in record["credits"]])
