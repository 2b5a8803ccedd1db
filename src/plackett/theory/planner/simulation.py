"""Deep or shallow: what happens to the risk when the same number of judgements is spent on fewer or more queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett.data.arguments import array
from plackett.theory.bounds.two_layer import TwoLayerBound
from plackett.theory.planner.splits import splits_of
from plackett.theory.risks.planted_world import PlantedWorld
from plackett.theory.risks.risk import Risk

__all__ = ["simulate_labelling"]


@dataclass(frozen=True, eq=False)
class LabellingSimulation:
    """Result of `simulate_labelling`, one entry for each split of the budget.

    Attributes
    ----------
    queries, documents
        The splits.
    risk, error
        Share of misordered pairs on fresh queries, mean over the repetitions, and its standard error.
    gap
        Risk on fresh queries minus that on the training data.
    bound
        What the two-layer bound adds to the training risk.
    """

    queries: np.ndarray
    documents: np.ndarray
    risk: np.ndarray
    error: np.ndarray
    gap: np.ndarray
    bound: np.ndarray

    @property
    def best(self) -> int:
        """Number of the split with the least risk."""
        return int(np.argmin(self.risk))

    @property
    def as_good(self) -> np.ndarray:
        """Whether each split is within two standard errors of the best one."""
        return self.risk <= self.risk[self.best] + 2.0 * np.hypot(self.error, self.error[self.best])


def simulate_labelling(
    budget: int,
    *,
    world: PlantedWorld | None = None,
    queries: Sequence[int] | None = None,
    max_queries: int | None = None,
    max_documents: int | None = None,
    n_repeats: int = 10,
    ranker: Any = None,
    random_state: int = 0,
    verbose: bool = False,
) -> LabellingSimulation:
    """Train on the same number of judgements spent on few queries with many documents, up to many with few.

    Queries and documents come from a `PlantedWorld`, in which every query has some weights of its own. With few
    queries, the ranker learns their peculiarities; with few documents each, there are hardly any pairs. The best split
    is in between.

    Parameters
    ----------
    budget
        Judgements.
    world
        Where the data come from.
    queries
        Numbers of queries to try; by default ten from one to half the budget.
    max_queries, max_documents
        Limits for the default numbers.
    ranker
        What to train; by default a linear model with the logistic pair loss, all queries with the same weight.

    References
    ----------
    Yilmaz, Robertson: Deep versus shallow judgments in learning to rank. SIGIR 2009.
    Chen, Liu, Ma: Two-layer generalization analysis for ranking using Rademacher average. NIPS 2010.
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 17.4.

    Examples
    --------
    >>> simulation = simulate_labelling(200, world=PlantedWorld(n_features=4), n_repeats=3)
    >>> simulation.queries.tolist()
    [1, 2, 3, 5, 8, 13, 22, 36, 60, 100]
    """
    from plackett._base.estimator import clone
    from plackett._base.progress import progress

    budget, n_repeats = whole("budget", budget, least=4), whole("n_repeats", n_repeats, least=1)
    world = PlantedWorld() if world is None else world
    ranker = _default() if ranker is None else ranker
    if queries is None:
        n, m = splits_of(budget, max_queries=max_queries, max_documents=max_documents)
    else:
        n = array("queries", queries, least=1).astype(np.int64)
        m = budget // n
        if (m < 2).any():
            raise DataError(f"{budget} judgements leave fewer than 2 documents for each of {n.max()} queries")
    risk = Risk("pairwise 0-1", "two-layer", "average", tie="half")
    fresh = world.sample(400, 40, random_state=[random_state, 1])
    values = np.full((n_repeats, n.size, 2), 0.5)  # nothing learned: half of the pairs are wrong
    tasks = [(r, i) for r in range(n_repeats) for i in range(n.size)]
    for r, i in progress(tasks, "training on the splits", len(tasks), verbose=verbose):
        data = world.sample(int(n[i]), int(m[i]), random_state=[random_state, 2, r, i])
        if np.isnan(own := risk(np.zeros(data.n_rows), data)):
            continue  # not a single pair
        fitted = clone(ranker).fit(data)
        own = risk(fitted.predict(data), data)
        values[r, i] = risk(fitted.predict(fresh), fresh), own
    mean = values.mean(axis=0)
    error = values[:, :, 0].std(axis=0, ddof=1) / np.sqrt(n_repeats) if n_repeats > 1 else np.zeros(n.size)
    bound = [
        TwoLayerBound(queries=int(a), documents=int(b), vc=world.n_features).value for a, b in zip(n, m, strict=True)
    ]
    return LabellingSimulation(n, m, mean[:, 0], error, mean[:, 0] - mean[:, 1], np.array(bound))


def _default() -> Any:
    from plackett.losses.pairwise.logistic import Logistic
    from plackett.models.linear import Linear
    from plackett.rankers.gradient_ranker import GradientRanker

    return GradientRanker(loss=Logistic(normalize=True), model=Linear(alpha=0.01, standardize=False), n_jobs=1)
