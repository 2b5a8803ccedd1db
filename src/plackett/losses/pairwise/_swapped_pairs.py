"""The sweep over the pairs of a ranking, weighted by the change of a measure when they are exchanged.

`Lambda` has its own, faster sweep, in single precision. The losses here weigh a pair by more than the measure and the
two scores; each is a formula of one pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel_from, template
from plackett.losses.base import Derivatives, LossOnData, first_swaps
from plackett.losses.pairwise.base import label_order
from plackett.losses.pairwise.lambdas import Lambda, PairRules
from plackett.measures.language import parse
from plackett.measures.ranking import Scored


@template
def _pair(q, state, i, j, better, worse, right, apart, factor, near, sigma, own):  # type: ignore[no-untyped-def]
    """Stands for the formula of a loss: how hard a pair pushes, and how much its order is in doubt.

    The documents at positions i and j are ``apart`` in score, ``right`` if the better one is ahead; ``factor`` is the
    weight of the pair, and ``near`` what the loss divides it by.
    """
    raise NotImplementedError


def _sweep(lo, hi, offsets, scores, documents, own, query_weight, rules, gradient, curvature):  # type: ignore[no-untyped-def]
    """Gradient and curvature of each score."""
    grades, weight, rows, state = documents
    truncation, sigma, normalize = rules
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


@dataclass(frozen=True, kw_only=True, repr=False)
class SwappedLambda(Lambda):
    """Base of the lambda gradients with a formula of one pair; their kernel is made by `swap_sweep`."""

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The measure, grades and weights of the documents, and the rules."""
        data, measure = bound.data, parse(self.measure)
        order, below, _ = label_order(data, bound.n_jobs)
        grades = np.empty(data.n_rows)
        grades[order] = -below.astype(np.float64)
        weight = np.where(data.labels >= 0, bound.sample_weight, 0.0)  # unjudged: in no pair
        first_swaps(data, measure, str(self), bound.n_jobs)  # refuses labels whose gains are not finite
        return measure, (grades, weight), tuple(PairRules.of(self, data))

    def lambdas(self, bound: LossOnData, scores: np.ndarray, own: tuple[Any, ...]) -> Derivatives:
        """Gradient and curvature per score; zeros for the value. ``own`` is what the formula of the loss reads."""
        measure, documents, rules, *_ = bound.constants
        ranking = Scored(bound.data, scores, n_jobs=bound.n_jobs).ranking("stable")
        documents = *documents, ranking.rows, measure.swap_state(ranking)
        return bound.run(self.kernel, scores, documents, own, bound.query_weight, rules)
