"""Dueling bandit gradient descent, with several candidates, in the null space, or projected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.online._lists import best_first, normal, page_quality, scores_of, uniform
from plackett.online.learners.base import OnlineLearner

__all__ = ["DBGD"]

#: Rows of the memory: the number of candidates, then of directions that lost; row 0 holds the row to write next.
_FIRST = 1
#: Distances of the candidates that are tried before the current order is shown; each is half of the one before.
_TRIES = 10


@kernel
def _without(v, basis, m):
    """Take the span of m orthonormal rows out of a vector."""
    for r in range(m):
        s = 0.0
        for f in range(v.size):
            s += v[f] * basis[r, f]
        for f in range(v.size):
            v[f] -= s * basis[r, f]


@kernel
def _unit(v):
    """Scale to length 1; false if there is nothing left."""
    s = 0.0
    for f in range(v.size):
        s += v[f] * v[f]
    if s < 1e-18:
        return False
    v /= np.sqrt(s)
    return True


@kernel
def _draft(scores, turns, shift, k, n, taken, order, team):
    """The page of a team draft in which team ``turns[i] + shift`` picks at rank i."""
    teams = scores.shape[0]
    taken[:] = False
    for i in range(k):
        picker = (turns[i] + shift) % teams
        best = -1
        for j in range(n):
            if not taken[j] and (best < 0 or scores[picker, j] > scores[picker, best]):
                best = j
        order[i], team[i] = best, picker
        taken[best] = True


@kernel
def show_dbgd(w, memory, X, rows, n, k, parameters, state, work, order, team):
    """Team draft of the current model (team 0) and the candidates (1 to m); team −1 is nobody."""
    least, delta, m, kept = parameters[1], parameters[2], int(parameters[3]), int(parameters[4])
    d, k = w.size, min(k, n)
    basis, size = np.empty((kept, d)), 0
    for r in range(kept):  # orthonormal basis of the directions that lost
        basis[size] = memory[_FIRST + m + r]
        _without(basis[size], basis, size)
        if _unit(basis[size]):
            size += 1
    for c in range(m):
        u = memory[_FIRST + c]
        for f in range(d):
            u[f] = normal(state)
        if size < d:
            _without(u, basis, size)
        _unit(u)
    scores, candidate = np.empty((m + 1, n)), np.empty(d)
    scores_of(w, X, rows, n, parameters, scores[0])
    turns, players = np.empty(k, np.int64), np.arange(m + 1)
    taken, ideal = np.empty(n, np.bool_), np.empty(k, np.int64)
    for _ in range(_TRIES):
        for c in range(m):
            for f in range(d):
                candidate[f] = w[f] + delta * memory[_FIRST + c, f]
            scores_of(candidate, X, rows, n, parameters, scores[c + 1])
        for i in range(k):
            if i % (m + 1) == 0:
                for c in range(m, 0, -1):
                    other = int(uniform(state) * (c + 1))
                    players[c], players[other] = players[other], players[c]
            turns[i] = players[i % (m + 1)]
        good = True
        if least > 0.0:  # all or none of the drafts that differ by a shift: a choice among them is fair at every rank
            for shift in range(m + 1):
                _draft(scores, turns, shift, k, n, taken, order, team)
                good = good and (k == 0 or page_quality(scores[0], n, order, k, work[0], ideal) >= least)
        if good:
            _draft(scores, turns, int(uniform(state) * (m + 1)) if least > 0.0 else 0, k, n, taken, order, team)
            return k
        delta /= 2.0
    team[:k] = -1
    work[0, :n] = scores[0]
    return best_first(work[0], n, k, order)


@kernel
def learn_dbgd(w, memory, X, rows, n, k, parameters, state, work, order, team, clicks):
    """Step towards the directions that won the clicks of a page."""
    m, kept, project = int(parameters[3]), int(parameters[4]), parameters[5] > 0.0
    d = w.size
    credit = np.zeros(m + 1)
    last = -1
    for i in range(k):
        if clicks[i]:
            if team[i] >= 0:
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
class DBGD(OnlineLearner):
    """Dueling bandit gradient descent: a random candidate is interleaved with the current model, and a win is a step.

    Candidates are w + δu with u uniform on the unit sphere. The page is a team draft of the current model and the
    candidates; candidates with more clicks than the current model win, and w moves by the learning rate along the mean
    of the winners' directions. Pages without clicks change nothing. With a bound on exploration, candidates come nearer
    (δ is halved) until all drafts that differ only by who begins are good enough; after ten halvings the current order
    is shown, and nothing is learned from the page.

    Parameters
    ----------
    delta
        Distance of the candidates.
    n_candidates
        1 is the original, more is multileave gradient descent.
    null_space
        Number of recent losing directions to remember; new ones are drawn orthogonally to them. 0 remembers none.
    project
        Project steps onto the span of the features of the documents that were seen: the rest of a direction did not
        contribute to the win.

    References
    ----------
    Yue, Joachims: Interactively optimizing information retrieval systems as a dueling bandits problem. ICML 2009.
    Schuth et al.: Multileave gradient descent for fast online learning to rank. WSDM 2016 (multileave).
    Wang et al. 2018 (null space),. 2019 (projected).

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

    show_kernel: ClassVar[Any] = show_dbgd
    learn_kernel: ClassVar[Any] = learn_dbgd

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
        super().__post_init__()

    def parameters(self) -> np.ndarray:
        """Numbers that the kernels read."""
        own = (self.delta, self.n_candidates, self.null_space, self.project)
        return np.array([self.learning_rate, self.least, *own], np.float64)

    def new_memory(self) -> np.ndarray:
        """Directions of the candidates, and directions that lost."""
        return np.zeros((_FIRST + self.n_candidates + self.null_space, self.n_features))

    def _detail(self, team: np.ndarray, memory: np.ndarray) -> Any:
        return {"teams": team.tolist(), "directions": memory[_FIRST : _FIRST + self.n_candidates].tolist()}

    def _use(self, detail: Any, size: int) -> np.ndarray:
        self._memory[_FIRST : _FIRST + self.n_candidates] = detail["directions"]
        return np.array(detail["teams"], np.int64)

    def _check_detail(self, detail: Any, size: int) -> None:
        try:
            teams = np.array(detail["teams"], np.int64)
            directions = np.array(detail["directions"], np.float64)
        except (TypeError, ValueError, KeyError, OverflowError) as error:
            raise DataError(f"not the detail of a page of DBGD: {type(error).__name__} {error}") from None
        if teams.shape != (size,) or (size and not -1 <= teams.min() <= teams.max() <= self.n_candidates):
            raise DataError(f"the page has {size} documents of {self.n_candidates + 1} teams, but teams are {teams}")
        if directions.shape != (self.n_candidates, self.n_features) or not np.isfinite(directions).all():
            raise DataError(f"directions have shape {directions.shape}, not {(self.n_candidates, self.n_features)}")
