"""YetiRank: neighbours in noisy orders, weighted by rank or by the change of a measure when they are exchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett.losses.base import Loss, LossOnData, first_swaps
from plackett.losses.listwise.draws import score_key, unit
from plackett.measures.language import parse
from plackett.measures.ranking import Ranking, Scored
from plackett.measures.swaps import new_state, swap

__all__ = ["YetiRankLoss"]


@kernel
def _keys(lo, hi, offsets, scores, labels, rows, seed, out):
    for q in range(lo, hi):
        r = slice(offsets[q], offsets[q + 1])
        out[q] = score_key(labels[r], scores, rows[r], seed)


@kernel
def _perturb(lo, hi, offsets, scores, rows, keys, draw, noise, out):
    """Scores with logistic noise."""
    for q in range(lo, hi):
        state = mix(keys[q] ^ draw)
        for i in range(offsets[q], offsets[q + 1]):
            state = mix(state)
            r = unit(state)
            out[rows[i]] = scores[rows[i]] + noise * np.log(r / (1.0 - r))


@kernel
def _neighbours(lo, hi, offsets, scores, labels, weight, rows, state, query_weight, reach, scale, gradient, curvature):
    """Add the pairs of neighbours of one order."""
    for q in range(lo, hi):
        for i in range(offsets[q], offsets[q + 1]):
            for j in range(i + 1, min(i + 1 + reach, offsets[q + 1])):
                u = rows[i]
                v = rows[j]
                size = weight[u] * weight[v] * query_weight[q] * scale
                if size == 0.0 or labels[u] == labels[v]:
                    continue
                size *= swap(state, i, j)
                if labels[u] < labels[v]:
                    u, v = v, u
                small = np.exp(-abs(scores[u] - scores[v]))
                wrong = (small if scores[u] > scores[v] else 1.0) / (1.0 + small)
                gradient[u] -= size * wrong
                gradient[v] += size * wrong
                bend = size * small / (1.0 + small) ** 2
                curvature[u] += bend
                curvature[v] += bend


@dataclass(frozen=True, kw_only=True, repr=False)
class YetiRankLoss(Loss):
    r"""Gradient of the logistic pair loss, with weights from neighbours in noisy orders.

    The documents are sorted N times by :math:`s_i + \nu\,\log\frac{r_i}{1 - r_i}` with :math:`r_i` uniform in (0, 1).
    Two documents that are neighbours in such an order, u with the better label, get the weight

    .. math:: w_{uv} = \frac1N \sum_{\text{orders}} \alpha^{\,\text{rank} - 1}\,(y_u - y_v) \quad\text{or}\quad
              \frac1N \sum_{\text{orders}} |\Delta M_{uv}|

    with the rank of the upper one, as in the paper, or with :math:`|\Delta M|` the change of a measure when the two
    exchange their ranks in that order. The gradient at u is :math:`-w_{uv} / (1 + e^{s_u - s_v})`, that
    at v its opposite; it has no value. Noise makes pairs of close scores count, wherever the measure can still change.

    The draws are a function of the seed, of the labels and of the gaps between the scores (to a part in 1024): they do
    not depend on the order of rows or queries, and are redrawn when the scores change.

    Parameters
    ----------
    measure
        None weighs by rank and difference of labels, as the paper and CatBoost's mode ``Classic`` do; or any measure
        with a swap delta: nDCG, AP, RR, ERR, …
    decay
        α of that form.
    n_permutations
        Number N of orders.
    n_neighbors
        Documents count as neighbours up to this many ranks apart.
    noise
        Scale ν of the noise.
    random_state
        Seed.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> gradient, _ = YetiRankLoss().gradient(np.zeros(2), data)  # always neighbours, at rank 1
    >>> gradient
    array([-0.5,  0.5])

    References
    ----------
    Gulin, Kuralenok, Pavlov: Winning the transfer learning track of Yahoo!'s learning to rank challenge with YetiRank.
    JMLR W&CP 2011.
    Lyzhin, Ustimenko, Gulin, Prokhorenkova: Which tricks are important for learning to rank? ICML 2023 (measures).
    """

    name: ClassVar[str] = "YetiRank"
    approach: ClassVar[str] = "pairwise"
    drawn: ClassVar[bool] = True
    _test_variants = (
        {"decay": 0.6},
        {"measure": "nDCG"},
        {"measure": "AP", "n_neighbors": 3, "noise": 0.3, "n_permutations": 2},
    )
    has_value: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    curvature: ClassVar[str] = "surrogate"

    measure: Any = None
    decay: float = 0.85
    n_permutations: int = 10
    n_neighbors: int = 1
    noise: float = 1.0
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.measure is not None:
            measure = parse(self.measure)
            if not measure.swaps:
                raise LossError(f"{self.name}: {measure} has no swap delta; try nDCG, AP, RR or ERR, or None")
            object.__setattr__(self, "measure", str(measure))
        for name in ("n_permutations", "n_neighbors"):
            whole(f"{self.name}: {name}", getattr(self, name), least=1, error=LossError)
        number(f"{self.name}: noise", self.noise, least=0, error=LossError)
        number(f"{self.name}: decay", self.decay, above=0, most=1, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The measure, and the weights of the documents."""
        measure = None if self.measure is None else parse(self.measure)
        if measure is not None:
            first_swaps(bound.data, measure, str(self), bound.n_jobs)  # refuses labels whose gains are not finite
        return measure, np.where(bound.data.labels >= 0, bound.sample_weight, 0.0)  # unjudged: in no pair

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Gradient and curvature per score; zeros for the value, as there is none."""
        out = bound.zeros()
        data, n_jobs = bound.data, bound.n_jobs
        measure, weight = bound.constants
        ranked = Scored(data, scores, n_jobs=n_jobs).ranking("optimistic")
        keys = np.empty(data.n_queries, np.uint64)
        seed = np.uint64(self.random_state)
        over_queries(_keys, data.offsets, scores, ranked.labels, ranked.rows, seed, keys, n_jobs=n_jobs)
        noisy = np.empty(data.n_rows)
        scale = 1.0 / self.n_permutations
        for draw in range(self.n_permutations):
            start = np.uint64(draw)
            over_queries(_perturb, data.offsets, scores, ranked.rows, keys, start, self.noise, noisy, n_jobs=n_jobs)
            ranking = Scored(data, noisy, n_jobs=n_jobs).ranking("stable")
            state = self._decaying(ranking) if measure is None else measure.swap_state(ranking)
            known = data.labels, weight, ranking.rows, state, bound.query_weight, self.n_neighbors, scale
            over_queries(_neighbours, data.offsets, scores, *known, *out[1:], n_jobs=n_jobs)
        return out

    def _decaying(self, ranking: Ranking) -> np.ndarray:
        """The state (`plackett.measures.swaps`) by which a pair weighs the labels' difference, less with each rank."""
        state = new_state(ranking)
        first = np.repeat(ranking.offsets[:-1], np.diff(ranking.offsets))
        state[:, 0] = ranking.labels
        state[:, 1] = self.decay ** (np.arange(first.size) - first)
        state[:, 2], state[:, 3] = 1.0, 0.0
        return state
