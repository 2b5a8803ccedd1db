"""Dueling bandit gradient descent, with several candidates, in the null space, or projected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import DataError
from plackett._kernel import kernel
from plackett.online._lists import normal, scores_of, uniform
from plackett.online.learners.base import LinearLearner

__all__ = ["DBGD"]

#: Rows of the memory: the number of candidates, then of directions that lost; row 0 holds the place to write next.
_FIRST = 1


@kernel
def _without(v, basis, m):  # type: ignore[no-untyped-def]
    """Take the span of m orthonormal rows out of a vector."""
    for r in range(m):
        s = 0.0
        for f in range(v.size):
            s += v[f] * basis[r, f]
        for f in range(v.size):
            v[f] -= s * basis[r, f]


@kernel
def _unit(v):  # type: ignore[no-untyped-def]
    """Scale to length 1; false if there is nothing left."""
    s = 0.0
    for f in range(v.size):
        s += v[f] * v[f]
    if s < 1e-18:
        return False
    v /= np.sqrt(s)
    return True


@kernel
def show_dbgd(w, memory, X, rows, n, k, parameters, state, work, order, team):  # type: ignore[no-untyped-def]
    """Team-draft of the current model (team 0) and the candidates (1 to m)."""
    delta, m, kept = parameters[2], int(parameters[3]), int(parameters[4])
    d = w.size
    basis, size = np.empty((kept, d)), 0
    for r in range(kept):  # orthonormal basis of the directions that lost
        basis[size] = memory[_FIRST + m + r]
        _without(basis[size], basis, size)
        if _unit(basis[size]):
            size += 1
    scores, candidate = np.empty((m + 1, n)), np.empty(d)
    scores_of(w, X, rows, n, scores[0])
    for c in range(m):
        u = memory[_FIRST + c]
        for f in range(d):
            u[f] = normal(state)
        if size < d:
            _without(u, basis, size)
        _unit(u)
        for f in range(d):
            candidate[f] = w[f] + delta * u[f]
        scores_of(candidate, X, rows, n, scores[c + 1])
    turns = np.arange(m + 1)
    k = min(k, n)
    for i in range(k):
        at = i % (m + 1)
        if at == 0:
            for c in range(m, 0, -1):
                other = int(uniform(state) * (c + 1))
                turns[c], turns[other] = turns[other], turns[c]
        picker = turns[at]
        best = -1
        for j in range(n):
            if scores[picker, j] > -np.inf and (best < 0 or scores[picker, j] > scores[picker, best]):
                best = j
        order[i], team[i] = best, picker
        scores[:, best] = -np.inf
    return k


@kernel
def learn_dbgd(w, memory, X, rows, n, k, parameters, state, work, order, team, clicks):  # type: ignore[no-untyped-def]
    m, kept, project = int(parameters[3]), int(parameters[4]), parameters[5] > 0.0
    d = w.size
    credit = np.zeros(m + 1)
    last = -1
    for i in range(k):
        if clicks[i]:
            credit[team[i]] += 1.0
            last = i
    if last < 0:
        return
    step, winners = np.zeros(d), 0
    for c in range(m):
        if credit[c + 1] > credit[0]:
            step += memory[_FIRST + c]
            winners += 1
        elif credit[c + 1] < credit[0] and kept > 0:
            at = int(memory[0, 0]) % kept
            memory[_FIRST + m + at] = memory[_FIRST + c]
            memory[0, 0] = at + 1
    if winners == 0:
        return
    step /= winners
    if project:  # onto the span of the documents that were seen
        seen = min(last + 2, k)
        basis, size = np.empty((seen, d)), 0
        for i in range(seen):
            basis[size] = X[rows[order[i]]]
            _without(basis[size], basis, size)
            if _unit(basis[size]):
                size += 1
        outside = step.copy()
        _without(outside, basis, size)
        step -= outside
    w += parameters[0] * step


@dataclass(eq=False)
class DBGD(LinearLearner):
    """Dueling bandit gradient descent: a random candidate is interleaved with the current model, and a win is a step.

    Candidates are w + δu with u uniform on the unit sphere. The page is a team draft of the current model and the
    candidates; candidates with more clicks than the current model win, and w moves by the learning rate along the mean
    of the winners' directions. Pages without clicks change nothing. The bound on exploration does not apply: pages
    are only as far from the current order as δ makes them.

    Parameters
    ----------
    delta
        Distance of the candidates.
    n_candidates
        1 is the original, more is multileave gradient descent.
    null_space
        Number of directions that lost lately; new ones are drawn from the space orthogonal to them. 0 is none.
    project
        Project steps onto the span of the features of the documents that were seen: the rest of a direction had no
        part in the win.

    Examples
    --------
    >>> learner = DBGD(n_features=2, n_candidates=4, random_state=1)
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]])
    >>> for _ in range(500):
    ...     page = learner.show(X)
    ...     _ = learner.learn(X, page, page.order == 1)
    >>> learner.predict(X).argmax()
    np.int64(1)
    """

    _ids: ClassVar[tuple[str, ...]] = ("online.dbgd",)
    paper: ClassVar[str] = (
        "Yue, Joachims 2009; Schuth et al. 2016 (multileave); Wang et al. 2018 (null space), 2019 (projected)"
    )
    _show: ClassVar[Any] = show_dbgd
    _learn: ClassVar[Any] = learn_dbgd

    learning_rate: float = 0.01
    delta: float = 1.0
    n_candidates: int = 1
    null_space: int = 0
    project: bool = False

    def __post_init__(self) -> None:
        if not self.delta > 0 or self.n_candidates < 1 or self.null_space < 0:
            raise DataError(
                f"delta={self.delta}, n_candidates={self.n_candidates}, null_space={self.null_space}: "
                "delta is positive, there is at least one candidate, null_space is 0 or more"
            )
        if self.least > 0:
            raise DataError(f"least={self.least}: interleaved pages cannot be bounded; use PDGD, or least=0")
        super().__post_init__()

    def parameters(self) -> np.ndarray:
        """Numbers that the kernels read."""
        own = (self.delta, self.n_candidates, self.null_space, self.project)
        return np.array([self.learning_rate, self.least, *own], np.float64)

    def new_memory(self) -> np.ndarray:
        """Directions of the candidates, and directions that lost."""
        return np.zeros((_FIRST + self.n_candidates + self.null_space, self.n_features))

    def _detail(self, team: np.ndarray) -> Any:
        return {"teams": team.tolist(), "directions": self._memory[_FIRST : _FIRST + self.n_candidates].tolist()}

    def _use(self, detail: Any, size: int) -> np.ndarray:
        self._memory[_FIRST : _FIRST + self.n_candidates] = detail["directions"]
        return np.array(detail["teams"], np.int64)
