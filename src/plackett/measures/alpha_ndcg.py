"""α-nDCG: discounted cumulative gain that rewards new subtopics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.measures.diversity import (
    DiversityMeasure,
    check_ideal_ties,
    greedy_ideal,
    known_subtopics,
    novelty,
    relevant_subtopics,
)
from plackett.measures.gains import check_discount, discount_table
from plackett.measures.ranking import Ranking

__all__ = ["AlphaNDCG"]


@dataclass(frozen=True, kw_only=True, repr=False)
class AlphaNDCG(DiversityMeasure):
    r"""α-nDCG: discounted cumulative gain in which a subtopic is worth less each time it is repeated.

    .. math:: \frac{1}{Z_k} \sum_{r=1}^{k} \eta(r) \sum_t J(d_r, t)\,(1 - \alpha)^{\sum_{s<r} J(d_s, t)}

    where J(d, t) is 1 for a document relevant to subtopic t, :math:`\eta(r) = 1/\log_2(1 + r)`, and :math:`Z_k` is the
    sum for the greedy order, which always takes the document with the largest gain next (finding the best order is
    NP-hard).

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    alpha
        Probability that a user who has seen a subtopic has had enough of it. 0 counts every repetition in full.
    rel
        Lowest grade that counts as relevant to a subtopic.
    discount
        As for `nDCG`.
    ideal
        The list that :math:`Z_k` is computed from. ``"greedy"``: the greedy order. ``"full"``: a list in which every
        document is relevant to all subtopics that have a relevant document, even if no such documents exist (ndeval's
        alpha-DCG).
    ideal_ties
        Which of several equally good documents the greedy order takes. ``"subtopics"``: the one whose first subtopics
        come first. ``"docid"``: the one with the larger document id (ndeval). On the TREC Web runs of 2012 the choice
        changes the measure by up to 0.005.

    Notes
    -----
    Ties: exact mean over all orders: the number of earlier documents of a subtopic inside a block is hypergeometric. A
    query without a relevant document scores `empty`. The greedy order is not always the best one, so values slightly
    above 1 are possible, though rare.

    Of ndeval's other columns, alpha-DCG is ``alpha_nDCG(ideal="full")`` and nERR-IA is
    ``alpha_nDCG(discount="reciprocal")``; both names are accepted.

    References
    ----------
    Clarke, Kolla, Cormack, Vechtomova, Ashkan, Büttcher, MacKinnon: Novelty and diversity in information retrieval
    evaluation. SIGIR 2008.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett.measures.alpha_ndcg import alpha_nDCG
    >>> data = pk.RankingDataset.from_arrays(None, [1, 1, 1, 1], subtopics=[[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]])
    >>> pk.evaluate(data, [4, 3, 2, 1], alpha_nDCG).mean["alpha_nDCG"].__round__(6)
    0.951464
    """

    name: ClassVar[str] = "alpha_nDCG"
    aliases: ClassVar[tuple[str, ...]] = ("alpha_ndcg", "α_nDCG", "alpha-nDCG")

    #: The greedy order reaches at least 1 − 1/e of the best sum, because gains diminish with each document.
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0 / (1.0 - np.exp(-1.0)))

    k: int | None = None
    alpha: float = 0.5
    rel: float = 1.0
    discount: Any = "log2"
    ideal: str = "greedy"
    ideal_ties: str = "subtopics"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "discount", check_discount(self.discount, self.name))
        choice(f"{self.name}: ideal", self.ideal, ("greedy", "full"), error=MeasureError)
        check_ideal_ties(self.ideal_ties, self.name)
        number(f"{self.name}: alpha", self.alpha, least=0.0, most=1.0, error=MeasureError)

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        data = ranking.data
        k, keep = self.k or ranking.longest, 1.0 - self.alpha
        discount = discount_table(self.discount, ranking.longest)
        if self.ideal == "full":
            # position by position; without a cut-off, a query has as many positions as documents
            sums = np.cumsum(np.append(0.0, keep ** np.arange(k) * discount_table(self.discount, k)))
            ideal = known_subtopics(data, self.rel) * sums[data.group if self.k is None else k]
        else:
            ideal = greedy_gains(data, self.rel, keep, discount, k, self.ideal_ties)
        gains = ranking.run(discounted_novelty, relevant_subtopics(ranking, self.rel), keep, discount, k)
        return np.divide(gains, ideal, out=np.full(gains.shape, np.nan), where=ideal > 0)


alpha_nDCG = AlphaNDCG()


@kernel
def discounted_novelty(lo, hi, offsets, labels, depth, tie_end, relevant, keep, discount, k, out):
    """Gains of new subtopics of each query, each weighted by its discount."""
    worth = np.empty(relevant.shape[1])
    drawn = np.empty(discount.size + 1)
    for q in range(lo, hi):
        a = offsets[q]
        out[q] = novelty(a, a + min(k, depth[q]), tie_end, relevant, keep, discount, worth, drawn)


def greedy_gains(
    data: RankingDataset, rel: float, keep: float, discount: np.ndarray, k: int, ideal_ties: str
) -> np.ndarray:
    """Discounted gains of the first k documents of the greedy order, which takes the largest gain next."""
    key = ("greedy gains", rel, keep, discount[:k].tobytes(), ideal_ties)
    if key not in data.memo:
        data.memo[key] = greedy_ideal(data, rel, _greedy, keep, discount, k, ideal_ties=ideal_ties)
    gains: np.ndarray = data.memo[key]
    return gains


@kernel
def _greedy(lo, hi, offsets, relevant, keep, discount, k, out):
    worth = np.empty(relevant.shape[1])
    rows = np.empty(discount.size, np.int64)
    for q in range(lo, hi):
        worth[:] = 1.0
        n = 0
        for i in range(offsets[q], offsets[q + 1]):
            if relevant[i].any():
                rows[n] = i
                n += 1
        total = 0.0
        for r in range(min(k, n)):
            best = -1.0
            at = r
            for j in range(r, n):
                gain = 0.0
                for t in range(worth.size):
                    gain += relevant[rows[j], t] * worth[t]
                if gain > best:
                    best = gain
                    at = j
            chosen = rows[at]
            for j in range(at, r, -1):  # the others keep their order
                rows[j] = rows[j - 1]
            for t in range(worth.size):
                if relevant[chosen, t]:
                    worth[t] *= keep
            total += best * discount[r]
        out[q] = total
