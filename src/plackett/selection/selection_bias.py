"""Samples that are not like what the ranker will meet: weights that correct them, and a simulator of two phases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.solvers.logistic_rates import LogisticRates

__all__ = ["selection_weights", "two_phase"]

__home__ = "clicks"


def selection_weights(train: Any, test: Any, *, alpha: float = 1.0, clip: float | None = 20.0) -> np.ndarray:
    r"""Weights that make training documents look like those met later, by a classifier of the two samples.

    .. math:: w(x) = \frac{n_\text{train}}{n_\text{test}} \cdot \frac{p(x)}{1 - p(x)}, \qquad
              p(x) = P(\text{test} \mid x)

    Judged documents were pooled from the top of rankings; a ranker meets all candidates. The weights assume that
    relevance given the features is the same in both. Give them as ``sample_weight``: pointwise losses weigh a document
    by w, pairwise ones a pair by the product, listwise ones the terms of the documents.

    Parameters
    ----------
    train, test
        Datasets or tables of features.
    alpha
        Penalty of the classifier, a logistic regression.
    clip
        Largest weight, relative to the mean, above 0; None for no limit. Weights have mean 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train, test = rng.normal(0, 1, (20_000, 1)), rng.normal(1, 1, (20_000, 1))
    >>> weights = selection_weights(train, test, clip=None)
    >>> float((weights * train[:, 0]).mean().round(1))
    1.0

    References
    ----------
    Zadrozny: Learning and evaluating classifiers under sample selection bias. ICML 2004.
    """
    if not 0.0 <= alpha < np.inf or (clip is not None and not clip > 0.0):
        raise DataError(f"alpha={alpha}, clip={clip}; give a penalty of 0 or more, and a clip above 0, or None")
    tables = [_features(part) for part in (train, test)]
    if tables[0].shape[1] != tables[1].shape[1]:
        raise DataError(f"{tables[0].shape[1]} features in training, {tables[1].shape[1]} in test")
    n_train, n_test = len(tables[0]), len(tables[1])
    X = np.concatenate(tables)
    chance = (
        LogisticRates(alpha=alpha).fit(X, np.repeat([0.0, 1.0], [n_train, n_test]), np.ones(len(X))).rates(tables[0])
    )
    weight = n_train / n_test * chance / np.maximum(1.0 - chance, 1e-12)
    weight /= weight.mean()
    if clip is not None:
        weight = np.minimum(weight, clip)
        weight /= weight.mean()
    return weight


def _features(part: Any) -> np.ndarray:
    X = part.X if isinstance(part, RankingDataset) else part
    return np.asarray(X if isinstance(X, np.ndarray) or not hasattr(X, "toarray") else X.toarray(), np.float64)


@dataclass(frozen=True)
class TwoPhase:
    """Result of `two_phase`.

    Attributes
    ----------
    candidates
        What the second phase re-ranks: the first documents of each query by the first phase.
    pool
        What is judged and trained on: the top, and a random sample of the tail.
    recall
        Share of the relevant documents of each query that are candidates (NaN for queries without any).
    shift
        Difference of the means of each feature between pool and candidates, in standard deviations of the candidates.
    """

    candidates: RankingDataset
    pool: RankingDataset
    recall: np.ndarray
    shift: np.ndarray


def two_phase(
    data: RankingDataset,
    first_phase: Any,
    *,
    k: int = 100,
    pool_depth: int = 10,
    tail: int = 0,
    random_state: Any = None,
) -> TwoPhase:
    """Simulate two-phase retrieval: a cheap ranker chooses candidates, a learned one will order them.

    Parameters
    ----------
    data
        All documents of each query, with grades.
    first_phase
        Scores of the cheap ranker.
    k
        Candidates per query.
    pool_depth, tail
        Judged documents per query: the first ones, and this many drawn at random from the other candidates.

    Examples
    --------
    >>> from plackett.datasets import make_ranking
    >>> data = make_ranking(n_queries=10, docs_per_query=30, random_state=0)
    >>> phases = two_phase(data, data.y, k=30, pool_depth=5)
    >>> phases.candidates.n_rows, phases.pool.n_rows
    (300, 50)
    """
    rng = np.random.default_rng(random_state)
    scores = np.asarray(first_phase, np.float64)
    if scores.shape != (data.n_rows,):
        raise DataError(f"first_phase has shape {scores.shape} for {data.n_rows} rows")
    order = np.lexsort((-scores, data.query_of_row))
    position = np.empty(data.n_rows, np.int64)
    position[order] = np.arange(data.n_rows) - data.offsets[:-1][data.query_of_row]
    chosen = position < k
    draws = np.where(chosen & (position >= pool_depth), rng.random(data.n_rows), np.inf)
    tail_order = np.lexsort((draws, data.query_of_row))
    tail_position = np.empty(data.n_rows, np.int64)
    tail_position[tail_order] = np.arange(data.n_rows) - data.offsets[:-1][data.query_of_row]
    pooled = (position < min(pool_depth, k)) | ((tail_position < tail) & np.isfinite(draws))
    relevant = data.labels > 0
    n_relevant = np.bincount(data.query_of_row, relevant, minlength=data.n_queries)
    n_relevant_chosen = np.bincount(data.query_of_row, relevant & chosen, minlength=data.n_queries)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = n_relevant_chosen / n_relevant
    X = _features(data)
    spread = np.maximum(X[chosen].std(axis=0), 1e-12)
    return TwoPhase(
        _rows(data, chosen), _rows(data, pooled), recall, (X[pooled].mean(axis=0) - X[chosen].mean(axis=0)) / spread
    )


def _rows(data: RankingDataset, chosen: np.ndarray) -> RankingDataset:
    at = np.flatnonzero(chosen)
    return RankingDataset.from_arrays(
        data.X[at],
        data.labels[at],
        qid=data.qids[data.query_of_row[at]],
        docids=at if data.docids is None else data.docids[at],
        feature_names=data.feature_names,
        categories=data.categories,
    )
