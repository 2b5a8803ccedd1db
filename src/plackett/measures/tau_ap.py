"""The AP correlation of two rankings."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.fenwick import distinct, level_of, tree_add, tree_sum
from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest
from plackett.measures.pairs import block_end, correlated, per_query_or_float

__all__ = ["tau_ap"]


def tau_ap(run: Any, truth: Any, qid: Any = None) -> float | np.ndarray:
    r"""AP correlation: Kendall's τ with more weight on errors at the top of the list.

    .. math:: \tau_{AP} = \frac{2}{n - 1} \sum_{i=2}^{n} \frac{C(i)}{i - 1} - 1

    where C(i) is the number of documents above rank i of the run that the truth also ranks above the document at rank
    i. Not symmetric: the ranks are those of the run. From −1 to 1.

    Parameters
    ----------
    run, truth
        Scores of the same documents, larger is better. Ties of the run: exact mean over all orders; a pair that is tied
        in the truth is half right.
    qid
        Query of each document; without it, all documents form one list.

    Returns
    -------
    float or numpy.ndarray
        One number, or with ``qid`` one per query; NaN for a list of one document.

    References
    ----------
    Yilmaz, Aslam, Robertson: A new rank correlation coefficient for information retrieval. SIGIR 2008.

    Examples
    --------
    >>> tau_ap([4, 3, 2, 1], [3, 4, 2, 1]).__round__(4), tau_ap([4, 3, 2, 1], [4, 3, 1, 2]).__round__(4)
    (0.3333, 0.7778)
    """
    ranking = correlated(run, truth, qid)
    return per_query_or_float(ranking.run(_tau_ap, ranking.data.sorted_labels), qid)


@kernel
def _tau_ap(lo, hi, offsets, labels, depth, tie_end, ideal, out):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    levels = np.empty(n_max)
    tree = np.empty(n_max + 1)
    seen = np.empty(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        n = distinct(ideal, a, b, levels)
        tree[: n + 1] = 0.0
        seen[:n] = 0.0
        total = 0.0
        start = a
        while start < b:
            stop = block_end(start, a, b, depth[q], tie_end)
            right = 0.0
            for i in range(start, stop):
                c = level_of(levels, n, labels[i])
                right += tree_sum(tree, c) + 0.5 * seen[c]
            right /= stop - start
            for i in range(max(start, a + 1), stop):
                # averaged over orders, half of the tied documents above are in the right order
                total += (right + 0.5 * (i - start)) / (i - a)
            for i in range(start, stop):
                c = level_of(levels, n, labels[i])
                tree_add(tree, n, c, 1.0)
                seen[c] += 1.0
            start = stop
        out[q] = 2.0 * total / (b - a - 1) - 1.0 if b - a > 1 else np.nan
