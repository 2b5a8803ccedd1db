"""Relational functions: they map the scores of a list to scores that also fit its relations; and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.scorers.relations.laplacian import ForestLaplacian, Hypergraph, Laplacian

#: Maximum number of Newton steps, and the gradient, relative to the spread of the scores, at which to stop.
_STEPS, _TOLERANCE = 100, 1e-10


def without_noise(scores: np.ndarray, f: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Scores rounded to 2⁻³⁶ of the largest one of each query, except those that equal the f of their document.

    Solvers are more exact than that. The remaining error would break ties between documents with equal scores and equal
    relations by the order of the rows.
    """
    if scores.size == 0 or not np.isfinite(scores).all():
        return scores
    full = np.flatnonzero(np.diff(offsets))
    largest = np.maximum.reduceat(np.abs(scores), offsets[full])
    unit = np.repeat(np.exp2(np.frexp(largest)[1] - 37.0), np.diff(offsets)[full])
    return np.where(scores == f, scores, np.round(scores / unit) * unit)


class RelationalFunction(Protocol):
    """h(f): scores that stay near f and respect the relations of a dataset."""

    def scores(self, f: np.ndarray) -> np.ndarray:
        """h(f)."""

    def pull_back(self, gradient: np.ndarray, h: np.ndarray) -> np.ndarray:
        """Gradient for f from the gradient for h, at h. The derivative is symmetric, and its rows sum to 1."""


@dataclass(frozen=True)
class QuadraticFunction:
    """A z = f + offset, with a symmetric positive definite A that `system` solves."""

    system: Any
    offset: np.ndarray | None = None

    def scores(self, f: np.ndarray) -> np.ndarray:
        """The solution for these scores."""
        return self.system.solve(f if self.offset is None else f + self.offset)

    def pull_back(self, gradient: np.ndarray, h: np.ndarray) -> np.ndarray:
        """The same system with the gradient on the right."""
        return self.system.solve(gradient)


@dataclass
class ExponentialLift:
    """The minimum of ‖z − f‖² + β Σ w exp(z_child − z_parent) over pairs (child, parent), by Newton's method."""

    offsets: np.ndarray
    child: np.ndarray
    parent: np.ndarray
    weight: np.ndarray  # β w of each pair
    system: ForestLaplacian | Laplacian  # I + L with the pattern of the pairs
    n_jobs: int | None = None
    _query: np.ndarray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._query = np.repeat(np.arange(self.offsets.size - 1), np.diff(self.offsets))

    def scores(self, f: np.ndarray) -> np.ndarray:
        """Newton's method with a line search in each query, from equal scores, where all exponents are 0."""
        n_queries = self.offsets.size - 1
        size = np.maximum(np.diff(self.offsets), 1)
        z = (np.bincount(self._query, f, n_queries) / size)[self._query]
        limit = _TOLERANCE * (1.0 + np.sqrt(np.bincount(self._query, (f - z) ** 2, n_queries)))
        value = self._value(z, f)
        open_ = np.ones(n_queries, bool)
        for _ in range(_STEPS):
            pull = self._pull(z)
            gradient = (z - f) + 0.5 * self._flow(pull)
            open_ &= np.bincount(self._query, gradient**2, n_queries) > limit**2
            if not open_.any():
                break
            step = np.where(open_[self._query], -self._curved(pull).solve(gradient), 0.0)
            slope = np.bincount(self._query, gradient * step, n_queries)
            length = np.where(open_, 1.0, 0.0)
            for _ in range(60):
                moved = z + length[self._query] * step
                with np.errstate(over="ignore", invalid="ignore"):
                    new = self._value(moved, f)
                bad = ~(new <= value + 1e-4 * 2.0 * length * slope + 1e-14 * np.abs(value)) & (length > 0)
                if not bad.any():
                    break
                length[bad] *= 0.5
            length[bad] = 0.0
            open_ &= length > 0
            z = z + length[self._query] * step
            value = self._value(z, f)
        return z

    def pull_back(self, gradient: np.ndarray, h: np.ndarray) -> np.ndarray:
        """(I + L(h))⁻¹ times the gradient, L weighted by the exponentials at the solution."""
        return self._curved(self._pull(h)).solve(gradient)

    def _pull(self, z: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return self.weight * np.exp(z[self.child] - z[self.parent])

    def _value(self, z: np.ndarray, f: np.ndarray) -> np.ndarray:
        pairs = np.bincount(self._query[self.child], self._pull(z), self.offsets.size - 1)
        return np.bincount(self._query, (z - f) ** 2, self.offsets.size - 1) + pairs

    def _flow(self, pull: np.ndarray) -> np.ndarray:
        """Gradient of the sum over pairs."""
        n = int(self.offsets[-1])
        return np.bincount(self.child, pull, n) - np.bincount(self.parent, pull, n)

    def _curved(self, pull: np.ndarray) -> ForestLaplacian | Laplacian:
        """I + L, where each pair has half its second derivative as its weight."""
        if isinstance(self.system, ForestLaplacian):
            weight = np.zeros(self.system.parent.size)
            weight[self.child] = 0.5 * pull
            return self.system.reweighted(weight)
        return Laplacian.from_edges(self.offsets, self.child, self.parent, 0.5 * pull, self.n_jobs)


def lift(data: RankingDataset, relation: Relation, beta: float) -> np.ndarray:
    """What parents gain and children lose before the system is solved: β/2 (number of children − number of parents)."""
    up = 0.5 * beta * relation.weights
    return np.bincount(relation.other, up, data.n_rows) - np.bincount(relation.row, up, data.n_rows)


def _similarity(data: RankingDataset, relation: Relation, beta: float, n_jobs: int | None) -> RelationalFunction:
    return QuadraticFunction(Laplacian.of(data, [(relation, beta)], n_jobs))


def _groups(data: RankingDataset, relation: Relation, beta: float, n_jobs: int | None) -> RelationalFunction:
    return QuadraticFunction(Hypergraph.of(data, relation, beta, n_jobs))


def _parents(data: RankingDataset, relation: Relation, beta: float, n_jobs: int | None) -> RelationalFunction:
    return QuadraticFunction(ForestLaplacian.of(data, relation, beta, n_jobs), lift(data, relation, beta))


def _exact_parents(data: RankingDataset, relation: Relation, beta: float, n_jobs: int | None) -> RelationalFunction:
    system = ForestLaplacian.of(data, relation, beta, n_jobs)
    kept = relation.row != relation.other
    child, parent, weight = relation.row[kept], relation.other[kept], beta * relation.weights[kept]
    return ExponentialLift(data.offsets, child, parent, weight, system, n_jobs)


#: By what the relation says: similar documents get similar scores, or those of a group, or parents are lifted.
FUNCTIONS: dict[str, Callable[[RankingDataset, Relation, float, int | None], RelationalFunction]] = {
    "similarity": _similarity,
    "groups": _groups,
    "parents": _parents,
    "exact parents": _exact_parents,
}
