"""Scores that are sums of kernels at support vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base import arguments
from plackett.data.dense import dense
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array, choice
from plackett.scorers.products import table_times

__all__ = ["KernelScorer"]

_BLOCK_ROWS = 1024

#: k(x, z) from the products x·z, the squared lengths and the parameters (gamma, coef0, degree).
KERNELS: dict[str, Callable[..., np.ndarray]] = {
    "linear": lambda dot, x2, z2, gamma, coef0, degree: dot,
    "poly": lambda dot, x2, z2, gamma, coef0, degree: (gamma * dot + coef0) ** degree,
    "rbf": lambda dot, x2, z2, gamma, coef0, degree: np.exp(-gamma * np.maximum(x2[:, None] + z2 - 2.0 * dot, 0.0)),
}


@dataclass(frozen=True)
class KernelScorer(Scorer):
    r"""Scores :math:`b + \sum_i a_i k(x / c, z_i)` of features divided by their scales c."""

    kind: ClassVar[str] = "kernel"
    hypothesis: ClassVar[str] = "kernel expansions"
    kernel: str = choice(lambda: KERNELS)
    support: np.ndarray = array("support features")
    weights: np.ndarray = array("support")
    scale: np.ndarray = array("features")
    #: intercept, gamma, coef0, degree
    numbers: np.ndarray = array("4")

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row; it does not depend on the other rows."""
        scores = np.full(X.shape[0], self.numbers[0])
        if self.weights.size == 0:
            return scores
        lengths = (self.support**2).sum(axis=1)
        products = np.ascontiguousarray((self.support / self.scale).T)
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            part = X[start : start + _BLOCK_ROWS]
            scaled = dense(part) / self.scale
            dot = table_times(part, products, n_jobs)
            values = KERNELS[self.kernel](dot, (scaled**2).sum(axis=1), lengths, *self.numbers[1:])
            scores[start : start + _BLOCK_ROWS] += (values * self.weights).sum(axis=1)
        return scores

    def check(self) -> None:
        """No feature is divided by 0."""
        self.check_that(self.scale.all(), "array 'scale' has a zero")


@dataclass(frozen=True)
class KernelSpace:
    """A kernel with its parameters on features divided by their scales: what training with kernels shares."""

    name: str
    scale: np.ndarray
    #: gamma, coef0, degree
    numbers: tuple[float, float, float]
    n_jobs: int | None

    @classmethod
    def of(
        cls, name: str, scale: np.ndarray, gamma: float | None, coef0: float, degree: int, n_jobs: int | None
    ) -> KernelSpace:
        """The space of a kernel by name; gamma None is 1 / number of features."""
        arguments.choice("kernel", name, KERNELS)
        return cls(
            name, scale, (1.0 / scale.size if gamma is None else float(gamma), float(coef0), float(degree)), n_jobs
        )

    def scaled(self, X: Any) -> np.ndarray:
        """Features divided by their scales, dense."""
        return dense(X) / self.scale

    def kernel(self, X: Any, support: np.ndarray) -> np.ndarray:
        """Kernel of rows with a support of scaled features."""
        products = table_times(X, np.ascontiguousarray((support / self.scale).T), self.n_jobs)
        lengths = (self.scaled(X) ** 2).sum(axis=1)
        return KERNELS[self.name](products, lengths, (support**2).sum(axis=1), *self.numbers)

    def scorer(self, support: np.ndarray, weights: np.ndarray) -> KernelScorer:
        """Scores that are sums of kernels at a support of scaled features."""
        return KernelScorer(self.name, support, weights, self.scale, np.array([0.0, *self.numbers]))
