"""How good a ranker gets with more queries and documents, measured on a pilot and extrapolated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import number, positive, probability
from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.data.dataset import RankingDataset

#: Exponents that are tried: how fast a ranker gets better.
_POWERS = (0.25, 0.5, 0.75, 1.0, 1.5)
_BOOTSTRAP = 200
#: Refitted curves spread too little, since all come from one pilot. In 60 planted worlds, 87 % to 90 % of the true
#: values lay between these quantiles; between 5 % and 95 % only 81 % to 88 %.
_QUANTILES = (0.025, 0.975)


class Prediction(NamedTuple):
    """Expected value of the measure, and a 90 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LearningCurve:
    r"""Measured values, and the curve :math:`c - a\,n^{-\alpha} - b\,m^{-\beta} - d\,n^{-\alpha} m^{-\beta}` through
    them, with a, b, d ≥ 0.

    c is at most the largest value of the measure, so no prediction exceeds it. The interval covers the noise of the
    points, the choice of the exponents (the curve is refitted to resampled values), and the choice of the pilot's
    queries. It does not cover a curve of another form: the further a prediction is from the measured points, the less
    it can be trusted (`reach`).

    Attributes
    ----------
    queries, documents, values
        Sizes of the training data, and the measure on other queries: a row per repetition, a column per point.
    upper
        Largest value of the measure.
    level_error
        Standard error of the mean of the measure over the pilot's queries: shifts all points alike.
    """

    queries: np.ndarray
    documents: np.ndarray
    values: np.ndarray
    upper: float = 1.0
    level_error: float = 0.0

    @cached_property
    def _fits(self) -> list[tuple[float, float, np.ndarray]]:
        """Powers and coefficients: of all repetitions, then of resampled repetitions."""
        rng = np.random.default_rng(0)
        n = self.values.shape[0]
        # points are resampled too: with few repetitions the spread of the points themselves counts
        samples = [self.values.mean(axis=0)]
        deviation = self._residual()
        inflation = np.sqrt(n / max(1, n - 1))  # n repetitions drawn from n spread too little
        for _ in range(_BOOTSTRAP):
            rows = rng.integers(n, size=n)
            spread = inflation * (self.values[rows].mean(axis=0) - samples[0])
            noise = deviation * rng.standard_normal(self.queries.size) + self.level_error * rng.standard_normal()
            samples.append(samples[0] + spread + noise)
        return [self._fit(sample) for sample in samples]

    def _residual(self) -> float:
        """Deviation of the points from the curve."""
        value = self.values.mean(axis=0)
        alpha, beta, coefficients = self._fit(value)
        left = value - self._at(alpha, beta, coefficients, self.queries, self.documents)
        return float(np.sqrt((left @ left) / max(1, value.size - 4)))

    def _fit(self, value: np.ndarray) -> tuple[float, float, np.ndarray]:
        """The curve with the least squared error; c is at most the largest value of the measure."""
        from scipy.optimize import nnls

        best: tuple[float, float, float, np.ndarray] | None = None
        for alpha, beta in product(_POWERS, _POWERS):
            table = self._terms(alpha, beta, self.queries, self.documents)
            if np.isfinite(self.upper):
                coefficients, rest = nnls(np.abs(table), self.upper - value)
                coefficients[0] = self.upper - coefficients[0]
            else:
                coefficients, rest = nnls(table, value)
            if best is None or rest < best[0] - 1e-12:
                best = rest, alpha, beta, coefficients
        assert best is not None
        return best[1], best[2], best[3]

    @staticmethod
    def _at(alpha: float, beta: float, coefficients: np.ndarray, n: Any, m: Any) -> np.ndarray:
        return LearningCurve._terms(alpha, beta, n, m) @ coefficients

    @staticmethod
    def _terms(alpha: float, beta: float, n: Any, m: Any) -> np.ndarray:
        """The terms that the coefficients multiply, in the last axis."""
        few_queries, few_documents = np.asarray(n, np.float64) ** -alpha, np.asarray(m, np.float64) ** -beta
        one = np.ones(np.broadcast(few_queries, few_documents).shape)
        return np.stack([one, -few_queries * one, -few_documents * one, -few_queries * few_documents], axis=-1)

    def predict(self, queries: float, documents: float) -> Prediction:
        """The value to expect from this many queries with this many judged documents each."""
        positive(queries=queries, documents=documents)
        values = self.samples(np.array([queries]), np.array([documents]))[:, 0]
        low, high = np.quantile(values[1:], _QUANTILES)
        return Prediction(float(values[0]), float(min(low, values[0])), float(max(high, values[0])))

    def samples(self, queries: np.ndarray, documents: np.ndarray) -> np.ndarray:
        """Predictions at several points (columns) by the curve, then by each curve fitted to resampled values."""
        return np.stack([self._at(alpha, beta, c, queries, documents) for alpha, beta, c in self._fits])

    def reach(self, queries: float, documents: float) -> tuple[float, float]:
        """Queries, and documents of each, as multiples of the largest numbers measured."""
        return float(queries / self.queries.max()), float(documents / self.documents.max())

    @property
    def powers(self) -> tuple[float, float]:
        """α and β: how fast more queries, and more documents, help."""
        return self._fits[0][0], self._fits[0][1]


