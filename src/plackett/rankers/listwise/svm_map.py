"""SVM-MAP: the structural SVM of average precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest
from plackett.rankers.binary_labels import check_relevance
from plackett.rankers.listwise._structural import StructuralSVM, TrainingLists, Violations
from plackett.rankers.listwise._two_classes import share_among_ties, two_classes

__all__ = ["SVMMAP"]


@dataclass(kw_only=True, eq=False, repr=False)
class SVMMAP(StructuralSVM):
    r"""SVM-MAP: a linear ranker whose structural hinge loss bounds 1 − AP.

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \, \mathrm{mean}_q \max_{\pi}
              \big[ 1 - AP(\pi) - w \cdot (\Psi(\pi^*) - \Psi(\pi)) \big], \qquad
              \Psi(\pi) = \frac{1}{m_1 m_0} \sum_{u\ \text{relevant}} \sum_{v\ \text{not}} \pm (x_u - x_v)

    with + where π puts u above v, and π* a perfect ranking. The maximum over all rankings of a list is exact. Both
    classes stay in the order of their scores; the j-th best document that is not relevant gains

    .. math:: \sum_{i \ge k} \frac{1}{m_1} \Big( \frac{j}{j+i} - \frac{j-1}{j+i-1} \Big) - \frac{2 (s_i - s_j)}{m_1 m_0}

    by being placed before the k-th best relevant one. Every summand decreases as j grows, so the best k increases with
    j. With the sums written as differences of harmonic numbers, bisection finds all of them in O(m log m).

    Unjudged documents and those with ``sample_weight`` 0 are left out. Other weights act through their mean over the
    list, because a loss of a whole list cannot weight a single document. Lists in which no document or every document
    is relevant do not contribute.

    Parameters
    ----------
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> ranker = SVMMAP().fit([[0.0], [1.0], [2.0]], [0, 0, 1], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Yue, Finley, Radlinski, Joachims: A support vector method for optimizing average precision. SIGIR 2007.
    """

    rel: float = 1.0

    def _check(self, lists: TrainingLists) -> None:
        check_relevance(lists, self.rel)

    def _violations(self, lists: TrainingLists) -> Violations:
        return ap_violations(lists, self.rel, self.n_jobs)


def ap_violations(lists: TrainingLists, rel: float, n_jobs: int | None) -> Violations:
    """Find the ranking of each list with the largest 1 − AP plus score of the feature map."""
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1.0, lists.longest + 1.0)))
    relevant = lists.labels >= rel
    return lambda scores: lists.run(_most_violated, scores, relevant, harmonic, n_jobs=n_jobs)


@kernel
def _gain(j, k, m1, harmonic):  # type: ignore[no-untyped-def]
    """Loss of AP, times m1, from putting the j-th irrelevant document before the k-th relevant one instead of last."""
    return j * (harmonic[m1 + j] - harmonic[k + j - 1]) - (j - 1) * (harmonic[m1 + j - 1] - harmonic[k + j - 2])


@kernel
def _best_positions(m1, low, m0, tail, harmonic, goes_before, stack):  # type: ignore[no-untyped-def]
    """For each irrelevant document the relevant one to go before, counted from 1; m1 + 1 is the end.

    The middle document of a range is placed by trying all positions left to the range; those before it and those after
    it form two ranges with fewer positions.
    """
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 1, m0, 1, m1 + 1
    depth = 1
    scale = 2.0 / m0
    while depth > 0:
        depth -= 1
        first, last, start, end = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        j = (first + last) // 2
        best = end
        most = -np.inf
        for k in range(end, start - 1, -1):
            gain = 0.0
            if k <= m1:
                gain = _gain(j, k, m1, harmonic) - scale * (tail[k - 1] - (m1 - k + 1) * low[j - 1])
            if gain > most:
                best = k
                most = gain
        goes_before[j - 1] = best
        if first < j:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = first, j - 1, start, best
            depth += 1
        if j < last:
            stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = j + 1, last, best, end
            depth += 1


@kernel
def _most_violated(lo, hi, offsets, scores, relevant, harmonic, error, slope):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    numbers = np.empty((5, n_max + 1))
    keys, spare, high, low, tail = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    whole = np.empty((5, n_max + 1), np.int64)
    order, spare_order, high_rows, low_rows, goes_before = whole[0], whole[1], whole[2], whole[3], whole[4]
    stack = np.empty((64, 4), np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        m1 = two_classes(scores[a:b], relevant[a:b], keys, spare, order, spare_order, high, high_rows, low, low_rows)
        m0 = b - a - m1
        if m1 == 0 or m0 == 0:
            continue
        tail[m1] = 0.0
        for i in range(m1 - 1, -1, -1):
            tail[i] = tail[i + 1] + high[i]
        _best_positions(m1, low, m0, tail, harmonic, goes_before, stack)
        pair = 2.0 / (float(m1) * float(m0))
        j = 0
        precision = 0.0
        for i in range(1, m1 + 1):
            while j < m0 and goes_before[j] <= i:
                j += 1
            precision += i / (i + j)
            slope[a + high_rows[i - 1]] = -pair * j
        for j in range(m0):
            slope[a + low_rows[j]] = pair * (m1 + 1 - goes_before[j])
        share_among_ties(high, high_rows, m1, slope[a:b])
        share_among_ties(low, low_rows, m0, slope[a:b])
        error[q] = 1.0 - precision / m1
