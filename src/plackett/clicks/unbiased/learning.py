"""A ranker from a click log, by the rule that held in the study of clicks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett.clicks.features import dataset_rows
from plackett.clicks.labels.dataset import labelled_dataset
from plackett.clicks.labels.from_model import examined_labels, model_labels
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.dbn import DBN
from plackett.clicks.models.trust_bias import TrustBias
from plackett.clicks.profile import FIXED, documents_move
from plackett.clicks.rankers.exposure_softmax import ExposureSoftmax, exposure_weights
from plackett.clicks.unbiased.agreement import Guarded, guarded_choice
from plackett.clicks.unbiased.propensities import harvest_propensities
from plackett.clicks.unbiased.weights import ips_labels
from plackett.data.dataset import RankingDataset
from plackett.data.required import check_dataset

__all__ = ["learn_from_clicks"]

#: Pages from which on the correction is taken as it is.
ENOUGH_PAGES = 10_000
#: With fewer pages, head start of a correction in standard errors: it needs evidence at the level of 5 %.
STRICT = -1.64


def learn_from_clicks(
    log: ClickLog, data: RankingDataset, ranker: Any = None, *, n_jobs: int | None = None, random_state: Any = 0
) -> Guarded:
    """A ranker from a click log, corrected for position bias where that is safe.

    - With 10,000 pages or more: click rates divided by harvested propensities, which weigh by how often a document was
      probably examined (`ExposureSoftmax`). In the study, that closes at least 80 % of the gap to learning from grades
      with 1,000,000 pages on all data, and is never more than .01 below plain learning, even for users who trust high
      ranks or stop when they are satisfied.
    - With fewer: plain click rates, blended with the correction that the clicks at equal ranks of other queries favour,
      as far as there is evidence for it (`guarded_choice` with ``lean=-1.64``).
    - If no document was shown at two ranks: plain click rates. Rank and relevance cannot be told apart.

    Parameters
    ----------
    data
        Documents of the log with their features, with the same query and document ids. Labels are not used.
    ranker
        What learns from the click rates: None for `ExposureSoftmax`, which is linear and what the study measured, or
        any ranker that takes weights, such as ``pk.LambdaMART()``, which accepts missing features, or
        ``make_pipeline(pk.Imputer(), clicks.ExposureSoftmax())``. The weight of a document that was examined e times is
        e / (e + 5), as in `ExposureSoftmax`. Trees need more pages than a linear ranker.
    n_jobs
        Threads for fitting click models.

    Returns
    -------
    `Guarded`: the ranker, what it is made of, and why.

    Examples
    --------
    >>> from plackett import clicks
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=30, docs_per_query=8, n_features=4, random_state=0)
    >>> log = clicks.simulate_log(data, data.X[:, 0], n_pages=10_000, temperature=1.0, random_state=0)
    >>> result = clicks.learn_from_clicks(log, data)
    >>> result.name, result.ranker.predict(data).shape
    ('harvested propensities', (240,))
    >>> import plackett as pk
    >>> trees = clicks.learn_from_clicks(log, data, pk.LambdaMART(n_estimators=10))
    >>> type(trees.ranker).__name__
    'LambdaMART'
    """
    if isinstance(ranker, type) or not (ranker is None or hasattr(ranker, "fit")):
        raise DataError(f"ranker is {ranker!r:.80}; give a ranker that is not fitted yet, such as pk.LambdaMART()")
    missing = _without_features(log, data)
    result = _learned(log, data, ExposureSoftmax() if ranker is None else ranker, n_jobs, random_state)
    if not missing:
        return result
    lost = f"{missing:.1%} of what was shown has no features"
    if missing > 0.5:
        warnings.warn(f"{lost}: do query and document ids agree?", PlackettWarning, stacklevel=2)
    return replace(result, reason=f"{result.reason.removesuffix('.')}. {lost}")


def _without_features(log: ClickLog, data: RankingDataset) -> float:
    """Share of the shown documents that the dataset lacks, if those it has were clicked at all.

    Without clicks, rates are the prior pulled down by how often a document was shown: the logged order reversed.
    """
    known = dataset_rows(log, check_dataset(data))[log.pair] >= 0
    weight = log.row_weight
    if not known.any():
        raise DataError("no document of the log is in the dataset: do query and document ids agree?")
    if not (weight * (log.clicks > 0)).sum() > 0:
        raise DataError("the log has no clicks: nothing to learn from")
    if not (weight * (log.clicks > 0))[known].sum() > 0:
        raise DataError("no document with features was clicked: do query and document ids agree?")
    return float(weight[~known].sum() / weight.sum())


def _learned(log: ClickLog, data: RankingDataset, ranker: Any, n_jobs: int | None, random_state: Any) -> Guarded:
    last = ranker.steps[-1][1] if hasattr(ranker, "steps") else ranker

    def way(labels: Any, weighted: bool = True) -> Callable[[RankingDataset], Any]:
        def learn(part: RankingDataset) -> Any:
            rates = labelled_dataset(labels, part, weighted=weighted).data
            if rates.sample_weight is not None and not isinstance(last, ExposureSoftmax):  # it does so itself
                rates = rates.replace(sample_weight=exposure_weights(rates.sample_weight))
            return deepcopy(ranker).fit(rates)

        return learn

    naive = way(model_labels(IndependentClickModel(n_jobs=n_jobs).fit(log)), weighted=False)
    if not documents_move(log):
        return Guarded.alone("click rates", 0.0, naive(data), FIXED)
    try:
        harvested = way(propensity_labels(log, harvest_propensities(log).examination))
    except DataError as error:  # no two ranks can be compared, or there are too many
        return Guarded.alone("click rates", 0.0, naive(data), str(error))
    pages = float(log.page_weight.sum())
    if pages >= ENOUGH_PAGES:
        reason = f"{pages:.0f} pages: from {ENOUGH_PAGES} on, the correction is taken as it is"
        return Guarded.alone("harvested propensities", 1.0, harvested(data), reason)
    ways = {
        "click rates": naive,
        "weighted rates": way(propensity_labels(log, np.ones(log.longest))),
        "harvested propensities": harvested,
        "DBN": way(examined_labels(DBN(n_jobs=n_jobs).fit(log))),
        "trust": way(TrustBias(n_jobs=n_jobs).fit(log).corrected_labels(log)),
    }
    return guarded_choice(log, data, ways, lean=STRICT, random_state=random_state)


def propensity_labels(log: ClickLog, examination: Any) -> Any:
    """Click rates divided by the examination of the ranks; ranks whose examination is unknown have the smallest."""
    table = np.asarray(examination, np.float64)
    return ips_labels(log, np.where(np.isnan(table), np.nanmin(table), table))
