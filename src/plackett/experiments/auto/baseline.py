"""What the result of a search is compared with: a ranker on the same held-out queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.estimator import clone
from plackett.evaluation.significance.intervals import confidence_interval
from plackett.experiments.auto.candidates import Candidate
from plackett.experiments.auto.selection import by_query
from plackett.experiments.auto.splits import Splits
from plackett.experiments.auto.trials import CandidateTrials, fit, quietly


@dataclass(frozen=True, eq=False)
class Baseline:
    """Its name, and its scores of the documents of each held-out part."""

    name: str
    scores: list[np.ndarray]

    @classmethod
    def of(cls, candidate: Candidate, splits: Splits) -> Baseline:
        """Train a ranker on every training part."""
        scores = []
        for number in range(len(splits)):
            ranker = clone(candidate.ranker)
            with quietly():
                fit(ranker, splits.train(number))
            scores.append(ranker.predict(splits.test(number)))
        return cls(candidate.name, scores)

    def sentence(self, trials: CandidateTrials, values: np.ndarray) -> str:
        """How far a result is ahead, by its values for each query; larger is better."""
        held_out = trials.values(np.concatenate(self.scores[: len(trials.splits)]))
        own = by_query(held_out, trials.splits.twins)
        gain = float(np.nanmean(values - own))
        interval = confidence_interval(values - own)
        figure = f"{trials.measure} {np.nanmean(own) if trials.measure.ascending else -np.nanmean(own):.4f}"
        return (
            f"That is {abs(gain):.4f} {'ahead of' if gain >= 0 else 'behind'} the baseline {self.name}, which has "
            f"{figure} on the same queries (95 % interval {interval.low:+.4f} to {interval.high:+.4f})."
        )
