"""Which features to keep, compared with a random choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from studies.base import Study, named_folds_of, of_queries, per_query


def which_features(
    data: Any = None,
    *,
    sizes: Sequence[int] = (2, 4, 8),
    n_seeds: int = 10,
    n_groups: int = 6,
    n_copies: int = 3,
    n_noise: int = 6,
    n_queries: int = 40,
    n_docs: int = 15,
    random_state: int = 0,
) -> Study:
    """Does a selection that avoids redundancy beat the most important features, and a random choice?

    Relevance is a sum of ``n_groups`` signals of falling weight. Each signal is seen by ``n_copies`` noisy features,
    and ``n_noise`` features are noise. For each seed, features are selected and a linear regression is trained on the
    same queries, and measured on fresh ones: by importance alone (c = 0), by GAS with c = 1 / (4 t) and c = 1 / t, by
    `feature_frontier` (its first t features, on a third of the training queries), and at random. The interval is 1.96
    standard errors over seeds of the difference from random on the same seed.

    Parameters
    ----------
    data
        A dataset, or folds (the first is used); each seed draws half of its training queries. None generates data.

    References
    ----------
    Geng, Liu, Qin, Li: Feature selection for ranking. SIGIR 2007.
    """
    import polars as pl

    from plackett.feature_selection.cost import feature_frontier
    from plackett.feature_selection.greedy import GreedySelector, greedy_choice
    from plackett.rankers.pointwise.linear_regression import LinearRegression

    qualities: dict[tuple[int, str], list[float]] = {}
    fold = next(iter(named_folds_of(data)[1].values())) if data is not None else None
    n_features = n_groups * n_copies + n_noise if fold is None else fold.train.n_features
    for seed in range(n_seeds):
        rng = np.random.default_rng([random_state, seed])
        weights = np.geomspace(1.0, 0.3, n_groups)

        def draw(rng: np.random.Generator = rng, weights: np.ndarray = weights) -> RankingDataset:
            signals = rng.standard_normal((n_queries * n_docs, n_groups))
            copies = np.repeat(signals, n_copies, axis=1)
            copies += 0.5 * rng.standard_normal(copies.shape)
            X = np.hstack([copies, rng.standard_normal((copies.shape[0], n_noise))])
            truth = signals @ weights
            y = np.digitize(truth, np.quantile(truth, [0.6, 0.85])).astype(float)
            return of_queries(X, y, [n_docs] * n_queries)

        if fold is None:
            train, test = draw(), draw()
        else:
            half = rng.choice(fold.train.n_queries, max(fold.train.n_queries // 2, 3), replace=False)
            train, test = (part.replace(feature_names=None) for part in (fold.train.select(np.sort(half)), fold.test))
        gas = GreedySelector(n_jobs=1).fit(train)
        third = train.n_queries // 3
        parts = train.select(np.arange(third, train.n_queries)), train.select(np.arange(third))
        path = feature_frontier(LinearRegression(n_jobs=1), *parts, method="importance", verbose=False)
        added = [int(name) - 1 for name in path.frame["added"]]
        for t in sizes:
            chosen = {"random": rng.permutation(n_features)[:t], "frontier": np.array(added[:t])}
            for name, c in (("importance", 0.0), ("GAS, c = 1/(4t)", 0.25 / t), ("GAS, c = 1/t", 1.0 / t)):
                chosen[name] = greedy_choice(
                    gas.importances_, gas.similarities_, n_features=t, redundancy=c, last=gas.constant_
                )[0]
            chosen["all"] = np.arange(n_features)
            for name, columns in chosen.items():
                selected = np.sort(columns)
                ranker = LinearRegression(n_jobs=1).fit(train.replace(X=train.X[:, selected]))
                fresh = test.replace(X=test.X[:, selected])
                qualities.setdefault((t, name), []).append(
                    float(np.nanmean(per_query(fresh, ranker.predict(fresh), "nDCG@10")))
                )
    rows: list[dict[str, Any]] = []
    for (t, name), values in qualities.items():
        gain = np.array(values) - np.array(qualities[t, "random"])
        rows.append(
            {
                "features": t,
                "selection": name,
                "nDCG@10": float(np.mean(values)),
                "minus random": float(gain.mean()),
                "±": float(1.96 * gain.std(ddof=1) / np.sqrt(gain.size)) if gain.size > 1 else 0.0,
            }
        )
    lost = [row for row in rows if row["minus random"] + row["±"] < 0]
    notes = tuple(f"{row['selection']} loses to random with {row['features']} features." for row in lost)
    return Study(pl.DataFrame(rows), f"Selection of features among {n_features}: means over {n_seeds} seeds", notes)
