"""What scores documents, fitted or read from a file: a scorer, and the columns that it expects in a frame."""

from __future__ import annotations

import copy
import warnings
from typing import Any, Self

import numpy as np

from plackett._base.errors import DataError, PlackettWarning, in_shell
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import Rows, rows_to_score
from plackett.data.reference import check_reference
from plackett.data.trained_columns import TrainedColumns
from plackett.measures.ranking import Scored
from plackett.scorers.base import check_size
from plackett.scorers.calibration import Calibration
from plackett.scorers.early_exit import with_exit


class Scoring:
    """A fitted scoring function for arrays, frames and datasets: what rankers and loaded models have in common.

    Attributes
    ----------
    scorer_
        The scoring function.
    n_features_in_, feature_names_in_
        Number and names of the features it was trained on.
    categories_
        The values of categorical columns, in the order of their codes.
    calibration_
        The function from scores to probabilities, if there is one.
    """

    #: A `plackett.scorers.base.Scorer`; each ranker knows of which kind.
    scorer_: Any
    n_features_in_: int
    calibration_: Calibration
    n_jobs: int | None

    @property
    def algorithm(self) -> str:
        """Name of the ranker."""
        return type(self).__name__

    @property
    def strict_part(self) -> str:
        """Name of what refuses to score missing values (NaN), itself or a part; empty if they get scores."""
        raise NotImplementedError

    def predict(
        self, X: Any, *, qid: Any = None, pred_contrib: bool = False, exit: bool | tuple[int, int] | None = None
    ) -> np.ndarray:
        """Score each document; larger is better.

        Scores are in the caller's row order; for a `RankingDataset`, in its grouped order. Columns of a frame are
        matched to the training data by name.

        Parameters
        ----------
        X
            As in `fit`.
        qid
            Query of each row; needed only by rankers that look at the whole list.
        pred_contrib
            Return the contribution of each feature instead, with the base score in the last column; each row sums to
            the score. Trees: TreeSHAP. Linear rankers: weight times value, and the intercept. Blends of these: their
            weighted sum. Other rankers raise an error; `plackett.explain` estimates contributions for any ranker, and
            relative to the other documents of a list.
        exit
            For a ranker with an early exit (`plackett.early_exit`), False scores every document by all trees; True
            asserts that there is an exit. Two numbers s and k replace the exit: after s trees, only the best k
            documents of a list are scored to the end. None uses the ranker as it was saved.
        """
        if exit is not None:
            return self.with_exit(exit).predict(X, qid=qid, pred_contrib=pred_contrib)
        rows = self.rows(X, qid)
        if self.scorer_.list_aware and not rows.grouped:
            warnings.warn(
                f"{self.algorithm} looks at whole lists; predict without qid treats all rows as one list. Give qid=…",
                PlackettWarning,
                stacklevel=2,
            )
        return rows.give_back(self.contributions(rows.data) if pred_contrib else self.score_rows(rows.data))

    def contributions(self, data: RankingDataset) -> np.ndarray:
        """Contribution of each feature to each score of a dataset, and the base score in the last column."""
        parts = self.scorer_.contributions(data.X, self.n_jobs)
        if parts is None:
            raise DataError(
                f"pred_contrib=True: the scores of {self.algorithm} are not a sum over its features; "
                "plackett.explain(ranker, data, qid) estimates contributions for any ranker"
            )
        return np.hstack([parts.values, np.broadcast_to(parts.base, data.n_rows)[:, None]])

    def with_exit(self, exit: bool | tuple[int, int]) -> Self:
        """The same with its early exit (True), with another one, or without one (False)."""
        self.check_fitted()
        if exit is True and not self.scorer_.has_exit:
            raise DataError(f"exit=True, but this {self.algorithm} has no early exit; plackett.early_exit adds one")
        if exit is True:
            return self
        other = copy.copy(self)
        other.scorer_ = self.scorer_.without_exit() if exit is False else with_exit(self.scorer_, exit, self.algorithm)
        return other

    def score_rows(self, data: RankingDataset) -> np.ndarray:
        """Score of each row of a dataset, in its order."""
        return self.scorer_.score_rows(data, self.n_jobs)

    def rows(self, X: Any, qid: Any = None) -> Rows:
        """The input of `predict`, checked and with its columns in the order seen in training."""
        self.check_fitted()
        rows = rows_to_score(X, qid, self.columns_in)
        self.check_features(rows.data)
        return rows

    @property
    def columns_in(self) -> TrainedColumns:
        """The columns expected in a frame."""
        names = getattr(self, "feature_names_in_", None)
        learned = None if names is None else tuple(names.tolist())
        return TrainedColumns(learned, getattr(self, "categories_", {}), self.algorithm)

    def predict_relevance(self, X: Any, *, qid: Any = None) -> np.ndarray:
        """Probability that each document is relevant (label 1 or more), comparable between queries.

        Needs ``calibration="isotonic"`` or ``"logistic"`` at `fit`. In the order of `predict`.
        """
        self.check_fitted()
        if not hasattr(self, "calibration_"):
            raise DataError(
                f"this {self.algorithm} was fitted without calibration; give calibration='isotonic' and "
                "validation data (eval_set or validation_fraction)"
            )
        return self.calibration_.probability(self.predict(X, qid=qid))

    def rank(self, X: Any, *, qid: Any = None) -> np.ndarray:
        """Position of each document in its query's list, 1 at the top; ties are broken by row order."""
        rows = self.rows(X, qid)
        scores = rows.data.from_input_order(self.predict(X, qid=qid)) if rows.caller_order else self.predict(X)
        unlabelled = rows.data.replace(y=np.zeros(rows.data.n_rows))
        ranking = Scored(unlabelled, scores).ranking("stable")
        positions = np.empty(rows.data.n_rows, np.int64)
        positions[ranking.rows] = np.arange(rows.data.n_rows) - np.repeat(ranking.offsets[:-1], rows.data.group) + 1
        return rows.give_back(positions)

    def check_fitted(self) -> None:
        """Raise an error if it is not fitted yet."""
        if not hasattr(self, "scorer_"):
            from plackett._base.estimator import not_fitted

            raise not_fitted(f"this {self.algorithm} is not fitted yet; call fit first")

    def check_features(self, data: RankingDataset) -> None:
        """Refuse data to score that have other features than the training data, or missing values it cannot score."""
        if data.n_features != self.n_features_in_:
            raise DataError(
                f"{called('X')} {data.n_features} features, but {self.algorithm} is expecting "
                f"{self.n_features_in_} features as input"
            )
        self.check_missing(data, "X")

    def check_missing(self, data: RankingDataset, name: str) -> None:
        """Refuse missing values that cannot be scored; ``name`` is what has them."""
        if self.strict_part:
            refuse_missing(data, name, self.strict_part)

    def check_loaded(self) -> None:
        """Check that what was read from a model file fits together, before anything relies on it."""
        check_size(self.scorer_, self.algorithm, self.n_features_in_)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and len(names) != self.n_features_in_:
            raise DataError(f"{len(names)} feature names for {self.n_features_in_} features")
        if getattr(self, "reference_", None) is not None:
            check_reference(self.reference_, self.n_features_in_)  # type: ignore[attr-defined]


def refuse_missing(data: RankingDataset, name: str, algorithm: str) -> None:
    """Refuse missing values."""
    values = data.X if isinstance(data.X, np.ndarray) else data.X.data
    if np.isnan(values.sum(dtype=np.float64)):  # infinite values were refused before
        raise DataError(
            f"{called(name)} missing values (NaN), which {algorithm} does not accept; {_impute()}, or use a tree "
            "ranker such as LambdaMART"
        )


def called(name: str) -> str:
    """Data as the subject of a sentence: an argument in Python, a file on the command line."""
    subjects = {"X": "the data have", "eval_set": "the data of --valid have"} if in_shell() else {}
    return subjects.get(name, f"{name} has")


def _impute() -> str:
    if in_shell():
        return "fill them in when training, with --impute median"
    return "put an imputer before it (make_pipeline(pk.Imputer(), …))"
