"""Inverse propensities as labels and weights that every ranker takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.labels.dataset import Join, page_dataset
from plackett.clicks.log import ClickLog
from plackett.clicks.models._cells import rank_counts
from plackett.clicks.unbiased.propensities import Propensities
from plackett.data._tables import id_series

if TYPE_CHECKING:
    import polars as pl

    from plackett.data.dataset import RankingDataset

__all__ = ["ips_dataset", "ips_labels"]


def examination_of(propensities: Any) -> np.ndarray:
    """Examination of each rank, from `Propensities` or as given."""
    table = propensities.examination if isinstance(propensities, Propensities) else propensities
    try:
        return np.asarray(table, np.float64)
    except (TypeError, ValueError):
        raise DataError(f"propensities are {table!r}; give a number per rank") from None


def _table(log: ClickLog, propensities: Any) -> np.ndarray:
    """Examination of each rank, positive at all ranks of the log."""
    table = examination_of(propensities)
    if table.ndim != 1 or table.size < log.longest:
        raise DataError(f"{table.size} propensities for {log.longest} ranks; give one per rank")
    shown = np.bincount(log.rank, minlength=log.longest + 1)[1:] > 0
    wrong = np.flatnonzero(shown & ~(table[: log.longest] > 0))
    if wrong.size:
        rank = int(wrong[0]) + 1
        raise DataError(f"the propensity of rank {rank} is {table[rank - 1]}; it must be positive and known")
    return table


def ips_weights(log: ClickLog, propensities: Any, *, clip: float | None = 0.05, normalise: bool = False) -> np.ndarray:
    """Weight of each row: one over the propensity of its rank for clicked rows, 1 for others.

    Parameters
    ----------
    propensities
        `Propensities`, or the examination of each rank.
    clip
        Smaller propensities are raised to this value: less variance for some bias. None does not clip.
    normalise
        Scale the weights of clicked rows so that their mean is 1 (self-normalised).
    """
    look = _table(log, propensities)[log.rank - 1]
    if clip is not None:
        look = np.maximum(look, clip)
    weight = np.where(log.clicked, 1.0 / look, 1.0)
    if normalise and log.clicked.any():
        weight[log.clicked] /= np.average(weight[log.clicked], weights=log.row_weight[log.clicked])
    return weight


def ips_dataset(
    log: ClickLog, features: RankingDataset, propensities: Any, *, clip: float | None = 0.05, normalise: bool = False
) -> Join:
    r"""Pages with features and inverse-propensity weights, for any ranker.

    A pair of a clicked and another document weighs :math:`1/\theta` of the clicked one, as in propensity-weighted
    Ranking SVM, and so does the click in a softmax loss: with linear, tree and neural models. Train for example
    ``pk.LambdaMART().fit(join.data)``. Propensities of 1 are plain learning from clicks.

    Examples
    --------
    >>> from plackett.clicks import simulate_log
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=20, docs_per_query=10, random_state=0)
    >>> log = simulate_log(data, data.X[:, 0], n_pages=200, random_state=0)
    >>> join = ips_dataset(log, data, 1 / np.arange(1, 11))
    >>> float(join.data.sample_weight.max())
    10.0

    References
    ----------
    Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM 2017.
    """
    return page_dataset(log, features, weight=ips_weights(log, propensities, clip=clip, normalise=normalise))


def ips_labels(
    log: ClickLog,
    propensities: Any,
    *,
    estimate: str = "ratio",
    clip: float | None = 0.05,
    expected: np.ndarray | None = None,
) -> pl.DataFrame:
    r"""Relevance of each pair, corrected for how likely it was seen: query, document, label, weight.

    Parameters
    ----------
    estimate
        ``"ips"``: :math:`\frac1n \sum c/\theta`, without bias if the propensities are right. ``"ratio"``:
        :math:`\sum c / \sum \theta`, self-normalised, never above the click rate of what was seen, with less variance.
        ``"doubly-robust"``: :math:`\hat r + \frac1n \sum (c - \theta \hat r)/\theta`, right if either the
        propensities or ``expected`` are.
    clip
        Smaller propensities are raised to this value in divisions.
    expected
        :math:`\hat r` of each pair of the log, such as the attraction of a model with features.

    Returns
    -------
    polars.DataFrame
        ``weight`` is the expected number of examinations.

    References
    ----------
    Joachims, Swaminathan, Schnabel: Unbiased learning-to-rank with biased feedback. WSDM 2017.
    """
    import polars as pl

    table = _table(log, propensities)
    pair, rank, clicks, shown = rank_counts(log)
    look, n = table[rank], log.n_pairs
    divisor = look if clip is None else np.maximum(look, clip)
    pages = np.maximum(np.bincount(pair, shown, minlength=n), 1e-12)
    seen = np.bincount(pair, shown * look, minlength=n)
    if estimate == "ratio":
        label = np.bincount(pair, clicks, minlength=n) / np.maximum(seen, 1e-12)
    elif estimate == "ips":
        label = np.bincount(pair, clicks / divisor, minlength=n) / pages
    elif estimate == "doubly-robust":
        if expected is None or np.shape(expected) != (n,):
            raise DataError(f"estimate='doubly-robust' needs expected: one relevance per pair of the log ({n})")
        rest = (clicks - shown * look * expected[pair]) / divisor
        label = expected + np.bincount(pair, rest, minlength=n) / pages
    else:
        raise DataError(f"estimate={estimate!r}; give 'ips', 'ratio' or 'doubly-robust'")
    return pl.DataFrame(
        [
            id_series("query", log.queries).gather(log.pair_query),
            id_series("document", log.documents).gather(log.pair_document),
            pl.Series("label", label),
            pl.Series("weight", seen),
        ]
    )
