"""The sweep over the pairs of a ranking, weighted by the change of a measure when they are exchanged.

`Lambda` has its own, faster sweep, in single precision. The losses here weigh a pair by more than the measure and the
two scores; each is a formula of one pair.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, kernel_from, over_queries, template
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Derivatives, first_swaps
from plackett.losses.pairwise.base import label_order
from plackett.losses.pairwise.lambdas import Lambda, PairRules
from plackett.measures.language import parse
from plackett.measures.ranking import Scored


class SwappedPairs(BoundLoss):
    """A lambda gradient on one dataset, by a formula of one pair."""

    #: Made by `swap_sweep`.
    sweep: Any

    def __init__(self, loss: Lambda, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.measure = parse(loss.measure)
        order, below, _ = label_order(data, n_jobs)
        self.grades = np.empty(data.n_rows)
        self.grades[order] = -below.astype(np.float64)
        self.weight = np.where(data.labels >= 0, self.sample_weight, 0.0)  # unjudged: in no pair
        self.rules = PairRules.of(loss, data)
        first_swaps(data, self.measure, str(loss), n_jobs)  # refuses labels whose gains are not finite

    def lambdas(self, scores: np.ndarray, own: tuple[Any, ...]) -> Derivatives:
        """Gradient and curvature per score; zeros for the value. ``own`` is what the formula of the loss reads."""
        out = self._buffers()
        ranking = Scored(self.data, scores, n_jobs=self.n_jobs).ranking("stable")
        over_queries(
            self.sweep,
            self.data.offsets,
            scores,
            (self.grades, self.weight, ranking.rows, self.measure.swap_state(ranking)),
            own,
            self.query_weight,
            tuple(self.rules),
            tuple(out),
            n_jobs=self.n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return out


@template
def _pair(q, state, i, j, better, worse, right, apart, factor, near, sigma, own):  # type: ignore[no-untyped-def]
    """Stands for the formula of a loss: how hard a pair pushes, and how much its order is in doubt.

    The documents at positions i and j are ``apart`` in score, ``right`` if the better one is ahead; ``factor`` is the
    weight of the pair, and ``near`` what the loss divides it by.
    """
    raise NotImplementedError


def _sweep(lo, hi, offsets, scores, documents, own, query_weight, rules, out):  # type: ignore[no-untyped-def]
    """Gradient and curvature of each score."""
    grades, weight, rows, state = documents
    truncation, sigma, normalize = rules
    _, gradient, curvature = out
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        if b - a < 2 or query_weight[q] == 0.0:
            continue
        shrink = normalize and scores[rows[a]] != scores[rows[b - 1]]
        total = 0.0
        for i in range(a, min(a + truncation, b - 1)):
            u = rows[i]
            for j in range(i + 1, b):
                v = rows[j]
                if grades[u] == grades[v] or weight[u] * weight[v] == 0.0:
                    continue
                right = grades[u] > grades[v]
                better = u if right else v
                worse = v if right else u
                apart = scores[u] - scores[v]
                near = 0.01 + apart if shrink else 1.0
                push, doubt = _pair(
                    q, state, i, j, better, worse, right, apart, weight[u] * weight[v], near, sigma, own
                )
                bend = sigma * push * (1.0 - doubt)
                gradient[better] -= push
                gradient[worse] += push
                curvature[better] += bend
                curvature[worse] += bend
                total += 2.0 * push
        scale = query_weight[q]
        if normalize and total > 0.0:
            scale *= np.log2(1.0 + total) / total
        for i in range(a, b):
            gradient[i] *= scale
            curvature[i] *= scale


def swap_sweep(pair: Any) -> Any:
    """The sweep of a loss with this formula of one pair, an inline kernel with the arguments of `_pair`."""
    return kernel_from(_sweep, _pair=pair)
