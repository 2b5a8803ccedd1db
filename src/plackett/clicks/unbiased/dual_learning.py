"""Dual learning: a ranker and the propensities, each weighted by the other."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.clicks.features import check_finite, dataset_rows, dense
from plackett.clicks.log import ClickLog
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset

__all__ = ["DualLearning"]


class DualLearning:
    r"""Dual learning algorithm: a linear ranker f and propensities g of ranks, learned from the same clicks.

    The softmax loss of the ranker weighs a click at rank i by :math:`g_1 / g_i`, that of the propensities weighs it by
    :math:`f(x_1) / f(x_i)`, both from the other model's softmax over the page:

    .. math:: -\sum_{i: c_i = 1} \frac{g_1}{g_i} \log \frac{e^{f(x_i)}}{\sum_j e^{f(x_j)}}, \qquad
              -\sum_{i: c_i = 1} \frac{f_1}{f_i} \log \frac{e^{g_i}}{\sum_j e^{g_j}}

    By AdaGrad on batches of pages.

    Parameters
    ----------
    n_epochs, batch_size, learning_rate
        Of the training.
    clip
        Largest weight of a click.

    Attributes
    ----------
    coef_
        Weights of the features.
    examination_
        :math:`e^{g_i - g_1}`: propensities relative to the first rank.

    References
    ----------
    Ai, Bi, Luo, Guo, Croft: Unbiased learning to rank with unbiased propensity estimation. SIGIR 2018.
    """

    def __init__(
        self,
        *,
        n_epochs: int = 20,
        batch_size: int = 256,
        learning_rate: float = 0.1,
        clip: float = 20.0,
        random_state: Any = None,
    ) -> None:
        self.n_epochs, self.batch_size, self.learning_rate = n_epochs, batch_size, learning_rate
        self.clip, self.random_state = clip, random_state

    def fit(self, log: ClickLog, data: RankingDataset) -> Self:
        """Learn from the pages of a log that have a click; ``data`` has the features."""
        rows = dataset_rows(log, data)
        if (rows < 0).any():
            raise DataError(f"{int((rows < 0).sum())} pairs of the log have no features; leave their pages out")
        refuse_categories(data.categories, "DualLearning")
        check_finite(data, rows)
        rng = np.random.default_rng(self.random_state)
        X = dense(data, rows).astype(np.float64)
        self.mean_, self.scale_ = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-9)
        X = (X - self.mean_) / self.scale_
        useful = np.flatnonzero(np.bincount(log.page, log.clicked, minlength=log.n_pages) > 0)
        if not useful.size:
            raise DataError("the log has no clicks: nothing to learn from")
        m = int(log.lengths.max())
        w, g = np.zeros(X.shape[1]), np.zeros(log.longest)
        past_w, past_g = np.full(w.size, 1e-8), np.full(g.size, 1e-8)
        for _ in range(self.n_epochs):
            for batch in np.array_split(rng.permutation(useful), max(1, useful.size // self.batch_size)):
                at = log.offsets[batch][:, None] + np.arange(m)
                valid = np.arange(m) < log.lengths[batch][:, None]
                at = np.where(valid, at, 0)
                clicked = log.clicked[at] & valid
                weight = log.page_weight[batch][:, None]
                features = X[log.pair[at]]
                rank = log.rank[at] - 1
                f = np.where(valid, features @ w, -np.inf)
                look = np.where(valid, g[rank], -np.inf)
                slope_f = _softmax_slope(f, clicked * weight * _ratios(look, self.clip))
                slope_g = _softmax_slope(look, clicked * weight * _ratios(f, self.clip))
                step_w = np.einsum("pi,pid->d", np.where(valid, slope_f, 0.0), features) / batch.size
                step_g = np.bincount(rank[valid], slope_g[valid], minlength=g.size) / batch.size
                past_w += step_w**2
                past_g += step_g**2
                w -= self.learning_rate * step_w / np.sqrt(past_w)
                g -= self.learning_rate * step_g / np.sqrt(past_g)
        self.coef_ = w
        self.examination_ = np.exp(g - g[0])
        return self

    def predict(self, data: RankingDataset) -> np.ndarray:
        """Scores of the rows of a dataset."""
        refuse_categories(data.categories, "DualLearning")
        check_finite(data, np.arange(data.n_rows))
        X = dense(data, np.arange(data.n_rows))
        return ((X - self.mean_) / self.scale_) @ self.coef_


def _ratios(level: np.ndarray, clip: float) -> np.ndarray:
    """Weight of each rank: the first one's softmax over its own."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(np.minimum(np.exp(np.clip(level[:, :1] - level, -50, 50)), clip))


def _softmax_slope(level: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Slope of the weighted softmax loss by the levels."""
    chance = np.exp(level - level.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    return weight.sum(axis=1, keepdims=True) * chance - weight
