"""SVM-NDCG: the structural SVM of nDCG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import whole_or_none
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.losses.base import finite_gains
from plackett.measures.gains import check_gain, discount_table
from plackett.rankers.listwise._assignment import assign
from plackett.rankers.listwise._merge import merge
from plackett.rankers.listwise.structural import StructuralSVM, TrainingLists, Violations

__all__ = ["SVMNDCG"]

#: Maximum number of states of a merge; each takes ten bytes.
_MOST_STATES = 1 << 20


@dataclass(kw_only=True, eq=False, repr=False)
class SVMNDCG(StructuralSVM):
    r"""SVM-NDCG: a linear ranker whose structural hinge loss bounds 1 − nDCG@k.

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \, \mathrm{mean}_q \max_{\pi}
              \big[ 1 - nDCG(\pi) - w \cdot (\Psi(\pi^*) - \Psi(\pi)) \big], \qquad
              \Psi(\pi) = \frac{1}{P} \sum_{G_u > G_v} \pm (x_u - x_v)

    with + where π puts u above v, P the number of pairs of unequal gains, and π* a perfect ranking. The maximum over
    all rankings of a list is exact. Documents of equal gain stay in the order of their scores, since swapping two of
    them does not change nDCG. Given that, Ψ differs from :math:`-\frac2P \sum_u \pi(u) x_u` by a constant that does not
    depend on the ranking. What remains is an assignment of documents to positions with costs :math:`\frac2P s_u r + G_u
    \eta(r) / Z`. With few different gains it is a cheapest merge of sorted lists. Otherwise sorting solves it without
    the second part, with prices that are known, and a shortest path mends each position for which the second part
    matters: O(min(k, R) m²) for R documents of positive gain.

    Unjudged documents and those with ``sample_weight`` 0 are left out. Other weights act through their mean over the
    list, because a loss of a whole list cannot weight a single document. Lists with a single gain do not contribute.

    Parameters
    ----------
    k
        Cut-off of nDCG; None uses the whole list.
    gain
        ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain, as in nDCG.

    Examples
    --------
    >>> ranker = SVMNDCG().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Chakrabarti, Khanna, Sawant, Bhattacharyya: Structured learning for non-smooth ranking losses. KDD 2008.
    Le, Smola: Direct optimization of ranking measures. 2007 (the assignment).
    """

    k: int | None = None
    gain: Any = "exp2"

    def _violations(self, lists: TrainingLists) -> Violations:
        return ndcg_violations(lists, self.k, self.gain, self.n_jobs)


def ndcg_violations(lists: TrainingLists, k: int | None, gain: Any, n_jobs: int | None) -> Violations:
    """Find the ranking of each list with the largest 1 − nDCG@k plus score of the feature map."""
    gains, discount = ndcg_terms(lists, k, gain)
    grade, lead, pairs, worth, states = classes(lists, gains, discount)
    return lambda scores: lists.run(_most_violated, scores, discount, grade, lead, pairs, states, worth, n_jobs=n_jobs)


def ndcg_terms(lists: TrainingLists, k: int | None, gain: Any) -> tuple[np.ndarray, np.ndarray]:
    """Gain of each document and discount of each position; raises an error for settings that nDCG does not support."""
    whole_or_none("k", k, least=1, error=LossError)
    gains = finite_gains(lists.labels, check_gain(gain, "nDCG"), "nDCG")
    for i in np.flatnonzero(gains < 0)[:1]:
        raise LossError(f"label {lists.labels[i]:g} has gain {gains[i]:g}; gains must not be negative")
    discount = discount_table("log2", lists.longest)
    discount[lists.longest if k is None else k :] = 0.0
    return gains, discount


class Classes(NamedTuple):
    """Documents by gain.

    Attributes
    ----------
    grade
        Number of each document's gain in its list, 0 is the largest.
    lead
        How many documents have a smaller gain minus how many have a larger one.
    pairs
        Pairs of unequal gains of each list.
    worth
        Gain over the ideal DCG.
    states
        Number of states to merge each list; 0 if shortest paths are quicker.
    """

    grade: np.ndarray
    lead: np.ndarray
    pairs: np.ndarray
    worth: np.ndarray
    states: np.ndarray


def classes(lists: TrainingLists, gains: np.ndarray, discount: np.ndarray) -> Classes:
    """The documents of each list by gain."""
    grade, lead = np.empty(gains.size, np.int64), np.empty(gains.size)
    pairs, states = np.empty(lists.share.size), np.empty(lists.share.size, np.int64)
    worth = np.empty(gains.size)
    over_queries(_prepare, lists.offsets, gains, discount, grade, lead, pairs, states, worth, n_jobs=1)
    return Classes(grade, lead, pairs, worth, states)


@kernel
def _prepare(lo, hi, offsets, gains, discount, grade, lead, pairs, states, worth):
    """For each document: the index of its gain (0 is the largest), how many are worse minus how many are better, G/Z.

    For each list: the number of pairs, and of states to merge it, 0 if shortest paths are quicker.
    """
    n_max = longest(lo, hi, offsets)
    keys, order, spare, spare_order = sorting_memory(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        keys[:n] = gains[a : a + n]
        argsort_descending(keys, order, spare, spare_order, n)
        ideal = 0.0
        for r in range(n):
            ideal += keys[r] * discount[r]
        pairs[q] = 0.0
        number = 0
        start = 0
        ways = 1.0
        while start < n:
            end = start
            while end < n and keys[end] == keys[start]:
                i = a + order[end]
                grade[i] = number
                worth[i] = keys[end] / ideal if ideal > 0.0 else 0.0
                end += 1
            for r in range(start, end):
                lead[a + order[r]] = (n - end) - start
            pairs[q] += float(end - start) * (n - end)
            ways *= end - start + 1
            number += 1
            start = end
        paths = 0
        for r in range(n):
            paths += 1 if keys[r] * discount[r] > 0.0 else 0
        quicker = ways <= _MOST_STATES and ways * number <= 0.5 * paths * n * n
        states[q] = int(ways) if quicker else 0


@kernel
def _share_among_ties(s, order, grade, total, count, slope):
    """Give documents of one gain and one score the mean of their slopes, as `share_among_ties` of two classes does."""
    start = 0
    while start < s.size:
        end = start
        while end < s.size and s[end] == s[start]:
            total[grade[order[end]]] = 0.0
            count[grade[order[end]]] = 0
            end += 1
        if end > start + 1:
            for t in range(start, end):
                total[grade[order[t]]] += slope[order[t]]
                count[grade[order[t]]] += 1
            for t in range(start, end):
                slope[order[t]] = total[grade[order[t]]] / count[grade[order[t]]]
        start = end


@kernel
def _most_violated(lo, hi, offsets, scores, discount, grade, lead, pairs, states, worth, error, slope):
    n_max = longest(lo, hi, offsets)
    floats, ints = np.empty((9, n_max)), np.empty((9, n_max), np.int64)
    most = 0
    for q in range(lo, hi):
        most = max(most, states[q])
    cost, came = np.empty(most), np.empty(most, np.int16)
    for q in range(lo, hi):
        if pairs[q] == 0.0:
            continue
        a = offsets[q]
        n = offsets[q + 1] - a
        s, spare, w = floats[6, :n], floats[7, :n], floats[8, :n]
        order, met, doc, above, own = ints[4, :n], ints[5, :n], ints[6, :n], ints[7, :n], ints[8, :n]
        s[:] = scores[a : a + n]
        argsort_descending(s, order, spare, met, n)
        for t in range(n):
            w[t] = worth[a + order[t]]
            own[t] = grade[a + order[t]]
        if states[q] > 0:
            merge(2.0 / pairs[q], discount, s, w, own, doc, cost, came, spare, ints)
        else:
            assign(2.0 / pairs[q], discount, s, w, doc, floats, ints)
        met[:] = 0
        above[:] = 0
        for i in range(a, a + n):
            met[grade[i]] += 1
        reached = 0.0
        for r in range(n):  # documents of other gains below a document, less those above it
            t = doc[r]
            i = a + order[t]
            reached += w[t] * discount[r]
            inside = met[grade[i]] - 1 - 2 * above[grade[i]]
            above[grade[i]] += 1
            slope[i] = ((n - 1 - 2 * r) - inside - lead[i]) / pairs[q]
        _share_among_ties(s, order, grade[a : a + n], spare, met, slope[a : a + n])
        error[q] = 1.0 - reached
