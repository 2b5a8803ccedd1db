"""Binary preference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.measures.base import Measure
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import count_relevant, n_relevant

__all__ = ["BinaryPreference"]


@dataclass(frozen=True, kw_only=True, repr=False)
class BinaryPreference(Measure):
    r"""Binary preference: how rarely judged irrelevant documents rank above relevant ones, ignoring unjudged ones.

    .. math:: \text{bpref} = \frac1R \sum_{d} \left(1 - \frac{\min(n_d, D)}{D}\right), \quad D = \min(R, N)

    over the retrieved relevant documents d, with :math:`n_d` judged irrelevant documents above d, R relevant and N
    judged irrelevant ones in all.

    Parameters
    ----------
    rel
        Lowest label that counts as relevant. Smaller labels from 0 are judged irrelevant, labels below 0 unjudged.

    Notes
    -----
    Ties: exact mean over all orders. Each relevant document of a block with b judged irrelevant ones has 0..b of them
    above it with equal probability.

    References
    ----------
    Buckley, Voorhees: Retrieval evaluation with incomplete information. SIGIR 2004.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([1, -1, 0, 1], [4, 3, 2, 1], ["Bpref"]).mean["Bpref"]
    0.5
    """

    name: ClassVar[str] = "Bpref"
    aliases: ClassVar[tuple[str, ...]] = ("bpref", "BPref")

    rel: float = 1.0

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        total = n_relevant(ranking, self.rel)
        return ranking.run(_bpref, total, n_relevant(ranking, 0.0) - total, self.rel)


Bpref = BinaryPreference()


@kernel
def _bpref(  # type: ignore[no-untyped-def]
    lo, hi, offsets, labels, depth, tie_end, relevant, irrelevant, rel, out
):
    for q in range(lo, hi):
        if relevant[q] == 0:
            out[q] = np.nan
            continue
        i = offsets[q]
        stop = i + depth[q]
        bound = min(relevant[q], irrelevant[q])
        above = 0
        value = 0.0
        while i < stop:
            end = tie_end[i]
            inside = count_relevant(labels, i, end, rel)
            bad = count_relevant(labels, i, end, 0.0) - inside
            if inside > 0:
                missed = 0.0  # mean of min(above + 0..bad, bound)
                if bound > 0:
                    below = min(max(bound - above, 0), bad + 1)  # number of cases below the bound
                    missed = below * above + below * (below - 1) / 2 + (bad + 1 - below) * bound
                    missed /= (bad + 1) * bound
                value += inside * (1.0 - missed)
            above += bad
            i = end
        out[q] = value / relevant[q]
