"""IA-Select: serve the aspects of a query in proportion to their probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.diversity.candidates import ScoredCandidates
from plackett.diversity.reranker import Reranker

__all__ = ["IASelect", "satisfaction"]


@dataclass(frozen=True, kw_only=True)
class IASelect(Reranker):
    r"""IA-Select: greedily maximises the probability that the reader of the list finds something,

    .. math:: P(S \mid q) = \sum_c P(c \mid q) \Big( 1 - \prod_{x \in S} (1 - V(x \mid q, c)) \Big),

    where a user who means aspect c is satisfied by document x with probability :math:`V(x \mid q, c)`, independently
    for each document. The document with the largest :math:`\sum_c U(c \mid S)\, V(x \mid c)` is next; :math:`U(c \mid
    S)` is the probability that the user means c and is not satisfied yet. The objective is monotone and submodular, so
    the greedy list reaches at least 1 − 1/e of the best set of k documents, and gains that were computed before are
    upper bounds: most documents are looked at only once (lazy greedy).

    Parameters
    ----------
    relevance
        With ``"minmax"`` (default) the relevance of a document multiplies its aspects: a document that is not relevant
        serves none. ``"none"`` leaves the aspects as they are.

    Notes
    -----
    Ties go to the document with the higher score. `plackett.diversity.satisfaction` gives the value of a list.

    References
    ----------
    Agrawal, Gollapudi, Halverson, Ieong: Diversifying search results. WSDM 2009.
    """

    name: ClassVar[str] = "IASelect"
    needs_aspects: ClassVar[bool] = True

    def _kernel(self) -> Any:
        return _select

    def _arguments(self, pool: ScoredCandidates) -> tuple[Any, ...]:
        assert pool.aspects is not None
        value = pool.aspects if self.relevance == "none" else pool.aspects * pool.relevance[:, None]
        return value, pool.aspect_weight, pool.chosen, pool.candidates


def satisfaction(aspects: Any, aspect_weight: Any) -> np.ndarray:
    r"""The objective of `IASelect` for the first 1, 2, … documents of a list: P(a user finds something).

    Parameters
    ----------
    aspects
        How well each document of the list, best first, serves each aspect, ``(documents, T)``.
    aspect_weight
        Probability of each aspect.

    References
    ----------
    Agrawal, Gollapudi, Halverson, Ieong: Diversifying search results. WSDM 2009.

    Examples
    --------
    >>> satisfaction([[0.9, 0.0], [0.0, 0.5], [0.3, 0.3]], [0.6, 0.4]).round(3).tolist()
    [0.54, 0.74, 0.818]
    """
    table, weight = np.asarray(aspects, np.float64), np.asarray(aspect_weight, np.float64)
    if table.ndim != 2 or weight.shape != table.shape[1:]:
        raise DataError(f"aspects have shape {table.shape}, aspect_weight {weight.shape}; give (documents, T) and (T,)")
    if not ((table >= 0.0) & (table <= 1.0)).all() or not (weight >= 0.0).all():
        raise DataError("aspects must be from 0 to 1, and aspect_weight 0 or more")
    return (1.0 - np.cumprod(1.0 - table, axis=0)) @ weight


@kernel
def _gain(row, value, left):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(left.size):
        total += left[c] * value[row, c]
    return total


@kernel
def _above(a, b, bound):  # type: ignore[no-untyped-def]
    return bound[a] > bound[b] or (bound[a] == bound[b] and a < b)


@kernel
def _sift(heap, bound, i, size):  # type: ignore[no-untyped-def]
    while True:
        best, left = i, 2 * i + 1
        for child in range(left, min(left + 2, size)):
            if _above(heap[child], heap[best], bound):
                best = child
        if best == i:
            return
        heap[i], heap[best] = heap[best], heap[i]
        i = best


@kernel
def _heapify(heap, bound, size):  # type: ignore[no-untyped-def]
    for i in range(size // 2 - 1, -1, -1):
        _sift(heap, bound, i, size)


@kernel
def _select(lo, hi, offsets, value, weight, chosen, candidates, order):  # type: ignore[no-untyped-def]
    left = np.empty(weight.shape[1])
    for q in range(lo, hi):
        first, n = offsets[q], candidates[q]
        left[:] = weight[q]
        bound = np.empty(n)  # gain when the document was last looked at: later gains are not larger
        for i in range(n):
            bound[i] = _gain(order[first + i], value, left)
        fresh = np.zeros(n, np.int64)  # the round in which that was
        rows = order[first : first + n].copy()
        heap = np.arange(n)
        _heapify(heap, bound, n)
        size = n
        for r in range(chosen[q]):
            while True:
                top = heap[0]
                if fresh[top] == r:
                    break
                bound[top] = _gain(rows[top], value, left)
                fresh[top] = r
                _sift(heap, bound, 0, size)
            order[first + r] = rows[top]
            for c in range(left.size):
                left[c] *= 1.0 - value[rows[top], c]
            size -= 1
            heap[0] = heap[size]
            _sift(heap, bound, 0, size)
        rest = np.sort(heap[:size])
        for i in range(size):
            order[first + chosen[q] + i] = rows[rest[i]]