def hide_documents(data: RankingDataset, n_documents: int, rng: np.random.Generator) -> RankingDataset:
    """The dataset with at most this many judged documents per query, drawn at random; the others are removed."""
    judged = np.flatnonzero(data.labels >= 0)
    key = rng.random(judged.size)
    order = judged[np.lexsort((key, data.query_of_row[judged]))]
    query = data.query_of_row[order]
    first = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=data.n_queries))))[:-1]
    rows = np.sort(order[np.arange(order.size) - first[query] < n_documents])
    return RankingDataset.from_arrays(data.X[rows], data.labels[rows], data.query_of_row[rows])


def learning_curve(
    pilot: RankingDataset,
    ranker: Any = None,
    measure: str = "nDCG@10",
    *,
    shares: Sequence[float] = (0.125, 0.25, 0.5, 1.0),
    depths: Sequence[int] | None = None,
    n_repeats: int = 5,
    test_share: float = 0.3,
    random_state: int = 0,
    verbose: bool = False,
) -> LearningCurve:
    """Train on parts of a pilot dataset, fewer queries and fewer documents of each, and measure on the rest.

    Parameters
    ----------
    pilot
        Judged queries: a few dozen at least.
    ranker
        What to train. `LambdaMART` is the usual choice; the default is a linear `RankSVM`, because it is fast.
    shares
        Shares of the training queries.
    depths
        Numbers of documents of a query; by default three from 4 to the mean length of the lists.
    n_repeats
        Splits into training and test queries.

    Examples
    --------
    >>> import plackett as pk
    >>> pilot = pk.theory.PlantedWorld(n_features=4).sample(40, 12, random_state=0)
    >>> curve = learning_curve(pilot, n_repeats=2)
    >>> low, high = curve.predict(50, 10).low, curve.predict(500, 10).high
    >>> low < high <= 1
    True
    """
    from plackett._base.estimator import clone
    from plackett._base.progress import progress
    from plackett.data.splits import split_queries
    from plackett.evaluation.evaluate import evaluate
    from plackett.measures.language import parse

    if pilot.n_queries < 10:
        raise DataError(f"the pilot has {pilot.n_queries} queries; a learning curve needs 10 or more")
    probability("test_share", test_share)
    number("n_repeats", n_repeats, least=1)
    if ranker is None:
        from plackett.rankers.pairwise.rank_svm import RankSVM

        ranker = RankSVM(C=1e-4)
    judged = np.bincount(pilot.query_of_row, pilot.labels >= 0, pilot.n_queries)
    longest = max(2.0, float(judged.mean()))
    chosen_depths = (
        np.unique(np.rint(np.geomspace(min(4.0, longest), longest, 3)).astype(int)) if depths is None else depths
    )
    array("depths", chosen_depths, least=2)
    array("shares", shares, least=0.0, most=1.0)
    parsed = parse(measure)
    if not parsed.ascending:
        raise DataError(f"measure={measure!r}; give a measure for which larger values are better")
    parts = []
    for r in range(n_repeats):
        train, test = split_queries(pilot, (1.0 - test_share, test_share), random_state=random_state + r)
        order = np.random.default_rng([random_state, r]).permutation(train.n_queries)
        parts.append((train, test, order))
    points = [
        (max(2, round(share * parts[0][0].n_queries)), int(depth)) for share, depth in product(shares, chosen_depths)
    ]
    points = list(dict.fromkeys(points))
    values = np.empty((n_repeats, len(points)))
    largest = max(range(len(points)), key=lambda i: points[i])
    by_query = []
    tasks = [(r, i) for r in range(n_repeats) for i in range(len(points))]
    for r, i in progress(tasks, "learning curve of the pilot", len(tasks), verbose=verbose):
        train, test, order = parts[r]
        n, m = points[i]
        rng = np.random.default_rng([random_state, r, i])
        part = hide_documents(train.select(np.sort(order[:n])), m, rng)
        scores = np.zeros(test.n_rows)
        if np.ptp(part.labels) > 0:
            scores = clone(ranker).fit(part).predict(test)
        result = evaluate(test, scores, [parsed])
        values[r, i] = result.mean[str(parsed)]
        if i == largest:
            by_query.append(result.per_query[str(parsed)].to_numpy())
    variance = float(np.mean([np.nanvar(v, ddof=1) for v in by_query]))
    at = np.array(points, np.float64)
    level_error = float(np.sqrt(variance / pilot.n_queries))
    return LearningCurve(at[:, 0], at[:, 1], values, float(parsed.bounds[1]), level_error)
