"""Quality against the cost of features: the cheapest set that is nearly as good as the best."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError, PlackettWarning
from plackett._base.estimator import clone
from plackett._base.progress import progress
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import fit, predict
from plackett.data.feature_number import feature_costs
from plackett.evaluation.importance import feature_names, single_feature_importance
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.rankers.named import ranker_named

if TYPE_CHECKING:
    import polars as pl

__all__ = ["feature_frontier"]


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
    choice("method", method, METHODS)
    number("epsilon", epsilon, least=0.0)
    if train.n_features != valid.n_features:
        raise DataError(f"train has {train.n_features} features, valid {valid.n_features}")
    price = feature_costs(train, costs, 1.0)
    if budget is not None and not budget >= price.min():
        raise DataError(f"budget={budget!r} is below the cost of the cheapest feature, {price.min():g}")
    worth = _Worth(ranker_named(ranker)[0] if isinstance(ranker, str) else ranker, train, valid, parse(measure))
    limit = np.inf if budget is None else budget
    # sums of prices carry rounding errors
    search = _Search(train, price, limit * (1.0 + 1e-12), worth, worth.measure, epsilon, verbose)
    sets = METHODS[method](search)
    if np.isnan([worth(each) for each in sets]).all():
        raise DataError(
            f"{worth.measure} has no value on the validation data; do they have queries with relevant documents?"
        )
    best = search.cheapest(sets)
    frame = _frame(search, sets, best, growing=method != "exact")
    return FeatureFrontier(np.array(sets[best], np.int64), frame, str(worth.measure))


class _Worth:
    """What a ranker is worth with a set of features, the larger the better: it is trained once for each set."""

    def __init__(self, ranker: Any, train: RankingDataset, valid: RankingDataset, measure: Measure) -> None:
        self.ranker, self.train, self.valid, self.measure = ranker, train, valid, measure
        self.seen: dict[frozenset[int], float] = {}

    def __call__(self, columns: Sequence[int]) -> float:
        key = frozenset(columns)
        if key not in self.seen:
            train, valid = (_columns(each, np.sort(columns)) for each in (self.train, self.valid))
            with warnings.catch_warnings():  # a set of useless features is a result, not a surprise
                warnings.filterwarnings("ignore", ".*learned nothing", PlackettWarning)
                scores = predict(fit(clone(self.ranker), train), valid)
            value = self.measure.mean(self.measure.per_query(Scored(valid, scores)))
            self.seen[key] = float(self.measure.worth(value))
        return self.seen[key]


def _frame(search: _Search, sets: list[list[int]], best: int, growing: bool) -> pl.DataFrame:
    """A row per set; where sets grow, with the feature that was added."""
    import polars as pl

    cost, worth = search.costs(sets), np.array([search.value(each) for each in sets])
    order = np.lexsort((-worth, cost))
    ranked = worth[order]
    frontier = np.empty(order.size, bool)
    frontier[order] = ranked > np.concatenate([[-np.inf], np.fmax.accumulate(ranked)[:-1]])
    names = feature_names(search.train)
    grown = [growing and (i == 0 or set(sets[i - 1]) < set(each)) for i, each in enumerate(sets)]
    return pl.DataFrame(
        {
            "n_features": [len(each) for each in sets],
            "added": [names[each[-1]] if grew else None for each, grew in zip(sets, grown, strict=True)],
            "features": [[names[j] for j in each] for each in sets],
            "cost": cost,
            "value": [search.measure.worth(each) for each in worth],  # a second change of sign undoes the first
            "frontier": frontier,
            "chosen": np.arange(len(sets)) == best,
        },
        schema_overrides={"added": pl.String},
    )


@dataclass(frozen=True, eq=False)
class _Search:
    """What a method needs: data, prices, the limit of the cost, and the worth of a set after training."""

    train: RankingDataset
    price: np.ndarray
    limit: float
    value: Callable[[Sequence[int]], float]
    measure: Measure
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
