"""Guttman's point alienation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss, LossOnData
from plackett.losses.pairwise.base import documents_weight, label_order

__all__ = ["Guttman"]


class _Preferences(BoundLoss):
    """The explicit preferences of a dataset; margins have no meaning here."""

    def __init__(self, loss: Guttman, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        assert data.preferences is not None
        self.epsilon, self.winner, self.loser = float(loss.epsilon), data.preferences.winner, data.preferences.loser
        self.weight = documents_weight(data, data.preferences)
        self.query = data.query_of_row[self.winner]

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient per score, and zeros."""
        _, gradient, curvature = self.zeros()
        n, gap = self.data.n_queries, scores[self.winner] - scores[self.loser]
        length = np.sqrt(gap**2 + self.epsilon**2)
        ahead, apart = (np.bincount(self.query, self.weight * part, n) for part in (gap, length))
        share = np.divide(self.query_weight, apart, out=np.zeros(n), where=apart > 0.0)
        agreement = np.divide(ahead, apart, out=np.zeros(n), where=apart > 0.0)
        slope = self.weight * share[self.query] * (agreement[self.query] * gap / length - 1.0)
        gradient += np.bincount(self.winner, slope, scores.size) - np.bincount(self.loser, slope, scores.size)
        return np.where(apart > 0.0, self.query_weight * (1.0 - agreement), 0.0), gradient, curvature


@kernel
def _alienation(lo, hi, offsets, scores, order, below, judged, weight, query_weight, epsilon, losses, gradient):
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        ahead = 0.0
        apart = 0.0
        for i in range(n):
            u = order[a + i]
            for j in range(below[a + i], n):
                v = order[a + j]
                gap = scores[u] - scores[v]
                w = weight[u] * weight[v]
                ahead += w * gap
                apart += w * np.sqrt(gap * gap + epsilon * epsilon)
        if apart == 0.0:
            continue  # no pairs
        agreement = ahead / apart
        losses[q] = query_weight[q] * (1.0 - agreement)
        share = query_weight[q] / apart
        for i in range(n):
            u = order[a + i]
            for j in range(below[a + i], n):
                v = order[a + j]
                gap = scores[u] - scores[v]
                slope = agreement * gap / np.sqrt(gap * gap + epsilon * epsilon) - 1.0
                slope *= share * weight[u] * weight[v]
                gradient[u] += slope
                gradient[v] -= slope


@dataclass(frozen=True, kw_only=True, repr=False)
class Guttman(Loss):
    r"""Guttman's point alienation, a rank correlation of scores with preferences, as a loss

    .. math:: 1 - J, \qquad J = \frac{\sum_{(u, v)} w_{uv}\,(s_u - s_v)}{\sum_{(u, v)} w_{uv}\,|s_u - s_v|}

    over the pairs of a query in which u is preferred to v. J lies between −1 and 1, and is 1 if and only if no pair is
    in the wrong order. Adding a constant to the scores or multiplying them by a positive factor does not change it,
    except for the smoothing of :math:`|z|` to :math:`\sqrt{z^2 + \epsilon^2}`, which gives it a gradient where scores
    are equal. It is not convex.

    The pairs are the explicit preferences of the dataset if it has any, otherwise all pairs of unequal labels. The
    cost is that of all pairs.

    Parameters
    ----------
    epsilon
        Width over which the kink of the absolute value is smoothed; positive.

    Examples
    --------
    >>> import numpy as np, plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [2, 1, 0], qid=[1] * 3)
    >>> round(Guttman(epsilon=1e-6)(np.array([1.0, 2.0, 0.0]), data), 6)  # J = (−1 + 1 + 2)/(1 + 1 + 2)
    0.5

    References
    ----------
    Bartell, Cottrell, Belew: Automatic combination of multiple ranked retrieval systems. SIGIR 1994.
    Bartell, Cottrell, Belew: Learning to retrieve information. Swedish Conference on Connectionism 1995.
    """

    name: ClassVar[str] = "Guttman"
    approach: ClassVar[str] = "pairwise"
    takes_preferences: ClassVar[bool] = True
    curvature: ClassVar[str] = "none"
    _test_variants = ({"epsilon": 1.0}, {"epsilon": 0.01})
    kernel = staticmethod(_alienation)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        number(f"{self.name}: epsilon", self.epsilon, above=0, error=LossError)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on the preferences of a dataset, or on all its pairs of unequal labels."""
        if data.preferences is not None:
            return _Preferences(self, data, n_jobs)
        return super().bind(data, n_jobs=n_jobs)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The order of the labels and the weights."""
        if bound.data.y is None:
            raise LossError(f"{self.name} needs labels or preferences, but the dataset has neither")
        documents = *label_order(bound.data, bound.n_jobs), bound.sample_weight, bound.query_weight
        return *documents, float(self.epsilon)
