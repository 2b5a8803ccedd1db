"""A pipeline of our transformers and a ranker, scored as one: rows are checked, grouped and ordered once."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.grouping import group_rows, ids_array
from plackett.data.transformer import QueryTransformer
from plackett.scorers.scoring import Scoring

_ONE_QUERY = np.zeros(1, np.int64)


class FusedPipeline:
    """Steps and ranker as one function from features to scores, bit for bit as the steps one by one.

    Parameters
    ----------
    steps
        Fitted transformers of ours.
    ranker
        A fitted ranker, or a loaded model.
    """

    def __init__(self, steps: Sequence[QueryTransformer], ranker: Scoring) -> None:
        self.steps, self.ranker = tuple(steps), ranker
        self.first = self.steps[0]
        self.names_agree = self._names_agree()

    @property
    def needs_queries(self) -> bool:
        """Whether scores depend on which rows form a query."""
        return bool(self.ranker.scorer_.list_aware) or any(step.needs_queries for step in self.steps)

    @classmethod
    def of(cls, estimators: Sequence[Any]) -> FusedPipeline | None:
        """The steps of a pipeline as one function; None if one of them is not ours or not fitted."""
        *steps, ranker = estimators
        if not isinstance(ranker, Scoring) or not hasattr(ranker, "scorer_"):
            return None
        return cls(steps, ranker) if cls.fits(steps) else None

    @staticmethod
    def fits(steps: Sequence[Any]) -> bool:
        """Whether there are steps, all of them ours and fitted."""
        ours = (isinstance(step, QueryTransformer) and hasattr(step, "n_features_in_") for step in steps)
        return len(steps) > 0 and all(ours)

    def predict(self, X: Any, qid: Any = None) -> np.ndarray | None:
        """Scores; None if the steps must run one by one: for other kinds of tables, warnings and errors."""
        if isinstance(X, RankingDataset):
            return self._of_dataset(X) if qid is None else None
        if not isinstance(X, np.ndarray) or X.dtype.char not in "fd" or X.ndim != 2 or len(X) == 0:
            return None
        if X.shape[1] != self.first.n_features_in_:
            return None
        if (qid is None and self.needs_queries) or not _is_finite(X):
            return None
        offsets, qids, rows = np.array([0, len(X)]), _ONE_QUERY, None
        if qid is not None:
            ids = ids_array(qid, "qid")
            if ids.size != len(X):
                return None
            offsets, qids, rows = group_rows(ids)
        if hasattr(self.first, "feature_names_in_"):
            warnings.warn(
                f"X does not have valid feature names, but {type(self.first).__name__} was fitted with feature names",
                UserWarning,
                stacklevel=3,
            )
        scores = self._scored(X if rows is None else X[rows], offsets, qids)
        if scores is None or rows is None:
            return scores
        ordered = np.empty_like(scores)
        ordered[rows] = scores
        return ordered

    def _of_dataset(self, data: RankingDataset) -> np.ndarray | None:
        if not isinstance(data.X, np.ndarray) or data.n_rows == 0 or data.n_features != self.first.n_features_in_:
            return None
        if data.query_features is not None or data.relations is not None:
            return None
        if data.feature_names is not None:
            if not self.names_agree:
                return None
            data = self.first.aligned(data)
        return self._scored(data.X, data.offsets, data.qids)

    def _scored(self, X: np.ndarray, offsets: np.ndarray, qids: np.ndarray) -> np.ndarray | None:
        """Scores of rows that are grouped by query; float64 stays float64 up to the ranker, as without fusing."""
        for step in self.steps:
            step.check_parameters(X)
            X = step.apply(X, offsets)
        with np.errstate(over="ignore"):
            X = np.ascontiguousarray(X, np.float32)
        if X.shape[1] != self.ranker.n_features_in_ or not _is_finite(X, not self.ranker.strict_part):
            return None
        return self.ranker.score_rows(RankingDataset(X=X, y=None, offsets=offsets, qids=qids))

    def _names_agree(self) -> bool:
        """Whether each step was fitted on the names that the previous step returns, or without names."""
        names = getattr(self.first, "feature_names_in_", None)
        for before, step in zip(self.steps, [*self.steps[1:], self.ranker], strict=True):
            names = None if names is None else list(before.names_out(list(names)))
            known = getattr(step, "feature_names_in_", None)
            if known is not None and names != known.tolist():
                return False
        return True


def _is_finite(X: np.ndarray, allow_nan: bool = True) -> bool:
    """Whether no number is infinite, and none is missing unless missing values are allowed."""
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(X.sum(dtype=np.float64)):  # the sum of finite numbers is finite, and costs no array of flags
            return True
    return not np.isinf(X).any() and (allow_nan or not np.isnan(X).any())
