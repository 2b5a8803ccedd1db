"""The interface of all strategies that choose documents from runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._names.catalogue import find
from plackett.selection.budget import checked_budget, share
from plackett.selection.candidates import Candidates
from plackett.selection.result import Selection

__all__ = ["find_pool"]


class Choice(NamedTuple):
    """Chosen rows; priority, inclusion probability and reason for every row."""

    rows: np.ndarray
    priority: np.ndarray
    inclusion: np.ndarray
    reason: Callable[[int], str]


class Pool(ABC):
    """A strategy: which documents of several runs to judge next."""

    name: ClassVar[str]

    def select(
        self, runs: Sequence[Any] | Candidates, judged: Any = None, *, budget: int, random_state: Any = 0
    ) -> Selection:
        """Choose exactly ``budget`` documents without a judgement.

        Parameters
        ----------
        runs
            Runs in the forms of `plackett.data.trec.as_run`, or `Candidates`.
        judged
            Judgements so far, in a form that `plackett.data.trec.as_qrels` takes; labels below 0 are not judgements.
        budget
            Number of pairs to choose, over all queries. More than are available raises `DataError`.
        random_state
            Seed: the same one gives the same pairs.
        """
        candidates = runs if isinstance(runs, Candidates) else Candidates.from_runs(runs, judged)
        budget = checked_budget(budget, int(candidates.open.sum()))
        choice = self.choose(candidates, budget, np.random.default_rng(random_state))
        return Selection.of(candidates, choice.rows, self.name, choice.reason, choice.priority, choice.inclusion)

    @abstractmethod
    def choose(self, candidates: Candidates, budget: int, rng: np.random.Generator) -> Choice:
        """Choose ``budget`` of the open rows."""


def best_of_each_query(candidates: Candidates, priority: np.ndarray, budget: int) -> np.ndarray:
    """Open rows of highest priority, as many of each query as `share` gives it; ties go to the smaller id."""
    quota = share(budget, candidates.count(candidates.open))
    position = candidates.place(priority, candidates.open)
    return np.flatnonzero(candidates.open & (position < quota[candidates.query_of_row]))


def find_pool(name: str, **parameters: Any) -> Pool:
    """A strategy by name: depth, uniform, statap, mtc, hedge or letor.

    >>> find_pool("hedge", base=0.5)
    HedgePool(base=0.5, rel=1.0)
    """
    item = find("pool", name)
    return getattr(import_module(item.module), item.symbol)(**parameters)
