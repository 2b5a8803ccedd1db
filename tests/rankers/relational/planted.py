"""Lists whose documents come in clusters: neighbours carry relevance that the own features show poorly."""

from __future__ import annotations

import numpy as np

from plackett import RankingDataset, Relation


def planted(seed=0, n_queries=30, clusters=4, size=4, noise=2.0):
    """A feature of much noise; documents of a cluster have the same label and are related."""
    rng = np.random.default_rng(seed)
    m = clusters * size
    label = np.concatenate([np.repeat(rng.integers(0, 3, clusters), size) for _ in range(n_queries)]).astype(float)
    X = np.stack([label + rng.normal(scale=noise, size=label.size), rng.normal(size=label.size)], axis=1)
    row = np.arange(label.size)
    near = np.concatenate([row // size * size + (row + step) % size for step in range(1, size)])
    relation = Relation(np.tile(row, size - 1), near)
    qid = np.repeat(np.arange(n_queries), m)
    return RankingDataset.from_arrays(X, label, qid, relations={"similarity": relation})


def sites(seed=0, n_queries=30, n_sites=3, pages=4, noise=1.0):
    """Entry pages are wanted, but score like the pages below them; pairs (page, entry page)."""
    rng = np.random.default_rng(seed)
    X, y, pairs, row = [], [], [], 0
    for _ in range(n_queries):
        for site in range(n_sites):
            good = rng.random() < 0.5 or site == 0
            X += [[2.0 * good + rng.normal(scale=noise)] for _ in range(pages)]
            y += [2.0 * good] + [0.0] * (pages - 1)
            pairs += [(row + page, row) for page in range(1, pages)]
            row += pages
    qid = np.repeat(np.arange(n_queries), n_sites * pages)
    return RankingDataset.from_arrays(X, y, qid, relations={"parent": Relation.from_pairs(pairs)})
