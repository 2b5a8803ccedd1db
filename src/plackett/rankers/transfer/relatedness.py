"""How alike two ranking tasks are."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.canonical import canonical_order
from plackett.data.dataset import RankingDataset
from plackett.data.trained_columns import TrainedColumns
from plackett.rankers.transfer.base import agreement
from plackett.rankers.transfer.domains import pooled
from plackett.rankers.wrapper import SingleMember

__all__ = ["relatedness"]


def relatedness(a: RankingDataset, b: RankingDataset, base: Any = None) -> dict[str, float]:
    r"""Measures of how alike two ranking tasks with the same features are, to judge whether transfer may help.

    Parameters
    ----------
    a, b
        Labelled data of the two domains. Features are matched by name if both have names, else by position.
    base
        The ranker to compare with, as in the transfer rankers; None uses `RankSVM`.

    Returns
    -------
    dict
        ``"a on b"`` and ``"b on a"``: share of the pairs of one domain that a ranker of the other orders correctly
        (0.5 is chance, ties are not correct). ``"tau"``: Kendall's τ between the orders of the two rankers on the lists
        of both, 1 if they agree everywhere. ``"cosine"``: of the weights of the standardised features; NaN if the
        ranker is not linear. ``"a-distance"``: how well a linear classifier tells the documents apart,
        :math:`2 (1 - 2 \epsilon)` with held-out error ε: 0 if they look the same, 2 if they never do.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=80, docs_per_query=8, n_features=5, random_state=0)
    >>> likeness = relatedness(data.select(range(40)), data.select(range(40, 80)))
    >>> likeness["tau"] > 0.5, likeness["a-distance"] < 0.5
    (True, True)

    References
    ----------
    Ben-David, Blitzer, Crammer, Pereira: Analysis of representations for domain adaptation. NIPS 2006.
    Liu: Learning to rank for information retrieval. Springer 2011, section 9.3.
    """
    if a.n_features != b.n_features:
        raise DataError(f"the tasks have {a.n_features} and {b.n_features} features; they must have the same")
    if a.n_rows == 0 or b.n_rows == 0:
        raise DataError("one of the tasks has no documents")
    b = TrainedColumns(None if a.feature_names is None else tuple(a.feature_names)).aligned(b, "the second task")
    if a.feature_names is None or b.feature_names is None:
        a, b = a.replace(feature_names=None), b.replace(feature_names=None)
    make = SingleMember(base=base).base_ranker()
    tasks = [canonical_order(task) for task in (a, b)]
    rankers = [make.trained_copy(task) for task in tasks]
    measures: dict[str, float] = {}
    for name, ranker, task in (("a on b", rankers[0], tasks[1]), ("b on a", rankers[1], tasks[0])):
        pairs, _ = agreement(task, ranker.score_rows(task))
        total = _n_pairs(task)
        measures[name] = len(pairs) / total if total else float("nan")
    both = pooled([task.replace(preferences=None) for task in tasks], [1.0, 1.0])
    measures["tau"] = _tau(both, *(ranker.score_rows(both) for ranker in rankers))
    measures["cosine"] = _cosine(both, *rankers)
    measures["a-distance"] = _a_distance(*(task.dense() for task in tasks))
    return measures


def _n_pairs(data: RankingDataset) -> int:
    from plackett.losses.pairwise.base import total_pair_weight

    return round(float(total_pair_weight(data.replace(sample_weight=None, preferences=None)).sum()))


def _tau(data: RankingDataset, first: np.ndarray, second: np.ndarray) -> float:
    """Mean over lists of Kendall's τ; tied pairs count as neither concordant nor discordant."""
    from scipy.stats import kendalltau

    values = [
        kendalltau(first[lo:hi], second[lo:hi]).statistic
        for lo, hi in zip(data.offsets[:-1], data.offsets[1:], strict=True)
        if hi - lo > 1
    ]
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else float("nan")


def _cosine(data: RankingDataset, first: Any, second: Any) -> float:
    if not (hasattr(first, "coef_") and hasattr(second, "coef_")):
        return float("nan")
    scale = data.dense().std(axis=0)
    u, v = first.coef_ * scale, second.coef_ * scale
    size = float(np.linalg.norm(u) * np.linalg.norm(v))
    return float(u @ v) / size if size else float("nan")


def _a_distance(first: np.ndarray, second: np.ndarray) -> float:
    """2 (1 − 2 ε) with the held-out error of a logistic regression, both domains counting the same."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = np.nan_to_num(np.vstack([first, second]).astype(np.float64))
    y = np.repeat([0, 1], [len(first), len(second)])
    if min(len(first), len(second)) < 2:
        return float("nan")
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=1000))
    guess = cross_val_predict(model, X, y, cv=min(5, len(first), len(second)))
    error = 0.5 * float((guess[y == 0] != 0).mean() + (guess[y == 1] != 1).mean())
    return max(0.0, 2.0 * (1.0 - 2.0 * error))
