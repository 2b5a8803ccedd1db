"""Average precision estimated from a sample with known inclusion probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.strata import strata_of

__all__ = ["StatAP"]


@dataclass(frozen=True, kw_only=True, repr=False)
class StatAP(Measure):
    r"""Statistical average precision: Horvitz–Thompson estimates from a sample of the judgements.

    The dataset's ``sample_weight`` is 1/π, one over the probability with which each document was chosen to be judged.

    .. math:: \widehat{AP} = \frac{\sum_{i} \frac1{k_i} \Bigl(\frac1{\pi_i} + \sum_{j \text{ above } i}
              \frac1{\pi_{ij}}\Bigr)}{\sum_i 1/\pi_i}

    over the documents i, j judged relevant, :math:`k_i` the rank of i. Documents of a query with the same weight are a
    stratum, from which n of N = n/π were drawn without replacement: :math:`\pi_{ij} = \pi_i (n-1)/(N-1)` inside
    one stratum, :math:`\pi_i \pi_j` between two. Numerator and denominator are unbiased; their ratio is nearly so.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant. Documents with a label below 0 were not judged.

    Notes
    -----
    Ties: estimated from seeded random orders. Without weights it equals AP. ``plackett.selection.APPriorPool`` draws
    such samples, and ``plackett.selection.evaluate_sample`` measures runs with them.

    References
    ----------
    Aslam, Pavlu, Yilmaz: A statistical method for system evaluation using incomplete judgments. SIGIR 2006.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, -1, 1], sample_weight=[1, 2, 2])
    >>> round(pk.evaluate(data, [3, 2, 1], ["statAP"]).mean["statAP"], 3)
    0.778
    """

    name: ClassVar[str] = "statAP"
    aliases: ClassVar[tuple[str, ...]] = ("statap", "statistical_average_precision")
    exact_ties: ClassVar[bool] = False

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        strata = strata_of(ranking.data)
        return ranking.run(_statap, ranking.rows, strata.weight, strata.number, strata.judged, self.rel)


statAP = StatAP()


@kernel
def _statap(lo, hi, offsets, labels, depth, tie_end, rows, weight, number, judged, rel, out):  # type: ignore[no-untyped-def]
    n_relevant = np.zeros(judged.size)  # relevant documents seen so far in each stratum
    for q in range(lo, hi):
        a = offsets[q]
        total = 0.0
        value = 0.0
        seen = 0.0  # the same over all strata of the query, by weight
        for i in range(a, offsets[q + 1]):
            if labels[i] < rel:
                continue
            row = rows[i]
            w = weight[row]
            total += w
            if i - a >= depth[q]:
                continue
            s = number[row]
            above = seen - w * n_relevant[s]
            if n_relevant[s] > 0.0:
                above += n_relevant[s] * (judged[s] * w - 1.0) / (judged[s] - 1.0)
            value += w * (1.0 + above) / (i - a + 1)
            n_relevant[s] += 1.0
            seen += w
        out[q] = value / total if total > 0.0 else np.nan
