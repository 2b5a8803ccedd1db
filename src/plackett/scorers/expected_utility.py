"""Expected gain under a Bayesian model of the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett.scorers.base import Scorer
from plackett.scorers.fields import array
from plackett.scorers.products import table_times

__all__ = ["ExpectedUtilityScorer"]

#: Nodes of the quadrature over the uncertain score of a document.
_NODES = 20


@dataclass(frozen=True)
class ExpectedUtilityScorer(Scorer):
    """Expected gain of a document whose label is binomial, given a normal posterior of the weights."""

    kind: ClassVar[str] = "expected_utility"
    #: Columns: the mean of the weights, then a factor of their covariance; the same for the intercept.
    weights: np.ndarray = array("features columns")
    intercept: np.ndarray = array("columns")
    #: Gain of each label 0..n, and the scale of the probit.
    gains: np.ndarray = array("labels")
    scale: np.ndarray = array("1", positive=True)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Expected gain of each row."""
        from scipy.special import binom, ndtr

        outputs = table_times(X, self.weights, n_jobs) + self.intercept
        mean, deviation = outputs[:, 0], np.sqrt(np.square(outputs[:, 1:]).sum(axis=1))
        nodes, shares = np.polynomial.hermite_e.hermegauss(_NODES)
        trials = self.gains.size - 1
        out = np.zeros(mean.size)
        for node, share in zip(nodes, shares / shares.sum(), strict=True):
            chance = ndtr((mean + node * deviation) / self.scale[0])
            for label in np.flatnonzero(self.gains):
                ways = share * self.gains[label] * binom(trials, label)
                out += ways * chance**label * (1.0 - chance) ** (trials - label)
        return out

    def check(self) -> None:
        """There is a mean, and a gain."""
        self.check_that(self.intercept.size > 0 and self.gains.size > 0, "no weights, or no gains")
