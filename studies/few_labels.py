"""Whether documents without labels help where few have labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.experiments.data import folds_by_dataset
from studies._gains import Gains
from studies.base import Study


def few_labels(
    data: Any = None,
    *,
    n_labelled: int = 2,
    labelled_queries: int | None = None,
    n_draws: int = 10,
    reference: int | None = None,
    measure: str = "nDCG@10",
    random_state: int = 0,
    n_jobs: int | None = 1,
) -> Study:
    """Do documents without labels help when only a few have been judged?

    On made-up data the documents of a list form two clusters, relevant and not, in 20 noisy features; few documents
    of two lists have labels. With ``data``, all but ``n_labelled`` documents of each grade are hidden in each training
    query, and all of the queries beyond ``labelled_queries`` (default: a tenth of them). The baseline learns from the
    labelled documents alone; all rankers have the same base, a ranking SVM. Nothing is chosen on test or validation
    data.

    Parameters
    ----------
    reference
        The column that teaches the lists without labels (weak supervision), for ``data``; None takes the one that
        orders the labelled documents of the training queries best.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 8.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    if data is None:
        for name, separation in (("clear clusters", 1.3), ("no clusters", 0.35)):
            gains = Gains(measure, data=name)
            for draw in range(n_draws):
                train, _ = _planted(2, separation, [random_state, draw, 0], labelled=1)
                _, test = _planted(30, separation, [random_state, draw, 1])
                gains.run(_rankers(train, None, n_jobs), test)
            rows += gains.rows()
    else:
        for name, folds in folds_by_dataset(data).items():
            gains = Gains(measure, data=name)
            for number, fold in enumerate(folds.values()):
                count = max(2, fold.train.n_queries // 10) if labelled_queries is None else labelled_queries
                hidden = _hidden(fold.train, n_labelled, count, [random_state, number])
                teacher = _best_column(hidden) if reference is None else reference
                gains.run(_rankers(hidden, teacher, n_jobs), fold.test)
            rows += gains.rows()
    notes = (
        "Gain over the labelled documents alone; share of queries that gain minus share that lose; p of Fisher's "
        "randomisation test, not corrected for the number of rankers.",
    )
    return Study(
        pl.DataFrame(rows, infer_schema_length=None), "Few labels: with and without the unlabelled documents", notes
    )


def _rankers(train: RankingDataset, reference: int | None, n_jobs: int | None) -> dict[str, Any]:
    import plackett.rankers as rankers

    base = rankers.RankSVM(C=0.01, n_jobs=n_jobs)

    def semi(cls: Any, **parameters: Any) -> Any:
        return lambda: cls(base=base, n_jobs=n_jobs, **parameters).fit(train)

    trainers = {
        "labelled alone": lambda: base.fit(train),
        "labels of neighbours, pooled": semi(rankers.SimilarityPropagation, n_neighbors=5),
        "labels of neighbours, two lists": semi(rankers.SemiSupervisedRankBoost, n_neighbors=5, trade_off=1.0),
        "graph, clamped": semi(rankers.GraphPropagation),
        "graph, mixed": semi(rankers.GraphPropagation, kappa=0.5),
        "preferences of neighbours": semi(rankers.PreferencePropagation, n_neighbors=5),
    }
    if reference is not None:
        trainers["weak teacher"] = semi(rankers.WeakSupervision, reference=reference)
    return trainers


def _best_column(data: RankingDataset) -> int:
    """The feature by which most pairs of labelled documents are in the right order."""
    from plackett.data.preferences import Preferences

    pairs = Preferences.from_labels(data, margin=False)
    X = data.dense()
    return int((np.sign(X[pairs.winner] - X[pairs.loser]).sum(axis=0)).argmax())


def _hidden(data: RankingDataset, n_labelled: int, n_queries: int, seed: Any) -> RankingDataset:
    """Labels of a few documents of each grade in a few queries; −1 elsewhere."""
    rng = np.random.default_rng(seed)
    useful = np.flatnonzero([np.unique(part[part >= 0]).size > 1 for part in np.split(data.labels, data.offsets[1:-1])])
    chosen = np.zeros(data.n_queries, bool)
    chosen[rng.permutation(useful)[:n_queries]] = True
    order = rng.permutation(data.n_rows)
    group = np.lexsort((data.labels[order], data.query_of_row[order]))
    order = order[group]
    key = data.query_of_row[order] * (data.labels.max() + 2.0) + data.labels[order]
    first = np.concatenate(([True], np.diff(key) != 0))
    position = np.arange(order.size) - np.maximum.accumulate(np.where(first, np.arange(order.size), 0))
    y = np.full(data.n_rows, -1.0)
    labelled = order[(position < n_labelled) & chosen[data.query_of_row[order]]]
    y[labelled] = data.labels[labelled]
    return data.replace(y=y)


def _planted(
    n: int, separation: float, seed: Any, labelled: int = 10, n_docs: int = 20, n_features: int = 20
) -> tuple[RankingDataset, RankingDataset]:
    """Two clusters per list, relevant and not; with few labels, and with all."""
    rng = np.random.default_rng(seed)
    kind = np.tile(np.arange(n_docs) % 2, n)
    direction = np.zeros(n_features)
    direction[:8] = separation * np.resize([1.0, -1.0], 8)
    X = np.repeat(0.3 * rng.normal(size=(n, n_features)), n_docs, axis=0) + np.outer(kind, direction)
    X += 0.8 * rng.normal(size=X.shape)
    has_label = np.tile(np.arange(n_docs) < 2 * labelled, n)
    data = RankingDataset.from_arrays(X, np.where(has_label, kind, -1.0), np.repeat(np.arange(n), n_docs))
    return data, data.replace(y=kind.astype(np.float64))
