"""Linear weights that trade quality for the cost of features: coordinate ascent that may leave features out."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.feature_number import feature_costs
from plackett.feature_selection.cost import efficiency_tradeoff
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.scorers.linear import LinearScorer

__all__ = ["efficient_weights"]

#: Factors by which a weight is tried, and steps in units of the spread of the scores.
_FACTORS = (0.5, 0.8, 1.25, 2.0)
_STEPS = (-0.3, -0.1, 0.1, 0.3)


@dataclass(frozen=True)
class EfficientWeights:
    """Result of `efficient_weights`.

    Attributes
    ----------
    ranker
        A copy of the ranker with the new weights; those of unused features are 0.
    selected
        Numbers of the features that are used.
    cost
        What they cost.
    quality, tradeoff
        Means over the queries of the measure and of the trade-off.
    history
        The mean trade-off before the first sweep and after each one; it never falls.
    """

    ranker: Any
    selected: np.ndarray
    cost: float
    quality: float
    tradeoff: float
    history: tuple[float, ...]


def efficient_weights(
    ranker: Any,
    data: RankingDataset,
    *,
    costs: Any = None,
    rate: float | None = None,
    beta: float = 1.0,
    measure: Any = "nDCG@10",
    max_sweeps: int = 10,
    tol: float = 1e-5,
) -> EfficientWeights:
    r"""Change the weights of a linear ranker so that quality and the cost of the features together are best.

    Maximises the mean over queries of the trade-off of `efficiency_tradeoff`,

    .. math:: \frac{(1 + \beta^2)\,\gamma_q(w)\,\sigma(w)}{\beta^2 \sigma(w) + \gamma_q(w)}, \qquad
        \sigma(w) = e^{-a \sum_{k: w_k \ne 0} t_k},

    by coordinate ascent: each weight in turn is tried at 0, at multiples of itself and at steps, and the best value is
    kept. A feature whose weight is 0 need not be computed. γ is the measure, which must lie between 0 and 1. Without
    costs, or with β = ∞, only the quality counts.

    Parameters
    ----------
    ranker
        A fitted linear ranker, where the ascent starts. It is not modified.
    data
        Lists with labels.
    costs
        Cost of each feature, as in `feature_frontier`.
    rate
        a, how fast efficiency falls with cost; None means 1 over the cost of all features.
    beta
        Weight of quality; above 1 it counts more than the cost.
    measure
        The measure; larger is better.
    max_sweeps, tol
        Maximum number of sweeps over all weights, and the gain of a sweep below which the ascent ends.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(30, 8, 4, random_state=0)
    >>> efficient = efficient_weights(pk.ListNet().fit(data), data, costs=[50, 1, 1, 1])
    >>> efficient.cost < 50  # the expensive feature is not worth it
    True

    References
    ----------
    Wang, Lin, Metzler: Learning to efficiently rank. SIGIR 2010.
    """
    scorer = getattr(ranker, "scorer_", None)
    if not isinstance(scorer, LinearScorer) or scorer.weights.shape[1] != 1:
        raise DataError(f"a fitted linear ranker with one output is needed, not this {type(ranker).__name__}")
    if data.y is None:
        raise DataError("the data have no labels to measure with")
    if data.n_features != scorer.weights.shape[0]:
        raise DataError(f"the ranker has {scorer.weights.shape[0]} features, the data {data.n_features}")
    price = feature_costs(data, costs, 1.0)
    total = float(price.sum())
    a = (1.0 / total if total > 0 else 0.0) if rate is None else float(rate)
    target = parse(measure)
    if not target.ascending:
        raise DataError(f"{target} is better if lower; the trade-off needs a measure from 0 to 1, 1 being best")
    X = np.asarray(data.dense(), np.float64)
    if not np.isfinite(X).all():
        raise DataError("the features must be finite; fill the missing ones in")
    spread = X.std(axis=0)
    weights = np.array(scorer.weights[:, 0], np.float64)

    def quality(scores: np.ndarray) -> np.ndarray:
        values = target.per_query(Scored(data, scores))
        return values[~np.isnan(values)]

    def goal(scores: np.ndarray, w: np.ndarray) -> float:
        return float(efficiency_tradeoff(quality(scores), price[w != 0].sum(), rate=a, beta=beta).mean())

    scores = X @ weights
    if not quality(scores).size:
        raise DataError(f"{target} has no value on any query of the data")
    history = [goal(scores, weights)]
    order = np.lexsort((np.arange(price.size), -price))  # the most expensive first
    for _ in range(max_sweeps):
        now = history[-1]
        size = max(float(scores.std()), 1e-12)
        for j in order:
            old = weights[j]
            steps = [old + step * size / spread[j] for step in _STEPS] if spread[j] > 0 else []
            for new in dict.fromkeys([0.0, *(old * factor for factor in _FACTORS), *steps]):
                trial = weights.copy()
                trial[j] = new
                moved = X @ trial if new == 0.0 else scores + (new - weights[j]) * X[:, j]
                value = goal(moved, trial)
                cheaper = new == 0.0 != weights[j] and value >= now  # a feature that does nothing is left out
                if value > now + 1e-12 or cheaper:
                    weights, scores, now = trial, moved, value
        history.append(now)
        if history[-1] - history[-2] < tol:
            break
    better = copy.copy(ranker)
    better.scorer_ = LinearScorer(weights[:, None], np.array(scorer.intercept))
    better.note_distribution(data)
    used = np.flatnonzero(weights)
    mean = float(quality(X @ weights).mean())
    return EfficientWeights(better, used, float(price[used].sum()), mean, history[-1], tuple(history))
