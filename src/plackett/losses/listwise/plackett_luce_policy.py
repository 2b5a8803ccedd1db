"""Policy gradient of any measure under the Plackett–Luce model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.log_sum import add_exp
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.losses.base import Loss, LossOnData
from plackett.losses.listwise.draws import label_key, unit
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

__all__ = ["PlackettLucePolicy"]


@kernel
def _perturb(lo, hi, offsets, scores, labels, rows, seed, out):
    """Scores with Gumbel noise, whose order is a draw from the Plackett–Luce model."""
    for q in range(lo, hi):
        state = label_key(labels[offsets[q] : offsets[q + 1]], seed)
        for t in range(out.shape[0]):
            for i in range(offsets[q], offsets[q + 1]):
                state = mix(state)
                out[t, rows[i]] = scores[rows[i]] - np.log(-np.log(unit(state)))


@kernel
def _score_function(lo, hi, offsets, scores, noisy, worth, k, gradient):
    """Add worth · gradient of the log-likelihood of the first k ranks of each drawn order."""
    n_max = longest(lo, hi, offsets)
    rest = np.empty(n_max, np.float64)
    keys, rows, spare_keys, spare_rows = sorting_memory(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        for t in range(noisy.shape[0]):
            if worth[t, q] == 0.0:
                continue
            for i in range(n):
                keys[i] = noisy[t, a + i]
            argsort_descending(keys, rows, spare_keys, spare_rows, n)
            largest = -np.inf
            total = 0.0
            for i in range(n - 1, -1, -1):
                largest, total = add_exp(largest, total, scores[a + rows[i]])
                rest[i] = largest + np.log(total)
            pull = 0.0
            for i in range(n):
                counted = 1.0 if i < k else 0.0
                pull = counted + (pull * np.exp(rest[i] - rest[i - 1]) if i > 0 else 0.0)
                gradient[a + rows[i]] += worth[t, q] * (counted - pull * np.exp(scores[a + rows[i]] - rest[i]))


@dataclass(frozen=True, kw_only=True, repr=False)
class PlackettLucePolicy(Loss):
    r"""Gradient of minus the expected measure of orders drawn from the Plackett–Luce model of the scores.

    .. math:: -\nabla \mathrm{E}_{\pi \sim s} M(\pi) \approx -\frac{1}{N - 1} \sum_t \big(M(\pi_t) - \bar M\big)\,
              \nabla \log P(\pi_t \mid s)

    for N drawn orders, with their mean as baseline, which keeps the estimate unbiased. It works for every measure, and
    it is a gradient without a value. A measure with a cut-off k needs only the likelihood of the first k ranks, which
    makes the estimate less noisy. Error measures are minimised. Sample weights are not used, as measures have none:
    documents of weight 0 count as unjudged.

    The draws are a function of the seed and of the labels in the order of the scores, and so do not depend on the order
    of rows or queries; they are redrawn when the order changes.

    Parameters
    ----------
    measure
        Any measure.
    n_samples
        Number N of orders; the noise decreases with its square root.
    random_state
        Seed.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> gradient, _ = PlackettLucePolicy(measure="RR").gradient(np.zeros(2), data)
    >>> bool(gradient[0] < 0 < gradient[1])  # the relevant document is to rise
    True

    References
    ----------
    Oosterhuis: Computationally efficient optimization of Plackett–Luce ranking models for relevance and fairness. SIGIR
    2021.
    Williams: Simple statistical gradient-following algorithms for connectionist reinforcement learning. Machine
    Learning 1992.
    """

    name: ClassVar[str] = "PlackettLucePolicy"
    has_value: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "none"
    learns_from: ClassVar[str] = "relevant documents"
    drawn: ClassVar[bool] = True
    _test_variants = ({"measure": "AP", "n_samples": 3, "random_state": 7}, {"measure": "ARP"})

    measure: Any = "nDCG@10"
    n_samples: int = 16
    random_state: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "measure", str(parse(self.measure)))
        whole(f"{self.name}: n_samples", self.n_samples, least=2, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The measure, the data without documents of weight 0, and how many ranks count."""
        data, measure = bound.data, parse(self.measure)
        judged = data.replace(y=np.where(bound.sample_weight > 0, data.labels, -1.0))
        cutoff = getattr(measure, "k", None) if measure.cutoff == "k" else None
        return measure, judged, cutoff or max(int(data.group.max(initial=1)), 1)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """The gradient, over orders drawn anew for the ranking by these scores."""
        measure, data, k = bound.constants
        ranked = Scored(data, scores, n_jobs=bound.n_jobs).ranking("optimistic")
        noisy = np.empty((self.n_samples, data.n_rows))
        seed = np.uint64(self.random_state)
        over_queries(_perturb, data.offsets, scores, ranked.labels, ranked.rows, seed, noisy, n_jobs=bound.n_jobs)
        draw_values = np.stack([measure.per_query(Scored(data, draw, n_jobs=bound.n_jobs)) for draw in noisy])
        draw_values = np.nan_to_num(draw_values - draw_values[0])  # a query with nothing to measure becomes 0
        total = np.zeros(data.n_queries)
        for draw in draw_values:  # one by one: the last bits of a mean must not depend on the number of queries
            total += draw
        worth = -measure.worth(draw_values - total / self.n_samples) / (self.n_samples - 1) * bound.query_weight
        return bound.run(_score_function, scores, noisy, worth, k)
