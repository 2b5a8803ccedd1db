"""Parameters of a ranker chosen by clicks: on queries it has not learned from, without a model of the bias."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett.clicks.log import ClickLog
from plackett.clicks.unbiased.agreement import Agreement, EqualRanks
from plackett.data.dataset import RankingDataset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["tune_by_clicks"]


@dataclass(frozen=True, eq=False)
class TunedByClicks:
    """Result of `tune_by_clicks`.

    Attributes
    ----------
    name
        The chosen candidate.
    ranker
        The chosen candidate, fitted to all labels.
    table
        Agreement of each candidate with the clicks of other queries, and its standard error.
    """

    name: str
    ranker: Any
    table: pl.DataFrame


def out_of_fold(ranker: Any, train: RankingDataset, data: RankingDataset, fold: np.ndarray) -> np.ndarray:
    """Scores of the rows of ``data``, each by a ranker that has not learned from its query.

    ``fold`` is the fold of each query of ``data``; ``train`` has labels for some of them.
    """
    known = {qid: i for i, qid in enumerate(data.qids.tolist())}
    own = np.array([fold[known[qid]] for qid in train.qids.tolist()])
    scores = np.zeros(data.n_rows)
    of_row = np.repeat(fold, np.diff(data.offsets))
    for i in np.unique(fold):
        if (own != i).any():
            fitted = deepcopy(ranker).fit(train.select(np.flatnonzero(own != i)))
            scores[of_row == i] = fitted.predict(data.select(np.flatnonzero(fold == i)))
    return scores


def tune_by_clicks(
    log: ClickLog,
    data: RankingDataset,
    train: RankingDataset,
    rankers: Mapping[str, Any],
    *,
    n_folds: int = 3,
    random_state: Any = 0,
) -> TunedByClicks:
    """Choose between rankers, such as strengths of regularisation, without grades and without a model of the bias.

    Each candidate learns from the labels of a part of the queries. Clicks on the other queries judge it, but only
    between documents that were shown at equal ranks, where position and trust are the same for both
    (`plackett.clicks.rank_agreement`). A validation by all clicks would prefer what repeats the logged order. Labels
    made from clicks are noisy, and rankers need more regularisation on them than on grades.

    Parameters
    ----------
    log, data
        The log, and its documents with features.
    train
        The documents with labels made from the log, such as ``labelled_dataset(model_labels(model), data).data``.
    rankers
        Name to a ranker that is not fitted yet.
    n_folds
        Parts of the queries.

    Examples
    --------
    >>> import plackett as pk
    >>> from plackett import clicks
    >>> data = pk.datasets.make_ranking(n_queries=30, docs_per_query=8, n_features=4, random_state=0)
    >>> log = clicks.simulate_log(data, data.X[:, 0], n_pages=2000, temperature=1.0, random_state=0)
    >>> train = clicks.labelled_dataset(clicks.model_labels(clicks.PBM().fit(log)), data).data
    >>> rankers = {
    ...     f"{alpha:g}": pk.GradientRanker(loss="QuerySoftmax", model=pk.models.Linear(alpha=alpha))
    ...     for alpha in (1e-4, 1e-2, 1.0)
    ... }
    >>> tuned = clicks.tune_by_clicks(log, data, train, rankers)
    >>> tuned.name in rankers
    True
    """
    import polars as pl

    if not rankers:
        raise DataError("rankers is empty: give at least one")
    whole("n_folds", n_folds, least=2, most=max(2, train.n_queries))
    fold = np.random.default_rng(random_state).permutation(data.n_queries) % n_folds
    judge = EqualRanks(log, data)
    agreements: dict[str, Agreement] = {}
    for name, ranker in rankers.items():
        agreements[name] = judge.agreement(out_of_fold(ranker, train, data, fold))
    values = {name: np.nan_to_num(each.value, nan=0.0) for name, each in agreements.items()}
    best = max(values, key=lambda name: values[name])
    table = pl.DataFrame(
        {
            "ranker": list(agreements),
            "agreement": [each.value for each in agreements.values()],
            "error": [each.error for each in agreements.values()],
        }
    )
    return TunedByClicks(best, deepcopy(rankers[best]).fit(train), table)
