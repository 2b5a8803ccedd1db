"""Weak supervision: a retrieval score orders the lists that nobody judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.preferences import Preferences
from plackett.data.weights import given_or_ones
from plackett.rankers.query_dependent.features import column_number
from plackett.rankers.semi_supervised._base import SemiSupervised, with_pairs

__all__ = ["WeakSupervision"]


@dataclass(kw_only=True, eq=False, repr=False)
class WeakSupervision(SemiSupervised):
    r"""A good retrieval score (BM25, a language model) as a weak teacher on lists without judgements.

    In lists without a judged document, each pair gets the soft target
    :math:`\bar P_{uv} = \sigma(\kappa (s_u - s_v))`, with the score s divided by its standard deviation in the list:
    the preference u before v with the weight :math:`\lambda \bar P_{uv}`, and v before u with :math:`\lambda (1 - \bar
    P_{uv})`, where all weak pairs together weigh λ times as much as the pairs of human labels (or 1 without any). With
    the logistic loss this is the cross entropy with the soft target. Base rankers that do not learn from pairs get
    labels instead: the best documents by the score, in the proportions of the human labels, in lists of weight λ. With
    λ = 0 it is the base ranker.

    Parameters
    ----------
    reference
        The column of the score: a number or a name.
    sign
        −1 if a small value is good.
    trade_off
        λ.
    steepness
        κ: how much the score is trusted.

    Examples
    --------
    >>> X, qid = [[0.0, 0.3], [1.0, 0.1], [0.5, 0.9], [0.1, 0.2]], [1, 1, 2, 2]
    >>> ranker = WeakSupervision(reference=0).fit(X, [-1, -1, -1, -1], qid=qid)
    >>> ranker.rank(X, qid=qid).tolist()
    [2, 1, 1, 2]

    References
    ----------
    Dehghani, Zamani, Severyn, Kamps, Croft: Neural ranking models with weak supervision. SIGIR 2017.
    Liu: Learning to rank for information retrieval. Springer 2011, section 8.3.
    """

    search_space: ClassVar[SearchSpace] = {"trade_off": Real(0.01, 1.0, log=True)}
    _test_settings: ClassVar[dict[str, Any]] = {"base": "GradientRanker"}

    reference: int | str = 0
    sign: int = 1
    trade_off: float = 0.3
    steepness: float = 2.0

    def _augmented(self, data: RankingDataset) -> RankingDataset | None:
        if self.sign not in (1, -1) or not 0.0 <= self.trade_off < np.inf or not self.steepness > 0.0:
            raise DataError(
                f"sign={self.sign}, trade_off={self.trade_off}, steepness={self.steepness}; give 1 or -1, 0 or more, "
                "and a number above 0"
            )
        column = column_number(data, self.reference)
        judged = np.bincount(data.query_of_row, data.labels >= 0, data.n_queries)
        weak = (judged == 0) & (data.group > 1)
        self._more["weak lists"] = int(weak.sum())
        if self.trade_off == 0.0 or not weak.any() or data.preferences is not None:
            return None
        scores = self.sign * np.nan_to_num(np.asarray(dense(data.X[:, [column]])[:, 0], np.float64))
        if self.base_ranker().takes_preferences:
            return self._with_pairs(data, scores, weak)
        return self._with_labels(data, scores, weak)

    def _with_pairs(self, data: RankingDataset, scores: np.ndarray, weak: np.ndarray) -> RankingDataset | None:
        human = Preferences.from_labels(data, margin=False)
        pairs = soft_pairs(data, np.where(weak[data.query_of_row], scores, np.nan), self.steepness)
        if len(pairs) == 0:
            return None
        assert pairs.weight is not None
        share = self.trade_off * max(len(human), 1) / float(pairs.weight.sum())
        return with_pairs(data, human, pairs, share)

    def _with_labels(self, data: RankingDataset, scores: np.ndarray, weak: np.ndarray) -> RankingDataset:
        judged = data.labels >= 0
        grades = np.sort(data.labels[judged]) if judged.any() else np.array([0.0, 0.0, 0.0, 0.0, 1.0])
        of = data.query_of_row
        order = np.lexsort((scores, of))
        quantile = np.empty(data.n_rows)
        quantile[order] = (np.arange(data.n_rows) - data.offsets[of[order]] + 0.5) / data.group[of[order]]
        own = given_or_ones(data.query_weight, data.n_queries)
        made = grades[np.minimum((quantile * grades.size).astype(np.int64), grades.size - 1)]
        return data.replace(
            y=np.where(weak[of], made, data.labels), query_weight=np.where(weak, self.trade_off, 1.0) * own
        )


def soft_pairs(data: RankingDataset, scores: np.ndarray, steepness: float) -> Preferences:
    """Both directions of all pairs of unequal scores, with the soft targets as weights; NaN scores form no pairs."""
    known = ~np.isnan(scores)
    of = data.query_of_row
    filled, count = np.where(known, scores, 0.0), np.maximum(np.bincount(of, known, data.n_queries), 1)
    mean = np.bincount(of, filled, data.n_queries) / count
    spread = np.sqrt(np.bincount(of, np.where(known, (filled - mean[of]) ** 2, 0.0), data.n_queries) / count)
    pairs = Preferences.from_order(data, -scores)
    gap = (scores[pairs.winner] - scores[pairs.loser]) / np.maximum(spread[of[pairs.winner]], 1e-300)
    target = 1.0 / (1.0 + np.exp(-np.minimum(steepness * gap, 700.0)))
    winner, loser = np.concatenate([pairs.winner, pairs.loser]), np.concatenate([pairs.loser, pairs.winner])
    return Preferences(winner, loser, None, np.concatenate([target, 1.0 - target]))
