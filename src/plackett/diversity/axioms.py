"""Which of the eight axioms of diversification an objective violates, by searching for counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError

__all__ = ["check_axioms"]

#: The value of a set: relevance of its members, their distances, relevance and distances of all documents, and which
#: of them are the members.
Objective = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], float]

AXIOMS = {
    "scale invariance": "multiplying relevance and distances by the same number does not change the best set",
    "consistency": "making the best set more relevant and farther apart, and the rest less so, keeps it the best",
    "richness": "any set is the best one for some relevance and distances",
    "stability": "the best set of k + 1 documents contains the best set of k",
    "independence": "the value of a set depends on its own members only",
    "monotonicity": "adding a document never lowers the value",
    "strength of relevance": "no objective may ignore relevance",
    "strength of similarity": "no objective may ignore distances",
}


@dataclass(frozen=True)
class Violation:
    """A counterexample.

    Attributes
    ----------
    axiom
        Which axiom it violates.
    share
        Share of the random instances that violate it.
    relevance, distances, k
        The first instance found.
    """

    axiom: str
    share: float
    relevance: np.ndarray
    distances: np.ndarray
    k: int


def check_axioms(
    objective: Objective,
    *,
    n_documents: int = 6,
    n_instances: int = 200,
    random_state: int = 0,
) -> dict[str, Violation | None]:
    """Search random instances for violations of the axioms of diversification.

    No objective satisfies all eight axioms (`AXIOMS`). The check finds which ones it gives up: all sets are enumerated
    for random relevance and distances in the plane. None means that no violation was found; it is not a proof.

    Parameters
    ----------
    objective
        Function of a set: relevance of its k members, their k × k distances, relevance and distances of all documents,
        and the numbers of the members. Larger is better. The methods have it: `MaxSum.value`, `MaxMin.value`.
    n_documents
        Documents of an instance, 3 to 8.
    n_instances
        Number of random instances.

    Examples
    --------
    >>> from plackett.diversity import MaxSum
    >>> violations = check_axioms(lambda f, d, *_: MaxSum.value(f, d, 0.5), n_instances=40)
    >>> [axiom for axiom, violation in violations.items() if violation]
    ['stability']

    References
    ----------
    Gollapudi and Sharma: An axiomatic approach for result diversification. WWW 2009.
    """
    if not 3 <= n_documents <= 8:
        raise DataError(f"n_documents={n_documents}; give 3 to 8, as all sets are enumerated")
    whole("n_instances", n_instances, least=1)
    search = _Search(objective, n_documents, n_instances, random_state)
    return {axiom: search.run(axiom, getattr(search, axiom.replace(" ", "_"))) for axiom in AXIOMS}


class _Search:
    def __init__(self, objective: Objective, n: int, instances: int, seed: int) -> None:
        self.objective, self.n, self.instances, self.seed = objective, n, instances, seed

    def run(self, axiom: str, violated: Callable[[Any, np.ndarray, np.ndarray, int], bool]) -> Violation | None:
        rng, first, count = np.random.default_rng(self.seed), None, 0
        for _ in range(self.instances):
            relevance, points = rng.random(self.n), rng.random((self.n, 2))
            distances = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
            k = int(rng.integers(2, self.n))
            if violated(rng, relevance, distances, k):
                count += 1
                first = first or (relevance, distances, k)
        return None if first is None else Violation(axiom, count / self.instances, *first)

    def value(self, f: np.ndarray, d: np.ndarray, members: Iterable[int]) -> float:
        rows = np.array(list(members))
        return float(self.objective(f[rows], d[np.ix_(rows, rows)], f, d, rows))

    def best(self, f: np.ndarray, d: np.ndarray, k: int) -> set[int]:
        return set(max(combinations(range(self.n), k), key=lambda members: self.value(f, d, members)))

    def is_best(self, f: np.ndarray, d: np.ndarray, members: set[int]) -> bool:
        """Whether no other set is clearly better; rounding does not count."""
        own = self.value(f, d, tuple(sorted(members)))
        other = self.value(f, d, tuple(sorted(self.best(f, d, len(members)))))
        return own >= other - 1e-9 * max(abs(own), abs(other), 1.0)

    def scale_invariance(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        factor = rng.uniform(0.1, 10.0)
        return not self.is_best(factor * f, factor * d, self.best(f, d, k))

    def consistency(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        members = self.best(f, d, k)
        inside = np.isin(np.arange(self.n), list(members))
        some = rng.random(self.n) < 0.3  # few changes at a time: a change of everything rarely matters
        more = np.where(inside, f + some * rng.random(self.n), np.where(some, f * rng.random(self.n), f))
        pairs = np.triu(rng.random((self.n, self.n)) * (rng.random((self.n, self.n)) < 0.3), 1)
        pairs += pairs.T
        # distances inside the best set grow, those that touch the rest shrink
        apart = np.where(np.outer(inside, inside), d + pairs, d * (1.0 - pairs))
        return not self.is_best(more, apart, members)

    def richness(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        members = rng.permutation(self.n)[:k]
        inside = np.isin(np.arange(self.n), members)
        apart = np.where(np.outer(inside, inside), 1.0, 1e-3) * (1.0 - np.eye(self.n))
        return not self.is_best(np.where(inside, 1.0, 1e-3), apart, set(members.tolist()))

    def stability(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        return k + 1 < self.n and not self.best(f, d, k) <= self.best(f, d, k + 1)

    def independence(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        members = tuple(range(k))
        other, apart = f.copy(), d.copy()
        other[k:] = rng.random(self.n - k)
        apart[k:], apart[:, k:] = rng.random((self.n - k, self.n)), rng.random((self.n, self.n - k))
        return not np.isclose(self.value(f, d, members), self.value(other, apart, members), rtol=1e-9, atol=1e-12)

    def monotonicity(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        members = tuple(range(k))
        return self.value(f, d, (*members, k)) < self.value(f, d, members) - 1e-12

    def strength_of_relevance(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        return self._ignores(f, d, k, rng.random(self.n), d)

    def strength_of_similarity(self, rng: Any, f: np.ndarray, d: np.ndarray, k: int) -> bool:
        points = rng.random((self.n, 2))
        return self._ignores(f, d, k, f, np.sqrt(((points[:, None] - points) ** 2).sum(axis=2)))

    def _ignores(self, f: np.ndarray, d: np.ndarray, k: int, f2: np.ndarray, d2: np.ndarray) -> bool:
        return all(
            np.isclose(self.value(f, d, members), self.value(f2, d2, members), rtol=1e-9, atol=1e-12)
            for members in combinations(range(self.n), k)
        )
