"""Deep or shallow judgements: few queries with all their documents, or all queries with a few."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.some_rows import some_rows

__all__ = ["allocate", "deep_sample", "shallow_sample"]


class Allocation(NamedTuple):
    """How many queries to judge, how many documents of each, and the judgements that are left over."""

    queries: int
    documents: int
    left: int


def allocate(budget: int, n_queries: int, *, min_docs: int = 8, max_docs: int | None = None) -> Allocation:
    """Spend a budget of judgements on as many queries as possible, with at least some documents of each.

    More queries help more than more documents of the same ones, down to a floor of about eight documents per query.
    Below it, queries are left out instead. Only a single query may get fewer.

    Parameters
    ----------
    budget
        Number of judgements.
    n_queries
        Number of queries there are.
    min_docs
        The floor.
    max_docs
        Documents that a query has; None means no limit.

    Examples
    --------
    >>> allocate(100, 50)  # not all 50 queries with two documents each
    Allocation(queries=12, documents=8, left=4)
    >>> allocate(1000, 50), allocate(5, 50)
    (Allocation(queries=50, documents=20, left=0), Allocation(queries=1, documents=5, left=0))

    References
    ----------
    Yilmaz, Robertson: Deep versus shallow judgments in learning to rank. SIGIR 2009.
    """
    numbers = {"budget": budget, "n_queries": n_queries, "min_docs": min_docs, "max_docs": max_docs}
    for name, value in numbers.items():
        if value is None and name == "max_docs":
            continue
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            raise DataError(f"{name}={value!r}; give a whole number") from None
        if isinstance(value, bool) or number < 1:
            raise DataError(f"{name}={value!r}; give a whole number of 1 or more")
    floor = min_docs if max_docs is None else min(min_docs, max_docs)
    queries = min(n_queries, max(budget // floor, 1))
    documents = budget // queries if max_docs is None else min(budget // queries, max_docs)
    return Allocation(queries, documents, budget - queries * documents)


def deep_sample(data: RankingDataset, share: float, *, random_state: Any = 0) -> RankingDataset:
    """A share of the queries, drawn at random, with all their documents; at least one query.

    >>> data = RankingDataset.from_arrays(None, [0, 1] * 6, qid=[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4])
    >>> deep_sample(data, 0.5).group.tolist(), shallow_sample(data, 0.5).group.tolist()
    ([3, 3], [2, 2, 2, 2])

    References
    ----------
    Yilmaz, Robertson: Deep versus shallow judgments in learning to rank. SIGIR 2009.
    """
    n = max(1, _rounded(_share(data, share) * data.n_queries))
    if n == data.n_queries:
        return data
    chosen = np.random.default_rng(random_state).choice(data.n_queries, n, replace=False)
    return data.select(np.sort(chosen))


def shallow_sample(data: RankingDataset, share: float, *, random_state: Any = 0) -> RankingDataset:
    """All queries with a share of their documents, drawn at random; at least one document of each.

    >>> data = RankingDataset.from_arrays(None, [0, 1, 0, 1], qid=[1, 1, 1, 1])
    >>> shallow_sample(data, 0.25).n_rows
    1

    References
    ----------
    Yilmaz, Robertson: Deep versus shallow judgments in learning to rank. SIGIR 2009.
    """
    wanted = np.array([max(1, _rounded(_share(data, share) * m)) if m else 0 for m in data.group.tolist()])
    key = np.random.default_rng(random_state).random(data.n_rows)
    order = np.lexsort((key, data.query_of_row))
    turn = np.arange(data.n_rows) - data.offsets[data.query_of_row]
    return some_rows(data, np.sort(order[turn < wanted[data.query_of_row]]))


def _share(data: RankingDataset, share: float) -> float:
    number("share", share, above=0.0, most=1.0)
    if not data.n_queries:
        raise DataError("the data have no queries")
    return float(share)


def _rounded(number: float) -> int:
    """Halves up, so that the budget does not depend on whether the number before it is even."""
    return int(np.floor(number + 0.5))
