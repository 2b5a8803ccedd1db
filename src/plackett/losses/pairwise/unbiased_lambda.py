"""The lambda gradient of clicks: pairs weighted by how likely their documents were examined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.errors import LossError
from plackett._kernels.kernel import kernel
from plackett.data.dataset import RankingDataset
from plackett.losses.base import LossOnData
from plackett.losses.pairwise._swapped_pairs import SwappedLambda, swap_sweep
from plackett.measures.swaps import swap

__all__ = ["UnbiasedLambda"]


def clipped_positions(data: RankingDataset, n: int) -> np.ndarray:
    """Position of each row, counted from 0; positions after the first n count as the last of these."""
    if n == 1:
        return np.zeros(data.n_rows, np.int64)
    if data.positions is None:
        raise LossError("biases of positions need the positions at which documents were shown; the dataset has none")
    return np.minimum(data.positions.astype(np.int64), n) - 1


@kernel(inline=True)
def _pair(q, state, i, j, better, worse, right, apart, factor, near, sigma, own):  # type: ignore[no-untyped-def]
    """The change of the measure, divided by the biases of click and skip; adds up the costs of both documents."""
    click_weight, skip_weight, click_cost, skip_cost = own
    size = swap(state, i, j)
    size *= factor
    size /= near
    small = np.exp(-sigma * apart)
    cost = size * (np.log1p(small) + (0.0 if right else sigma * apart))
    click_cost[better] += cost * skip_weight[worse]
    skip_cost[worse] += cost * click_weight[better]
    doubt = (small if right else 1.0) / (1.0 + small)
    return sigma * size * click_weight[better] * skip_weight[worse] * doubt, doubt


class BoundUnbiasedLambda(LossOnData):
    """`UnbiasedLambda` on one dataset; `weigh` replaces the biases, and new ones are estimated from `costs`."""

    loss: UnbiasedLambda

    def __init__(self, loss: UnbiasedLambda, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(loss, data, n_jobs)
        self.weigh(np.array(loss.click_bias), np.array(loss.skip_bias))

    def weigh(self, click_bias: np.ndarray, skip_bias: np.ndarray) -> None:
        """Use other biases from now on."""
        self.click_weight = (1.0 / click_bias)[clipped_positions(self.data, click_bias.size)]
        self.skip_weight = (1.0 / skip_bias)[clipped_positions(self.data, skip_bias.size)]

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradient and curvature per score; zeros for the value, as there is none."""
        return self.costs(scores)[:3]  # type: ignore[return-value]

    def costs(self, scores: np.ndarray) -> tuple[np.ndarray, ...]:
        r"""The result of `evaluate`, and the loss of each document's pairs as the clicked one and as the skipped one.

        The loss of a pair is :math:`|\Delta M_{uv}| \log(1 + e^{-\sigma (s_u - s_v)})`, divided by the bias of the
        other document alone.
        """
        click_cost, skip_cost = np.zeros(self.data.n_rows), np.zeros(self.data.n_rows)
        out = self.loss.lambdas(self, scores, (self.click_weight, self.skip_weight, click_cost, skip_cost))
        by_row = self.query_weight[self.data.query_of_row]
        return *out, click_cost * by_row, skip_cost * by_row


@dataclass(frozen=True, kw_only=True, repr=False)
class UnbiasedLambda(SwappedLambda):
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
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = (
        {"normalize": False, "truncation": 2, "sigma": 2.0},
        {"measure": "AP", "normalize": False, "truncation": None},
    )
    kernel = staticmethod(swap_sweep(_pair))

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
