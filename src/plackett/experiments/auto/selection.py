"""Which candidates to blend: greedy selection with replacement, and how good that selection is on other queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.ids import distinct
from plackett.data.kfold import QueryKFold
from plackett.experiments.auto.splits import TWICE
from plackett.experiments.auto.trials import CandidateTrials, mean, per_query

__all__ = ["greedy"]

#: Number of picks of the greedy selection; weights are roughly multiples of one over this.
PICKS = 15
#: Number of candidates that it begins with, and by how many standard errors a candidate is clearly worse.
START, CLEAR = 3, 2.0
#: Number of candidates it chooses from.
CHOSEN_FROM = 12
#: Number of parts of the queries, each left out once; with few queries, they are cut into halves several times.
PARTS, HALVINGS = 5, 5
#: Maximum number of members, and the same for few queries.
MEMBERS, MEMBERS_OF_FEW = 5, 10


@dataclass(frozen=True, eq=False)
class BlendMembers:
    """The selected candidates.

    Attributes
    ----------
    members
        Numbers of the candidates, the one with the largest weight first.
    stages
        Number of the stage of each.
    weights
        Weight of each; they add up to 1.
    values
        One value of the measure for each query, by a selection that did not see the query; larger is better. None
        if there are too few queries to leave some out.
    """

    members: list[int]
    stages: list[int]
    weights: np.ndarray
    values: np.ndarray | None


def greedy(
    scores: Sequence[np.ndarray],
    value: Callable[[np.ndarray], float],
    *,
    picks: int = PICKS,
    start: int = 1,
    allowed: Callable[[np.ndarray], bool] = lambda counts: True,
) -> np.ndarray:
    """Greedy selection with replacement: how often to pick each score vector so that the sum has the best value.

    Each pick is the vector that makes the mean of the picks best (the first one in case of ties). Of the sums after
    each pick, the best is kept (the shortest one in case of ties), so with ``start=1`` the result is never worse than
    the best single vector. With few queries the best single vector is partly lucky; ``start=3`` picks the first three
    vectors to begin with, and only sums that contain them are compared.

    Parameters
    ----------
    scores
        The score vectors, in units that can be added.
    value
        Value of a score vector; larger is better.
    picks
        Maximum number of picks.
    start
        Number of vectors to begin with, taken from the front; order the vectors from best to worst. Those that are
        not allowed are skipped.
    allowed
        Whether these counts are allowed.

    References
    ----------
    Caruana, Niculescu-Mizil, Crew, Ksikes: Ensemble selection from libraries of models. ICML 2004.

    Examples
    --------
    >>> greedy([np.array([1.0, 0.0]), np.array([0.0, 3.0])], lambda s: -float(abs(s[0] - s[1])))
    array([3, 1])
    """
    counts = np.zeros(len(scores), np.int64)
    total = np.zeros_like(scores[0], dtype=np.float64)
    for i, row in enumerate(scores[:start] if start > 1 else ()):
        counts[i] += 1
        if allowed(counts):
            total += row
        else:
            counts[i] -= 1
    n_first = int(counts.sum())
    best, kept = value(total / n_first) if n_first else -np.inf, counts.copy()
    for n in range(n_first + 1, picks + 1):
        top, chosen = -np.inf, -1
        for i, row in enumerate(scores):
            counts[i] += 1
            fits = allowed(counts)
            counts[i] -= 1
            if not fits:
                continue
            worth = value((total + row) / n)
            if chosen < 0 or worth > top:
                top, chosen = worth, i
        if chosen < 0:
            break
        counts[chosen] += 1
        total += scores[chosen]
        if not kept.any() or top > best:
            best, kept = top, counts.copy()
    return kept


def select(
    trials: CandidateTrials, *, max_members: int, document_seconds: float | None = None, random_state: int = 0
) -> BlendMembers:
    """Blend the complete candidates: the mean of greedy selections, each on all but a part of the queries.

    For every part left out, the best stage of each candidate and the weights are chosen on the other queries and
    measured on that part; together these values give an unbiased estimate. The weights of the blend are the mean over
    the parts, and its stages are chosen on all queries. Few queries are cut into halves, several times: a candidate
    that is best by luck is so on some halves only, and the mean has more members.
    """
    finished = trials.complete()
    everything = np.ones(trials.splits.judged.n_queries, bool)
    table = _Table(trials, finished, document_seconds, max_members)
    stages = table.stages(everything)
    parts, rounds = _parts(trials.splits.twins, random_state)
    if len(finished) == 1 or not parts:
        weights = table.weights(everything, stages)
    else:
        weights = np.zeros(len(finished))
    values = np.zeros(everything.size)
    for part in parts:
        own = table.stages(~part)
        chosen = table.weights(~part, own)
        values[part] += table.per_query(part, own, chosen) / rounds
        if len(finished) > 1:
            weights += chosen / len(parts)
    order = np.argsort(-weights, kind="stable")[:max_members].tolist()
    kept = table.affordable([i for i in order if weights[i] > 0])
    return BlendMembers(
        members=[finished[i] for i in kept],
        stages=[int(stages[i]) for i in kept],
        weights=weights[kept] / weights[kept].sum(),
        values=by_query(values, trials.splits.twins) if parts else None,
    )


def best_alone(trials: CandidateTrials, *, document_seconds: float | None = None) -> BlendMembers:
    """The best complete candidate by itself, of those that score fast enough; without an estimate."""
    finished = trials.complete()
    seconds = {i: trials.document_seconds(i) for i in finished}
    limit = np.inf if document_seconds is None else max(document_seconds, min(seconds.values()))
    best = max((i for i in finished if seconds[i] <= limit), key=trials.worth)
    return BlendMembers([best], [trials.best_stage(best)], np.ones(1), None)


def evaluations(n_candidates: int) -> int:
    """About how often `select` measures all held-out documents."""
    return 5 * n_candidates + max(PARTS, HALVINGS) * PICKS * min(n_candidates, CHOSEN_FROM)


def members_for(n_queries: int) -> int:
    """Maximum number of members for this many queries: few cannot tell which candidates are better.

    >>> [members_for(n) for n in (60, 500)]
    [10, 5]
    """
    return MEMBERS_OF_FEW if n_queries < TWICE else MEMBERS


def _parts(queries: np.ndarray, random_state: int) -> tuple[list[np.ndarray], int]:
    """Masks of the queries to leave out, and how often each is; all entries of a query are in the same part."""
    n_queries = np.unique(queries).size
    if n_queries < 2:
        return [], 0
    rounds, n_parts = (HALVINGS, 2) if n_queries < TWICE else (1, PARTS)
    masks = []
    for number in range(rounds):
        cut = QueryKFold(n_parts, shuffle=True, random_state=random_state + number)
        for _, test in cut.split(np.empty((queries.size, 0)), qid=queries):
            mask = np.zeros(queries.size, bool)
            mask[test] = True
            masks.append(mask)
    return masks, rounds


def by_query(values: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Mean over the entries of each query: repeated folds measure it more than once."""
    _, of = distinct(queries)
    known = ~np.isnan(values)
    counts = np.bincount(of[known], minlength=of.max() + 1)
    with np.errstate(invalid="ignore"):
        return np.bincount(of[known], values[known], minlength=of.max() + 1) / np.where(counts, counts, np.nan)


