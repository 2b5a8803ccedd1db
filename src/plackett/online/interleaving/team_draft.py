"""Team-draft interleaving and multileaving."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from plackett.online.interleaving.base import Interleaved, Interleaving

__all__ = ["TeamDraft"]


@dataclass(frozen=True)
class TeamDraft(Interleaving):
    """Rankers pick in turn, in a new random order each round, their best document that is not yet in the list.

    A click is credit for the ranker that picked the document. The sizes of the teams differ by one at most, and at each
    rank every ranker has the same chance of the pick, so that clicks that depend on the rank alone favour no ranker.
    Once a list may be too short for the next round, whatever the orders before, the rest is filled up in the same way
    but earns no credit: otherwise longer lists would win.

    References
    ----------
    Radlinski, Kurup, Joachims: How does clickthrough data reflect retrieval quality? CIKM 2008.
    Schuth, Sietsma, Whiteson, Lefortier, de Rijke: Multileaved comparisons for fast online evaluation. CIKM 2014.

    Examples
    --------
    >>> shown = TeamDraft().make([["a", "b", "c"], ["b", "d", "a"]], 3, Random(2))
    >>> shown.documents, shown.credits
    (['b', 'a', 'c'], [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> shown.score(["c"])
    [1.0, 0.0]
    """

    name: ClassVar[str] = "team-draft"

    def make(self, lists: Sequence[Sequence[Hashable]], k: int, rng: Random) -> Interleaved:
        """Draw one list of at most k documents."""
        m = len(lists)
        nobody = [0.0] * m
        teams = [[1.0 if i == ranker else 0.0 for i in range(m)] for ranker in range(m)] if m < 8 else None
        at = [0] * m
        documents: list[Any] = []
        credit: list[list[float]] = []
        used: set[Hashable] = set()
        counting, order = True, list(range(m))
        while len(documents) < k:
            before = len(documents)
            if counting:
                needed = min(m, k - before)
                counting = all(
                    len(each) - before >= needed or _left(lists, ranker, before // m) >= needed
                    for ranker, each in enumerate(lists)
                )
            rng.shuffle(order)
            for ranker in order:
                each, i = lists[ranker], at[ranker]
                while i < len(each) and each[i] in used:
                    i += 1
                at[ranker] = i + 1
                if i >= len(each):
                    continue
                documents.append(each[i])
                used.add(each[i])
                if not counting:
                    credit.append(nobody)
                elif teams is not None:
                    credit.append(teams[ranker])
                else:
                    row = [0.0] * m
                    row[ranker] = 1.0
                    credit.append(row)
                if len(documents) == k:
                    break
            if len(documents) == before:
                break
        return Interleaved(documents, credit)


def _left(lists: Sequence[Sequence[Hashable]], ranker: int, rounds: int) -> int:
    """Minimum number of documents that a ranker has left after some rounds, whatever the orders drawn in them.

    A rule that looked at the orders drawn would be fair on average, but not in who wins the page.
    """
    reach = rounds * len(lists)
    others = {document for i, each in enumerate(lists) if i != ranker for document in each[:reach]}
    shared = sum(document in others for document in lists[ranker])
    return len(lists[ranker]) - rounds - min(shared, reach - rounds)
