"""Inferred average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import n_relevant

__all__ = ["InferredAP"]

#: Smoothing of the share of relevant documents among the judged ones, as in trec_eval.
EPSILON = 1e-5


@dataclass(frozen=True, kw_only=True, repr=False)
class InferredAP(Measure):
    r"""Inferred average precision: average precision estimated from a random sample of the judgements.

    At a relevant document of rank k the precision is estimated as

    .. math:: \frac1k + \frac{k-1}{k} \cdot \frac{|pool|}{k-1} \cdot \frac{|rel| + ε}{|rel| + |nonrel| + 2ε}

    from the documents above it that are in the pool (judged or label −1), judged relevant, and judged irrelevant.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant. Label −1 is in the pool but unjudged, −2 is not in the pool.

    Notes
    -----
    Ties: estimated from seeded random orders. With complete judgements and ε → 0 it equals AP.

    References
    ----------
    Yilmaz, Aslam: Estimating average precision with incomplete and imperfect judgments. CIKM 2006.

    Examples
    --------
    >>> import plackett as pk
    >>> round(pk.evaluate([1, 0, 1], [3, 2, 1], ["infAP"]).mean["infAP"], 3)
    0.833
    """

    name: ClassVar[str] = "infAP"
    aliases: ClassVar[tuple[str, ...]] = ("infap", "inferred_average_precision")
    exact_ties: ClassVar[bool] = False

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        return ranking.run(_infap, n_relevant(ranking, self.rel), self.rel)


infAP = InferredAP()


@kernel
def _infap(lo, hi, offsets, labels, depth, tie_end, total, rel, out):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        relevant = 0
        irrelevant = 0
        unjudged = 0
        value = 0.0
        for i in range(a, a + depth[q]):
            label = labels[i]
            if label >= rel:
                rank = i - a + 1
                value += 1.0 / rank
                if rank > 1:
                    judged = relevant + irrelevant
                    share = (relevant + EPSILON) / (judged + 2.0 * EPSILON)
                    value += (judged + unjudged) / rank * share
                relevant += 1
            elif label >= 0.0:
                irrelevant += 1
            elif label == -1.0:
                unjudged += 1
        out[q] = value / total[q] if total[q] > 0 else np.nan
