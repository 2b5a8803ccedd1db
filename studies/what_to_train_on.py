"""What to train on: choices of queries, documents and weights, compared with a random choice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.datasets.generate import make_ranking
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.selection.selection_bias import selection_weights, two_phase
from plackett.selection.training.density_ratio import kliep_weights, ulsif_weights
from plackett.selection.training.ppc import consistent_documents, consistent_pairs, consistent_queries
from plackett.selection.training.saturation import saturation
from studies.base import Study, named_folds_of, per_query
from studies.what_to_label import difference


def what_to_train_on(data: Any = None, *, wrong: float = 0.3, n_repeats: int = 10, random_state: int = 0) -> Study:
    """Is less training data better than all of it, if it is well chosen?

    A linear ranker is trained on queries of which some have their labels reversed: on all, on a random half, on the
    half of the queries that agree most, on documents of consistent pairs and on as many random documents. A second
    table trains on what a weak first phase puts on top, with weights against that bias; a third one stops when the
    learning curve is flat. Tests are on other queries with right labels. Each repetition draws other queries.

    Parameters
    ----------
    data
        A dataset, or folds (the first is used); None generates data.
    wrong
        Share of the training queries with reversed labels.

    References
    ----------
    Geng, Qin, Liu, Cheng, Li: Selecting optimal training data for learning to rank. Information Processing and
    Management 47, 2011.
    """
    import polars as pl

    fold = next(iter(named_folds_of(data)[1].values())) if data is not None else None
    quality: dict[str, list[float]] = {}
    biased: dict[str, list[float]] = {}
    for repeat in range(n_repeats):
        rng = np.random.default_rng((random_state, repeat))
        if fold is None:
            whole: Any = make_ranking(
                n_queries=140, docs_per_query=20, n_features=12, noise=1.0, random_state=random_state + repeat
            )
            train, test = whole.select(np.arange(40)), whole.select(np.arange(40, 140))
        else:
            train = fold.train.select(rng.choice(fold.train.n_queries, min(60, fold.train.n_queries), replace=False))
            test = fold.test
        flipped = rng.random(train.n_queries) < wrong
        noisy = _scaled(train, train).replace(
            y=np.where(flipped[train.query_of_row], train.labels.max() - train.labels, train.labels)
        )
        for name, part in _parts(noisy, rng).items():
            quality.setdefault(name, []).append(_quality(part, _scaled(test, train)))
        for name, value in _weighted(_scaled(train, train), _scaled(test, train), rng).items():
            biased.setdefault(name, []).append(value)
    reference = {"consistent documents": "random documents", "consistent queries": "random half of the queries"}
    rows = [
        (name, float(np.mean(v)), *difference(v, quality[reference.get(name, "random half of the queries")]))
        for name, v in quality.items()
    ]
    columns = ["trained on", "nDCG@10", "minus random", "from", "to"]
    weighted = [(name, float(np.mean(v)), *difference(v, biased["no weights"])) for name, v in biased.items()]
    lost = [row[0] for row in rows if row[4] < 0] + [row[0] for row in weighted if row[4] < 0]
    return Study(
        pl.DataFrame(rows, columns, orient="row"),
        f"Labels of {wrong:.0%} of the training queries reversed, {n_repeats} repetitions",
        tuple(f"{name} loses to what it is compared with." for name in lost),
        (
            Study(
                pl.DataFrame(weighted, [columns[0], columns[1], "minus none", *columns[3:]], orient="row"),
                "Right labels, but only of documents that a weak first phase ranks high",
            ),
            _curve(fold, random_state),
        ),
    )


def _scaled(part: RankingDataset, by: RankingDataset) -> RankingDataset:
    X = by.dense().astype(np.float64)
    spread = X.std(axis=0)
    scaled = (part.dense() - X.mean(axis=0)) / np.where(spread > 1e-9, spread, 1.0)
    return part.replace(X=scaled.astype(np.float32))


def _fit(data: RankingDataset) -> RankSVM:
    return RankSVM(C=0.001).fit(data)


def _quality(train: RankingDataset, test: RankingDataset) -> float:
    return float(per_query(test, _fit(train).predict(test), "nDCG@10").mean())


def _rows(data: RankingDataset, rows: np.ndarray, weight: np.ndarray | None = None) -> RankingDataset:
    return RankingDataset.from_arrays(
        data.X[rows], data.labels[rows], data.query_of_row[rows], sample_weight=None if weight is None else weight
    )


def _parts(data: RankingDataset, rng: np.random.Generator) -> dict[str, RankingDataset]:
    half = max(data.n_queries // 2, 1)
    consistent = np.flatnonzero(consistent_documents(data, consistent_pairs(data, random_state=0)))
    return {
        "everything": data,
        "random half of the queries": data.select(np.sort(rng.choice(data.n_queries, half, replace=False))),
        "consistent queries": data.select(np.sort(consistent_queries(data, half))),
        "random documents": _rows(data, np.sort(rng.choice(data.n_rows, consistent.size, replace=False))),
        "consistent documents": _rows(data, consistent),
    }


def _weighted(train: RankingDataset, test: RankingDataset, rng: np.random.Generator) -> dict[str, float]:
    weak = train.X[:, 0] + rng.normal(size=train.n_rows)
    pool = two_phase(train, weak, k=int(train.group.max()), pool_depth=6).pool
    candidates = np.asarray(train.X, np.float64)
    methods: dict[str, Callable[..., np.ndarray]] = {
        "logistic weights": selection_weights,
        "KLIEP weights": kliep_weights,
        "uLSIF weights": ulsif_weights,
    }
    qualities = {"no weights": _quality(pool, test)}
    for name, method in methods.items():
        weight = method(np.asarray(pool.X, np.float64), candidates)
        qualities[name] = _quality(pool.replace(sample_weight=np.maximum(weight, 1e-3)), test)
    return qualities


def _curve(fold: Any, random_state: int) -> Study:
    """The learning curve, and where it says to stop."""
    import polars as pl

    if fold is None:
        whole: Any = make_ranking(n_queries=700, docs_per_query=20, n_features=12, noise=1.0, random_state=random_state)
        train, test = whole.select(np.arange(500)), whole.select(np.arange(500, 700))
    else:
        train, test = fold.train, fold.test
    train, test = _scaled(train, train), _scaled(test, train)
    order = np.random.default_rng(random_state).permutation(train.n_queries)

    def error(n: int) -> float:
        return 1.0 - _quality(train.select(np.sort(order[:n])), test)

    curve = saturation(error, train.n_queries, start=min(8, train.n_queries), tolerance=0.002)
    full_error = error(train.n_queries)
    frame = pl.DataFrame({"queries": curve.sizes, "nDCG@10": 1.0 - curve.errors})
    word = "stopped" if curve.saturated else "ran out of queries"
    return Study(
        frame,
        f"Learning curve; it {word} at {curve.sizes[-1]} of {train.n_queries} queries",
        (
            f"Expected gain of twice as many queries: {curve.gain:.4f}, and with 95 % confidence at most "
            f"{curve.gain_high:.4f}. With all {train.n_queries} queries nDCG@10 is "
            f"{1.0 - full_error:.4f}.",
        ),
    )
