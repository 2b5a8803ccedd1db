"""Synthetic lists whose documents are related, for rankers that use relations."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.relation_builders.hyperedges import hyperedges
from plackett.data.relations import Relation

__all__ = ["clustered_lists", "site_lists"]


def clustered_lists(
    n_queries: int = 60,
    *,
    clusters: int = 5,
    size: int = 4,
    noise: float = 2.0,
    informative: bool = True,
    seed: int = 0,
) -> RankingDataset:
    """Lists in which documents come in clusters of the same label, and the features of a single document say little.

    The relations ``similarity`` (the other documents of the cluster) and ``hyperedge`` (the clusters as groups) follow
    the clusters, or groups of random documents if they should not be informative.
    """
    rng = np.random.default_rng(seed)
    n = n_queries * clusters * size
    label = np.repeat(rng.integers(0, 3, n_queries * clusters), size).astype(float)
    X = np.stack([label + rng.normal(scale=noise, size=n), rng.normal(size=n)], axis=1)
    qid = np.repeat(np.arange(n_queries), clusters * size)
    row = np.arange(n)
    if not informative:
        row = rng.permuted(row.reshape(n_queries, -1), axis=1).ravel()
    position = np.arange(n)
    near = np.concatenate([row[position // size * size + (position + step) % size] for step in range(1, size)])
    data = RankingDataset.from_arrays(X, label, qid)
    group = np.empty(n, np.int64)
    group[row] = position // size
    relations = {"similarity": Relation(np.tile(row, size - 1), near), "hyperedge": hyperedges(data, group.tolist())}
    return data.replace(relations=relations)


def site_lists(
    n_queries: int = 60, *, sites: int = 4, pages: int = 5, noise: float = 1.0, informative: bool = True, seed: int = 0
) -> RankingDataset:
    """Lists of pages from several sites; only the entry page of a good site is wanted.

    The relation ``parent`` has the pairs (page, entry page), or pairs of pages drawn at random.
    """
    rng = np.random.default_rng(seed)
    good = rng.random((n_queries, sites)) < 0.5
    n = good.size * pages
    X = (2.0 * np.repeat(good.ravel(), pages) + rng.normal(scale=noise, size=n))[:, None]
    first = np.arange(n) % pages == 0
    label = np.where(first, 2.0 * np.repeat(good.ravel(), pages), 0.0)
    qid = np.repeat(np.arange(n_queries), sites * pages)
    page = np.arange(n)
    if not informative:
        page = rng.permuted(page.reshape(n_queries, -1), axis=1).ravel()
    child = np.flatnonzero(~first)
    parents = Relation(page[child], page[child // pages * pages])
    return RankingDataset.from_arrays(X, label, qid, relations={"parent": parents})
