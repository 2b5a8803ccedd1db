"""Click models over shards of a log."""

from __future__ import annotations

from typing import Any, TypeVar

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel
from plackett.cluster.shards import Shards

__all__ = ["fit_click_model"]

Model = TypeVar("Model", bound=ClickModel)


@fulfils("scale.parallel", paper="Chu et al. 2006, Map-reduce for machine learning on multicore")
def fit_click_model(model: Model, shards: Shards, *, verbose: bool = False) -> Model:
    """Fit a click model to a log in shards.

    The statistics that EM needs are sums over pages, and equal pages have equal terms. So each worker counts its
    distinct pages (same query, documents and clicked ones), the counts of all workers are added up here, and the passes
    run over distinct pages. This holds for every click model; the result is that of `fit` on the whole log, up to the
    rounding of sums in another order.

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
    What travels, and is in memory here, are the distinct pages. Logs of real engines have far fewer of them than pages,
    as most pages belong to frequent queries; where each page is shown once, nothing is saved.

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
        raise DataError(f"{type(model).__name__} is no click model")
    parts = shards.gather(_distinct_pages)
    return model.fit(ClickLog.concat(parts).collapse(), verbose=verbose)


def _distinct_pages(shard: Any, _: Any) -> ClickLog:
    if not isinstance(shard, ClickLog):
        raise DataError("a click model is fitted to shards of a click log; these are shards of a dataset")
    return shard.collapse()
