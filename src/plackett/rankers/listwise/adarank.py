"""AdaRank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Integer, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.data.dense import dense
from plackett.data.mapped import row_array, row_blocks
from plackett.data.moments import feature_scale
from plackett.measures.language import parse
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.monitor import Monitor

__all__ = ["AdaRank"]

#: A weak ranker that is perfect on all queries, or wrong on all, would have an infinite coefficient.
_LEAST_LOSS = 1e-6


@dataclass(kw_only=True, eq=False, repr=False)
class AdaRank(Ranker):
    r"""AdaRank: boosting over queries, with single features as weak rankers.

    Round t picks the feature :math:`f_t` with the largest :math:`\varphi_t = \sum_q D_t(q) M_q(f_t)`, adds it with the
    coefficient :math:`\alpha_t = \frac12 \log \frac{1 + \varphi_t}{1 - \varphi_t}` to the ensemble :math:`F_t`, and
    reweights the queries by :math:`D_{t+1}(q) \propto w_q e^{-M_q(F_t)}`, so that queries the ensemble ranks badly
    count more. The result is a linear model. The value of each feature alone on each query is computed only once.

    Training stops after `n_estimators` rounds, or when the training measure falls by `tol` or more, or by early
    stopping on validation data. If the only feature so far is picked again, no order changes, and training is stuck;
    `max_repeats` excludes such a feature.

    Parameters
    ----------
    measure
        The measure to maximise; its values must lie between −1 and 1.
    n_estimators
        Most rounds.
    tol
        Largest allowed decrease of the training measure from one round to the next.
    max_repeats
        Exclude a feature that was picked this many times in a row without changing the training measure, until the
        measure changes. None never excludes one.
    descending
        Whether a feature may also rank small values first.
    standardize
        Divide each feature by its standard deviation, so that coefficients are comparable. Switch it off if features
        are already normalised per query.

    Attributes
    ----------
    weak_, alphas_
        The weak rankers, one row of weights for each round that was kept, and their coefficients. See
        `plackett.theory.adarank_residual`.

    Notes
    -----
    Documents of weight 0 are left out of their lists. The weight of a query is ``query_weight`` times the mean weight
    of its documents.

    Examples
    --------
    >>> ranker = AdaRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Xu, Li: AdaRank: a boosting algorithm for information retrieval. SIGIR 2007.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "n_estimators"
    search_space: ClassVar[SearchSpace] = {"max_repeats": Integer(1, 10), "measure": ("AP", "nDCG", "nDCG@10")}

    measure: Any = "AP"
    n_estimators: int = 500
    tol: float = 0.002
    max_repeats: int | None = 5
    descending: bool = True
    standardize: bool = True

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if self.n_estimators < 1 or (self.max_repeats is not None and self.max_repeats < 1):
            raise DataError(
                f"AdaRank: n_estimators={self.n_estimators}, max_repeats={self.max_repeats}; give 1 or more"
            )
        lists = MeasureObjective(data, parse(self.measure), self.n_jobs)
        lists.check_bounds("AdaRank")
        scale = feature_scale(data.X, lists.row_weight, self.standardize)
        weights = np.zeros(data.n_features)
        weak, alphas = [], []
        with monitor.training(self.n_estimators, f"AdaRank · {lists.measure}"):
            for feature, sign, alpha in self._rounds(data, lists, scale):
                step = np.zeros(data.n_features)
                step[feature] = sign / scale[feature]
                weights = weights + alpha * step
                weak.append(step)
                alphas.append(alpha)
                if monitor.keep(LinearScorer(weights[:, None], np.zeros(1))):
                    break
        kept = monitor.kept
        self.weak_, self.alphas_ = np.array(weak[:kept]).reshape(-1, data.n_features), np.array(alphas[:kept])
        self.scorer_ = monitor.best or LinearScorer(np.zeros((data.n_features, 1)), np.zeros(1))

    def _rounds(
        self, data: RankingDataset, lists: MeasureObjective, scale: np.ndarray
    ) -> Iterator[tuple[int, float, float]]:
        """Feature, direction and coefficient of each round."""
        signs = (1.0, -1.0) if self.descending else (1.0,)
        alone = row_array(data.X, (len(signs) * data.n_features, lists.weight.size))
        for start, sign in enumerate(signs):
            alone[start * data.n_features : (start + 1) * data.n_features] = _feature_values(data.X, lists, sign)
        left_out = np.zeros(len(alone), bool)
        share, last, latest, repeats = lists.weight, -np.inf, -1, 0
        scores = row_array(data.X, (data.n_rows,))
        for _ in range(self.n_estimators):
            performance = np.where(left_out, -np.inf, [(own * share).sum() for own in alone])
            pick = int(np.argmax(performance))
            if not np.isfinite(performance[pick]):
                return
            phi = float(np.clip(performance[pick], _LEAST_LOSS - 1.0, 1.0 - _LEAST_LOSS))
            alpha = 0.5 * float(np.log((1.0 + phi) / (1.0 - phi)))
            sign, feature = signs[pick // data.n_features], pick % data.n_features
            for rows in row_blocks(data.n_rows):
                column = _columns(data.X[rows], slice(feature, feature + 1))[0]
                scores[rows] += alpha * sign * column / scale[feature]
            values = lists.per_query(scores)[0]
            mean = float((values * lists.weight).sum())
            if mean + self.tol <= last:
                return
            yield feature, sign, alpha
            if mean != last or pick != latest:
                repeats = 1
                if mean != last:
                    left_out[:] = False
            else:
                repeats += 1
            if repeats == self.max_repeats:
                left_out[pick] = True
            last, latest = mean, pick
            share = lists.weight * np.exp(-values)
            share /= max(float(share.sum()), np.finfo(float).tiny)


def _columns(X: Any, features: slice) -> np.ndarray:
    """Some features as rows of float64."""
    return np.ascontiguousarray(dense(X[:, features]).T, dtype=np.float64)


def _feature_values(X: Any, lists: MeasureObjective, sign: float) -> np.ndarray:
    """Measure of each query, ranked by each feature alone: ``(features, queries)``."""
    return lists.per_query(lambda features, rows: sign * _columns(X[rows], features), X.shape[1])
