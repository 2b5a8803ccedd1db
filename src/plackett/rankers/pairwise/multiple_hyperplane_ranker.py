"""Multiple hyperplane ranker."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.aggregation.borda import Borda
from plackett.data.dataset import RankingDataset
from plackett.data.parts import counted, labels_that_occur, parts, per_row
from plackett.rankers.pairwise.linear_svm import LinearPairSVM
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.scorers.hyperplanes import HyperplanesScorer
from plackett.solvers.monitor import Monitor, SilentMonitor

__all__ = ["MultipleHyperplaneRanker"]

_MOST_GRADES = 16


@dataclass(kw_only=True, eq=False, repr=False)
class MultipleHyperplaneRanker(LinearPairSVM):
    r"""Multiple hyperplane ranker: a Ranking SVM for every pair of grades, with their rankings combined by a weighted
    count.

    The features that separate excellent from good documents may not be those that separate good from bad ones. So every
    pair of grades k > l has its own linear `RankSVM` :math:`f_{kl}`, trained only on documents of these grades, and a
    document scores

    .. math:: s(x) = \sum_{k > l} \alpha_{kl} f_{kl}(x) \quad\text{or}\quad
              \sum_{k > l} \alpha_{kl} (m - r_{kl}(x))

    with :math:`r_{kl}` its rank by :math:`f_{kl}` among the m documents of its list (Borda's count; ties share the mean
    of their ranks). A pair of grades that never occur in the same query has no machine; with two grades it is Ranking
    SVM. The grades are the distinct labels, at most 16; unjudged documents form no pairs. Preferences have no grades
    and are rejected.

    Parameters
    ----------
    grade_pairs
        ``"all"`` or ``"adjacent"``: neighbouring grades only.
    combine
        ``"borda"`` (ranks) or ``"scores"`` (then it is a linear ranker).
    alpha
        Weight of each machine, in the order of `pairs_`; None weights all equally; ``"validation"`` uses the weights
        that do best by `eval_measure` on the validation data (with ``combine="borda"``).

    Attributes
    ----------
    pairs_
        The lower and the higher label of each machine; not available after `load`.

    Examples
    --------
    >>> ranker = MultipleHyperplaneRanker().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.pairs_
    [(0.0, 1.0), (0.0, 2.0), (1.0, 2.0)]
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Qin, Liu, Lai, Zhang, Wang, Li: Ranking with multiple hyperplanes. SIGIR 2007.
    """

    takes_preferences: ClassVar[bool] = False

    grade_pairs: str = "all"
    combine: str = "borda"
    alpha: Any = None

    def settled(self) -> dict[str, Any]:
        """The weights of the machines, if they were chosen on validation data."""
        learned = {"alpha": tuple(self.scorer_.alpha.tolist())} if isinstance(self.alpha, str) else {}
        return super().settled() | learned

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """There is one round, after all machines."""
        return {}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_parameters(data, monitor)
        settings = {field.name: getattr(self, field.name) for field in fields(LinearPairSVM)}
        columns, self.pairs_ = [], self._pairs(data)
        with monitor.training(1, "MultipleHyperplaneRanker"):
            for low, high in self.pairs_:
                machine = RankSVM(**settings)
                machine._fit(data.replace(y=per_row(data, partial(_of_two, low, high))), SilentMonitor())
                columns.append(machine.scorer_.weights[:, 0])
            weights = np.array(columns).T if columns else np.zeros((data.n_features, 0))
            scorer = HyperplanesScorer(weights, np.ones(len(columns)), np.array([self.combine == "borda"], float))
            if self.alpha is not None and columns:
                scorer = HyperplanesScorer(weights, self._alpha(scorer, monitor), scorer.borda)
            self.scorer_: Any = scorer
            monitor.keep(self.scorer_)

    def _check_parameters(self, data: RankingDataset, monitor: Monitor) -> None:
        if data.preferences is not None:
            raise DataError(
                "MultipleHyperplaneRanker has a machine for each two grades, and preferences have no grades"
            )
        if self.grade_pairs not in ("all", "adjacent") or self.combine not in ("borda", "scores"):
            raise DataError(
                f"grade_pairs={self.grade_pairs!r}, combine={self.combine!r}; give grade_pairs 'all' or 'adjacent' and "
                "combine 'borda' or 'scores'"
            )
        if isinstance(self.alpha, str):
            if self.alpha != "validation":
                raise DataError(f"alpha={self.alpha!r}; give numbers, 'validation' or None")
            if monitor.valid is None or self.combine != "borda":
                raise DataError(
                    "alpha='validation' needs validation data (eval_set or validation_fraction) and 'borda'"
                )

    def _pairs(self, data: RankingDataset) -> list[tuple[float, float]]:
        """Every pair of grades that occur together in some query."""
        grades = labels_that_occur(data, counted)
        if grades.size > _MOST_GRADES:
            raise DataError(
                f"MultipleHyperplaneRanker has a machine for each two of {grades.size} different labels (at most "
                f"{_MOST_GRADES}); round the labels"
            )
        has = np.zeros((data.n_queries, grades.size))
        for lo, _, part in parts(data):
            rows = counted(part)
            has[lo + part.query_of_row[rows], np.searchsorted(grades, part.labels[rows])] = 1.0
        together = has.T @ has
        return [
            (float(grades[k]), float(grades[m]))
            for k, m in combinations(range(grades.size), 2)
            if together[k, m] > 0 and (self.grade_pairs == "all" or m == k + 1)
        ]

    def _alpha(self, scorer: HyperplanesScorer, monitor: Monitor) -> np.ndarray:
        if isinstance(self.alpha, str):
            valid = monitor.valid
            assert valid is not None  # checked
            lists = scorer.lists(valid.X, valid.offsets, self.n_jobs)
            return np.array(Borda().fit(lists, valid.labels, self.eval_measure, n_jobs=self.n_jobs).weights, float)
        try:
            alpha = np.array(self.alpha, float)
        except (TypeError, ValueError):
            alpha = np.empty(0)
        if alpha.shape != scorer.alpha.shape or not (alpha >= 0).all() or not np.isfinite(alpha).all():
            raise DataError(
                f"alpha={self.alpha!r}; give a number of 0 or more for each of the {len(self.pairs_)} pairs of grades "
                f"{self.pairs_}"
            )
        return alpha


def _of_two(low: float, high: float, data: RankingDataset) -> np.ndarray:
    """The labels; −1 for those other than two."""
    return np.where((data.labels == low) | (data.labels == high), data.labels, -1.0)
