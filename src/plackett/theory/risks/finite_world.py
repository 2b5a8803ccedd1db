"""A finite distribution over queries and documents, for which every risk is known exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.data.dataset import RankingDataset
from plackett.data.preferences import Preferences
from plackett.theory.risks.associate_loss import AssociateLoss
from plackett.theory.risks.associate_losses import pair_values
from plackett.theory.risks.risk import Risk

__all__ = ["FiniteWorld"]

Score = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class FiniteWorld:
    """A finite distribution over queries and, for each, over labelled documents: samples and exact risks.

    In the document framework a document is drawn from the mixture of all queries; in the subset framework a query comes
    with all its documents, one of each; in the two-layer framework a query is drawn first and then its documents,
    independently.

    Parameters
    ----------
    features, labels, probabilities
        For each query: a table with a row per document, the labels, and how probable each document is (None: all
        equally).
    query_probability
        How probable each query is; None: all equally.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 16.

    Examples
    --------
    >>> world = FiniteWorld([[[0.0], [1.0]], [[0.0], [1.0]]], [[0, 1], [1, 0]], query_probability=[0.75, 0.25])
    >>> world.expected(Risk("pairwise 0-1", "two-layer", "average"), lambda X: X[:, 0])
    0.25
    >>> world.sample(3, 2, random_state=0)
    RankingDataset(3 queries, 6 rows, 1 feature)
    """

    features: Sequence[Any]
    labels: Sequence[Any]
    probabilities: Sequence[Any] | None = None
    query_probability: Any = None

    def __post_init__(self) -> None:
        tables = tuple(array(f"features of query {q}", table, 2) for q, table in enumerate(self.features))
        labels = tuple(array(f"labels of query {q}", y) for q, y in enumerate(self.labels))
        if (
            not tables
            or len(tables) != len(labels)
            or any(x.shape[:1] != y.shape for x, y in zip(tables, labels, strict=True))
        ):
            raise DataError("give a table of features and as many labels for each query")
        given = [np.ones(y.size) for y in labels] if self.probabilities is None else list(self.probabilities)
        if len(given) != len(labels):
            raise DataError(f"probabilities are given for {len(given)} queries, labels for {len(labels)}")
        chances = tuple(_distribution(p, y.size) for p, y in zip(given, labels, strict=True))
        queries = np.ones(len(labels)) if self.query_probability is None else self.query_probability
        for name, value in (
            ("features", tables),
            ("labels", labels),
            ("probabilities", chances),
            ("query_probability", _distribution(queries, len(labels))),
        ):
            object.__setattr__(self, name, value)

    # ------------------------------------------------------------------------------------------------------ samples

    def sample(self, n_queries: int, n_documents: Any, *, random_state: Any = None) -> RankingDataset:
        """Two-layer sample: queries, and for each independent documents (one number, or one per query)."""
        rng = np.random.default_rng(random_state)
        drawn = rng.choice(len(self.labels), n_queries, p=self.query_probability)
        sizes = np.broadcast_to(np.asarray(n_documents), n_queries)
        chosen = [rng.choice(self.labels[q].size, m, p=self._chance(q)) for q, m in zip(drawn, sizes, strict=True)]
        return self._dataset(drawn, chosen)

    def sample_documents(self, n: int, *, random_state: Any = None) -> RankingDataset:
        """Sample of the document framework: n independent documents as one query."""
        rng = np.random.default_rng(random_state)
        weight = np.concatenate([p * c for p, c in zip(self.query_probability, self._chances(), strict=True)])
        rows = rng.choice(weight.size, n, p=weight)
        X, y = np.concatenate(self.features), np.concatenate(self.labels)
        return RankingDataset.from_arrays(X[rows], y[rows], np.zeros(n, np.int64))

    def sample_subsets(self, n_queries: int, *, random_state: Any = None) -> RankingDataset:
        """Sample of the subset framework: queries with all their documents."""
        drawn = np.random.default_rng(random_state).choice(len(self.labels), n_queries, p=self.query_probability)
        return self._dataset(drawn, [np.arange(self.labels[q].size) for q in drawn])

    def sample_pairs(self, n_queries: int, n_pairs: int, *, random_state: Any = None) -> RankingDataset:
        """Two-layer sample of independent pairs: for each query pairs of unequal labels, as explicit preferences."""
        rng = np.random.default_rng(random_state)
        able = np.array([np.unique(y[p > 0]).size > 1 for y, p in zip(self.labels, self._chances(), strict=True)])
        chance = np.where(able, self.query_probability, 0.0)
        drawn = rng.choice(len(self.labels), n_queries, p=chance / chance.sum())
        chosen = []
        for q in drawn:
            u, v, weight = self._unequal(q)
            pair = rng.choice(u.size, n_pairs, p=weight / weight.sum())
            chosen.append(np.stack([u[pair], v[pair]], axis=1).ravel())
        data = self._dataset(drawn, chosen)
        rows = np.arange(data.n_rows)
        return data.replace(preferences=Preferences.from_pairs(rows.reshape(-1, 2)))

    # ------------------------------------------------------------------------------------------------------- exact

    def expected(self, risk: Risk, score: Score) -> float:
        """The expected risk of a scoring function of feature tables, by enumeration."""
        loss = risk.associate_loss
        value = _EXACT[loss.associate, risk.framework, risk.view](self, risk, loss, score)
        return float(risk.scale * value)

    def _dataset(self, drawn: np.ndarray, chosen: list[np.ndarray]) -> RankingDataset:
        X = np.concatenate([self.features[q][rows] for q, rows in zip(drawn, chosen, strict=True)])
        y = np.concatenate([self.labels[q][rows] for q, rows in zip(drawn, chosen, strict=True)])
        return RankingDataset.from_arrays(X, y, np.repeat(np.arange(len(chosen)), [rows.size for rows in chosen]))

    def _chances(self) -> Sequence[Any]:
        assert self.probabilities is not None
        return self.probabilities

    def _chance(self, q: int) -> np.ndarray:
        return self._chances()[q]

    def _unequal(self, q: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Better and worse document of the pairs of unequal labels, and how probable each is."""
        y, p = self.labels[q], self._chance(q)
        u, v = np.nonzero(y[:, None] > y)
        return u, v, p[u] * p[v]

    def _pairs(self, q: int, loss: AssociateLoss, s: np.ndarray) -> tuple[float, float]:
        """Expected loss of two independent documents of a query, and the probability that their labels differ."""
        u, v, weight = self._unequal(q)
        y = self.labels[q]
        values = pair_values(loss, np.stack([s[u], s[v]], axis=1), np.stack([y[u], y[v]], axis=1)) if u.size else 0.0
        return float(2.0 * (weight * values).sum()), float(2.0 * weight.sum())

    def merged(self) -> FiniteWorld:
        """The mixture of all queries as one query: what the document framework draws from."""
        weight = np.concatenate([p * c for p, c in zip(self.query_probability, self._chances(), strict=True)])
        return FiniteWorld([np.concatenate(self.features)], [np.concatenate(self.labels)], [weight])


