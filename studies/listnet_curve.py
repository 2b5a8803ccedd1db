"""ListNet's loss and nDCG@5 while it trains."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.datasets.generate import make_ranking
from plackett.losses.listwise.listnet import ListNetLoss
from studies.base import Study, named_folds_of, per_query


def listnet_curve(
    data: Any = None, *, n_epochs: int = 200, learning_rate: float = 0.05, random_state: int = 0
) -> Study:
    r"""Does nDCG@5 rise while ListNet's loss falls, although the loss knows nothing about nDCG?

    A linear model on standardised features is trained by plain gradient descent, as in the paper. The study reports the
    Kullback–Leibler divergence :math:`D(P_y \| P_f)` of the top-one probabilities (mean over queries) and 1 − nDCG@5,
    on the training and test parts of the first fold. A note gives the rank correlation (Kendall's τ) of the two curves
    over all epochs.

    Parameters
    ----------
    data
        Folds, in any form that `plackett.experiment` accepts; None generates data.
    n_epochs, learning_rate
        Number of gradient descent steps, and their size.

    References
    ----------
    Cao, Qin, Liu, Tsai, Li: Learning to rank: from pairwise approach to listwise approach. ICML 2007.
    """
    import polars as pl
    from scipy.stats import kendalltau

    given = make_ranking(100, (10, 40), 12, random_state=random_state) if data is None else data
    name, folds = named_folds_of(given)
    fold = next(iter(folds.values()))
    parts = {"train": fold.train, "test": fold.test}
    mean, spread = fold.train.X.mean(axis=0), fold.train.X.std(axis=0)
    tables = {part: (dataset.X - mean) / np.where(spread > 0, spread, 1.0) for part, dataset in parts.items()}
    losses = {part: ListNetLoss().bind(dataset) for part, dataset in parts.items()}
    entropy = {part: losses[part].evaluate(dataset.labels)[0].mean() for part, dataset in parts.items()}
    weights = np.zeros(fold.train.n_features)
    rows = []
    for epoch in range(n_epochs + 1):
        row: dict[str, Any] = {"epoch": epoch}
        for part, dataset in parts.items():
            scores = tables[part] @ weights
            value, gradient, _ = losses[part].evaluate(scores)
            row[f"{part} KL"] = float(value.mean() - entropy[part])
            row[f"{part} 1 − nDCG@5"] = float(1 - per_query(dataset, scores, "nDCG@5").mean())
            if part == "train":
                step = tables[part].T @ gradient / dataset.n_queries
        weights -= learning_rate * step
        rows.append(row)
    frame = pl.DataFrame(rows)
    tau = {part: float(kendalltau(frame[f"{part} KL"], frame[f"{part} 1 − nDCG@5"])[0]) for part in parts}
    shown = frame.filter(pl.col("epoch").is_in(_milestones(n_epochs)))
    return Study(
        shown,
        f"ListNet's loss and 1 − nDCG@5 while it trains on {name}",
        tuple(f"Kendall's τ of the two curves on the {part} part: {value:.3f}" for part, value in tau.items()),
    )


def _milestones(n_epochs: int) -> list[int]:
    """Epochs to show: 0, 1, 2, 5, 10, 20, 50, … and the last."""
    steps = [m * 10**e for e in range(len(str(n_epochs))) for m in (1, 2, 5)]
    return sorted({0, n_epochs, *(s for s in steps if s < n_epochs)})
