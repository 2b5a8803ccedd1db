"""Quality against the cost of features: the cheapest set that is nearly as good as the best."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._base.estimator import clone
from plackett._base.progress import progress
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import fit, predict
from plackett.data.feature_number import feature_costs
from plackett.data.splits import split_queries
from plackett.evaluation.importance import feature_names, single_feature_importance
from plackett.feature_selection.selector import FeatureSelector
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.named import ranker_named

if TYPE_CHECKING:
    import polars as pl

__all__ = ["CheapestSelector", "efficiency_tradeoff", "feature_frontier"]


@dataclass(frozen=True)
class FeatureFrontier:
    """Result of `feature_frontier`.

    Attributes
    ----------
    selected
        Indices of the chosen features, in the order in which they were added.
    frame
        A row per set of features that was measured, by ``forward`` only the best of each step: ``n_features``,
        ``added`` (the last feature; null where the set did not grow), ``features`` (names), ``cost``, ``value`` of the
        measure, ``frontier`` (no other set is as good for less) and ``chosen``.
    measure
        Name of the measure.
    """

    selected: np.ndarray
    frame: pl.DataFrame
    measure: str


def feature_frontier(
    ranker: Any,
    train: RankingDataset,
    valid: RankingDataset,
    *,
    costs: Any = None,
    epsilon: float = 0.005,
    budget: float | None = None,
    measure: Any = "nDCG@10",
    method: str = "forward",
    verbose: bool = True,
) -> FeatureFrontier:
    r"""Quality against cost: train on sets of features, and take the cheapest set within ε of the best.

    A set S of features costs :math:`\sum_{k \in S} t_k`. The ranker is trained on sets and measured on ``valid``; of
    all measured sets within the budget, the cheapest one whose measure is at least the best minus ε is chosen.

    ==============  ==================================================================================================
    method          the next feature is
    ==============  ==================================================================================================
    ``forward``     the one with the largest gain of the measure per cost, after training with each feature that is left
                    (F²/2 trainings: for fast rankers). Where none gains, the one that loses least
    ``importance``  the one with the largest measure, ranking by it alone, above the smallest such measure, per cost
                    (F trainings)
    ``prune``       as ``forward``; then, from the cheapest set within ε, the best and the largest one, features are
                    dropped or exchanged for a cheaper one as long as the measure stays within ε of the best
    ``exact``       none: all sets are tried, so the chosen one is the cheapest there is (2^F trainings, F up to 15)
    ==============  ==================================================================================================

    A growing set need not contain the cheapest good one: an expensive feature that was best alone may be redundant once
    others are added. ``prune`` looks for such features, ``exact`` misses none. Among equal features the cheaper one
    is added, then the first. A free feature counts as the cheapest of the others divided by 1000.

    Parameters
    ----------
    ranker
        An estimator, which is copied, or the name of a ranker.
    train, valid
        Data to train and to measure on.
    costs
        Cost of each feature, in any unit: a number for each, or a mapping of names or numbers (from 0) to costs, where
        the others cost 1. None means 1 for all.
    epsilon
        How much of the measure may be lost.
    budget
        Highest cost of a set; None means no limit.
    measure
        The measure.
    method
        As above.

    Examples
    --------
    >>> import plackett as pk
    >>> train, valid = (pk.datasets.make_ranking(30, 8, 4, random_state=seed) for seed in (0, 1))
    >>> frontier = feature_frontier("LinearRegression", train, valid, costs=[5, 1, 1, 1], epsilon=0.02)
    >>> frontier.frame.columns
    ['n_features', 'added', 'features', 'cost', 'value', 'frontier', 'chosen']

    References
    ----------
    Wang, Lin, Metzler: Learning to efficiently rank. SIGIR 2010.
    """
    import polars as pl

    if method not in METHODS:
        raise DataError(f"method={method!r}; it must be one of {', '.join(map(repr, METHODS))}")
    if not 0.0 <= epsilon < np.inf:
        raise DataError(f"epsilon={epsilon!r}; give a number of 0 or more")
    if train.n_features != valid.n_features:
        raise DataError(f"train has {train.n_features} features, valid {valid.n_features}")
    price = feature_costs(train, costs, 1.0)
    if budget is not None and not budget >= price.min():
        raise DataError(f"budget={budget!r} is below the cost of the cheapest feature, {price.min():g}")
    base, parsed = ranker_named(ranker)[0] if isinstance(ranker, str) else ranker, parse(measure)

    seen: dict[frozenset[int], float] = {}

    def value(columns: Sequence[int]) -> float:
        key = frozenset(columns)
        if key not in seen:
            part, other = (_columns(each, np.sort(columns)) for each in (train, valid))
            with warnings.catch_warnings():  # a set of useless features is a result, not a surprise
                warnings.filterwarnings("ignore", ".*learned nothing", PlackettWarning)
                scores = predict(fit(clone(base), part), other)
            seen[key] = float(parsed.worth(parsed.mean(parsed.per_query(Scored(other, scores)))))
        return seen[key]

    limit = np.inf if budget is None else budget
    # sums of prices carry rounding errors
    search = _Search(train, price, limit * (1.0 + 1e-12), value, parsed, epsilon, verbose)
    sets = METHODS[method](search)
    cost, worth = search.costs(sets), np.array([value(each) for each in sets])
    if np.isnan(worth).all():
        raise DataError(f"{parsed} has no value on the validation data; do they have queries with relevant documents?")
    best = search.cheapest(sets)
    order = np.lexsort((-worth, cost))
    ranked = worth[order]
    frontier = np.empty(order.size, bool)
    frontier[order] = ranked > np.concatenate([[-np.inf], np.fmax.accumulate(ranked)[:-1]])
    names = feature_names(train)
    grown = [i == 0 or set(sets[i - 1]) < set(each) for i, each in enumerate(sets)]
    frame = pl.DataFrame(
        {
            "n_features": [len(each) for each in sets],
            "added": [
                names[each[-1]] if grew and method != "exact" else None for each, grew in zip(sets, grown, strict=True)
            ],
            "features": [[names[j] for j in each] for each in sets],
            "cost": cost,
            "value": [parsed.worth(each) for each in worth],  # a second change of sign undoes the first
            "frontier": frontier,
            "chosen": np.arange(len(sets)) == best,
        },
        schema_overrides={"added": pl.String},
    )
    return FeatureFrontier(np.array(sets[best], np.int64), frame, str(parsed))


class CheapestSelector(FeatureSelector):
    """Keep the cheapest features with which a ranker is within ε of its best measure (see `feature_frontier`).

    Parameters
    ----------
    ranker
        The ranker to train on sets of features: an estimator, which is copied, or the name of a ranker.
    costs, epsilon, budget, measure, method
        See `feature_frontier`.
    validation_fraction
        Share of the queries on which sets are measured.
    random_state
        Seed of the split.

    Attributes
    ----------
    selected_
        Indices of the selected features, in the order of selection.
    frontier_
        What `feature_frontier` returned.

    References
    ----------
    Wang, Lin, Metzler: Learning to efficiently rank. SIGIR 2010.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(30, 8, 4, random_state=0)
    >>> CheapestSelector(costs=[9, 1, 1, 1], budget=2).fit(data).selected_.size <= 2
    True
    """

    def __init__(
        self,
        ranker: Any = "LinearRegression",
        *,
        costs: Any = None,
        epsilon: float = 0.005,
        budget: float | None = None,
        measure: Any = "nDCG@10",
        method: str = "forward",
        validation_fraction: float = 0.3,
        random_state: int = 0,
    ) -> None:
        self.ranker = ranker
        self.costs = costs
        self.epsilon = epsilon
        self.budget = budget
        self.measure = measure
        self.method = method
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _choose(self, data: RankingDataset) -> np.ndarray:
        share = self.validation_fraction
        if not 0.0 < share < 1.0 or data.n_queries < 2:
            raise DataError(f"validation_fraction={share!r} cannot split {data.n_queries} queries")
        numbered = replace(data, qids=np.arange(data.n_queries))  # the split must not depend on how ids are written
        train, valid = split_queries(numbered, (1.0 - share, share), random_state=self.random_state)
        self.frontier_ = feature_frontier(
            self.ranker,
            train,
            valid,
            costs=self.costs,
            epsilon=self.epsilon,
            budget=self.budget,
            measure=self.measure,
            method=self.method,
        )
        return self.frontier_.selected


def efficiency_tradeoff(quality: Any, time: Any, *, rate: float = 1.0, beta: float = 1.0) -> np.ndarray:
    r"""Efficiency–effectiveness trade-off of each query: one number for quality γ and time.

    .. math:: \sigma = e^{-a \cdot \text{time}}, \qquad
        \text{EET} = \frac{(1 + \beta^2)\,\gamma\,\sigma}{\beta^2 \sigma + \gamma}

    β = 1 is the harmonic mean of γ and σ, β → 0 gives σ, β → ∞ gives γ. 0 where both are 0.

    Parameters
    ----------
    quality
        γ, from 0 to 1.
    time
        Time or cost, 0 or more.
    rate
        a, how fast efficiency falls with time.
    beta
        Weight of quality.

    References
    ----------
    Wang, Lin, Metzler: Learning to efficiently rank. SIGIR 2010.

    Examples
    --------
    >>> efficiency_tradeoff([0.5, 1.0], [0.0, 0.0]).round(4).tolist()
    [0.6667, 1.0]
    """
    gamma, spent = np.broadcast_arrays(np.asarray(quality, np.float64), np.asarray(time, np.float64))
    if not ((gamma >= 0) & (gamma <= 1)).all() or not (spent >= 0).all():
        raise DataError("quality must be from 0 to 1, and time 0 or more")
    if not (rate >= 0 and beta >= 0):
        raise DataError(f"rate={rate!r}, beta={beta!r}; give 0 or more")
    sigma = np.exp(-rate * spent)
    if np.isinf(beta):
        return np.array(gamma)
    below = beta**2 * sigma + gamma
    return np.divide((1 + beta**2) * gamma * sigma, below, out=np.zeros(below.shape), where=below > 0)


# ---------------------------------------------------------------------------------------------------------- methods


@dataclass(frozen=True, eq=False)
class _Search:
    """What a method needs: data, prices, the limit of the cost, and the worth of a set after training."""

    train: RankingDataset
    price: np.ndarray
    limit: float
    value: Callable[[Sequence[int]], float]
    measure: Any
    epsilon: float
    shown: bool

    def costs(self, sets: Sequence[Sequence[int]]) -> np.ndarray:
        return np.array([self.price[list(each)].sum() for each in sets])

    def cheapest(self, sets: Sequence[Sequence[int]]) -> int:
        """Number of the cheapest set within ε of the best; of equal costs the best, then the smallest."""
        worth, cost = np.array([self.value(each) for each in sets]), self.costs(sets)
        good = np.flatnonzero(worth >= np.nanmax(worth) - self.epsilon)
        size = np.array([len(sets[i]) for i in good.tolist()])
        return int(good[np.lexsort((good, size, -worth[good], cost[good]))[0]])


def _forward(search: _Search) -> list[list[int]]:
    sets: list[list[int]] = []
    price, per = search.price, _divisor(search.price)
    chosen: list[int] = []
    left, current = list(range(price.size)), 0.0
    for step in progress(range(price.size), "sets of features", price.size, verbose=search.shown):
        left = [j for j in left if price[chosen].sum() + price[j] <= search.limit]
        if not left:
            break
        values = np.array([search.value([*chosen, j]) for j in left])
        # the first set has nothing to gain on: it is compared with the worst feature
        gain = values - (current if step else values.min())
        rate = np.where(gain > 0, gain / per[left], gain)
        best = int(np.lexsort((np.array(left), price[left], -rate))[0])
        current = float(values[best])
        chosen = [*chosen, left.pop(best)]
        sets.append(chosen)
    return sets


def _by_importance(search: _Search) -> list[list[int]]:
    ranked = single_feature_importance(search.train, search.measure)
    row = {name: k for k, name in enumerate(ranked["feature"].to_list())}
    alone = ranked["importance"].to_numpy()[[row[name] for name in feature_names(search.train)]]
    rate = (alone - alone.min()) / _divisor(search.price)
    sets: list[list[int]] = []
    chosen: list[int] = []
    order = np.lexsort((search.price, -rate)).tolist()
    for j in progress(order, "sets of features", search.price.size, verbose=search.shown):
        if search.price[[*chosen, j]].sum() <= search.limit:
            chosen = [*chosen, j]
            search.value(chosen)
            sets.append(chosen)
    return sets


def _prune(search: _Search) -> list[list[int]]:
    sets = _forward(search)
    # from a large set features can be dropped that a small one is built on
    starts = [sets[search.cheapest(sets)], max(sets, key=search.value), sets[-1]]
    for start in starts:
        now: list[int] | None = start
        while now is not None:
            floor = max(search.value(each) for each in sets) - search.epsilon
            now = _cheaper(search, now, floor)
            if now is not None:
                sets.append(now)
    return sets


def _cheaper(search: _Search, now: list[int], floor: float) -> list[int] | None:
    """The set without one feature, or with one replaced by a cheaper one, that saves most and is good enough."""
    price = search.price
    others = [[k for k in now if k != j] for j in now if len(now) > 1]
    for j in now:
        rest = [k for k in now if k != j]
        others += [[*rest, k] for k in range(price.size) if k not in now and price[k] < price[j]]
    cost = search.costs(others)
    for i in np.argsort(cost, kind="stable"):
        if cost[i] < price[now].sum() and search.value(others[i]) >= floor:
            return others[i]
    return None


def _exact(search: _Search) -> list[list[int]]:
    size = search.price.size
    if size > _MOST_EXACT:
        raise DataError(f"method='exact' tries all sets, and {size} features have too many; use 'prune'")
    every = [list(each) for n in range(1, size + 1) for each in itertools.combinations(range(size), n)]
    cost = search.costs(every)
    sets = [every[i] for i in np.argsort(cost, kind="stable") if cost[i] <= search.limit]
    for each in progress(sets, "sets of features", len(sets), verbose=search.shown):
        search.value(each)
    return sets


#: How sets of features are found.
METHODS: dict[str, Callable[[_Search], list[list[int]]]] = {
    "forward": _forward,
    "importance": _by_importance,
    "prune": _prune,
    "exact": _exact,
}
_MOST_EXACT = 15


def _divisor(price: np.ndarray) -> np.ndarray:
    """Costs to divide by."""
    least = np.min(price, initial=np.inf, where=price > 0)
    return np.where(price > 0, price, least / 1000.0 if np.isfinite(least) else 1.0)


def _columns(data: RankingDataset, columns: np.ndarray) -> RankingDataset:
    names = None if data.feature_names is None else tuple(data.feature_names[j] for j in columns)
    return data.replace(X=data.X[:, columns], feature_names=names)
