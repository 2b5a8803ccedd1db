"""Probabilistic interleaving and multileaving."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

from plackett._base.errors import DataError
from plackett.online.interleaving.base import Interleaved, Interleaving

__all__ = ["Probabilistic"]

#: Every document can be drawn, however steeply the probability falls.
_LEAST = 1e-200


@dataclass(frozen=True)
class Probabilistic(Interleaving):
    """At each rank a ranker is drawn, and a document from a distribution over its list, P(d) ∝ 1 / rank^tau.

    Documents that were drawn leave all the lists. A document that a ranker does not have counts as one rank below its
    last. Credit is marginalised: a click on document d at rank i gives ranker r

        P(r | d) = P_r(d | not above) / Σ_s P_s(d | not above),

    whichever ranker was drawn, which has less variance than credit for that ranker alone. Every list can be shown, so
    that old lists can be reused for new rankers; users see worse lists than with the other methods.

    Parameters
    ----------
    tau
        How steeply the probability falls with the rank.

    References
    ----------
    Hofmann, Whiteson, de Rijke: A probabilistic method for inferring preferences from clicks. CIKM 2011.
    Schuth et al.: Probabilistic multileave for online retrieval evaluation. SIGIR 2015.

    Examples
    --------
    >>> shown = Probabilistic().make([["a", "b", "c"], ["b", "d", "a"]], 3, Random(2))
    >>> shown.documents, [round(x, 3) for x in shown.credits[0]]
    (['d', 'a', 'b'], [0.111, 0.889])
    """

    name: ClassVar[str] = "probabilistic"

    tau: float = 3.0

    def __post_init__(self) -> None:
        if not 0 <= self.tau < math.inf:
            raise DataError(f"tau={self.tau}; give 0 (all ranks alike) or more")

    def make(self, lists: Sequence[Sequence[Hashable]], k: int, rng: Random) -> Interleaved:
        """Draw one list of at most k documents."""
        pool = list(dict.fromkeys(document for each in lists for document in each))
        number = {document: i for i, document in enumerate(pool)}
        weights = []  # of each document of the pool, by ranker
        for each in lists:
            row = [max((len(each) + 1.0) ** -self.tau, _LEAST)] * len(pool)
            for rank, document in enumerate(each, 1):
                row[number[document]] = max(rank**-self.tau, _LEAST)
            weights.append(row)
        documents: list[Any] = []
        credit: list[list[float]] = []
        for _ in range(min(k, len(pool))):
            totals = [sum(row) for row in weights]
            ranker = int(rng.random() * len(lists))
            row, left, j = weights[ranker], rng.random() * totals[ranker], -1
            for i, weight in enumerate(row):
                if weight:
                    j = i
                    left -= weight
                    if left < 0:
                        break
            documents.append(pool[j])
            chances = [each[j] / total for each, total in zip(weights, totals, strict=True)]
            whole = sum(chances)
            credit.append([chance / whole for chance in chances])
            for each_row in weights:
                each_row[j] = 0.0
        return Interleaved(documents, credit)
