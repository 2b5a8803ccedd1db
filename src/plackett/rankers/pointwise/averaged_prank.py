"""The average of PRanks that each saw a part of the documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.search_space import SearchSpace
from plackett.rankers.pointwise._perceptrons import OrdinalPerceptron

__all__ = ["AveragedPRank"]


@dataclass(kw_only=True, eq=False, repr=False)
class AveragedPRank(OrdinalPerceptron):
    """OAP-BPM: many PRanks (`PRank`), each on its own random part of the documents; weights and thresholds averaged.

    Each of them sees a document in a pass with probability ``sampling_rate``, in its own order. The average is near the
    centre of the weights that agree with the documents (the Bayes point), and varies less from seed to seed than a
    single PRank. The averaged thresholds are in order because those of each model are.

    Parameters
    ----------
    n_models
        Number of PRanks.
    sampling_rate
        Share of the documents that each sees in a pass.
    margin
        As in `PRank`, where it is 0. Here it is large: on inseparable data every document moves the weights until the
        margin is reached, which is more stable. Chosen on validation queries of several small sets (see "Defaults on
        small data" in the guide to rankers).

    Attributes
    ----------
    thresholds_
        The thresholds.
    mistakes_
        Grades missed in each pass, by all models.
    rank_loss_
        By how many grades, summed over all passes and models.

    Examples
    --------
    >>> ranker = AveragedPRank().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.rank([[5.0], [7.0]], qid=[2, 2])
    array([2, 1])

    References
    ----------
    Harrington: Online ranking/collaborative filtering using the perceptron algorithm. ICML 2003.
    """

    search_space: ClassVar[SearchSpace] = {"margin": (0.0, 100.0, 1000.0, 3000.0, 30_000.0)}

    n_models: int = 100
    sampling_rate: float = 0.3
    margin: float = 30_000.0
    max_iter: int = 10

    def _shape(self) -> tuple[int, float]:
        return self.n_models, self.sampling_rate

    def _point(self, weights: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return weights.mean(axis=0), thresholds.mean(axis=0)
