"""Train the chosen rankers on all data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._kernels.cores import n_threads
from plackett._kernels.openmp import growing_threads
from plackett.data.dataset import RankingDataset
from plackett.experiments.auto.selection import BlendMembers
from plackett.experiments.auto.trials import CandidateTrials, fit, quietly
from plackett.rankers.base import Ranker
from plackett.rankers.blend import BlendScorer
from plackett.solvers.monitor import Monitor


def refit(
    trials: CandidateTrials,
    selection: BlendMembers,
    data: RankingDataset,
    *,
    n_seeds: int,
    deadline: float = np.inf,
    latest: float = np.inf,
) -> tuple[BlendScorer, str | None]:
    """Train the members on all data for the best number of rounds; also return why this was cut short, if it was.

    Members that involve randomness are trained with several seeds, each with an equal share of the weight. Further
    seeds end at the deadline; the first training of each member may go on until ``latest``, and the first of all takes
    up to twice the estimated time. A training that is cut short is dropped, unless it is the only one. Scores are
    divided by the spread of the candidate's scores on held-out documents: on training data the spread is larger, and
    more so for a member that fits them closely.
    """
    rankers: list[Ranker] = []
    factors: list[float] = []
    runs = [(member, seed) for seed in range(n_seeds) for member in range(len(selection.members))]
    runs = [(member, seed) for member, seed in runs if seed == 0 or _draws(trials.ranker(selection.members[member]))]
    short = None
    done: list[int] = []
    threads = min(n_threads(trials.n_jobs), growing_threads(None, data.n_rows, data.n_features))
    try:
        for member, seed in runs:
            limit = deadline if seed else latest
            if not rankers:
                limit = max(limit, trials.clock() + 2.0 * trials.refit_seconds(selection.members[member]))
            if rankers and trials.clock() >= limit:
                if len(set(done)) < len(selection.members):
                    short = "cut short by the time budget"
                break
            ranker, late = _member(trials, selection, member, seed), _Late(trials.clock, limit)
            ranker.set_params(n_jobs=threads)
            with quietly():
                fit(ranker, data, late)
            ranker.set_params(n_jobs=trials.n_jobs)
            if late.stopped and rankers:  # fewer rounds than were chosen make another ranker
                short = short if seed else "cut short by the time budget"
                break
            short = "cut short by the time budget" if late.stopped else short
            rankers.append(ranker)
            done.append(member)
    except KeyboardInterrupt:
        if not rankers:
            raise
        short = "interrupted"
    shares = np.bincount(done, minlength=len(selection.members))
    for member in done:
        number, stage = selection.members[member], selection.stages[member]
        splits = range(len(trials.splits))
        spread = float(np.mean([trials.outcomes[number, i].spreads[stage] for i in splits]))
        factors.append(float(selection.weights[member]) / shares[member] / spread)
    return BlendScorer(tuple(rankers), np.array(factors)), short


class _Late:
    """Ends a training when it is late, and remembers that it did."""

    def __init__(self, clock: Callable[[], float], limit: float) -> None:
        self.clock, self.limit, self.stopped = clock, limit, False

    def __call__(self, monitor: Monitor) -> bool:
        self.stopped = self.clock() >= self.limit
        return self.stopped


def _member(trials: CandidateTrials, selection: BlendMembers, member: int, seed: int) -> Ranker:
    number = selection.members[member]
    ranker = trials.ranker(number)
    rounds = trials.candidates[number].stages[selection.stages[member]]
    if rounds is not None:
        assert ranker.effort is not None
        ranker.set_params(**{ranker.effort: rounds})
    if seed:
        ranker.set_params(random_state=(trials.random_state or 0) + seed)
    return ranker


def _draws(ranker: Ranker) -> bool:
    """Whether the seed matters: trees on a subset of the columns or queries, and networks."""
    known = ranker.get_params(deep=False)
    shares = [known.get(name, 1.0) for name in ("colsample_bytree", "colsample_bynode", "subsample")]
    return min(shares) < 1.0 or known.get("boosting") in ("bagged", "forest") or "max_epochs" in known
