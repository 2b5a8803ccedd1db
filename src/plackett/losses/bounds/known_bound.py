"""A bound of a measure by a loss, and the pieces of which right-hand sides are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.gains import discount_table, gains_of, ideal_dcg
from plackett.measures.ndcg import NDCG

__all__ = ["KnownBound"]

__home__ = "theory"

Values = Callable[[np.ndarray, RankingDataset], np.ndarray]


@dataclass(frozen=True)
class KnownBound:
    """An inequality error of a measure ≤ something of a loss; call it for its right-hand side, one number per query.

    The error is one minus the measure, or the measure itself where smaller is better. Ties of scores count as errors
    on both sides, so the inequality holds for the measure with ``ties="pessimistic"`` and with it for all tie rules.

    Attributes
    ----------
    labels
        ``"graded"`` or ``"binary"``: what labels it holds for.

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.
    """

    loss: Any
    measure: Measure
    statement: str
    source: str
    labels: str
    right_hand_side: Values

    def __call__(self, scores: Any, data: RankingDataset) -> np.ndarray:
        """The bound of each query."""
        return self.right_hand_side(row_scores(data, scores), data)

    def __str__(self) -> str:
        limits = "" if self.labels == "graded" else f", {self.labels} labels"
        return f"{self.statement}  ({self.source}{limits})"


def per_query(loss: Any, factor: float = 1.0) -> Values:
    """The loss of each query, weights of the data left out, times a factor."""

    def values(scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        bound = loss.bind(data.replace(sample_weight=None, query_weight=None))
        return factor * bound.evaluate(bound.check(scores))[0]

    return values


def over(values: Values, divisor: Callable[[RankingDataset], np.ndarray]) -> Values:
    """Values of each query, divided by a number of the query; 0 where that is 0."""

    def ratio(scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        below = divisor(data)
        return np.divide(values(scores, data), below, out=np.zeros(below.size), where=below > 0)

    return ratio


def relevant_documents(rel: float) -> Callable[[RankingDataset], np.ndarray]:
    """Number of relevant documents of each query."""
    return lambda data: np.bincount(data.query_of_row, data.labels >= rel, data.n_queries)


def largest_weight(measure: NDCG) -> Callable[[RankingDataset], np.ndarray]:
    """Z / (G(max) η(1)): what a sum of essential errors is divided by."""

    def divisor(data: RankingDataset) -> np.ndarray:
        best = ideal_dcg(data, measure.gain, measure.discount, measure.k)
        gains = np.zeros(data.n_queries)
        np.maximum.at(gains, data.query_of_row, gains_of(data.labels, measure.gain))
        top = gains * discount_table(measure.discount, 1)[0]
        return np.divide(best, top, out=np.zeros(best.size), where=top > 0)

    return divisor


def has_falling_discount(measure: NDCG) -> bool:
    """Whether no later rank has a larger discount, as the theorems need, and short lists count as they are."""
    eta = discount_table(measure.discount, 100)
    return bool((np.diff(eta) <= 1e-12).all()) and measure.short == "pad"
