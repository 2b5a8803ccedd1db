"""A linear ranker of click rates that trusts each rate by how often it was examined."""

from __future__ import annotations

from numbers import Real
from typing import ClassVar, Self

import numpy as np

from plackett._errors import DataError
from plackett.clicks.features import _dense
from plackett.data.dataset import RankingDataset

__all__ = ["ExposureSoftmax"]


class ExposureSoftmax:
    r"""Linear ranker of click rates: a softmax over the documents of a query, weighted by their exposure.

    A rate y made of e examinations has a variance of about y / e, to which comes how far a linear model is off, however
    many examinations there are. Documents therefore weigh :math:`w = e / (e + \kappa)`, both as targets and as rivals:

    .. math:: L = -\frac{1}{\sum_{q,d} w_d y_d} \sum_{q,d} w_d y_d
              \log\frac{w_d e^{x_d^\top v}}{\sum_j w_j e^{x_j^\top v}} + \frac{\alpha}{2} \lVert v \rVert^2

    With few pages this is the likelihood of the clicks given how often each document was examined: rates of rare
    documents, which inverse propensities blow up, have hardly any weight. With many it is the softmax loss of the
    rates. Minimised by Newton's method, over standardised features.

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
    feature_names_in_
        Names of the features; only if the dataset has some.
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

    _ids: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, alpha: float = 0.3, saturation: float = 5.0, max_iter: int = 100, tol: float = 1e-8) -> None:
        numbers = isinstance(alpha, Real) and isinstance(saturation, Real)
        if not (numbers and 0 < alpha < np.inf and 0 <= saturation < np.inf):
            raise DataError(f"alpha={alpha!r}, saturation={saturation!r}; give a positive number, and 0 or more")
        if not max_iter >= 1:
            raise DataError(f"max_iter={max_iter}; give 1 or more")
        self.alpha, self.saturation, self.max_iter, self.tol = alpha, saturation, max_iter, tol

    def fit(self, data: RankingDataset) -> Self:
        """Learn from rates as labels, with the number of examinations as ``sample_weight`` (1 without).

        Documents with a negative label, or without examinations, are left out.
        """
        examined = np.ones(data.n_rows) if data.sample_weight is None else np.asarray(data.sample_weight, np.float64)
        rate = np.asarray(data.labels, np.float64)
        rows = np.flatnonzero((rate >= 0) & (examined > 0))
        weight = examined[rows] / (examined[rows] + self.saturation)
        amount = weight * rate[rows]
        if not amount.sum() > 0:
            raise DataError("no document has a rate above 0: nothing to learn from")
        if data.n_features == 0:
            raise DataError("the documents have no features: nothing to learn from")
        X = _finite(data, rows)
        spread = X.std(axis=0)
        self.scale_ = np.where(spread > 1e-7 * np.abs(X.mean(axis=0)), spread, 1.0)
        X = (X - X.mean(axis=0)) / self.scale_
        query = data.query_of_row[rows]
        starts = np.flatnonzero(np.concatenate(([True], query[1:] != query[:-1])))
        self.coef_ = self._minimised(_Shares(X, starts, amount, np.log(weight))) / self.scale_
        self.__dict__.pop("feature_names_in_", None)
        if data.feature_names is not None:
            self.feature_names_in_ = np.array(data.feature_names, dtype=object)
        return self

    def _minimised(self, problem: _Shares) -> np.ndarray:
        v = np.zeros(problem.X.shape[1])
        value, share = problem.value(v)
        self.n_iter_ = 0
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
            if fall < 1e-15:  # what rounding leaves
                break
        return v

    def predict(self, data: RankingDataset) -> np.ndarray:
        """Scores of the rows of a dataset. Features with names are found by them, in any order."""
        if not hasattr(self, "coef_"):
            raise DataError("ExposureSoftmax is not fitted yet: call fit(data)")
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            from plackett.rankers.columns import Columns

            data = Columns(tuple(names.tolist()), {}, type(self).__name__).aligned(data)
        if data.n_features != self.coef_.size:
            raise DataError(f"{data.n_features} features, but the ranker was fitted with {self.coef_.size}")
        return _finite(data, np.arange(data.n_rows)) @ self.coef_


def _finite(data: RankingDataset, rows: np.ndarray) -> np.ndarray:
    """Features of some rows, or which of them is missing."""
    X = _dense(data, rows).astype(np.float64)
    holes = ~np.isfinite(X)
    if holes.any():
        at, column = (int(i) for i in np.argwhere(holes)[0])
        row = int(rows[at])
        name = column if data.feature_names is None else repr(data.feature_names[column])
        query = data.qids[data.query_of_row[row]]
        document = "" if data.docids is None else f", document {data.docids[row]}"
        raise DataError(
            f"feature {name} of row {row} is {X[at, column]} (query {query}{document}); fill in missing values first"
        )
    return X


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
