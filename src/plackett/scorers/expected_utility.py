"""Expected gain under a Bayesian model of the labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers._products import table_times
from plackett.scorers.base import Size, check_finite

__all__ = ["ExpectedUtilityScorer"]

#: Nodes of the quadrature over the uncertain score of a document.
_NODES = 20


@dataclass(frozen=True)
class ExpectedUtilityScorer:
    """Expected gain of a document whose label is binomial, given a normal posterior of the weights."""

    kind: ClassVar[str] = "expected_utility"
    list_aware: ClassVar[bool] = False
    #: Columns: the mean of the weights, then a factor of their covariance; the same for the intercept.
    weights: np.ndarray
    intercept: np.ndarray
    #: Gain of each label 0..n, and the scale of the probit.
    gains: np.ndarray
    scale: np.ndarray

    @property
    def size(self) -> Size:
        """What it takes and gives."""
        return Size("weights", self.weights.shape[0])

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

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The scorer as named arrays."""
        return {"weights": self.weights, "intercept": self.intercept, "gains": self.gains, "scale": self.scale}

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> ExpectedUtilityScorer:
        """The scorer that `to_arrays` wrote."""
        names = ("weights", "intercept", "gains", "scale")
        weights, intercept, gains, scale = parts = [np.array(arrays.get(name)) for name in names]
        for name, array, ndim in zip(names, parts, (2, 1, 1, 1), strict=True):
            if array.dtype != np.float64 or array.ndim != ndim:
                raise DataError(f"array {name!r} of the Bayesian model is damaged")
        check_finite(dict(zip(names, parts, strict=True)))
        if weights.shape[1] == 0 or intercept.shape != weights.shape[1:] or gains.size == 0:
            raise DataError(
                f"array 'weights' of shape {weights.shape} does not fit intercepts of shape {intercept.shape} and "
                f"{gains.size} gains"
            )
        if scale.size != 1 or not scale[0] > 0:
            raise DataError(f"array 'scale' of the Bayesian model is {scale.tolist()}, expected one positive number")
        return cls(weights, intercept, gains, scale)
