"""Ranking by association rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.rankers.base import Ranker
from plackett.scorers.rules.ranges import find_cuts, range_codes
from plackett.scorers.rules.scorer import RuleScorer
from plackett.solvers.formulas.text import default_names
from plackett.solvers.monitor import Monitor
from plackett.solvers.rules.mining import mine, preorder_ends

if TYPE_CHECKING:
    import polars as pl

__all__ = ["AssociationRules"]

#: Labels with more distinct values than this are not grades.
_MOST_GRADES = 64
_ROUNDING = 1e-12


@dataclass(kw_only=True, eq=False, repr=False)
class AssociationRules(Ranker):
    r"""Association rules such as "0.56 < bm25 ≤ 0.7 → grade 2", scored by the mean confidence of matching rules.

    Features are cut into ranges. A rule F → y from one range, or several of different features that hold together, to
    a grade is kept if its support :math:`P(y, F)` and its confidence :math:`P(y \mid F)` reach two thresholds. With
    :math:`\bar\theta(y)` the mean confidence of the kept rules for grade y that match a document, its score is

    .. math:: s = \sum_y y\,\frac{\bar\theta(y)}{\sum_{y'} \bar\theta(y')},

    which lies between the lowest and the highest grade. A document that no rule matches gets the mean grade of the
    training data. All rules are mined before the first document is scored; those that match a document are the ones a
    lazy miner would find for it.

    Parameters
    ----------
    n_bins
        Maximum number of ranges per feature, 2 to 255. Missing values form a range of their own.
    discretization
        ``"entropy"``: cuts that separate the grades, as many as the minimum description length allows (Fayyad and
        Irani); an uninformative feature is not cut and occurs in no rule. ``"quantile"``: ranges of equal weight.
    min_support, min_confidence
        Least share of all documents in which range and grade occur together, and least share of the grade among the
        documents in the range.
    max_items
        Maximum number of conditions in a rule. The number of rules, and with it the time, grows steeply with it.
    max_rules
        Raise an error if more conjunctions than this have enough support.

    Attributes
    ----------
    rules_
        One row per rule, a polars frame: conditions in words, grade, support, confidence, and the number of training
        documents for which it is right. Features without names are called x1, x2, ….

    Notes
    -----
    Documents and queries count with their weights. Unjudged documents and those of weight 0 are left out. Each grade's
    rules are averaged by themselves, so a low ``min_support`` matters most for rare grades.

    Examples
    --------
    >>> X = [[float(i % 10)] for i in range(100)]
    >>> ranker = AssociationRules().fit(X, [i % 10 // 5 for i in range(100)], qid=[i // 10 for i in range(100)])
    >>> ranker.rules_.select("conditions", "grade", "support", "confidence").rows()
    [('x1 > 4.5', 1.0, 0.5, 1.0), ('x1 ≤ 4.5', 0.0, 0.5, 1.0)]
    >>> ranker.predict([[3.0], [7.0]], qid=[0, 0])
    array([0., 1.])

    References
    ----------
    Veloso, Almeida, Gonçalves, Meira: Learning to rank at query-time using association rules. SIGIR 2008.
    Fayyad, Irani: Multi-interval discretization of continuous-valued attributes for classification learning. IJCAI
    1993.
    """

    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = None
    search_space: ClassVar[SearchSpace] = {
        "min_support": Real(1e-4, 0.05, log=True),
        "min_confidence": Real(0.0, 0.5),
        "max_items": (1, 2),
    }

    n_bins: int = 10
    discretization: str = "entropy"
    min_support: float = 0.001
    min_confidence: float = 0.0
    max_items: int = 2
    max_rules: int = 500_000

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_parameters()
        weight = data.row_weight
        rows = np.flatnonzero((data.labels >= 0) & (weight > 0))
        grades, classes = np.unique(data.labels[rows], return_inverse=True)
        if grades.size > _MOST_GRADES:
            raise DataError(
                f"the labels have {grades.size} different values; AssociationRules takes at most {_MOST_GRADES} grades"
            )
        with monitor.training(1, "association rules"):
            self.scorer_ = self._mined(data.X[rows], grades, classes.astype(np.int64), weight[rows])
            monitor.keep(self.scorer_)

    def _check_parameters(self) -> None:
        for name in ("min_support", "min_confidence"):
            number(name, getattr(self, name), least=0.0, most=1.0)
        for name in ("max_items", "max_rules"):
            whole(name, getattr(self, name), least=1)

    def _mined(self, X: np.ndarray, grades: np.ndarray, classes: np.ndarray, weight: np.ndarray) -> RuleScorer:
        if not grades.size:  # nothing is judged: every score is 0
            grades = np.zeros(1)
        k, total = grades.size, max(float(weight.sum()), np.finfo(float).tiny)
        cuts, first, _ = find_cuts(X, classes, weight, k, self.n_bins, self.discretization)
        codes = np.empty((X.shape[1], X.shape[0]), np.uint8)
        range_codes(dense(X), cuts, first, codes)
        mined = mine(codes, classes, weight, k, self.min_support, self.max_items, self.max_rules, self.n_jobs)
        support = mined.weights / total
        confidence = mined.weights / mined.weights.sum(axis=1, keepdims=True)
        kept = (support >= self.min_support * (1.0 - _ROUNDING)) & (confidence >= self.min_confidence - _ROUNDING)
        # conditions stay as long as a rule hangs on them or on what is below
        before = np.concatenate(([0], np.cumsum((kept & (mined.weights > 0)).any(axis=1))))
        needed = before[preorder_ends(mined.depth)] > before[:-1]
        prior = np.bincount(classes, weight, k) / total if classes.size else np.ones(1)
        depth = mined.depth[needed]
        return RuleScorer(
            grades=grades.astype(np.float64),
            prior=prior,
            cuts=cuts,
            first=first,
            feature=mined.feature[needed],
            code=mined.code[needed],
            depth=depth,
            after=preorder_ends(depth),
            counts=mined.counts[needed],
            support=support[needed],
            confidence=np.where(kept, confidence, 0.0)[needed],
        )

    @property
    def rules_(self) -> pl.DataFrame:
        """The rules as a frame."""
        self.check_fitted()
        return self.scorer_.frame(getattr(self, "feature_names_in_", default_names(self.n_features_in_)))
