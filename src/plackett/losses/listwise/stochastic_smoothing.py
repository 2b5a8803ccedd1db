"""Gradient of a measure smoothed by Gaussian noise on the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import LossError
from plackett._kernels.kernel import REASSOC, kernel
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import lanes, longest
from plackett._kernels.sort import argsort_descending
from plackett._kernels.vector_math import exp
from plackett.losses.base import Loss, LossOnData, first_swaps
from plackett.losses.listwise.draws import score_key, unit
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

__all__ = ["StochasticSmoothing"]

#: Densities of scores farther away than this many deviations are left out; they are below 1e-8.
_FARTHEST = 6.0


@kernel(fastmath=REASSOC)
def _passed(noisy, gains, steps, mine, gain, scale):
    """Sum over other documents of step times density, up to a factor."""
    total = 0.0
    for j in range(noisy.size):
        x = (noisy[j] - mine) * scale
        total += (gain - gains[j]) * steps[j] * exp(-0.5 * x * x)
    return total


@kernel
def _beyond(noisy, n, bound):
    """How many of n falling numbers are above a bound."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if noisy[middle] > bound:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _smoothed(
    lo, hi, offsets, scores, labels, rows, gains, discounts, query_weight, sigma, mu, n_samples, seed, gradient
):
    most = longest(lo, hi, offsets)
    lane = lanes(5, most)
    centre, noisy, spare_keys, steps, sorted_gains = lane[0], lane[1], lane[2], lane[3], lane[4]
    order = np.empty(most, np.int64)
    spare_rows = np.empty(most, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        r = slice(a, a + n)
        key = score_key(labels[r], scores, rows[r], seed)
        factor = query_weight[q] / (n_samples * sigma * np.sqrt(2.0 * np.pi))
        for i in range(n):  # i is the position by score
            centre[i] = scores[rows[a + i]] - sigma * mu * max(labels[a + i], 0.0)
            steps[i] = discounts[a + i] - discounts[a + i + 1] if i + 1 < n else 0.0
        for t in range(n_samples):
            state = mix(key ^ np.uint64(t))
            for i in range(n):
                state = mix(state)
                radius = np.sqrt(-2.0 * np.log(unit(state)))
                state = mix(state)
                noisy[i] = centre[i] + sigma * radius * np.cos(2.0 * np.pi * unit(state))
            argsort_descending(noisy, order, spare_keys, spare_rows, n)  # noisy scores best first from here on
            for rank in range(n):
                sorted_gains[rank] = gains[rows[a + order[rank]]]
            for rank in range(n):
                mine = centre[order[rank]]
                gain = sorted_gains[rank]
                first = _beyond(noisy, n, mine + _FARTHEST * sigma)
                last = _beyond(noisy, n, mine - _FARTHEST * sigma)
                # positions in the list without this document: those below it move up by one
                above = slice(first, max(first, min(rank, last)))
                below = slice(max(rank + 1, first), max(rank + 1, first, last))
                up = slice(below.start - 1, below.stop - 1)
                total = _passed(noisy[above], sorted_gains[above], steps[above], mine, gain, 1.0 / sigma)
                total += _passed(noisy[below], sorted_gains[below], steps[up], mine, gain, 1.0 / sigma)
                gradient[rows[a + order[rank]]] -= factor * total


@dataclass(frozen=True, kw_only=True, repr=False)
class StochasticSmoothing(Loss):
    r"""Gradient of minus the expected measure under Gaussian noise on the scores, as StochasticRank takes it.

    With :math:`z_i = s_i - \sigma\mu\,y_i + \sigma\varepsilon_i` the expected measure :math:`\mathrm{E} M(z)` is smooth
    in s. Given the others, M is a step function of the score of document i, with a step wherever it passes another
    document; integrating over the noise of i alone leaves

    .. math:: \frac{\partial}{\partial s_i} \mathrm{E} M = \mathrm{E} \sum_j
              \Big[M(i \text{ just above } j) - M(i \text{ just below } j)\Big]\,
              \frac1\sigma \varphi\Big(\frac{z_j - s_i + \sigma\mu\,y_i}{\sigma}\Big),

    averaged over N draws. This is less noisy than the policy gradient, as each draw uses all steps. It works for
    measures that are sums of gains times discounts (nDCG, DCG, P, …) and is a gradient without a value. Sample weights
    are not used: documents of weight 0 count as unjudged. The draws depend on the seed, the labels and the gaps between
    the scores, not on the order of rows or queries.

    It is CatBoost's ``StochasticRank`` without the scale-free step and without Langevin noise. The ranker
    `plackett.StochasticRank` is another method.

    Parameters
    ----------
    measure
        A measure that is a sum of gains times discounts.
    sigma
        Standard deviation σ of the noise: a small value follows the measure closely, a large one is smooth.
    mu
        How far the noise shifts good labels down, in standard deviations. Above 0, equal scores count as badly ordered,
        so that the smoothed measure has no optimum at ties.
    n_samples
        Number N of draws.
    random_state
        Seed.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> gradient, _ = StochasticSmoothing().gradient(np.zeros(2), data)
    >>> bool(gradient[0] < 0 < gradient[1])  # the relevant document is to rise
    True

    References
    ----------
    Ustimenko, Prokhorenkova: StochasticRank: global optimization of scale-free discrete functions. ICML 2020.
    """

    name: ClassVar[str] = "StochasticSmoothing"
    aliases: ClassVar[tuple[str, ...]] = ("StochasticRankLoss",)
    learns_from: ClassVar[str] = "relevant documents"
    drawn: ClassVar[bool] = True
    _test_variants = ({"measure": "nDCG@3", "sigma": 0.3, "mu": 1.0}, {"measure": "DCG", "n_samples": 1})
    has_value: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "none"
    kernel = staticmethod(_smoothed)

    measure: Any = "nDCG"
    sigma: float = 1.0
    mu: float = 0.0
    n_samples: int = 4
    random_state: int = 0

    def __post_init__(self) -> None:
        measure = parse(self.measure)
        if not measure.swaps or not measure.linear_swaps:
            raise LossError(f"{self.name}: {measure} is not a sum of gains times discounts; try nDCG, DCG or P")
        object.__setattr__(self, "measure", str(measure))
        number(f"{self.name}: sigma", self.sigma, above=0, error=LossError)
        number(f"{self.name}: mu", self.mu, least=0, error=LossError)
        whole(f"{self.name}: n_samples", self.n_samples, least=1, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The data without documents of weight 0, the gain of each document and the discount of each rank."""
        judged = bound.data.replace(y=np.where(bound.sample_weight > 0, bound.data.labels, -1.0))
        measure = parse(self.measure)
        rows, state = first_swaps(judged, measure, str(self), bound.n_jobs)
        gains = np.empty(judged.n_rows)
        gains[rows] = measure.worth(state[:, 0])
        return judged, gains, np.ascontiguousarray(state[:, 2])

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """The gradient, over noise drawn anew for the ranking by these scores."""
        judged, gains, discounts = bound.constants
        ranked = Scored(judged, scores, n_jobs=bound.n_jobs).ranking("optimistic")
        noise = self.sigma, self.mu, self.n_samples, np.uint64(self.random_state)
        known = ranked.labels, ranked.rows, gains, discounts, bound.query_weight, *noise
        return bound.run(_smoothed, scores, *known)
