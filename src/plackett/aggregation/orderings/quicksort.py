"""Randomised QuickSort with a preference function as the comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import choice, whole, whole_or_none
from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import mix
from plackett.aggregation.orderings.base import Ordering
from plackett.aggregation.orderings.preference import Preference

__all__ = ["QuickSort"]

#: Probability of coming before, from the preference.
_DECISIONS = {
    "draw": lambda h: h,
    "majority": lambda h: np.where(h == 0.5, 0.5, h > 0.5),
}


@dataclass(frozen=True, kw_only=True)
class QuickSort(Ordering):
    r"""Randomised QuickSort: documents that win against a random pivot go before it, the others after it, recursively.

    With ``decide="draw"``, a document v goes before the pivot u with probability h(v, u). If documents are either
    relevant or not, the expected ranking loss is then exactly the loss of h: nothing is lost by forming an order. For
    any true order it is at most twice the loss of h. (No deterministic method has less than twice in the worst case.)

    A list of n documents takes O(n log n) comparisons in expectation (2 (n + 1) Hₙ − 4 n if the preferences form an
    order), and O(n + k log k) if only the first k ranks are needed. All lists are sorted at the same time, level by
    level, so the preference function is called a few dozen times with many pairs each. Scores are n for the first
    document, then n − 1, …; documents after the first k that were not compared further share their mean.

    Parameters
    ----------
    k
        How many ranks must be in order; None for all. The first k documents are the same as without it.
    decide
        ``"majority"``: v goes before u if h(v, u) > ½; a coin decides if it is ½. ``"draw"``: with probability
        h(v, u), as in the theory.
    repeats
        Number of runs whose scores are averaged. If the preferences are cyclic, the result of a single run depends on
        chance.
    random_state
        Seed of the pivots and coins.

    Examples
    --------
    >>> h = lambda u, v: np.where(u < v, 1.0, 0.0)
    >>> QuickSort().order(h, 6).tolist()
    [0, 1, 2, 3, 4, 5]
    >>> QuickSort(k=2).order(h, 6)[:2].tolist()
    [0, 1]

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.
    """

    name: ClassVar[str] = "QuickSort"
    aliases: ClassVar[tuple[str, ...]] = ("quicksort",)

    k: int | None = None
    decide: str = "majority"
    repeats: int = 1
    random_state: int | None = 0

    def __post_init__(self) -> None:
        choice("decide", self.decide, _DECISIONS)
        whole_or_none("k", self.k, least=1)
        whole("repeats", self.repeats, least=1)

    def _scores(self, preference: Preference, offsets: np.ndarray, keys: np.ndarray) -> np.ndarray:
        seeds = np.random.default_rng(self.random_state).integers(2**63, size=self.repeats, dtype=np.uint64)
        total = np.zeros(offsets[-1])
        for seed in seeds:
            total += self._sorted(preference, offsets, keys, seed)
        return total / self.repeats

    def _sorted(self, preference: Preference, offsets: np.ndarray, keys: np.ndarray, seed: np.uint64) -> np.ndarray:
        n, sizes = int(offsets[-1]), np.diff(offsets)
        rows, out, spare = np.arange(n), np.ones(n), np.empty(n, np.int64)
        # a pivot is the document of the smallest number: the same as a new draw for each part
        lot = _hashed(keys, np.zeros(1, np.uint64), seed)
        wanted = sizes > 1
        starts, ends = offsets[:-1][wanted], offsets[1:][wanted]
        last = ends  # the end of the list
        stop = ends if self.k is None else np.minimum(starts + self.k, ends)
        while starts.size:
            first, second = np.empty((2, int((ends - starts - 1).sum())), np.int64)
            _pivots(rows, starts, ends, lot, first, second)
            chance = _DECISIONS[self.decide](preference(first, second))
            coin = _hashed(keys[first], keys[second], ~seed) * 2.0**-64
            parts = np.empty((4, 2 * starts.size), np.int64)
            m = _partition(rows, starts, ends, last, stop, coin < chance, spare, out, parts)
            starts, ends, last, stop = parts[:, :m]
        return out


@kernel
def _hashed(first, second, seed):
    """Random bits of each pair of keys; a single second key is used for all."""
    out = np.empty(first.size, np.uint64)
    for i in range(first.size):
        out[i] = mix(mix(seed ^ mix(first[i])) ^ second[i if second.size > 1 else 0])
    return out


@kernel
def _pivots(rows, starts, ends, lot, first, second):
    """Move the pivot of each part to its front, and list the others with it."""
    pairs = 0
    for s in range(starts.size):
        a = starts[s]
        best = a
        for p in range(a + 1, ends[s]):
            if lot[rows[p]] < lot[rows[best]]:
                best = p
        pivot = rows[best]
        for p in range(best, a, -1):
            rows[p] = rows[p - 1]
        rows[a] = pivot
        for p in range(a + 1, ends[s]):
            first[pairs] = rows[p]
            second[pairs] = pivot
            pairs += 1


@kernel
def _partition(rows, starts, ends, last, stop, before, spare, out, parts):
    """Split each part at its pivot. Returns the scores of settled documents, and the parts still to sort."""
    pairs = 0
    m = 0
    for s in range(starts.size):
        a = starts[s]
        b = ends[s]
        pivot = rows[a]
        position = a
        behind = 0
        for p in range(a + 1, b):
            if before[pairs]:
                rows[position] = rows[p]
                position += 1
            else:
                spare[behind] = rows[p]
                behind += 1
            pairs += 1
        rows[position] = pivot
        for i in range(behind):
            rows[position + 1 + i] = spare[i]
        out[pivot] = last[s] - position
        for side in range(2):
            low = a if side == 0 else position + 1
            high = position if side == 0 else b
            if high - low > 1 and low < stop[s]:
                parts[0, m] = low
                parts[1, m] = high
                parts[2, m] = last[s]
                parts[3, m] = stop[s]
                m += 1
            else:
                for p in range(low, high):  # one document, or several whose order is not wanted
                    out[rows[p]] = last[s] - 0.5 * (low + high - 1)
    return m
