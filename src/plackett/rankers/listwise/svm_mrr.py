"""SVM-MRR: the structural SVM of the reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest
from plackett.rankers.binary_labels import check_relevance
from plackett.rankers.listwise._structural import StructuralSVM, TrainingLists, Violations
from plackett.rankers.listwise._two_classes import share_among_ties, two_classes

__all__ = ["SVMMRR"]


@dataclass(kw_only=True, eq=False, repr=False)
class SVMMRR(StructuralSVM):
    r"""SVM-MRR: a linear ranker whose structural hinge loss bounds 1 − RR, the reciprocal rank of the first hit.

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \, \mathrm{mean}_q \max_{\pi}
              \big[ 1 - RR(\pi) - w \cdot (\Psi(\pi^*) - \Psi(\pi)) \big]

    with the feature map Ψ of `SVMMAP`. The maximum over all rankings of a list is exact: if p − 1 documents are above
    the first relevant one, they are the highest-scored irrelevant ones. The best relevant one follows, and the rest are
    in the order of their scores. So the gain over that order is a running sum over p, and one pass after sorting finds
    the largest.

    Unjudged documents and those with ``sample_weight`` 0 are left out. Other weights act through their mean over the
    list. Lists in which no document or every document is relevant do not contribute.

    Parameters
    ----------
    rel
        The lowest label that counts as relevant.

    Examples
    --------
    >>> ranker = SVMMRR().fit([[0.0], [1.0], [2.0]], [0, 0, 1], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Chakrabarti, Khanna, Sawant, Bhattacharyya: Structured learning for non-smooth ranking losses. KDD 2008.
    """

    rel: float = 1.0

    def _check(self, lists: TrainingLists) -> None:
        check_relevance(lists, self.rel)

    def _violations(self, lists: TrainingLists) -> Violations:
        return rr_violations(lists, self.rel, self.n_jobs)


def rr_violations(lists: TrainingLists, rel: float, n_jobs: int | None) -> Violations:
    """Find the ranking of each list with the largest 1 − RR plus score of the feature map."""
    relevant = lists.labels >= rel
    return lambda scores: lists.run(_most_violated, scores, relevant, n_jobs=n_jobs)


@kernel
def _most_violated(lo, hi, offsets, scores, relevant, error, slope):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    numbers = np.empty((4, n_max))
    keys, spare, high, low = numbers[0], numbers[1], numbers[2], numbers[3]
    whole = np.empty((5, n_max), np.int64)
    order, spare_order, high_rows, low_rows, ahead = whole[0], whole[1], whole[2], whole[3], whole[4]
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        m1 = two_classes(scores[a:b], relevant[a:b], keys, spare, order, spare_order, high, high_rows, low, low_rows)
        m0 = b - a - m1
        if m1 == 0 or m0 == 0:
            continue
        pair = 2.0 / (float(m1) * float(m0))
        # above which relevant documents, but the first, each one stands by its score; what it gains on top of all
        i = 1
        before = 0.0
        total = 0.0
        best = 0
        most = 0.0
        for j in range(m0):
            while i < m1 and high[i] >= low[j]:
                before += high[i]
                i += 1
            ahead[j] = i
            # over the first relevant one and over those that are better: for the others it is there already
            total += (low[j] - high[0]) + ((i - 1) * low[j] - before)
            gain = 1.0 - 1.0 / (j + 2.0) + pair * total
            if gain > most:
                most = gain
                best = j + 1
        for i in range(m1):
            slope[a + high_rows[i]] = -pair * best
        j = m0 - 1
        for i in range(m1 - 1, 0, -1):  # further ones stand above the i-th relevant one where their score is larger
            while j >= best and ahead[j] > i:
                j -= 1
            slope[a + high_rows[i]] -= pair * max(j + 1 - best, 0)
        for j in range(m0):
            slope[a + low_rows[j]] = pair * (m1 if j < best else m1 - ahead[j])
        share_among_ties(high, high_rows, m1, slope[a:b])
        share_among_ties(low, low_rows, m0, slope[a:b])
        error[q] = 1.0 - 1.0 / (best + 1.0)
