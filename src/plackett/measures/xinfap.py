"""Extended inferred average precision."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.infap import EPSILON
from plackett.measures.ranking import Ranking
from plackett.measures.strata import strata_of

__all__ = ["ExtendedInferredAP"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ExtendedInferredAP(Measure):
    r"""Extended inferred average precision: infAP for samples of several layers, such as a top and a tail.

    Documents of a query with the same ``sample_weight`` are a stratum s with :math:`N_s` documents in the pool (judged
    or label −1) of which :math:`n_s` are judged. At a relevant document of rank k the precision is estimated as

    .. math:: \frac1k \Bigl(1 + \sum_s |pool_s| \cdot \frac{|rel_s| + ε}{|rel_s| + |nonrel_s| + 2ε}\Bigr)

    from the documents above it, and the estimates are averaged with the weights :math:`N_s/n_s`.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant. Label −1 is in the pool but unjudged, −2 is not in the pool.

    Notes
    -----
    Ties: estimated from seeded random orders. With one stratum it equals infAP.

    References
    ----------
    Yilmaz, Kanoulas, Aslam: A simple and efficient sampling method for estimating AP and NDCG. SIGIR 2008.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 1, -1], sample_weight=[1, 1, 2, 2])
    >>> round(pk.evaluate(data, [4, 3, 2, 1], ["xinfAP"]).mean["xinfAP"], 3)
    0.778
    """

    name: ClassVar[str] = "xinfAP"
    aliases: ClassVar[tuple[str, ...]] = ("xinfap", "extended_inferred_average_precision")
    exact_ties: ClassVar[bool] = False

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        strata = strata_of(ranking.data)
        return ranking.run(_xinfap, ranking.rows, strata.number, strata.pooled, strata.judged, self.rel)


xinfAP = ExtendedInferredAP()


@kernel
def _xinfap(lo, hi, offsets, labels, depth, tie_end, rows, number, pooled, judged, rel, out):  # type: ignore[no-untyped-def]
    # documents above, by stratum: in the pool, judged, relevant
    pool = np.zeros(judged.size)
    known = np.zeros(judged.size)
    good = np.zeros(judged.size)
    for q in range(lo, hi):
        a = offsets[q]
        total = 0.0
        value = 0.0
        expected = 0.0  # relevant documents above, estimated
        for i in range(a, offsets[q + 1]):
            label = labels[i]
            if label < -1.0:
                continue
            s = number[rows[i]]
            if label >= rel:
                weight = pooled[s] / judged[s]
                total += weight
                if i - a < depth[q]:
                    value += weight * (1.0 + expected) / (i - a + 1)
            if i - a >= depth[q]:
                continue
            if pool[s] > 0.0:
                expected -= pool[s] * (good[s] + EPSILON) / (known[s] + 2.0 * EPSILON)
            pool[s] += 1.0
            if label >= 0.0:
                known[s] += 1.0
                if label >= rel:
                    good[s] += 1.0
            expected += pool[s] * (good[s] + EPSILON) / (known[s] + 2.0 * EPSILON)
        out[q] = value / total if total > 0.0 else np.nan
