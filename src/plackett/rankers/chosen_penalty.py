"""A penalty chosen by cross-validation over the training queries."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._base.progress import steps
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Scored
from plackett.rankers.fold_measure import fold_measure
from plackett.solvers.monitor import Monitor, SilentMonitor

#: With fewer queries than this, the folds say too little, and a fixed value is used.
_LEAST_QUERIES = 10
#: Larger data are judged by a sample of whole queries with about this many documents.
_MOST_ROWS = 50_000


class ChosenPenalty:
    """Mixin of rankers whose penalty may be ``"auto"``.

    ``"auto"`` tries a few values by cross-validation over the training queries, takes the one whose held-out
    queries have the best mean of ``eval_measure``, and trains on all queries with it. The value is in the fitted
    attribute named after the parameter (``alpha_``, ``C_``) and in the model card. Labels above 1,000, for which the
    default measure has no gains, are judged with its linear gain (`fold_measure`).
    """

    #: Folds of the cross-validation.
    _folds: ClassVar[int] = 5
    #: Parameters whose ``"auto"`` is settled together with the penalty.
    _settled_too: ClassVar[tuple[str, ...]] = ()
    #: Name of the parameter, and the values to try. The first is used for fewer than ten queries, and for preferences
    #: where no query has labels that differ, so that no measure can judge; it wins ties.
    _penalty: ClassVar[tuple[str, tuple[float, ...]]]

    def _fit(self: Any, data: RankingDataset, monitor: Monitor) -> None:
        name = self._penalty[0]
        given = getattr(self, name)
        if given != "auto":
            if isinstance(given, str):
                raise DataError(f"{name}={given!r}; give a number, or 'auto'")
            super()._fit(data, monitor)  # type: ignore[misc]
            self._forget()
            return
        enough = data.n_queries >= _LEAST_QUERIES and _labels_differ(data)
        chosen = self._others(data, enough)
        settled = replace(self, **chosen)
        chosen[name] = settled._choose(data) if enough else settled._penalty_for_few(data)
        trained = replace(self, **chosen)
        parameters = {field.name for field in fields(self)}
        trained.__dict__.update({key: value for key, value in self.__dict__.items() if key not in parameters})
        trained._fit(data, monitor)
        self.__dict__.update({key: value for key, value in trained.__dict__.items() if key not in parameters})
        self._forget()
        for known, value in chosen.items():
            setattr(self, f"{known}_", value)

    def _forget(self) -> None:
        """Drop what an earlier fit chose; a fit that failed leaves it with the model that it belongs to."""
        for known in self.chosen_parameters():
            del self.__dict__[f"{known}_"]

    def _others(self, data: RankingDataset, enough: bool) -> dict[str, Any]:
        """Values of the parameters that are settled together with the penalty; whether values can be compared."""
        return {}

    def chosen_parameters(self) -> dict[str, Any]:
        """The penalty that was chosen, and what was settled with it."""
        names = (self._penalty[0], *self._settled_too)
        return {name: getattr(self, f"{name}_") for name in names if hasattr(self, f"{name}_")}

    def _penalty_values(self, data: RankingDataset) -> tuple[float, ...]:
        """The values to try."""
        return self._penalty[1]

    def _penalty_for_few(self, data: RankingDataset) -> float:
        """The value for data with too few queries to compare values."""
        return self._penalty_values(data)[0]

    def _penalty_for_all(self, value: float, share: float) -> float:
        """The value for all queries that corresponds to one chosen on this share of them."""
        return value

    def _choose(self: Any, data: RankingDataset) -> float:
        """The value whose held-out queries are ranked best."""
        name = self._penalty[0]
        measure = fold_measure(self, data, name)
        values = self._penalty_values(data)
        order = np.random.default_rng(0).permutation(data.n_queries)
        if data.n_rows > _MOST_ROWS:
            enough = int(np.searchsorted(np.cumsum(data.group[order]), _MOST_ROWS)) + 1
            order = order[: max(enough, _LEAST_QUERIES)]
        worth: list[list[np.ndarray]] = [[] for _ in values]
        doing = f"{type(self).__name__}: {name} by cross-validation"
        with steps(self._folds * len(values), doing, verbose=self.verbose) as step:
            for fold in range(self._folds):
                held_out = np.sort(order[fold :: self._folds])
                train, test = data.select(np.setdiff1d(order, held_out)), data.select(held_out)
                for i, value in enumerate(values):
                    step()
                    ranker = replace(self, **{name: value}, verbose=False, early_stopping_rounds=None)
                    with warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
                        warnings.simplefilter("ignore", PlackettWarning)
                        ranker._fit(train, SilentMonitor())
                        scored = Scored(test, ranker.score_rows(test), n_jobs=self.n_jobs)
                        worth[i].append(measure.worth(measure.per_query(scored)))
        best = self._best(np.array(values), np.array([np.concatenate(parts) for parts in worth]))
        return self._penalty_for_all(values[best], order.size / data.n_queries)

    def _best(self, values: np.ndarray, worth: np.ndarray) -> int:
        """Which value to take, by the worth of the ranking of each held-out query (values × queries)."""
        return int(np.argmax(np.nansum(worth, axis=1)))

    def settled(self: Any) -> dict[str, Any]:
        """Parameters chosen while training, for retraining this ranker."""
        return super().settled() | self.chosen_parameters()  # type: ignore[misc,no-any-return]

    def _card(self: Any, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        card: dict[str, Any] = super()._card(data, monitor)  # type: ignore[misc]
        if chosen := self.chosen_parameters():
            card["chosen"] = card.get("chosen", {}) | chosen
        return card


def _labels_differ(data: RankingDataset) -> bool:
    """Whether the judged documents of any query have different labels."""
    if data.y is None:
        return False
    judged = np.flatnonzero(data.labels >= 0)
    same_query = np.diff(data.query_of_row[judged]) == 0
    return bool((same_query & (np.diff(data.labels[judged]) != 0)).any())
