"""The lambda gradient of clicks: pairs weighted by how likely their documents were examined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._errors import LossError
from plackett._kernel import PAIR_ROWS_PER_THREAD, kernel, over_queries
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, first_swaps
from plackett.losses.pairwise.base import label_order
from plackett.losses.pairwise.lambdas import Lambda, PairRules, Ranked
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.measures.swaps import swap

__all__ = ["BoundUnbiasedLambda", "UnbiasedLambda", "places"]


@dataclass(frozen=True, kw_only=True, repr=False)
class UnbiasedLambda(Lambda):
    r"""Lambda gradient of clicks, corrected for position bias.

    Labels are clicks (or amounts of them), and documents high up are clicked more because they are seen more. A pair of
    a clicked document u, shown at position i, and a skipped one v, shown at position j, is divided by how much clicks
    and skips at these positions are favoured:

    .. math:: \lambda_{uv} = \frac{1}{t^+_i\,t^-_j} \cdot \frac{\sigma\,|\Delta M_{uv}|}{1 + e^{\sigma (s_u - s_v)}}

    With biases of 1 it is `Lambda`. `plackett.rankers.UnbiasedLambdaMART` estimates them while it trains.

    Parameters
    ----------
    click_bias, skip_bias
        :math:`t^+` and :math:`t^-` of the positions 1, 2, … (``positions`` of the dataset), relative to the first;
        further positions use the last value. If all are 1, the dataset needs no positions.
    measure, truncation, sigma, normalize
        As in `Lambda`.

    References
    ----------
    Hu, Wang, Peng, Li: Unbiased LambdaMART: an unbiased pairwise learning-to-rank algorithm. WWW 2019.
    """

    name: ClassVar[str] = "UnbiasedLambda"
    _ids: ClassVar[tuple[str, ...]] = ("peers.xgboost",)
    paper: ClassVar[str] = "Hu, Wang, Peng, Li 2019"
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = (
        {"normalize": False, "truncation": 2, "sigma": 2.0},
        {"measure": "AP", "normalize": False, "truncation": None},
    )

    click_bias: tuple[float, ...] = (1.0,)
    skip_bias: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("click_bias", "skip_bias"):
            bias = tuple(float(value) for value in np.asarray(getattr(self, field), np.float64).ravel())
            if not bias or not all(0.0 < value < np.inf for value in bias):
                raise LossError(f"{field}={getattr(self, field)!r}; give one positive number per position")
            object.__setattr__(self, field, bias)

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundUnbiasedLambda:
        """The gradient on one dataset."""
        return BoundUnbiasedLambda(self, data, n_jobs)


def places(data: RankingDataset, n: int) -> np.ndarray:
    """Position of each row from 0; those behind the first n count as the last of these."""
    if n == 1:
        return np.zeros(data.n_rows, np.int64)
    if data.positions is None:
        raise LossError("biases of positions need the positions at which documents were shown; the dataset has none")
    return np.minimum(data.positions.astype(np.int64), n) - 1


class BoundUnbiasedLambda(BoundLoss):
    """`UnbiasedLambda` on one dataset; `weigh` exchanges the biases, `costs` are what new ones are estimated from."""

    def __init__(self, loss: UnbiasedLambda, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss, self.measure = loss, parse(loss.measure)
        order, below, _ = label_order(data, n_jobs)
        self.grades = np.empty(data.n_rows)
        self.grades[order] = -below.astype(np.float64)
        self.weight = np.where(data.labels >= 0, self.sample_weight, 0.0)  # unjudged: in no pair
        self.rules = PairRules.of(loss, data)
        first_swaps(data, self.measure, str(loss), n_jobs)  # refuses labels whose gains are no numbers
        self.weigh(np.array(loss.click_bias), np.array(loss.skip_bias))

    def weigh(self, click_bias: np.ndarray, skip_bias: np.ndarray) -> None:
        """Take other biases from now on."""
        self.click_weight = (1.0 / click_bias)[places(self.data, click_bias.size)]
        self.skip_weight = (1.0 / skip_bias)[places(self.data, skip_bias.size)]

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradient and curvature per score; zeros for the value, as there is none."""
        return self.costs(scores)[:3]  # type: ignore[return-value]

    def costs(self, scores: np.ndarray) -> tuple[np.ndarray, ...]:
        r"""What `evaluate` gives, and the loss of each document's pairs as the clicked one and as the skipped one.

        The loss of a pair is :math:`|\Delta M_{uv}| \log(1 + e^{-\sigma (s_u - s_v)})`, divided by the bias of the
        other document alone.
        """
        out, costs = self._buffers(), (np.zeros(self.data.n_rows), np.zeros(self.data.n_rows))
        ranking = Scored(self.data, scores, n_jobs=self.n_jobs).ranking("stable")
        over_queries(
            _unbiased_lambdas,
            self.data.offsets,
            scores,
            Ranked(self.grades, self.weight, ranking.rows, self.measure.swap_state(ranking)),
            (self.click_weight, self.skip_weight),
            self.query_weight,
            self.rules,
            out,
            costs,
            n_jobs=self.n_jobs,
            rows_per_thread=PAIR_ROWS_PER_THREAD,
        )
        return *out, *costs


@kernel
def _unbiased_lambdas(lo, hi, offsets, scores, documents, positions, query_weight, rules, out, costs):  # type: ignore[no-untyped-def]
    grades, weight, rows, state = documents
    click_weight, skip_weight = positions
    truncation, sigma, normalize = rules
    _, gradient, curvature = out
    click_cost, skip_cost = costs
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
                clicked = u if right else v
                skipped = v if right else u
                apart = scores[u] - scores[v]
                size = swap(state, i, j)
                size *= weight[u] * weight[v]
                if shrink:
                    size /= 0.01 + apart
                small = np.exp(-sigma * apart)
                cost = size * (np.log1p(small) + (0.0 if right else sigma * apart))
                click_cost[clicked] += cost * skip_weight[skipped]
                skip_cost[skipped] += cost * click_weight[clicked]
                doubt = (small if right else 1.0) / (1.0 + small)
                push = sigma * size * click_weight[clicked] * skip_weight[skipped] * doubt
                bend = sigma * push * (1.0 - doubt)
                gradient[clicked] -= push
                gradient[skipped] += push
                curvature[clicked] += bend
                curvature[skipped] += bend
                total += 2.0 * push
        scale = query_weight[q]
        if normalize and total > 0.0:
            scale *= np.log2(1.0 + total) / total
        for i in range(a, b):
            gradient[i] *= scale
            curvature[i] *= scale
            click_cost[i] *= query_weight[q]
            skip_cost[i] *= query_weight[q]