def _distribution(p: Any, n: int) -> np.ndarray:
    values = array("probabilities", p, least=0.0)
    if values.shape != (n,) or not values.sum() > 0:
        raise DataError(f"probabilities must be {n} numbers of 0 or more that are not all 0")
    return values / values.sum()


# -------------------------------------------------------------------------------------- expected risks, cell by cell


def _documents(world: FiniteWorld, risk: Risk, loss: AssociateLoss, score: Score) -> float:
    total = 0.0
    for q, p in enumerate(world.query_probability):
        single = RankingDataset.from_arrays(None, world.labels[q], np.arange(world.labels[q].size))
        total += p * (world._chance(q) * loss.sums(score(world.features[q]), single)).sum()
    return total


def _documents_of_sets(world: FiniteWorld, risk: Risk, loss: AssociateLoss, score: Score) -> float:
    """Every document of a query once."""
    flat = FiniteWorld(world.features, world.labels, None, world.query_probability)
    return _documents(flat, risk, loss, score)


def _pairs_complete(world: FiniteWorld, risk: Risk, loss: AssociateLoss, score: Score) -> float:
    parts = [world._pairs(q, loss, score(world.features[q]))[0] for q in range(len(world.labels))]
    return float(world.query_probability @ np.array(parts))


def _pairs_labelled(world: FiniteWorld, risk: Risk, loss: AssociateLoss, score: Score) -> float:
    by_query = np.array([world._pairs(q, loss, score(world.features[q])) for q in range(len(world.labels))])
    used = by_query[:, 1] > 0
    chance = world.query_probability[used]
    return float((chance / chance.sum()) @ (by_query[used, 0] / by_query[used, 1]))


def _merged(cell: Callable[..., float]) -> Callable[..., float]:
    return lambda world, risk, loss, score: cell(world.merged(), risk, loss, score)


def _observed_pairs(world: FiniteWorld, risk: Risk, loss: AssociateLoss, score: Score) -> float:
    """Pairs of unequal labels inside queries, each as probable as it is drawn."""
    by_query = np.array([world._pairs(q, loss, score(world.features[q])) for q in range(len(world.labels))])
    return float((world.query_probability @ by_query[:, 0]) / (world.query_probability @ by_query[:, 1]))


def _sets(world: FiniteWorld, risk: Risk, loss: AssociateLoss, score: Score) -> float:
    """The risk of a sample that has every query once, weighted by how probable it is."""
    data = world._dataset(np.arange(len(world.labels)), [np.arange(y.size) for y in world.labels])
    terms = Risk(loss, risk.framework, risk.view)
    values = terms.terms(np.concatenate([score(x) for x in world.features]), data)
    used = ~np.isnan(values)
    return float((world.query_probability[used] / world.query_probability[used].sum()) @ values[used])


def _draws(world: FiniteWorld, risk: Risk, loss: AssociateLoss, score: Score) -> float:
    """Lists of independent documents, by enumeration."""
    total = 0.0
    for q, p in enumerate(world.query_probability):
        y, s, chance = world.labels[q], score(world.features[q]), world._chance(q)
        lists = np.array(list(product(range(y.size), repeat=risk.size)))
        data = RankingDataset.from_arrays(None, y[lists].ravel(), np.repeat(np.arange(lists.shape[0]), risk.size))
        values, weight = loss.sums(s[lists].ravel(), data), chance[lists].prod(axis=1)
        if (undefined := np.isnan(values) & (weight > 0)).any():
            raise DataError(f"the loss is undefined for {undefined.sum()} lists of query {q}: its mean is not known")
        total += p * (weight * values).sum()
    return total


_EXACT: dict[tuple[str, str, str], Callable[..., float]] = {
    ("document", "document", "average"): _documents,
    ("document", "subset", "average"): _documents_of_sets,
    ("document", "two-layer", "average"): _documents,
    ("pair", "document", "u-statistic"): _merged(_pairs_complete),
    ("pair", "document", "bipartite"): _merged(_pairs_labelled),
    ("pair", "document", "average"): _observed_pairs,
    ("pair", "subset", "u-statistic"): _sets,
    ("pair", "subset", "average"): _sets,
    ("pair", "two-layer", "u-statistic"): _pairs_complete,
    ("pair", "two-layer", "average"): _pairs_labelled,
    ("list", "subset", "average"): _sets,
    ("list", "two-layer", "sub-list"): _draws,
}
