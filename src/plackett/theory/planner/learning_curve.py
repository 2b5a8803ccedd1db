"""How good a ranker gets with more queries and documents, measured on a pilot and extrapolated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from plackett._errors import DataError
from plackett.data.dataset import RankingDataset

__all__ = ["LearningCurve", "Prediction", "hide_documents", "learning_curve"]

#: Exponents that are tried: how fast a ranker gets better.
_POWERS = (0.25, 0.5, 0.75, 1.0)
_BOOTSTRAP = 200


class Prediction(NamedTuple):
    """Expected value of the measure, and an interval of 90 %."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class LearningCurve:
    r"""Measured values, and the curve :math:`c - a\,n^{-\alpha} - b\,m^{-\beta}` through them, a, b ≥ 0.

    Attributes
    ----------
    queries, documents, values
        What was trained on, and the measure on queries that were not: a row per repetition, a column per point.
    upper
        Largest value of the measure.
    """

    queries: np.ndarray
    documents: np.ndarray
    values: np.ndarray
    upper: float = 1.0

    @cached_property
    def _fits(self) -> list[tuple[float, float, np.ndarray]]:
        """Powers and coefficients: of all repetitions, then of repetitions drawn again."""
        rng = np.random.default_rng(0)
        n = self.values.shape[0]
        # points are drawn again too: with few repetitions the spread of the points themselves counts
        samples = [self.values.mean(axis=0)]
        deviation = self._residual()
        for _ in range(_BOOTSTRAP):
            rows = rng.integers(n, size=n)
            noise = deviation * rng.standard_normal(self.queries.size)
            samples.append(self.values[rows].mean(axis=0) + noise)
        return [self._fit(sample) for sample in samples]

    def _residual(self) -> float:
        """Deviation of the points from the curve."""
        value = self.values.mean(axis=0)
        alpha, beta, coefficients = self._fit(value)
        left = value - self._at(alpha, beta, coefficients, self.queries, self.documents)
        return float(np.sqrt((left @ left) / max(1, value.size - 3)))

    def _fit(self, value: np.ndarray) -> tuple[float, float, np.ndarray]:
        from scipy.optimize import nnls

        best: tuple[float, float, float, np.ndarray] | None = None
        for alpha, beta in product(_POWERS, _POWERS):
            table = np.stack(
                [np.ones(value.size), -(self.queries**-alpha), -(self.documents.astype(float) ** -beta)], axis=1
            )
            coefficients, rest = nnls(table, value)
            if best is None or rest < best[0] - 1e-12:
                best = rest, alpha, beta, coefficients
        assert best is not None
        return best[1], best[2], best[3]

    @staticmethod
    def _at(alpha: float, beta: float, coefficients: np.ndarray, n: Any, m: Any) -> np.ndarray:
        n, m = np.asarray(n, np.float64), np.asarray(m, np.float64)
        return coefficients[0] - coefficients[1] * n**-alpha - coefficients[2] * m**-beta

    def predict(self, queries: float, documents: float) -> Prediction:
        """The value to expect from this many queries with this many judged documents each."""
        found = np.array([float(self._at(a, b, c, queries, documents)) for a, b, c in self._fits])
        found = np.minimum(found, self.upper)
        low, high = np.quantile(found[1:], [0.05, 0.95])
        return Prediction(float(found[0]), float(min(low, found[0])), float(max(high, found[0])))

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
    from plackett._estimator import clone
    from plackett._progress import progress
    from plackett.data.splits import split_queries
    from plackett.evaluation.evaluate import evaluate
    from plackett.measures.language import parse

    if pilot.n_queries < 10:
        raise DataError(f"the pilot has {pilot.n_queries} queries; a learning curve needs 10 or more")
    if not 0 < test_share < 1 or n_repeats < 1:
        raise DataError(f"test_share={test_share}, n_repeats={n_repeats}; give a share, and 1 or more")
    if ranker is None:
        from plackett.rankers.pairwise.rank_svm import RankSVM

        ranker = RankSVM()
    longest = float(np.mean(pilot.group))
    wanted = np.unique(np.rint(np.geomspace(min(4.0, longest), longest, 3)).astype(int)) if depths is None else depths
    parsed = parse(measure)
    parts = []
    for r in range(n_repeats):
        train, test = split_queries(pilot, (1.0 - test_share, test_share), random_state=random_state + r)
        order = np.random.default_rng([random_state, r]).permutation(train.n_queries)
        parts.append((train, test, order))
    points = [(max(2, round(share * parts[0][0].n_queries)), int(depth)) for share, depth in product(shares, wanted)]
    points = list(dict.fromkeys(points))
    values = np.empty((n_repeats, len(points)))
    tasks = [(r, i) for r in range(n_repeats) for i in range(len(points))]
    for r, i in progress(tasks, "learning curve of the pilot", len(tasks), verbose=verbose):
        train, test, order = parts[r]
        n, m = points[i]
        rng = np.random.default_rng([random_state, r, i])
        part = hide_documents(train.select(np.sort(order[:n])), m, rng)
        scores = np.zeros(test.n_rows)
        if np.ptp(part.labels) > 0:
            scores = clone(ranker).fit(part).predict(test)
        values[r, i] = evaluate(test, scores, [parsed]).mean[str(parsed)]
    at = np.array(points)
    return LearningCurve(at[:, 0].astype(float), at[:, 1].astype(float), values, float(parsed.bounds[1]))
