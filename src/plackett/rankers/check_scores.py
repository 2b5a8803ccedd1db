"""Whether training led anywhere: scores that are finite, and differ where labels do."""

from __future__ import annotations

import warnings

import numpy as np

from plackett._base.errors import LossError, PlackettWarning
from plackett.data.dataset import RankingDataset
from plackett.scorers.scoring import Scoring


def check_scores(ranker: Scoring, data: RankingDataset, sample: RankingDataset, scores: np.ndarray) -> None:
    """Reject a fit with non-finite scores, and warn if all documents of a query get the same score.

    The scores of a sample of the training data usually settle it; all of it is scored only if they are constant.
    """
    for part in (sample, data) if sample is not data else (data,):
        if part is not sample:
            scores = ranker.score_rows(part)
        if not np.isfinite(scores.sum()) and not np.isfinite(scores).all():
            ranker.__dict__.pop("scorer_", None)
            raise LossError(
                f"training {type(ranker).__name__} ended with scores that are not finite; scale the features, lower "
                "the learning rate or penalise more"
            )
        if (_spread(scores, part) > 0.0).any():
            return
    judged = data.labels >= 0
    if (_spread(np.where(judged, data.labels, np.nan), data) > 0.0).any():
        warnings.warn(
            f"{type(ranker).__name__} learned nothing: it gives all documents of a query the same score, though "
            "their labels differ. Either no feature differs within queries, or training could not start (a loss "
            "whose gradient is 0 for equal scores), or the penalty is too strong, or there are too few documents "
            "for the leaves of trees (min_child_samples)",
            PlackettWarning,
            stacklevel=3,
        )
    elif data.n_rows == data.n_queries > 1:
        warnings.warn(
            f"{type(ranker).__name__}: each of the {data.n_queries:,} queries has a single document, so there is no "
            "order to learn. qid says which documents belong to one list: its values repeat",
            PlackettWarning,
            stacklevel=3,
        )


def _spread(values: np.ndarray, data: RankingDataset) -> np.ndarray:
    """Largest minus smallest value of each query, ignoring NaN; differences within rounding count as 0."""
    low, high = np.full(data.n_queries, np.inf), np.full(data.n_queries, -np.inf)
    np.fmin.at(low, data.query_of_row, values)
    np.fmax.at(high, data.query_of_row, values)
    with np.errstate(invalid="ignore"):
        return np.where(high - low > 1e-12 * np.maximum(np.abs(low), np.abs(high)), high - low, 0.0)
