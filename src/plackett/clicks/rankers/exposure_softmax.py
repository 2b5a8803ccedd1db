"""A linear ranker of click rates that trusts each rate by how often it was examined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett._base.search_space import Real, SearchSpace
from plackett.clicks.features import check_finite, dense
from plackett.data.dataset import RankingDataset
from plackett.data.some_rows import some_rows
from plackett.rankers.base import Ranker
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor

__all__ = ["ExposureSoftmax"]

#: Examinations after which a document has half of its full weight.
SATURATION = 5.0
#: What to do about missing features.
IMPUTE = (
    "fill them in: make_pipeline(pk.Imputer(), clicks.ExposureSoftmax()), which learn_from_clicks takes as its ranker "
    "too, or use a tree ranker such as pk.LambdaMART()"
)


@dataclass(kw_only=True, eq=False, repr=False)
class ExposureSoftmax(Ranker):
    r"""Linear ranker of click rates: a softmax over the documents of a query, weighted by their exposure.

    A rate y made of e examinations has a variance of about y / e, to which comes how far a linear model is off, however
    many examinations there are. Documents therefore weigh :math:`w = e / (e + \kappa)`, both as targets and as rivals:

    .. math:: L = -\frac{1}{\sum_{q,d} w_d y_d} \sum_{q,d} w_d y_d
              \log\frac{w_d e^{x_d^\top v}}{\sum_j w_j e^{x_j^\top v}} + \frac{\alpha}{2} \lVert v \rVert^2

    With few pages this is the likelihood of the clicks given how often each document was examined: rates of rare
    documents, which inverse propensities blow up, have hardly any weight. With many it is the softmax loss of the
    rates. Minimised by Newton's method, over standardised features.

    Labels are rates, with the number of examinations as ``sample_weight`` (1 without). Documents with a negative label,
    or without examinations, are left out. A ``query_weight`` multiplies the terms :math:`w_d y_d` of its query.

    Parameters
    ----------
    alpha
        Strength of the L2 penalty.
    saturation
        κ: examinations after which a document has half of its full weight.
    max_iter, tol
        Maximum number of steps, and the largest slope at which to stop.

    Attributes
    ----------
    coef_
        Weights of the features.
    scale_
        Standard deviation of each feature among the documents that were learned from.
    n_iter_
        Number of steps.

    Examples
    --------
    >>> from plackett import clicks
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=30, docs_per_query=8, n_features=4, random_state=0)
    >>> log = clicks.simulate_log(data, data.X[:, 0], n_pages=2000, temperature=1.0, random_state=0)
    >>> labels = clicks.ips_labels(log, clicks.harvest_propensities(log))  # rates, and examinations as weights
    >>> ranker = ExposureSoftmax().fit(clicks.labelled_dataset(labels, data, weighted=True).data)
    >>> ranker.predict(data).shape
    (240,)
    """

    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "max_iter"
    search_space: ClassVar[SearchSpace] = {
        "alpha": Real(1e-3, 10.0, log=True),
        "saturation": Real(1.0, 100.0, log=True),
    }
    #: Without clicks it refuses to learn: all scores would be equal.
    _test_skips: ClassVar[tuple[str, ...]] = ("nothing_to_learn",)

    alpha: float = 0.3
    saturation: float = SATURATION
    max_iter: int = 100
    tol: float = 1e-8

    def prepared(self, data: RankingDataset, name: str = "X") -> RankingDataset:
        """The documents that count: features of others may be missing."""
        if name == "X" and data.n_features > 0:
            rows = _known(data)
            if rows.size:
                check_finite(data, rows, name, IMPUTE)
                data = some_rows(data, rows)
        return super().prepared(data, name)

    def check_missing(self, data: RankingDataset, name: str) -> None:
        """Raise an error if values are missing."""
        check_finite(data, np.arange(data.n_rows), name, IMPUTE)

    check_trainable = check_missing

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        if not (0 < self.alpha < np.inf and 0 <= self.saturation < np.inf):
            raise DataError(
                f"alpha={self.alpha!r}, saturation={self.saturation!r}; give a positive number, and 0 or more"
            )
        whole("max_iter", self.max_iter, least=1)
        data = some_rows(data, _known(data))  # as a member of another ranker it is given all documents
        examined = _examinations(data)
        weight = exposure_weights(examined, self.saturation)
        amount = weight * np.asarray(data.labels, np.float64)
        if data.query_weight is not None:
            amount *= data.query_weight[data.query_of_row]
        if not amount.sum() > 0:
            raise DataError("no document has a rate above 0: nothing to learn from")
        X = dense(data, np.arange(data.n_rows)).astype(np.float64)
        spread = X.std(axis=0)
        self.scale_ = np.where(spread > 1e-7 * np.abs(X.mean(axis=0)), spread, 1.0)
        X = (X - X.mean(axis=0)) / self.scale_
        starts = data.offsets[:-1][data.group > 0]
        self._minimise(_Shares(X, starts, amount, np.log(weight)), monitor)

    def _minimise(self, problem: _Shares, monitor: Monitor) -> None:
        v = np.zeros(problem.X.shape[1])
        self.scorer_, self.n_iter_ = self._scorer(v), 0
        with monitor.training(self.max_iter, "ExposureSoftmax"):
            value, share = problem.value(v)
            for _ in range(self.max_iter):
                slope, bend = problem.slopes(share)
                slope += self.alpha * v
                if np.abs(slope).max() <= self.tol:
                    break
                bend[np.diag_indices_from(bend)] += self.alpha
                step = np.linalg.solve(bend, slope)
                size, fall = 1.0, float(slope @ step)
                before = value + 0.5 * self.alpha * float(v @ v)
                while True:
                    new = v - size * step
                    value, share = problem.value(new)
                    if value + 0.5 * self.alpha * float(new @ new) <= before - 1e-4 * size * fall or size < 1e-6:
                        break
                    size /= 2
                v = new
                self.n_iter_ += 1
                if monitor.keep(self._scorer(v)) or fall < 1e-15:  # what rounding leaves
                    break
        self.scorer_ = monitor.best or self.scorer_

    def _scorer(self, v: np.ndarray) -> LinearScorer:
        return LinearScorer((v / self.scale_)[:, None], np.zeros(1))


def exposure_weights(examined: np.ndarray, saturation: float = SATURATION) -> np.ndarray:
    """Weight of rates that were examined so often: half of the full weight at ``saturation``.

    >>> exposure_weights(np.array([0.0, 5.0, 45.0])).tolist()
    [0.0, 0.5, 0.9]
    """
    return examined / np.maximum(examined + saturation, np.finfo(np.float64).tiny)


def _examinations(data: RankingDataset) -> np.ndarray:
    return np.ones(data.n_rows) if data.sample_weight is None else np.asarray(data.sample_weight, np.float64)


def _known(data: RankingDataset) -> np.ndarray:
    """The rows whose rate is known."""
    return np.flatnonzero((np.asarray(data.labels) >= 0) & (_examinations(data) > 0))


class _Shares:
    """The loss and its slopes; rows are sorted by query."""

    def __init__(self, X: np.ndarray, starts: np.ndarray, amount: np.ndarray, level: np.ndarray) -> None:
        self.X, self.starts, self.level = X, starts, level
        self.query = np.repeat(np.arange(starts.size), np.diff(np.append(starts, len(X))))
        self.total = np.add.reduceat(amount, starts) / amount.sum()
        self.pull = X.T @ (amount / amount.sum())

    def value(self, v: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss without its constant part, and the share of each document in its query."""
        score = self.X @ v + self.level
        top = np.maximum.reduceat(score, self.starts)
        share = np.exp(score - top[self.query])
        sums = np.add.reduceat(share, self.starts)
        return float(self.total @ (np.log(sums) + top) - self.pull @ v), share / sums[self.query]

    def slopes(self, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Gradient and Hessian."""
        mass = self.total[self.query] * share
        mean = np.add.reduceat(self.X * share[:, None], self.starts, axis=0)
        bend = (self.X * mass[:, None]).T @ self.X - (mean * self.total[:, None]).T @ mean
        return self.X.T @ mass - self.pull, bend
