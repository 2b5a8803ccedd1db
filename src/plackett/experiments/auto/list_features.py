"""Whether features relative to their list would help: two quick rankers with and without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plackett._base.errors import parameter
from plackett._base.estimator import clone
from plackett.data.dataset import RankingDataset
from plackett.data.kfold import QueryKFold
from plackett.experiments.auto.candidates import with_linear_gain
from plackett.experiments.auto.inspection import Facts
from plackett.experiments.auto.selection import by_query
from plackett.experiments.auto.trials import FAILURES, OutOfTimeError, fit, per_query, quietly
from plackett.measures.base import Measure
from plackett.models.trees.tree_size import leaves_for
from plackett.rankers.base import Ranker
from plackett.rankers.named import ranker_named
from plackett.scorers.list_features import relative_columns, widened
from plackett.solvers.monitor import Monitor

#: Documents that are looked at, rounds of the trees, and the share of the time that the comparison may take.
ROWS, ROUNDS, SHARE = 10_000, 40, 0.05
#: Number of different queries that a comparison needs.
LISTS = 4
#: A gain of fewer standard errors is no reason to mention it.
CLEAR = 3.0


@dataclass(frozen=True)
class Gain:
    """The gain from features relative to their list, and its standard error."""

    mean: float
    error: float

    @property
    def clear(self) -> bool:
        """Whether it is more than chance."""
        return self.mean > CLEAR * self.error

    def sentence(self, measure: str) -> str:
        """The advice."""
        return (
            f"Features relative to their list are worth a try: in a quick comparison they gained {self.mean:.3f} ± "
            f"{self.error:.3f} {measure}. {parameter('list_features', 'True')} uses them; scores then depend on the "
            "whole list, and engines that score one document at a time cannot compute them."
        )


def gain_of_list_features(
    data: RankingDataset,
    facts: Facts,
    measure: Measure,
    *,
    random_state: int,
    seconds: float | None,
    clock: Callable[[], float],
) -> Gain | None:
    """The mean gain of a linear ranker and of small trees on held-out halves of some queries.

    None if nothing can be compared, if one of the rankers cannot learn from the data, or if it would take more than a
    small part of ``seconds``.
    """
    if not isinstance(data.X, np.ndarray):
        return None
    drawn = np.random.default_rng(random_state).permutation(data.n_queries)
    drawn = np.sort(drawn[np.cumsum(data.group[drawn]) <= ROWS])
    # without names: there may be features already that are called like those to be added
    part, twins = data.select(drawn).replace(feature_names=None), facts.twins[drawn]
    columns = relative_columns(part)
    if columns.size == 0 or np.unique(twins).size < LISTS:
        return None
    views = part, widened(part, columns, 1)
    watch, gains = _Watch(clock, np.inf if seconds is None else SHARE * seconds), []
    for ranker in _rankers(part.n_rows, facts):
        gain = np.full(part.n_queries, np.nan)
        cut = QueryKFold(2, shuffle=True, random_state=random_state)
        for n, (_, held_out) in enumerate(cut.split(np.empty((part.n_queries, 0)), qid=twins)):
            values = []
            for view in views:
                if n == 0:  # the first ones may import and compile, for the search too
                    watch.pause()
                try:
                    values.append(_held_out_values(ranker, view, held_out, measure, watch))
                except (*FAILURES, OutOfTimeError):
                    return None
            gain[held_out] = values[1] - values[0]
        gains.append(gain)
    mean = by_query(np.mean(gains, axis=0), twins)
    mean = mean[~np.isnan(mean)]
    return Gain(float(mean.mean()), float(mean.std(ddof=1) / np.sqrt(mean.size))) if mean.size > 1 else None


def _rankers(n_rows: int, facts: Facts) -> list[Ranker]:
    trees = ranker_named("LambdaMART")[0].set_params(n_estimators=ROUNDS, num_leaves=2 * leaves_for(n_rows))
    if facts.large_labels:
        with_linear_gain(trees)
    return [trees] if facts.missing else [ranker_named("ListNet(alpha=1.0)")[0], trees]


def _held_out_values(
    like: Ranker, data: RankingDataset, held_out: np.ndarray, measure: Measure, watch: _Watch
) -> np.ndarray:
    kept = np.ones(data.n_queries, bool)
    kept[held_out] = False
    ranker, test = clone(like).set_params(n_jobs=1, verbose=False, random_state=0), data.select(held_out)
    with quietly():
        fit(ranker, data.select(kept), watch)
    return per_query(measure, test, ranker.score_rows(test))


class _Watch:
    """Ends the comparison when it has taken too long, at the end of a round."""

    def __init__(self, clock: Callable[[], float], seconds: float) -> None:
        self.clock, self.left = clock, seconds
        self.last: float | None = None

    def pause(self) -> None:
        """Do not count the time until the end of the next round."""
        self.last = None

    def __call__(self, monitor: Monitor) -> bool:
        now = self.clock()
        self.left -= 0.0 if self.last is None else now - self.last
        self.last = now
        if self.left < 0.0:
            raise OutOfTimeError
        return False
