"""Robust training: rankings that stay the same when scores or features are a little off."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import number
from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett.data.categories import refuse_categories
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, Loss
from plackett.rankers.base import GradientTrained, Ranker
from plackett.rankers.gradient_ranker import GradientRanker

__all__ = ["robust_training"]


def robust_training(
    ranker: Ranker,
    data: RankingDataset,
    *,
    penalty: float = 0.0,
    noise: float = 0.1,
    relative: bool = True,
    feature_noise: float = 0.0,
    copies: int = 4,
    random_state: int = 0,
) -> Ranker:
    r"""Train a ranker so that noise changes its rankings less.

    There are two ways, alone or together. With ``penalty`` λ, the loss of each query increases by

    .. math:: \frac{\lambda}{|N|} \sum_{(u, v) \in N} \Phi\Big({-\frac{f_u - f_v}{s \sqrt 2}}\Big),

    where N are the pairs of neighbours in the current ranking with different labels, u the upper one: the probability
    that noise :math:`N(0, s^2)` on the scores switches them (see `switch_probability`). The loss decides which of the
    two is above; the penalty keeps them apart. s is ``noise``, or ``noise`` times the standard deviation of the query's
    scores, so that larger scores alone do not help. This needs a ranker with a loss that has a value, starts from the
    ordinary ranker, and costs O(m log m) per list. The neighbours change with the ranking, so the result is a local
    minimum.

    With ``feature_noise``, any ranker is trained on copies of the data with normal noise added to each feature, with
    this share of its standard deviation.

    Parameters
    ----------
    ranker
        A ranker, fitted or not; it is copied.
    data
        Training data.
    penalty
        λ; 0 is ordinary training.
    noise, relative
        Noise of the scores, relative to their spread in a query or in absolute units.
    feature_noise
        Noise of the features, relative to their spread; 0 adds no copies.
    copies
        Number of noisy copies.
    random_state
        Seed of the noise.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 20.7.

    Examples
    --------
    >>> import plackett as pk
    >>> train, valid = (pk.datasets.make_ranking(40, 8, 4, random_state=seed) for seed in (0, 1))
    >>> plain, robust = (robust_training(pk.ListNet(), train, penalty=p) for p in (0.0, 3.0))
    >>> bool((plain.predict(train) == pk.ListNet().fit(train).predict(train)).all())
    True
    """
    for name, value in (("penalty", penalty), ("feature_noise", feature_noise)):
        number(name, value, least=0.0)
    number("noise", noise, above=0.0)
    if isinstance(copies, bool) or copies < 1:
        raise DataError(f"copies={copies!r}; give a whole number of 1 or more")
    if not isinstance(ranker, Ranker):
        raise DataError(f"a {type(ranker).__name__} cannot be trained robustly; give a ranker of plackett")
    if feature_noise > 0.0:
        data = _noisy(data, feature_noise, copies, random_state)
    fitted = clone(ranker).fit(data)
    if penalty == 0.0:
        return fitted
    if not isinstance(ranker, GradientTrained) or not ranker.make_loss().has_value:
        raise DataError(f"{type(ranker).__name__} has no loss that a penalty can be added to; use feature_noise")
    loss = SwitchPenalty(base=ranker.make_loss(), penalty=float(penalty), noise=float(noise), relative=relative)
    model: Any = copy.copy(fitted.make_model())  # type: ignore[attr-defined]
    if hasattr(fitted, "alpha_"):  # the strength chosen by cross-validation
        model.alpha = fitted.alpha_
    # start from the ordinary ranker: equal scores have no order to protect
    trained = GradientRanker(loss=loss, model=model, n_jobs=ranker.n_jobs, verbose=False, warm_start=True)
    trained = trained.trained_copy(fitted.prepared(data), start=fitted)
    robust = copy.copy(fitted)
    robust.scorer_ = trained.scorer_
    robust.note_distribution(data)
    return robust


@dataclass(frozen=True, kw_only=True, repr=False)
class SwitchPenalty(Loss):
    """A loss plus the probability that noise switches neighbours with different labels."""

    name: ClassVar[str] = "SwitchPenalty"

    base: Loss
    penalty: float
    noise: float
    relative: bool = True

    def __post_init__(self) -> None:
        for name in ("smooth", "shift_invariant", "separable", "counts_rounds", "learns_from"):
            object.__setattr__(self, name, getattr(self.base, name))

    def settle(self, data: RankingDataset) -> Self:
        """The loss with everything fixed that depends on all of the data."""
        return self.replace(base=self.base.settle(data))

    def bind(self, data: RankingDataset, *, n_jobs: int | None = None) -> BoundLoss:
        """The loss on one dataset."""
        bound = self.base.bind(data, n_jobs=n_jobs)
        if bound.n_outputs != 1:
            raise DataError(f"{self.base.name} has several scores per document; the penalty needs one")
        return _Bound(self, bound, data, n_jobs)


class _Bound(BoundLoss):
    def __init__(self, loss: SwitchPenalty, base: BoundLoss, data: RankingDataset, n_jobs: int | None) -> None:
        super().__init__(data, n_jobs=n_jobs)
        self.loss, self.base = loss, base
        if data.y is None:
            raise DataError("the penalty on switches needs labels")

    def evaluate(self, scores: np.ndarray, value: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Loss per query, gradient and curvature per score."""
        total, gradient, curvature = (np.array(part) for part in self.base.evaluate(scores, value))
        penalty, slope, bend = self._switches(scores)
        return total + penalty, gradient + slope, curvature + bend

    def _switches(self, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        from scipy.special import ndtr

        data, labels = self.data, self.data.labels
        query, n = data.query_of_row, data.n_queries
        counts = np.maximum(np.diff(data.offsets), 1)
        away = scores - (np.bincount(query, scores, n) / counts)[query]
        spread = np.sqrt(np.bincount(query, away**2, n) / counts)
        rows = np.lexsort((-scores, query))
        rows = rows[labels[rows] >= 0]
        up, down = rows[:-1], rows[1:]
        near = (query[up] == query[down]) & (labels[up] != labels[down])
        up, down = up[near], down[near]
        q = query[up]
        if not q.size:
            return np.zeros(n), np.zeros(scores.size), np.zeros(scores.size)
        relative = self.loss.relative
        known = np.where((spread[q] > 1e-12) | (not relative), 1.0, 0.0)  # at equal scores ½, and no slope
        wide = np.where(known > 0, spread[q], 1.0) if relative else np.ones(q.size)
        size = self.loss.noise * np.sqrt(2.0) * wide
        z = known * (scores[up] - scores[down]) / size
        pairs = np.maximum(np.bincount(q, minlength=n), 1)
        weight = (self.loss.penalty * self.query_weight / pairs)[q]
        density = known * weight * np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
        value = np.bincount(q, weight * ndtr(-z), n)
        slope = np.bincount(down, density / size, scores.size) - np.bincount(up, density / size, scores.size)
        if relative:  # the noise grows with the spread of the scores
            by_spread = np.bincount(q, density * z / wide, n)
            safe = np.where(spread > 1e-12, spread * counts, 1.0)
            slope += (by_spread / safe)[query] * away
        part = density / size**2
        return value, slope, np.bincount(up, part, scores.size) + np.bincount(down, part, scores.size)


def _noisy(data: RankingDataset, share: float, copies: int, random_state: int) -> RankingDataset:
    """The data, and copies of them with noise on the features; the queries of copies get new numbers."""
    refuse_categories(data.categories, "noise on features")
    X = np.asarray(data.dense(), np.float64)
    size = share * np.nanstd(X, axis=0)
    rng = np.random.default_rng(random_state)
    parts = [replace(data, qids=np.arange(data.n_queries))]
    for i in range(1, copies + 1):
        noisy: Any = X + size * rng.standard_normal(X.shape)
        ids = np.arange(data.n_queries) + i * data.n_queries
        parts.append(replace(data.replace(X=noisy.astype(np.float32)), qids=ids))
    return concat(parts)
