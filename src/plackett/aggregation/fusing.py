"""Methods by name, and the two main functions: `aggregate` for tables, `fuse` for runs."""

from __future__ import annotations

import dataclasses
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._names.catalogue import find
from plackett._names.nearest import hint
from plackett.aggregation.base import Aggregation
from plackett.aggregation.lists import RankLists
from plackett.data.dataset import RankingDataset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["aggregate", "fuse"]


def find_method(method: str | Aggregation | type[Aggregation], **parameters: Any) -> Aggregation:
    """Make a method from its name or an alias, in any spelling (``comb_sum``, ``CombSUM``), with parameters.

    >>> find_method("rrf", k=10)
    RRF(weights=None, k=10)
    """
    if isinstance(method, Aggregation):
        return _with(method, parameters)
    if isinstance(method, type) and issubclass(method, Aggregation):
        return _with(method(), parameters)
    item = find("aggregation", str(method))
    default: Aggregation = getattr(import_module(item.module), item.symbol)()
    return _with(default, parameters)


def _with(method: Aggregation, parameters: dict[str, Any]) -> Aggregation:
    known = [field.name for field in dataclasses.fields(method)]
    for name in parameters:
        if name not in known:
            raise DataError(f"{method.name} has no parameter {name!r}; {hint(name, known, 'it has')}")
    return dataclasses.replace(method, **parameters)


def aggregate(
    lists: RankLists | RankingDataset | Any,
    method: str | Aggregation = "Borda",
    *,
    n_jobs: int | None = None,
    **parameters: Any,
) -> np.ndarray:
    """Score documents by aggregating several ranked lists.

    Parameters
    ----------
    lists
        `RankLists`, a `RankingDataset` whose features are ranks (1 is best, NaN means not ranked), or a table of such
        ranks for one query.
    method
        Name or object; ``plackett.aggregation()`` lists them all.
    parameters
        Parameters of the method, such as ``weights``.

    Returns
    -------
    One score per row of the lists, larger is better.

    Examples
    --------
    >>> aggregate([[1, 2], [2, 1], [3, 3]], "borda", weights=[2, 1]).tolist()
    [5.0, 4.0, 0.0]
    """
    if isinstance(lists, RankingDataset):
        lists = RankLists.from_dataset(lists)
    elif not isinstance(lists, RankLists):
        lists = RankLists.from_arrays(lists)
    return find_method(method, **parameters).scores(lists, n_jobs=n_jobs)


def fuse(
    runs: Any,
    method: str | Aggregation = "RRF",
    *,
    qrels: Any = None,
    measure: Any = "nDCG@10",
    n_jobs: int | None = None,
    **parameters: Any,
) -> pl.DataFrame:
    """Fuse several runs into one.

    Parameters
    ----------
    runs
        A list or dict of runs: paths, frames or dicts, as for `plackett.evaluate_run`.
    method
        Name or object; ``plackett.aggregation()`` lists them all.
    qrels, measure
        With judgements, the method is fitted first: it uses the run weights with the best mean of the measure on the
        judged queries (for ``CPS``, the most probable weights).
    parameters
        Parameters of the method, such as ``k`` of ``RRF``, ``normalize`` of ``CombSUM``, ``weights``.

    Returns
    -------
    Frame with columns ``qid``, ``docid``, ``score``, best first in each query; `plackett.write_run` writes it.

    Examples
    --------
    >>> bm25, dense = {"q": {"a": 9.0, "b": 7.0}}, {"q": {"b": 0.8, "c": 0.2}}
    >>> fuse([bm25, dense], "rrf", k=60)["docid"].to_list()
    ['b', 'a', 'c']
    """
    aggregation = find_method(method, **parameters)
    lists = RankLists.from_runs(runs)
    if qrels is not None:
        aggregation = aggregation.fit(lists, qrels, measure, n_jobs=n_jobs)
    return aggregation.run(lists, n_jobs=n_jobs)
