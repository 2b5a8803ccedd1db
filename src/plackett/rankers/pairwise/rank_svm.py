"""Ranking SVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from plackett.data.dataset import RankingDataset
from plackett.losses.pairwise._margin_pairs import MarginPairs, margin_pairs
from plackett.rankers.pairwise._linear_svm import LinearPairSVM

__all__ = ["RankSVM"]


@dataclass(kw_only=True, eq=False, repr=False)
class RankSVM(LinearPairSVM):
    r"""Ranking SVM: the linear ranker that keeps the pairs of unequal labels apart with the smallest weights,

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_{(u, v)} c_{uv}\,\xi_{uv}^p, \qquad
              \xi_{uv} = \max(0,\; m_{uv} - w \cdot (x_u - x_v)), \quad p = 1 \text{ or } 2

    over all pairs of a query in which u has the higher label, or over the preferences of the dataset with their own
    margins and weights. No pair is formed: a pass over all of them is a sorted sweep, so that time grows like n log n
    in the documents of a query and memory like the number of rows. The solution is exact up to a proved gap (`gap_`).

    The weight of a pair is the product of the weights of its two documents and its query. How ``C`` relates to other
    tools:

    =====================================================  ==========================================
    the other tool                                         here, with ``standardize=False``
    =====================================================  ==========================================
    SVM-light ``-z p -c c``                                ``loss="hinge", C=c``
    SVM-rank ``-c c`` (``-l 1``, swapped pairs)            ``loss="hinge", C=c / number of queries``
    SVM-rank ``-c c -l 2`` (share of swapped pairs)        the same with ``normalize=True``
    LinearSVC(C=c, fit_intercept=False) on the             ``C=c`` and the same ``loss``
    differences x_u − x_v
    mean hinge over N pairs + λ‖w‖²                        ``loss="hinge", C=1 / (2 λ N)``
    =====================================================  ==========================================

    Parameters
    ----------
    normalize
        Divide the penalty of a query's pairs by their total weight, so that queries with many pairs do not dominate, as
        in `IRSVM`.
    tie_weight, tie_width
        With a positive ``tie_weight`` documents of equal labels should not be apart by more than ``tie_width``: each
        such pair costs ``tie_weight`` times max(0, \|s_u − s_v\| − width), squared where the loss is. With 0 they are
        left out.

    Examples
    --------
    >>> ranker = RankSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])
    >>> bool(ranker.gap_ <= ranker.tol)
    True

    References
    ----------
    Herbrich, Graepel, Obermayer: Large margin rank boundaries for ordinal regression. 2000.
    Joachims: Training linear SVMs in linear time. KDD 2006.
    Chapelle and Keerthi: Efficient algorithms for ranking with SVMs. Information Retrieval 2010.
    """

    _ids: ClassVar[tuple[str, ...]] = ("pairwise.ranksvm", "M-07", "M-09", "S-08", "peers.svmrank")
    paper: ClassVar[str] = "Herbrich, Graepel, Obermayer 2000; Joachims 2002"

    C: float = 1e-4
    normalize: bool = False
    tie_weight: float = 0.0
    tie_width: float = 0.0

    def make_pairs(self, data: RankingDataset) -> MarginPairs:
        """The pairs to keep apart."""
        return margin_pairs(
            data,
            margin=self.margin,
            normalize=self.normalize,
            tie_weight=self.tie_weight,
            tie_width=self.tie_width,
            n_jobs=self.n_jobs,
        )
