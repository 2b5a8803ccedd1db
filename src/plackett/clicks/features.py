"""Attraction from features: click models that know documents they have never seen."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel, clipped
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.solvers.logistic_rates import LogisticRates, sigmoid

__all__ = ["FeatureAttraction"]


class FeatureAttraction:
    r"""A click model whose attraction is a function of features, so that unseen documents have a value.

    .. math:: r_{q,d} = \sigma(f(x_{q,d}))

    EM: the click model says how often each pair was probably examined, a model of features is fitted to clicks out of
    examinations, and so on in turn (regression EM). With `PBM` and a linear f it is the model of Richardson,
    Dominowska and Ragno for new advertisements. This maximises the likelihood of the log itself: no labels are made on
    the way, and the fitted learner is a ranker (`likelihood_slope` is the gradient).

    Parameters
    ----------
    model
        Click model fitted by EM: `PBM`, `UBM`, `DCM`, `DBN`, `SDBN`.
    learner
        None for `LogisticRates`; or a ranker with a logistic loss whose scores are log-odds, such as
        ``pk.GradientRanker(loss="BinaryLogistic", model=…)``, trained on clicked and skipped copies of each pair.
    n_rounds
        Passes of EM.

    Examples
    --------
    >>> from plackett.clicks import PBM, simulate_log
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=50, docs_per_query=10, n_features=5, random_state=0)
    >>> log = simulate_log(data, data.X[:, 0], n_pages=3000, random_state=0)
    >>> model = FeatureAttraction(PBM()).fit(log, data)
    >>> model.attraction(data).shape
    (500,)

    References
    ----------
    Richardson, Dominowska, Ragno: Predicting clicks: estimating the click-through rate for new ads. WWW 2007. Wang,
    Golbandi, Bendersky, Metzler, Najork: Position bias estimation for unbiased learning to rank in personal search.
    WSDM 2018.
    """

    def __init__(self, model: ClickModel, learner: Any = None, *, n_rounds: int = 20) -> None:
        self.model, self.learner, self.n_rounds = model, learner, n_rounds

    def fit(self, log: ClickLog, data: RankingDataset) -> Self:
        """Fit to a log; ``data`` has the features, with the same query and document ids."""
        rows = dataset_rows(log, data)
        lost = rows < 0
        if lost.all():
            raise DataError("no pair of the log is in the dataset: do query and document ids agree?")
        self.lost_pairs_ = int(lost.sum())
        kept = ~lost
        X = dense(data, rows[kept])
        learner = self.learner if self.learner is not None else LogisticRates()
        if isinstance(learner, LogisticRates):
            refuse_categories(data.categories, "LogisticRates")
            check_finite(data, rows[kept])
        model, mean = self.model, float(log.clicked.mean())

        def attract(examined: np.ndarray) -> None:
            model.examined_ = examined
            trials = np.maximum(examined, model.clicks_)[kept]
            rates = np.full(log.n_pairs, mean)
            rates[kept] = _fit_rates(learner, X, model.clicks_[kept], trials, data, rows[kept])
            model.attraction_ = clipped(rates)

        model._attract = attract  # type: ignore[method-assign]
        before = model.max_iter, model.prior
        model.max_iter, model.prior = self.n_rounds, None
        try:
            model.fit(log)
        finally:
            model.max_iter, model.prior = before
            del model.__dict__["_attract"]
        self.learner_ = learner
        self.model_ = model
        return self

    def attraction(self, data: RankingDataset) -> np.ndarray:
        """Attraction of each row of a dataset, seen or not."""
        if not hasattr(self, "learner_"):
            raise DataError("FeatureAttraction is not fitted yet: call fit(log, data)")
        if isinstance(self.learner_, LogisticRates):
            refuse_categories(data.categories, "LogisticRates")
            check_finite(data, np.arange(data.n_rows))
            return self.learner_.rates(dense(data, np.arange(data.n_rows)))
        return sigmoid(self.learner_.predict(data))


def likelihood_slope(model: ClickModel, log: ClickLog, scores: np.ndarray) -> tuple[float, np.ndarray]:
    r"""Log-likelihood of a log whose attraction is :math:`\sigma` of the scores of its pairs, and its gradient.

    .. math:: \frac{\partial \log P}{\partial f_j} = C_j - r_j\, P(E_j = 1 \mid C)

    summed over the impressions of pair j; the same for all models of this family. The other parameters of the fitted
    model stay. ``model`` must be fitted to the same log (`PBM`, `UBM`, `DCM`, `DBN`, `SDBN`).
    """
    from copy import copy

    trial = copy(model)
    trial.attraction_ = clipped(sigmoid(np.asarray(scores, np.float64)))
    rates = trial.attraction_
    sums = trial.expectations(trial.pages_of(log))
    return sums.log_likelihood, trial.clicks_ - rates * sums.pairs["examined"]


def _fit_rates(
    learner: Any, X: np.ndarray, hits: np.ndarray, trials: np.ndarray, data: RankingDataset, rows: np.ndarray
) -> np.ndarray:
    if isinstance(learner, LogisticRates):
        return learner.fit(X, hits, trials).rates(X)
    misses = np.maximum(trials - hits, 0.0)
    query = np.searchsorted(data.offsets, rows, side="right") - 1
    doubled = RankingDataset.from_arrays(
        np.concatenate((X, X)),
        np.repeat([1.0, 0.0], len(X)),
        qid=np.concatenate((query, query)),
        sample_weight=np.concatenate((hits, misses)),
        feature_names=data.feature_names,
        categories=data.categories,
    )
    learner.fit(doubled)
    single = RankingDataset.from_arrays(
        X, None, qid=query, feature_names=data.feature_names, categories=data.categories
    )
    return sigmoid(single.to_input_order(learner.predict(single)))


def check_finite(
    data: RankingDataset,
    rows: np.ndarray,
    name: str = "data",
    advice: str = "fill them in first: pk.Imputer().fit_transform(data)",
) -> None:
    """Name the first of some rows with a missing feature, and the feature."""
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    if np.isfinite(values.sum(dtype=np.float64)):
        return
    X = dense(data, rows)
    holes = np.argwhere(~np.isfinite(X))
    if holes.size:
        at, column = (int(i) for i in holes[0])
        row = int(rows[at])
        feature = column if data.feature_names is None else repr(data.feature_names[column])
        query = data.qids[data.query_of_row[row]]
        document = "" if data.docids is None else f", document {data.docids[row]}"
        raise DataError(
            f"{name} has missing values (NaN): feature {feature} of row {row} is {X[at, column]} "
            f"(query {query}{document}); {advice}"
        )


def dense(data: RankingDataset, rows: np.ndarray) -> np.ndarray:
    """Features of some rows as an array."""
    X = data.X[rows]
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray())


def dataset_rows(log: ClickLog, data: RankingDataset) -> np.ndarray:
    """Row of a dataset of each pair of a log, -1 where there is none. Without docids, documents are row numbers."""
    from plackett.clicks.pairs import PairTable

    query = np.repeat(np.arange(data.n_queries, dtype=np.int32), np.diff(data.offsets))
    docids = np.arange(data.n_rows) if data.docids is None else data.docids
    from plackett.clicks._codes import codes

    code, names = codes(docids, "docids")
    return PairTable(data.qids, names, query, code).in_log(log)
