"""Synthetic ranking data that behaves like real data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett._kernels.cores import n_threads
from plackett.data.dataset import RankingDataset

__all__ = ["make_ranking"]

#: Kinds of features, in the order they are assigned.
_CYCLE = (
    "match", "count", "match", "static", "query", "match", "copy", "noise", "match", "count",
    "match", "static", "copy", "noise", "match", "count", "match", "query", "copy", "noise",
)  # fmt: skip
_FACTORS = 6
_CHUNK = 16_384


def make_ranking(
    n_queries: int = 1000,
    docs_per_query: int | tuple[int, int] | Sequence[int] | np.ndarray | Callable[..., Any] = 100,
    n_features: int = 40,
    *,
    label_proportions: Sequence[float] = (0.52, 0.32, 0.13, 0.02, 0.01),
    noise: float = 0.5,
    missing: float = 0.0,
    random_state: Any = None,
    return_relevance: bool = False,
) -> RankingDataset | tuple[RankingDataset, np.ndarray]:
    r"""Random queries with documents, features like those of a search engine, and graded labels.

    Each document has six hidden factors :math:`z`, each query a difficulty and a type :math:`t`. The relevance is

    .. math:: r = z_0 + z_1 + 0.8\, z_0 z_1 + (1 + t)\, z_2 - 1.5 \max(z_3, 0) + \tanh(2 z_4) + \text{difficulty},

    and the labels are :math:`r` plus noise, cut into levels with the given proportions over all documents. The
    features are distorted views of the factors, as in real data. The name of a feature says what kind it is:

    ==========  =====================================================================================================
    ``match``   linear in the factors, with a different origin and scale in every query, as for retrieval scores
    ``count``   whole numbers with a heavy tail, at a rate that depends on the query
    ``static``  lognormal, a property of the document alone, such as link counts
    ``query``   constant in a query; the first one is its type, which matters in combination with others
    ``copy``    a copy of a ``match`` feature, with some noise added
    ``noise``   unrelated to relevance
    ==========  =====================================================================================================

    Queries differ more from each other than documents within a query do. A regression over all documents fits mostly
    these differences; a method that compares the documents of one query ignores them.

    Parameters
    ----------
    n_queries, n_features
        Size of the data.
    docs_per_query
        Number of documents per query: one number for all; a pair (least, most) to draw it at random in between; one
        number for each query; or a function that takes a NumPy generator and ``n_queries`` and returns these.
    label_proportions
        Share of each label 0, 1, …; kept exactly, up to rounding.
    noise
        Standard deviation of the noise in the labels, relative to that of the relevance.
    missing
        Share of values of ``match``, ``count``, ``static`` and ``copy`` features that are NaN.
    random_state
        Seed. The same seed gives the same data on any number of cores.
    return_relevance
        Also return the relevance without noise, which a perfect ranker would sort by.

    Examples
    --------
    >>> data = make_ranking(n_queries=20, docs_per_query=(5, 15), n_features=8, random_state=0)
    >>> data.n_queries, data.n_features, data.feature_names[:2]
    (20, 8, ('match_0', 'match_1'))
    """
    seeds = np.random.SeedSequence(int(np.random.default_rng(random_state).integers(2**63)))
    rng = np.random.default_rng(seeds.spawn(1)[0])
    sizes = _sizes(docs_per_query, n_queries, rng)
    shares = np.asarray(label_proportions, np.float64)
    if shares.ndim != 1 or (shares < 0).any() or not np.isclose(shares.sum(), 1):
        raise DataError(f"label_proportions must be shares that add up to 1, got {tuple(label_proportions)}")
    number("missing", missing, least=0, below=1)
    number("noise", noise, least=0)
    whole("n_features", n_features, least=1)
    query = np.repeat(np.arange(n_queries), sizes)
    recipe = _Recipe(n_queries, n_features, missing, rng)
    X = np.empty((query.size, n_features), np.float32)
    relevance = np.empty(query.size)
    disturbance = np.empty(query.size)
    starts = range(0, query.size, _CHUNK)

    def fill(start: int, seed: np.random.SeedSequence) -> None:
        rows = slice(start, start + _CHUNK)
        relevance[rows], disturbance[rows] = recipe.fill(X[rows], query[rows], np.random.default_rng(seed))

    # one generator per chunk of a fixed number of rows, so the order in which chunks are filled does not matter
    with ThreadPoolExecutor(n_threads()) as pool:
        list(pool.map(fill, starts, seeds.spawn(len(starts))))
    observed = relevance + noise * relevance.std() * disturbance
    data = RankingDataset(
        X=X,
        y=_labels(observed, shares),
        offsets=np.concatenate(([0], np.cumsum(sizes))),
        qids=np.arange(1, n_queries + 1),
        feature_names=recipe.names,
    )
    return (data, relevance) if return_relevance else data


class _Recipe:
    """How features are made from the factors: the parameters drawn once, and how to fill a block of rows."""

    def __init__(self, n_queries: int, n_features: int, missing: float, rng: np.random.Generator) -> None:
        kinds = [_CYCLE[j % len(_CYCLE)] for j in range(n_features)]
        counts = {kind: kinds.count(kind) for kind in dict.fromkeys(_CYCLE)}
        ends = np.cumsum(list(counts.values()))
        self.columns = {k: slice(int(e) - c, int(e)) for (k, c), e in zip(counts.items(), ends, strict=True)}
        self.names = tuple(f"{kind}_{i}" for kind, count in counts.items() for i in range(count))
        self.missing = np.float32(missing)
        n_match, n_static = counts["match"], counts["static"]

        def normal(*shape: int) -> np.ndarray:
            return rng.standard_normal(shape, np.float32)

        self.difficulty = 0.8 * normal(n_queries)
        self.type = normal(n_queries)
        # each feature sees one factor well and the others a little; the factors take turns
        self.loadings = 0.15 * normal(_FACTORS, n_features)
        self.loadings[np.arange(n_features) % (_FACTORS - 1), np.arange(n_features)] += 1
        static = self.columns["static"]
        self.loadings[:, static] = 0.15 * normal(_FACTORS, n_static)
        self.loadings[np.array([1, 3])[np.arange(n_static) % 2], np.arange(n_features)[static]] += 1
        self.origin = 4 * normal(n_queries, n_match)
        self.scale = np.exp(0.8 * normal(n_queries, n_match))
        self.rate = 1 + normal(n_queries, counts["count"])
        self.constant = normal(n_queries, counts["query"])
        self.constant[:, :1] = self.type[:, None]
        self.drift = 2 * normal(n_queries, counts["noise"])
        self.copied = rng.integers(0, n_match, counts["copy"])
        self.slope = np.exp(0.5 * normal(counts["copy"]))

    def fill(self, X: np.ndarray, query: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Write the features of some rows; return their relevance and unit noise for each."""
        z = rng.standard_normal((query.size, _FACTORS), np.float32)
        disturbance = rng.standard_normal(query.size)
        rng.standard_normal(dtype=np.float32, out=X)
        blocks = {kind: X[:, columns] for kind, columns in self.columns.items()}
        seen = {kind: z @ self.loadings[:, columns] for kind, columns in self.columns.items()}
        fuzzy = {kind: seen[kind] + 0.5 * blocks[kind] for kind in ("match", "count", "static")}
        scale = self.scale[query]
        blocks["match"][:] = self.origin[query] + scale * fuzzy["match"]
        blocks["count"][:] = np.floor(np.exp(self.rate[query] + 0.8 * fuzzy["count"]))
        blocks["static"][:] = np.exp(1.5 * fuzzy["static"])
        blocks["query"][:] = self.constant[query]
        blocks["copy"][:] = self.slope * (
            blocks["match"][:, self.copied] + 0.3 * scale[:, self.copied] * blocks["copy"]
        )
        blocks["noise"][:] += self.drift[query]
        if self.missing:
            for kind in ("match", "count", "static", "copy"):
                blocks[kind][rng.random(blocks[kind].shape, np.float32) < self.missing] = np.nan
        z0, z1, z2, z3, z4, _ = z.astype(np.float64).T
        relevance = z0 + z1 + 0.8 * z0 * z1 + (1 + self.type[query]) * z2 - 1.5 * np.maximum(z3, 0) + np.tanh(2 * z4)
        return relevance + self.difficulty[query], disturbance