class _Table:
    """Values of every candidate and stage for every held-out query, and blends of them on some of the queries."""

    def __init__(
        self, trials: CandidateTrials, finished: list[int], document_seconds: float | None, max_members: int
    ) -> None:
        self.trials, self.finished, self.max_members = trials, finished, max_members
        self.limit = np.inf if document_seconds is None else document_seconds
        self.values = [
            np.array([trials.values(trials.scores(i, stage)) for stage in range(len(trials.candidates[i].stages))])
            for i in finished
        ]
        self.seconds = np.array([trials.document_seconds(i) for i in finished])

    def stages(self, queries: np.ndarray) -> np.ndarray:
        """The best stage of each candidate on some queries, the first one if tied."""
        measure = self.trials.measure
        return np.array([int(np.argmax([mean(measure, row[queries]) for row in rows])) for rows in self.values])

    def weights(self, queries: np.ndarray, stages: np.ndarray) -> np.ndarray:
        """Share of each candidate in the greedy selection on some queries."""
        measure, trials = self.trials.measure, self.trials
        worth = np.array([mean(measure, self.values[i][stage][queries]) for i, stage in enumerate(stages)])
        order = np.argsort(-worth, kind="stable")
        affordable = [i for i in order.tolist() if self.seconds[i] <= self.limit]
        top = affordable[:CHOSEN_FROM] or [int(np.argmin(self.seconds))]
        data, rows = self._part(queries)
        scores = [trials.scores(self.finished[i], stages[i])[rows] for i in top]
        seconds = self.seconds[top]

        def allowed(counts: np.ndarray) -> bool:
            used = counts > 0
            return used.sum() <= self.max_members and (used.sum() == 1 or seconds[used].sum() <= self.limit)

        def value(blend: np.ndarray) -> float:
            return mean(measure, per_query(measure, data, blend, trials.n_jobs))

        counts = greedy(scores, value, start=self._alike(queries, stages, top), allowed=allowed)
        weights = np.zeros(len(self.finished))
        weights[top] = counts / counts.sum()
        return weights

    def _alike(self, queries: np.ndarray, stages: np.ndarray, top: list[int]) -> int:
        """How many of the best candidates to begin with: those that are not clearly worse than the best one."""
        best = self.values[top[0]][stages[top[0]]][queries]
        n_queries = np.unique(self.trials.splits.twins[queries]).size  # repeated folds measure a query more than once
        for n, i in enumerate(top[1:START], start=1):
            gap = best - self.values[i][stages[i]][queries]
            gap = gap[~np.isnan(gap)]
            if gap.size == 0 or gap.mean() > CLEAR * gap.std() / np.sqrt(n_queries):
                return n
        return min(START, len(top))

    def affordable(self, members: list[int]) -> list[int]:
        """The first members that together score fast enough, at least one."""
        return [i for n, i in enumerate(members) if n == 0 or self.seconds[members[: n + 1]].sum() <= self.limit]

    def per_query(self, queries: np.ndarray, stages: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Values of a blend on some queries."""
        data, rows = self._part(queries)
        used = np.flatnonzero(weights)
        scores = sum(weights[i] * self.trials.scores(self.finished[i], stages[i])[rows] for i in used.tolist())
        return per_query(self.trials.measure, data, np.asarray(scores), self.trials.n_jobs)

    def _part(self, queries: np.ndarray) -> tuple[RankingDataset, np.ndarray]:
        judged = self.trials.splits.judged
        return judged.select(queries), np.repeat(queries, judged.group)
