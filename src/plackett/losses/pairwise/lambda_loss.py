"""LambdaLoss: bounds of nDCG and of the average relevant position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, REASSOC, kernel
from plackett._kernels.scratch import lanes, longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett._kernels.vector_math import exp, log1p
from plackett.losses.base import Loss, LossOnData, finite_gains
from plackett.measures.gains import check_gain, ideal_dcg

__all__ = ["LambdaLoss"]


class _Scheme(NamedTuple):
    """Weight of a pair: by the better document alone, or by |A_u − A_v| (level + δ + ρ), the last two optionally.

    Next to ρ, the weight of LambdaRank, δ counts μ times.
    """

    of_measure: str
    alone: bool = False
    level: float = 0.0
    delta: bool = False
    rho: bool = False


SCHEMES = {
    "nDCG1": _Scheme("nDCG", alone=True),
    "nDCG2": _Scheme("nDCG", delta=True),
    "nDCG2++": _Scheme("nDCG", delta=True, rho=True),
    "ARP1": _Scheme("ARP", alone=True),
    "ARP2": _Scheme("ARP", level=1.0),
}


class _Documents(NamedTuple):
    """What a document brings to its pairs: its gain or label, and its weight, 0 where it is unjudged."""

    amount: np.ndarray
    weight: np.ndarray


class _Weights(NamedTuple):
    """What decides the weight of a pair besides its documents: the scheme and its tables over ranks."""

    discounts: np.ndarray
    delta: np.ndarray
    sigma: float
    alone: bool
    level: float
    rho: float
    on_rank: bool


@kernel(inline=True)
def _sizes(amount, other, factor, weight, alone):
    """Weight of the pair with the upper document preferred, and with the lower one; at most one unless ``alone``."""
    more = amount - other
    right = amount if alone else (weight * more if more > 0.0 else 0.0)
    wrong = other if alone else (-weight * more if more < 0.0 else 0.0)
    return factor * right, factor * wrong


@kernel(fastmath=REASSOC)
def _against_lower(top, s, w, a, d, apart, g, h, sigma, alone, level, rho):
    """Pairs of one document with those ranked below it; the row of the lower ones is added to, sums come back."""
    score, amount, discount, factor = top
    slope = 0.0
    bend = 0.0
    for j in range(s.size):
        weight = level + apart[j] + rho * (discount - d[j])
        right, wrong = _sizes(amount, a[j], factor * w[j], weight, alone)
        e = exp(sigma * (s[j] - score))  # at most 1
        p = 1.0 / (1.0 + e)
        q = e * p
        push = wrong * p - right * q
        curve = (right + wrong) * p * q
        slope += push
        bend += curve
        g[j] -= push
        h[j] += curve
    return slope, bend


@kernel(fastmath=REASSOC)
def _value_of(top, s, w, a, d, apart, sigma, alone, level, rho):
    """Value of the same pairs: a logarithm each."""
    score, amount, discount, factor = top
    value = 0.0
    for j in range(s.size):
        weight = level + apart[j] + rho * (discount - d[j])
        right, wrong = _sizes(amount, a[j], factor * w[j], weight, alone)
        gap = sigma * (score - s[j])
        value += (right + wrong) * log1p(exp(-gap)) + wrong * gap
    return value


@kernel
def _lambda_loss(lo, hi, offsets, scores, documents, query_weight, weights, want_value, value, gradient, curvature):
    discounts, delta, sigma, alone, level, rho, on_rank = weights
    n_max = longest(lo, hi, offsets)
    lane = lanes(6, n_max)
    s, w, a, d, g, h = lane[0], lane[1], lane[2], lane[3], lane[4], lane[5]
    keys, rows, spare_keys, spare_rows = sorting_memory(n_max)
    bits = 1.0 / np.log(2.0)
    for q in range(lo, hi):
        first = offsets[q]
        n = offsets[q + 1] - first
        for i in range(n):
            keys[i] = scores[first + i]
        argsort_descending(keys, rows, spare_keys, spare_rows, n)
        for i in range(n):
            row = first + rows[i]
            s[i] = keys[i]
            w[i] = documents.weight[row]
            d[i] = discounts[i]
            a[i] = documents.amount[row] * discounts[i] if on_rank else documents.amount[row]
            g[i] = 0.0
            h[i] = 0.0
        total = 0.0
        for i in range(n - 1):
            if w[i] == 0.0:
                continue
            r = slice(i + 1, n)
            top = (s[i], a[i], d[i], w[i])
            apart = delta[: n - i - 1]
            slope, bend = _against_lower(top, s[r], w[r], a[r], d[r], apart, g[r], h[r], sigma, alone, level, rho)
            if want_value:
                total += _value_of(top, s[r], w[r], a[r], d[r], apart, sigma, alone, level, rho)
            g[i] += slope
            h[i] += bend
        factor = bits * query_weight[q]
        value[q] = factor * total
        for i in range(n):
            gradient[first + rows[i]] = factor * sigma * g[i]
            curvature[first + rows[i]] = factor * sigma * sigma * h[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class LambdaLoss(Loss):
    r"""LambdaLoss: logistic pair losses, weighted so that the sum bounds the cost of a measure.

    .. math:: \sum_{(u, v)} \omega_{uv} \log_2\big(1 + e^{-\sigma (s_u - s_v)}\big)

    with :math:`G_u = (2^{y_u} - 1)/Z`, :math:`\eta(r) = 1/\log_2(1 + r)`, :math:`\pi` the ranks of the current scores
    (equal scores in the order of the rows) and

    ============= ============================== =============================================================
    ``bound``     pairs                          weight
    ============= ============================== =============================================================
    ``"nDCG1"``   all u, v                       :math:`G_u\,\eta(\pi_u)`
    ``"nDCG2"``   :math:`y_u > y_v`              :math:`\delta_{uv} |G_u - G_v|`
    ``"nDCG2++"`` :math:`y_u > y_v`              :math:`(\rho_{uv} + \mu\,\delta_{uv}) |G_u - G_v|`
    ``"ARP1"``    all u, v                       :math:`y_u`
    ``"ARP2"``    :math:`y_u > y_v`              :math:`|y_u - y_v|`
    ============= ============================== =============================================================

    where :math:`\rho_{uv} = |\eta(\pi_u) - \eta(\pi_v)|`, the weight of LambdaRank, and
    :math:`\delta_{uv} = \eta(|\pi_u - \pi_v|) - \eta(|\pi_u - \pi_v| + 1)`. For σ = 1 and above ``nDCG1`` is at
    least :math:`\sum_u G_u (1 - \eta(\pi_u))`, ``nDCG2`` and, for μ ≥ 1, ``nDCG2++`` at least 1 − nDCG, ``ARP1`` and
    ``ARP2`` at least the sum :math:`\sum_u y_u \pi_u` less :math:`\sum_u y_u` and less its smallest value.

    Gradient and curvature treat the ranks, and so the weights, as fixed. The value jumps where the ranks change, so the
    loss counts as non-smooth (the ARP bounds are smooth).

    Parameters
    ----------
    bound
        Which bound to use.
    mu
        Weight μ of δ in ``nDCG2++``; 0 leaves LambdaRank's weights.
    sigma
        Steepness σ.
    gain
        Gain of the nDCG bounds: ``"exp2"``, ``"linear"``, ``"binary"`` or a table label: gain.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0], qid=[1, 1])
    >>> round(LambdaLoss(bound="ARP2")(np.array([0.0, 0.0]), data), 6)
    1.0

    References
    ----------
    Wang, Li, Golbandi, Bendersky, Najork: The LambdaLoss framework for ranking metric optimization. CIKM 2018.
    """

    name: ClassVar[str] = "LambdaLoss"
    approach: ClassVar[str] = "pairwise"
    smooth: ClassVar[bool] = False
    _test_variants = (
        {"bound": "nDCG1"},
        {"bound": "nDCG2", "sigma": 2.0, "gain": "linear"},
        {"bound": "ARP1"},
        {"bound": "ARP2", "sigma": 0.5},
    )
    kernel = staticmethod(_lambda_loss)
    rows_per_thread = PAIR_ROWS_PER_THREAD

    bound: str = "nDCG2++"
    mu: float = 5.0
    sigma: float = 1.0
    gain: Any = "exp2"

    def __post_init__(self) -> None:
        choice(f"{self.name}: bound", self.bound, SCHEMES, error=LossError)
        object.__setattr__(self, "gain", check_gain(self.gain, self.name))
        number(f"{self.name}: sigma", self.sigma, above=0, error=LossError)
        number(f"{self.name}: mu", self.mu, least=0, error=LossError)

    @property
    def learns_from(self) -> str:  # type: ignore[override]
        """Documents of equal labels too, under the bounds that weigh a document by its own gain."""
        return "documents" if self.bound in ("nDCG1", "ARP1") else "pairs"

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """Amount and weight of each document, and how pairs are weighted."""
        data, scheme = bound.data, SCHEMES[self.bound]
        amounts = np.maximum(data.labels, 0.0)
        if scheme.of_measure == "nDCG":
            gains = finite_gains(data.labels, self.gain, self.name)
            ideal = ideal_dcg(data, self.gain, "log2", None)[data.query_of_row]
            amounts = np.divide(gains, ideal, out=np.zeros_like(gains), where=ideal > 0)
        discounts = 1.0 / np.log2(2.0 + np.arange(data.group.max(initial=0) + 1))
        share = (self.mu if scheme.rho else 1.0) if scheme.delta else 0.0
        delta = share * (discounts[:-1] - discounts[1:])  # of documents 1, 2, … ranks apart
        on_rank = scheme.alone and scheme.of_measure == "nDCG"
        documents = _Documents(amounts, np.where(data.labels >= 0, bound.sample_weight, 0.0))
        weights = discounts, delta, float(self.sigma), scheme.alone, scheme.level, float(scheme.rho), on_rank
        return documents, bound.query_weight, _Weights(*weights)

    def derivatives(self, bound: LossOnData, scores: np.ndarray, value: bool) -> tuple[Any, Any, Any]:
        """Loss of each query (wanted if ``value``), gradient and curvature of each score."""
        return bound.run(_lambda_loss, scores, *bound.constants, value)
