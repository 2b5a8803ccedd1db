"""How to spend a budget of judgements, by the two-layer bound."""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from plackett._base.arguments import number, positive, probability
from plackett.theory.bounds.two_layer import TwoLayerBound

__all__ = ["labelling_budget", "smallest_budget"]

#: From numbers of documents to bounds or budgets.
Values = Callable[[np.ndarray], np.ndarray]


class LabellingBudget(NamedTuple):
    """The split of a budget of judgements that minimises the two-layer bound.

    ``queries`` and ``documents`` minimise the smooth form of the bound; ``bound`` is the smallest bound of all splits
    into whole numbers of queries and documents.
    """

    queries: float
    documents: float
    bound: TwoLayerBound


def labelling_budget(
    budget: int, vc: float = 10.0, *, delta: float = 0.05, c: float = 1.0, loss_bound: float = 1.0
) -> LabellingBudget:
    r"""Number of queries, and of documents for each, that minimise the two-layer bound for C judgements in all:

    .. math:: n^* = \frac{c \sqrt V + M \sqrt{2 \log(4/\delta)}}{c \sqrt{2 V}} \sqrt C, \qquad m^* = C / n^*

    The richer the class (V), the fewer queries with more documents each; the higher the confidence, the more queries.

    References
    ----------
    Chen, Liu, Ma: Two-layer generalization analysis for ranking using Rademacher average. NIPS 2010.

    Examples
    --------
    >>> best = labelling_budget(20_000, vc=10)
    >>> round(best.queries, 4), round(best.documents, 2), best.bound.queries, best.bound.documents
    (193.6165, 103.3, 196, 102)
    """
    number("budget", budget, least=4)
    terms = _Terms.of(vc, delta, c, loss_bound)
    n = min(terms.query_factor * sqrt(budget), budget / 2.0)

    def smooth(m: np.ndarray) -> np.ndarray:
        return terms.bound(budget / m, m / 2.0, m)

    def whole(m: np.ndarray) -> np.ndarray:
        return terms.bound(budget // m, m // 2, m)

    m = _best_whole(smooth, whole, budget / n, int(budget))
    return LabellingBudget(n, budget / n, terms.two_layer(int(budget) // m, m))


def smallest_budget(
    epsilon: float, vc: float = 10.0, *, delta: float = 0.05, c: float = 1.0, loss_bound: float = 1.0
) -> LabellingBudget:
    """The smallest budget with a split whose two-layer bound is at most ε.

    The budget is ``bound.queries * bound.documents``; with one judgement less no split reaches ε.

    >>> best = smallest_budget(0.5, vc=10)
    >>> budget = best.bound.queries * best.bound.documents
    >>> budget, best.bound.value <= 0.5 < labelling_budget(budget - 1, vc=10).bound.value
    (202446, True)

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 15.3.2.
    """
    number("epsilon", epsilon, above=0.0)
    terms = _Terms.of(vc, delta, c, loss_bound)

    def smooth(m: np.ndarray) -> np.ndarray:
        return m * terms.queries(epsilon, m / 2.0, m)

    def whole(m: np.ndarray) -> np.ndarray:
        # the bound of the smallest number of queries must not exceed ε by a rounding error
        n = np.ceil(terms.queries(epsilon, m // 2, m) - 1e-9)
        return m * np.where(terms.bound(np.maximum(n, 1.0), m // 2, m) <= epsilon, n, n + 1.0)

    # the smooth budget is infinite up to the depth where the documents alone use up ε, then falls and rises again
    least = 2.0 * vc * (c / epsilon) ** 2
    guess = _golden(smooth, least * (1.0 + 1e-9) + 1e-9, 1e6 * least + 1e6)
    m = _best_whole(smooth, whole, guess, None)
    n = round(float(whole(np.array([float(m)]))[0]) / m)
    budget = n * m
    smooth_n = min(terms.query_factor * sqrt(budget), budget / 2.0)
    return LabellingBudget(smooth_n, budget / smooth_n, terms.two_layer(n, m))


class _Terms(NamedTuple):
    """The two-layer bound as a function of arrays: complexity c √V, chance M √(2 log(4/δ)), and the parameters."""

    complexity: float
    chance: float
    parameters: dict[str, float]

    @classmethod
    def of(cls, vc: float, delta: float, c: float, loss_bound: float) -> _Terms:
        positive(vc=vc, c=c, loss_bound=loss_bound)
        probability("delta", delta)
        chance = loss_bound * sqrt(2.0 * log(4.0 / delta))
        return cls(c * sqrt(vc), chance, {"vc": vc, "delta": delta, "c": c, "loss_bound": loss_bound})

    @property
    def query_factor(self) -> float:
        """n* for a budget of one judgement."""
        return (self.complexity + self.chance) / (sqrt(2.0) * self.complexity)

    def bound(self, n: np.ndarray, half: np.ndarray, m: np.ndarray) -> np.ndarray:
        """The bound of n queries of m documents, ``half`` of which the complexity term sees."""
        return self._slope(m) / np.sqrt(n) + self.complexity / np.sqrt(half)

    def queries(self, epsilon: float, half: np.ndarray, m: np.ndarray) -> np.ndarray:
        """Number of queries, not rounded, with which the bound is ε; infinite where no number is enough."""
        left = epsilon - self.complexity / np.sqrt(half)
        with np.errstate(divide="ignore"):
            return np.where(left > 0, (self._slope(m) / np.maximum(left, 1e-300)) ** 2, np.inf)

    def _slope(self, m: np.ndarray) -> np.ndarray:
        return self.complexity + self.chance + self.chance / np.sqrt(m)

    def two_layer(self, n: int, m: int) -> TwoLayerBound:
        return TwoLayerBound(queries=n, documents=m, **self.parameters)


def _golden(value: Values, low: float, high: float) -> float:
    """The minimum of a function that falls and then rises, on a logarithmic scale."""
    a, b = log(low), log(high)
    ratio = (sqrt(5.0) - 1.0) / 2.0
    while b - a > 1e-9:
        left, right = b - ratio * (b - a), a + ratio * (b - a)
        at = value(np.exp([left, right]))
        a, b = (a, right) if at[0] <= at[1] else (left, b)
    return float(np.exp((a + b) / 2.0))


def _best_whole(
    smooth: Callable[[np.ndarray], np.ndarray],
    whole: Callable[[np.ndarray], np.ndarray],
    guess: float,
    most: int | None,
) -> int:
    """The whole number of documents with the least value, of all from 2 to ``most``.

    ``smooth`` is never above ``whole`` and falls and then rises around ``guess``. So only whole numbers whose smooth
    value is below the best whole value seen can be better: the window around the guess is widened until it holds them.
    """
    middle, width = max(2, round(guess)), 4
    while True:
        low, high = max(2, middle - width), middle + width
        high = high if most is None else max(low, min(high, most))
        m = np.arange(low, high + 1, dtype=np.float64)
        values = whole(m)
        best = float(values.min())
        ends = smooth(np.array([max(low - 1.0, 1e-9), high + 1.0]))
        if (low == 2 or ends[0] >= best) and (high == most or ends[1] >= best):
            return int(m[int(np.argmin(values))])
        width *= 2
