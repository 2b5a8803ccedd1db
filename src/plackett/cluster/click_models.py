"""Click models over shards of a log."""

from __future__ import annotations

import itertools
import weakref
from typing import Any, TypeVar

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel
from plackett.clicks.models.statistics import Sums, Totals
from plackett.cluster.shards import Shards
from plackett.data.ids import distinct

__all__ = ["fit_click_model"]

Model = TypeVar("Model", bound=ClickModel)


def fit_click_model(model: Model, shards: Shards, *, verbose: bool = False) -> Model:
    """Fit a click model to a log in shards.

    A pass of EM needs sums over pages. If every query is in one shard only, the workers keep the pages: each pass sends
    them the parameters and adds up their sums. If pages of a query are in several shards, or the model is not fitted by
    passes, each worker counts its distinct pages (same query, documents and clicks), and the model is fitted here to
    the counts of all workers. The result is that of `fit` on the whole log, up to rounding of sums in another order.

    Parameters
    ----------
    model
        Any click model.
    shards
        The log: native files (`ClickLog.save`), one per shard, or a `ClickLog`, which is cut between pages. Pages of a
        query may be in several shards.
    verbose
        Show progress.

    Notes
    -----
    In memory here are the pairs of query and document with their parameters, which travel to each worker in each pass;
    with queries in several shards also the distinct pages. Real logs have far fewer of these than pages.

    References
    ----------
    Chu, Kim, Lin, Yu, Bradski, Ng, Olukotun: Map-reduce for machine learning on multicore. NIPS 2006.

    Examples
    --------
    >>> import numpy as np
    >>> import plackett as pk
    >>> from plackett.clicks import PBM, ClickLog
    >>> clicks = np.random.default_rng(0).random((500, 3)) < [0.5, 0.3, 0.1]
    >>> log = ClickLog.from_arrays(np.zeros(500, int), np.tile(["a", "b", "c"], (500, 1)), clicks)
    >>> found = fit_click_model(PBM(), pk.cluster.SerialShards(log, 3))
    >>> bool(np.allclose(found.attraction_, PBM().fit(log).attraction_))
    True
    """
    if not isinstance(model, ClickModel):
        raise DataError(f"{type(model).__name__} is not a click model")
    ranks, queries = zip(*shards.gather(_ranks_and_queries), strict=True)
    asked = [query for part in queries for query in part]
    if not model.has_passes or len(set(asked)) < len(asked):
        return model.fit(ClickLog.concat(shards.gather(_distinct_pages)).collapse(), verbose=verbose)
    n_ranks = max(ranks)
    parts = [part for part in shards.gather(_totals, (model, n_ranks)) if part is not None]
    ends = np.cumsum([0, *(len(part.pairs) for part in parts)]).tolist()
    # a shard is known by its first query
    firsts = [part[0] for part in queries if part]
    block = dict(zip(firsts, itertools.pairwise(ends), strict=True))

    def statistics(parameters: dict[str, Any]) -> Sums:
        sums = shards.gather(_statistics, (model, n_ranks, parameters, block))
        return Sums.join([each for each in sums if each is not None])

    return model.fit_blocks(Totals.join(parts), statistics, verbose=verbose)


def _log(shard: Any) -> ClickLog:
    if not isinstance(shard, ClickLog):
        raise DataError("a click model is fitted to shards of a click log; these are shards of a dataset")
    return shard


def _ranks_and_queries(shard: Any, _: Any) -> tuple[int, list[Any]]:
    log = _log(shard)
    lengths = np.diff(log.offsets)
    return int(lengths.max(initial=0)), distinct(log.queries[np.unique(log.query)])[0].tolist()


def _distinct_pages(shard: Any, _: Any) -> ClickLog:
    return _log(shard).collapse()


#: Pages in the form that passes take, for the shards of this process and the model they were made for.
_PREPARED: weakref.WeakKeyDictionary[ClickLog, tuple[str, Any]] = weakref.WeakKeyDictionary()


def _pages(model: ClickModel, log: ClickLog, n_ranks: int) -> Any:
    key = f"{model!r} {n_ranks}"
    known = _PREPARED.get(log)
    if known is None or known[0] != key:
        known = key, model.prepare(log, n_ranks)
        _PREPARED[log] = known
    return known[1]


def _totals(shard: Any, argument: tuple[ClickModel, int]) -> Totals | None:
    model, n_ranks = argument
    return model.totals(shard, n_ranks) if shard.n_pages else None


def _statistics(
    shard: Any, argument: tuple[ClickModel, int, dict[str, Any], dict[Any, tuple[int, int]]]
) -> Sums | None:
    model, n_ranks, parameters, block = argument
    if not shard.n_pages:
        return None
    start, stop = block[_ranks_and_queries(shard, None)[1][0]]
    return model.statistics(_pages(model, shard, n_ranks), model.block_parameters(parameters, start, stop))
