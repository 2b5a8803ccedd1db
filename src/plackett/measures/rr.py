"""Reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import count_relevant, n_relevant
from plackett.measures.swaps import new_state

__all__ = ["ReciprocalRank"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ReciprocalRank(Measure):
    r"""Reciprocal rank of the first relevant document; its mean over queries is MRR.

    .. math:: \text{RR@}k = \frac{1}{\min\{r : l_r \ge \text{rel}\}}, \quad 0 \text{ where that rank is above } k

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    Ties: exact mean over all orders; the first of t relevant ones among m tied documents is at position r with
    probability C(m − r, t − 1)/C(m, t).

    References
    ----------
    Voorhees: The TREC-8 question answering track report. TREC 1999.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([0, 1, 1], [3, 2, 1], ["RR"]).mean["RR"]
    0.5
    """

    name: ClassVar[str] = "RR"
    aliases: ClassVar[tuple[str, ...]] = ("MRR", "mrr", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank")
    swaps: ClassVar[bool] = True

    k: int | None = None
    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return first_relevant(ranking, self.rel, 1.0 / np.arange(1.0, ranking.longest + 1.0), self.k)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        return first_relevant_state(ranking, self.rel, 1.0 / np.arange(1.0, ranking.longest + 1.0), self.k)


RR = ReciprocalRank()


def first_relevant(ranking: Ranking, rel: float, worth: np.ndarray, k: int | None) -> np.ndarray:
    """Value of the rank of the first relevant document, 0 below rank k; NaN if the query has none."""
    return ranking.run(_first, n_relevant(ranking, rel), rel, worth, k or ranking.longest)


def first_relevant_state(ranking: Ranking, rel: float, worth: np.ndarray, k: int | None) -> np.ndarray:
    """State for `plackett.measures.swaps.swap` of `first_relevant`."""
    state = new_state(ranking)
    stop = k or ranking.longest
    over_queries(
        _first_state, ranking.offsets, ranking.labels, ranking.depth, rel, worth, stop, state, n_jobs=ranking.n_jobs
    )
    return state


@kernel
def _first(  # type: ignore[no-untyped-def]
    lo, hi, offsets, labels, depth, tie_end, total, rel, worth, k, out
):
    for q in range(lo, hi):
        out[q] = 0.0 if total[q] > 0 else np.nan
        if total[q] == 0:
            continue
        a = offsets[q]
        stop = a + min(k, depth[q])
        i = a
        while i < stop:
            end = tie_end[i]
            inside = count_relevant(labels, i, end, rel)
            if inside > 0:
                left = end - i  # positions not yet passed
                chance = inside / left  # that the first relevant document is at position j
                value = 0.0
                for j in range(i, min(end, stop)):
                    value += chance * worth[j - a]
                    chance *= (left - inside) / max(left - 1, 1)
                    left -= 1
                out[q] = value
                break
            i = end


@kernel
def _first_state(lo, hi, offsets, labels, depth, rel, worth, k, state):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        stop = min(k, depth[q])
        first = 0.0  # worth of the first relevant rank and of the second, 0 where there is none
        second = 0.0
        n_relevant = 0
        for i in range(a, a + stop):
            if labels[i] >= rel:
                n_relevant += 1
                if n_relevant == 1:
                    first = worth[i - a]
                elif n_relevant == 2:
                    second = worth[i - a]
                    break
        n_relevant = 0
        for i in range(a, offsets[q + 1]):
            here = worth[i - a] if i - a < stop else 0.0
            relevant = labels[i] >= rel
            state[i, 0] = 1.0 if relevant else 0.0
            state[i, 1] = 1.0
            if relevant:  # going down it matters only as the first, coming up it replaces the first
                state[i, 2] = first if n_relevant == 0 else second
                state[i, 3] = -first
                n_relevant += 1
            else:  # coming up it matters to the first, which then is the second or comes down to here
                state[i, 2] = here if n_relevant == 0 else first
                state[i, 3] = -(second if n_relevant >= 2 else here)
