"""Area under the ROC curve of each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.pairs import block_end
from plackett.measures.ranking import Ranking

__all__ = ["AreaUnderCurve"]


@dataclass(frozen=True, kw_only=True, repr=False)
class AreaUnderCurve(Measure):
    r"""Area under the ROC curve: share of (relevant, irrelevant) pairs in which the relevant document is ranked higher.

    .. math:: \text{AUC} = \frac{1}{mn} \sum_{i=1}^{m} \sum_{j=1}^{n} [s_i > s_j] + \tfrac{1}{2} [s_i = s_j]

    over the m relevant and the n other documents of the query. This is the Wilcoxon–Mann–Whitney statistic; the Gini
    coefficient is 2 AUC − 1. The area over all queries together is ``plackett.roc_curve(data, scores).area``.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant.

    Notes
    -----
    Ties: exact. ``expected`` counts a tied pair as half right, ``optimistic`` as right (the rule ≥ of Mohri et al.),
    ``pessimistic`` as wrong (strict). Unjudged documents form no pairs. Documents that were not retrieved are ranked
    last, tied. A query without a pair scores `empty`.

    References
    ----------
    Hanley, McNeil: The meaning and use of the area under a receiver operating characteristic (ROC) curve. Radiology
    1982.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.auc import AUC
    >>> pk.evaluate([1, 1, 1, 0, 0], [0.9, 0.5, 0.5, 0.5, 0.1], AUC).mean["AUC"].__round__(4)
    0.8333
    """

    name: ClassVar[str] = "AUC"
    aliases: ClassVar[tuple[str, ...]] = ("auc", "roc_auc", "AreaUnderCurve")

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return ranking.run(relevant_pairs, float(self.rel))


AUC = AreaUnderCurve()


@kernel
def relevant_pairs(lo, hi, offsets, labels, depth, tie_end, rel, out):  # type: ignore[no-untyped-def]
    """Share of (relevant, other) pairs in the right order; NaN if there is no pair."""
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        right = 0.0
        above = 0.0
        below = 0.0
        start = a
        while start < b:
            stop = block_end(start, a, b, depth[q], tie_end)
            relevant = 0.0
            other = 0.0
            for i in range(start, stop):
                relevant += 1.0 if labels[i] >= rel else 0.0
                other += 1.0 if labels[i] >= 0.0 and labels[i] < rel else 0.0
            right += other * (above + 0.5 * relevant)
            above += relevant
            below += other
            start = stop
        out[q] = right / (above * below) if above * below > 0.0 else np.nan
