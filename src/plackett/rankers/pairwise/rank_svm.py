"""Ranking SVM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import BLOCK_ROWS, row_array
from plackett.losses.pairwise._margin_pairs import MarginPairs, margin_pairs
from plackett.rankers.chosen_penalty import ChosenPenalty
from plackett.rankers.pairwise._linear_svm import LinearPairSVM

__all__ = ["RankSVM"]

#: How many times the smallest difference of two labels the largest may be if the labels are grades.
_MOST_STEPS = 10


@dataclass(kw_only=True, eq=False, repr=False)
class RankSVM(ChosenPenalty, LinearPairSVM):
    r"""Ranking SVM: the linear ranker that keeps the pairs of unequal labels apart with the smallest weights,

    .. math:: \min_w \tfrac12 \lVert w \rVert^2 + C \sum_{(u, v)} c_{uv}\,\xi_{uv}^p, \qquad
              \xi_{uv} = \max(0,\; m_{uv} - w \cdot (x_u - x_v)), \quad p = 1 \text{ or } 2

    over all pairs of a query in which u has the higher label, or over the preferences of the dataset with their own
    margins and weights. No pair is formed: a pass over all of them is a sorted sweep, so that time grows like n log n
    in the documents of a query and memory like the number of rows, or not at all if the data are mapped from a large
    file. The solution is exact up to a proved gap (`gap_`).

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
    C
        Penalty for a violated pair. ``"auto"`` chooses 1e-6, 1e-5, 1e-4, 1e-3 or 1e-2 by five-fold cross-validation
        over the training queries, with `eval_measure` (a sample of about 50,000 documents of larger data). For fewer
        than ten queries it is 1e-4, or more, so that all pairs together cost at least 1. The choice is in ``C_`` and
        in the model card. With ``normalize=True`` the values are larger by the mean number of pairs of a query. Labels
        above 1,000, for which nDCG has no gains, are judged with linear gain, and a warning, unless another measure is
        given.
    margin
        Margin by which the better document should lead: a number, or ``"label"`` for the difference of the labels. A
        preference that has its own margin uses that instead. ``"auto"`` is 1, as in other tools; only where ``C`` is
        chosen by cross-validation too, it is the difference of the labels if these are grades (the largest difference
        is at most ten times the smallest), the loss is squared and there are no preferences and no ``tie_weight``. The
        choice is in ``margin_`` then.
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
    Joachims: Optimizing search engines using clickthrough data. KDD 2002.
    """

    _penalty: ClassVar[tuple[str, tuple[float, ...]]] = ("C", (1e-4, 1e-6, 1e-5, 1e-3, 1e-2))

    _settled_too: ClassVar[tuple[str, ...]] = ("margin",)

    C: float | str = "auto"  # type: ignore[assignment]
    margin: float | str = "auto"
    normalize: bool = False
    tie_weight: float = 0.0
    tie_width: float = 0.0

    def _penalty_values(self, data: RankingDataset) -> tuple[float, ...]:
        values = super()._penalty_values(data)
        if not self.normalize:
            return values
        all_pairs, normalized = self._cost(replace(self, normalize=False), data), self._cost(self, data)
        return tuple(value * all_pairs / normalized for value in values) if normalized > 0.0 else values

    def _others(self, data: RankingDataset, enough: bool) -> dict[str, Any]:
        if self.margin != "auto":
            return {}
        pairs_of_grades = self.loss == "squared_hinge" and self.tie_weight == 0.0 and data.preferences is None
        return {"margin": "label" if enough and pairs_of_grades and _grades(data.labels) else 1.0}

    def _penalty_for_few(self, data: RankingDataset) -> float:
        usual, cost = super()._penalty_for_few(data), self._cost(self, data)
        return max(usual, 1.0 / cost) if cost > 0.0 else usual

    @staticmethod
    def _cost(ranker: RankSVM, data: RankingDataset) -> float:
        """What all pairs cost together if all scores are equal."""
        equal = row_array(data.X, (data.n_rows,))
        return ranker.make_pairs(data).evaluate(equal, ranker.loss == "squared_hinge")[0]

    def make_pairs(self, data: RankingDataset) -> MarginPairs:
        """The pairs to keep apart."""
        return margin_pairs(
            data,
            margin=1.0 if self.margin == "auto" else self.margin,
            normalize=self.normalize,
            tie_weight=self.tie_weight,
            tie_width=self.tie_width,
            n_jobs=self.n_jobs,
        )


def _grades(labels: np.ndarray) -> bool:
    """Whether the labels are a few grades, so that no difference is too large as a margin; below 0 means unjudged."""
    levels = np.empty(0)
    for start in range(0, labels.size, BLOCK_ROWS):  # they may be in a file
        part = labels[start : start + BLOCK_ROWS]
        levels = np.union1d(levels, part[part >= 0.0])
        if levels.size > _MOST_STEPS + 1:
            return False
    return levels.size > 1 and bool(levels[-1] - levels[0] <= _MOST_STEPS * np.diff(levels).min())