def _sizes(docs_per_query: Any, n_queries: int, rng: np.random.Generator) -> np.ndarray:
    whole("n_queries", n_queries, least=1)
    if callable(docs_per_query):
        docs_per_query = np.asarray(docs_per_query(rng, n_queries))
    if isinstance(docs_per_query, tuple) and len(docs_per_query) == 2:
        least, most = docs_per_query
        if not 1 <= least <= most:
            raise DataError(f"docs_per_query must be (least, most) with 1 <= least <= most, got {docs_per_query}")
        return rng.integers(least, most + 1, n_queries)
    sizes = np.broadcast_to(docs_per_query, n_queries) if np.ndim(docs_per_query) == 0 else np.asarray(docs_per_query)
    if sizes.shape != (n_queries,):
        raise DataError(f"docs_per_query has shape {sizes.shape} for {n_queries} queries")
    counts = sizes.astype(np.int64)
    if (counts < 1).any() or (counts != sizes).any():
        raise DataError("docs_per_query must be whole numbers of 1 or more")
    return counts


def _labels(observed: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Cut the values into levels with the given shares; the lowest get label 0."""
    first = np.rint(np.cumsum(shares)[:-1] * observed.size).astype(np.int64)
    inside = first[first < observed.size]
    thresholds = np.full(first.size, np.inf)
    thresholds[: inside.size] = np.partition(observed, inside)[inside] if inside.size else ()
    return np.searchsorted(thresholds, observed, side="right").astype(np.float64)
