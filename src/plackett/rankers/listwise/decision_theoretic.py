"""Decision-theoretic ranking: a Bayesian model of the labels, and the order of the largest expected utility."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.data.dataset import RankingDataset
from plackett.measures.gains import check_gain, gains_of
from plackett.rankers.base import Ranker
from plackett.scorers.expected_utility import ExpectedUtilityScorer
from plackett.solvers.moment_matching import probit_posterior_steps
from plackett.solvers.monitor import Monitor

__all__ = ["DecisionTheoretic"]

#: Largest number of trials: the expected utility sums over all labels.
_MOST_TRIALS = 1000


@dataclass(kw_only=True, eq=False, repr=False)
class DecisionTheoretic(Ranker):
    r"""Decision-theoretic ranking: documents by their expected gain under a Bayesian model of the labels.

    .. math:: y_j \sim \mathrm{Binomial}\big(n,\ \Phi(w \cdot x_j / c)\big), \qquad w \sim N(0, \tau^2 I), \qquad
              \text{score}_j = \mathrm{E}\,[G(y_j) \mid \text{data}]

    The labels of documents are independent given the weights, so sorting by expected gain has the largest expected DCG,
    whatever its discounts. The posterior of the weights is normal, by expectation propagation: the exact moments of
    one trial at a time, repeated until nothing changes. Features are standardised, and there is an intercept. Labels
    must be whole numbers. A round costs as much as a least-squares fit, d² per document for d features.

    Parameters
    ----------
    n_trials
        n, the largest possible label; None uses the largest in the training data.
    gain
        Utility G of a label: ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain.
    prior_variance
        τ², for standardised features.
    scale
        Standard deviation c of the cumulative normal.
    max_iter, tol
        Maximum number of rounds, and the largest change of a weight at which to stop.

    Examples
    --------
    >>> ranker = DecisionTheoretic().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Zoeter, Taylor, Snelson, Guiver, Craswell, Szummer: A decision theoretic framework for ranking using implicit
    feedback. SIGIR Workshop on Learning to Rank 2008. Minka: A family of algorithms for approximate Bayesian inference.
    2001.
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {
        "prior_variance": Real(0.1, 100.0, log=True),
        "scale": Real(0.1, 10.0, log=True),
    }

    n_trials: int | None = None
    gain: Any = "exp2"
    prior_variance: float = 10.0
    scale: float = 1.0
    max_iter: int = 100
    tol: float = 1e-6

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        trials = self._trials(data)
        gains = gains_of(np.arange(trials + 1.0), check_gain(self.gain, "DecisionTheoretic"))
        X = np.asarray(data.dense(), np.float64)
        counted = np.ones(data.n_queries) if data.query_weight is None else data.query_weight
        rows = counted[data.query_of_row]
        center = rows @ X / rows.sum()
        spread = np.sqrt(rows @ np.square(X - center) / rows.sum())
        spread = np.where(spread > 1e-7 * np.abs(center), spread, 1.0)
        design = np.column_stack([(X - center) / spread, np.ones(data.n_rows)])
        weight = np.where(data.labels >= 0, data.row_weight, 0.0)
        labels = np.maximum(data.labels, 0.0)
        steps = probit_posterior_steps(
            design, weight * labels, weight * (trials - labels), self.prior_variance, self.scale
        )
        with monitor.training(self.max_iter, "DecisionTheoretic · EP"):
            before = np.zeros(design.shape[1])
            for _, (mean, factor) in zip(range(self.max_iter), steps, strict=False):
                columns = np.column_stack([mean, factor])
                folded = columns[:-1] / spread[:, None]
                scorer = ExpectedUtilityScorer(folded, columns[-1] - center @ folded, gains, np.array([self.scale]))
                if monitor.keep(scorer) or np.abs(mean - before).max() <= self.tol:
                    break
                before = mean
        self.scorer_ = monitor.best

    def _trials(self, data: RankingDataset) -> int:
        judged = data.labels[data.labels >= 0]
        for label in judged[judged != np.floor(judged)][:1]:
            raise DataError(f"DecisionTheoretic needs whole-number labels, but found label {label:g}")
        largest = int(judged.max(initial=0.0))
        trials = max(largest, 1) if self.n_trials is None else self.n_trials
        if largest > trials:
            raise DataError(f"label {largest} is above n_trials={trials}")
        if not 1 <= trials <= _MOST_TRIALS:
            raise DataError(f"DecisionTheoretic takes labels up to {_MOST_TRIALS}, not {trials}; use smaller labels")
        return trials
