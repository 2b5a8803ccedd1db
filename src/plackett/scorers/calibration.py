"""Scores made comparable between queries: the probability that a document is relevant, given its score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.scorers.fields import Stored, array, number

__all__ = ["calibrate"]

__home__ = "rankers"


class Calibration(Stored):
    """An increasing function from scores to probabilities."""

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Probability of relevance at each score."""
        raise NotImplementedError


@dataclass(frozen=True)
class IsotonicCalibration(Calibration):
    """The increasing function with the least squared error (Zadrozny, Elkan 2002).

    Linear between the scores it was fitted to, and constant outside their range.
    """

    kind: ClassVar[str] = "isotonic"

    score: np.ndarray = array("points", finite=False)
    value: np.ndarray = array("points")

    @classmethod
    def fit(cls, scores: np.ndarray, relevant: np.ndarray, weight: np.ndarray) -> IsotonicCalibration:
        """The function for some scores and what is known of them."""
        from sklearn.isotonic import IsotonicRegression

        fitted = IsotonicRegression(y_min=0.0, y_max=1.0).fit(scores, relevant, weight)
        return cls(fitted.X_thresholds_.astype(np.float64), fitted.y_thresholds_.astype(np.float64))

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Probability of relevance at each score."""
        return np.interp(scores, self.score, self.value)

    def check(self) -> None:
        """The function must increase."""
        rising = self.score.size > 0 and (np.diff(self.score) > 0).all() and (np.diff(self.value) >= 0).all()
        self.check_that(bool(rising), "the calibration is not an increasing function")


@dataclass(frozen=True)
class LogisticCalibration(Calibration):
    """Platt's sigmoid 1 / (1 + exp(−(a s + b))), a ≥ 0, by maximum likelihood with Platt's smoothed targets."""

    kind: ClassVar[str] = "logistic"

    slope: float = number(float, most=np.finfo(float).max)
    intercept: float = number(float, least=np.finfo(float).min, most=np.finfo(float).max)

    @classmethod
    def fit(cls, scores: np.ndarray, relevant: np.ndarray, weight: np.ndarray) -> LogisticCalibration:
        """The function for some scores and what is known of them."""
        from scipy.optimize import minimize

        w = weight / weight.mean()  # their scale is arbitrary and must not stop the search early
        # scores of any scale: the search runs on standardised ones
        middle, spread = np.average(scores, weights=w), scores.std() or 1.0
        z = (scores - middle) / spread
        positive = float(np.count_nonzero(relevant))
        negative = relevant.size - positive
        target = np.where(relevant, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))

        def loss(p: np.ndarray) -> tuple[float, np.ndarray]:
            t = p[0] * z + p[1]
            error = w * (1.0 / (1.0 + np.exp(-np.clip(t, -700, 700))) - target)
            return float((w * (np.logaddexp(0.0, t) - target * t)).sum()), np.array([error @ z, error.sum()])

        optimum = minimize(loss, np.zeros(2), jac=True, method="L-BFGS-B", bounds=[(0.0, None), (None, None)])
        slope = float(optimum.x[0]) / spread
        return cls(slope, float(optimum.x[1]) - slope * middle)

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Probability of relevance at each score."""
        t = np.clip(self.slope * scores + self.intercept, -700, 700)
        return 1.0 / (1.0 + np.exp(-t))


CALIBRATIONS: dict[str, Any] = {kind.kind: kind for kind in (IsotonicCalibration, LogisticCalibration)}


def calibrate(
    scores: np.ndarray,
    labels: np.ndarray,
    method: str = "isotonic",
    *,
    rel: float = 1.0,
    sample_weight: np.ndarray | None = None,
) -> Calibration:
    """The probability of relevance as a function of the score, learned from held-out documents.

    A ranker's scores order the documents of one query. They are not comparable between queries, and do not tell how
    many results are good at all. Probabilities do, to the extent that one function fits all queries.

    Parameters
    ----------
    scores, labels
        Scores and labels of held-out documents, all queries together. Labels below 0 are unjudged and left out.
    method
        ``"isotonic"`` (any increasing function; needs at least a few hundred documents) or ``"logistic"`` (two
        parameters).
    rel
        The lowest label that counts as relevant.
    sample_weight
        Weight of each document; those of weight 0 are left out.

    References
    ----------
    Platt: Probabilistic outputs for support vector machines. Advances in Large Margin Classifiers 1999.
    Zadrozny, Elkan: Transforming classifier scores into accurate multiclass probability estimates. KDD 2002.

    Examples
    --------
    >>> calibration = calibrate(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0, 1, 0, 1]))
    >>> calibration.probability(np.array([-1.0, 1.0, 1.5, 9.0])).tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    choice("calibration", method, CALIBRATIONS)
    scores, labels = np.asarray(scores, np.float64), np.asarray(labels, np.float64)
    weight = np.ones(scores.shape) if sample_weight is None else np.asarray(sample_weight, np.float64)
    judged = (labels >= 0) & (weight > 0)
    for i in np.flatnonzero(judged & ~np.isfinite(scores))[:1]:
        raise DataError(f"scores[{i}] is {scores[i]}; calibration needs finite scores")
    relevant = labels[judged] >= rel
    if relevant.all() or not relevant.any():
        present = "only relevant" if relevant.size and relevant.all() else "no relevant"
        raise DataError(
            f"calibration needs relevant documents and others (label {rel:g} or more); there are {present} ones"
        )
    return CALIBRATIONS[method].fit(scores[judged], relevant, weight[judged])
