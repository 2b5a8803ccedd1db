"""IR-SVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.losses.pairwise._margin_pairs import MarginPairs, margin_pairs
from plackett.rankers.pairwise._linear_svm import LinearPairSVM

__all__ = ["IRSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class IRSVM(LinearPairSVM):
    r"""Ranking SVM in which queries, not pairs, weigh the same:

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_q \frac{1}{n_q} \sum_{(u, v)} \tau_{y_u y_v}\,\xi_{uv}^p

    with the :math:`n_q` pairs of unequal labels of query q (queries without any are left out), and optionally a weight
    τ that depends on the two labels of a pair, so that mistakes at the top cost more. For the form "mean over r queries
    of the mean hinge, plus λ‖w‖²", set ``C = 1 / (2 λ r)``. Margins, weights, solvers and exactness are those of
    `RankSVM`.

    Parameters
    ----------
    level_weights
        The weights τ: a square table, row the label of the better document and column that of the worse one. Labels
        must be the whole numbers that count its rows. By default all are 1.

    Examples
    --------
    >>> ranker = IRSVM(C=1.0).fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Cao, Xu, Liu, Li, Huang, Hon: Adapting Ranking SVM to document retrieval. SIGIR 2006.
    Qin, Zhang, Tsai, Wang, Liu, Li: Query-level loss functions for information retrieval. 2008.
    """

    search_space: ClassVar[SearchSpace] = {"C": Real(1e-3, 10.0, log=True)}

    C: float = 1.0
    level_weights: Any = None

    def make_pairs(self, data: RankingDataset) -> MarginPairs:
        """The pairs to keep apart."""
        return margin_pairs(
            data, margin=self.margin, normalize=True, level_weights=self.level_weights, n_jobs=self.n_jobs
        )
