"""The Beta prior of attraction, estimated from the log, and intervals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.clicks.models._grid import density_moments

#: Pairs that the prior is estimated from; more do not change it.
_SAMPLE = 50_000


class BetaPrior(NamedTuple):
    """Prior of a probability, as counts: ``a`` imagined clicks and ``b`` imagined skips.

    They are added to the counts of a pair, so the estimate of a pair without data is ``mean``. (0, 0) means no prior:
    estimates are then those of maximum likelihood.
    """

    a: float
    b: float

    @property
    def mean(self) -> float:
        """Estimate without data; a half if there is no prior."""
        return self.a / (self.a + self.b) if self.a + self.b > 0 else 0.5


FLAT = BetaPrior(0.0, 0.0)
UNIFORM = BetaPrior(1.0, 1.0)


def estimate_prior(hits: np.ndarray, trials: np.ndarray, *, max_iter: int = 200, tol: float = 1e-4) -> BetaPrior:
    r"""The Beta distribution under which counts of many pairs are most probable (beta-binomial maximum likelihood).

    .. math:: \sum_p \log \frac{B(a + h_p,\ b + t_p - h_p)}{B(a, b)}

    by Minka's fixed-point iteration, with extrapolation. Pairs without trials say nothing.

    >>> rng = np.random.default_rng(0)
    >>> rates = rng.beta(2, 8, 20_000)
    >>> estimate_prior(rng.binomial(5, rates), np.full(20_000, 5.0)).mean.__round__(2)
    0.2
    """
    from scipy.special import digamma

    seen = trials > 1e-9
    hits, trials = hits[seen], trials[seen]
    if hits.size < 2 or hits.sum() <= 0 or (trials - hits).sum() <= 0:
        return BetaPrior(1.0, 1.0)
    if hits.size > _SAMPLE:
        chosen = np.random.default_rng(0).choice(hits.size, _SAMPLE, replace=False)
        hits, trials = hits[chosen], trials[chosen]
    misses = trials - hits
    mean = hits.sum() / trials.sum()
    # moments of the rates give the start: the variance between pairs beyond that of counting
    share = trials / trials.sum()
    spread = float((share * (hits / trials - mean) ** 2).sum())
    noise = float((share * mean * (1 - mean) / np.maximum(trials, 1.0)).sum())
    strength = float(np.clip(mean * (1 - mean) / max(spread - noise, 1e-6) - 1.0, 0.1, 1e3))
    a, b = mean * strength, (1 - mean) * strength

    def step(a: float, b: float) -> tuple[float, float]:
        below = max(float((digamma(trials + a + b) - digamma(a + b)).sum()), 1e-300)
        up = float((digamma(hits + a) - digamma(a)).sum())
        down = float((digamma(misses + b) - digamma(b)).sum())
        return a * up / below, b * down / below

    for _ in range(max_iter):
        a1, b1 = step(a, b)
        a2, b2 = step(a1, b1)
        # squared extrapolation of the logarithms: the plain iteration takes thousands of steps
        start, once, twice = (np.log(np.maximum(pair, 1e-12)) for pair in ((a, b), (a1, b1), (a2, b2)))
        first, second = once - start, twice - 2 * once + start
        norm = float(np.linalg.norm(second))
        length = float(np.clip(np.linalg.norm(first) / norm, 1.0, 100.0)) if norm > 1e-14 else 1.0
        jumped = start + 2 * length * first + length**2 * second
        new = np.exp(np.clip(jumped, -10.0, 10.0)) if np.isfinite(jumped).all() else np.exp(twice)
        new = np.array(step(*new))  # back towards the curve that the iteration follows
        moved = float(np.abs(np.log(np.maximum(new, 1e-12)) - start).max())
        a, b = float(np.clip(new[0], 1e-4, 1e4)), float(np.clip(new[1], 1e-4, 1e4))
        if moved < tol:
            break
    return BetaPrior(a, b)


#: Points of the grid on which probabilities are integrated, and pairs that a prior is estimated from by it.
_POINTS = 128
_LATENT_SAMPLE = 4_000


def _grid(points: int) -> np.ndarray:
    return (np.arange(points) + 0.5) / points


def latent_prior(hits: np.ndarray, skips: np.ndarray, look: np.ndarray) -> BetaPrior:
    r"""The Beta distribution under which counts with uncertain examination are most probable.

    .. math:: \sum_p \log \int r^{h_p} (1 - w_p r)^{s_p}\, \mathrm{Beta}(r; a, b)\, dr

    on a grid, with gradient. With :math:`w = 1` it is `estimate_prior`.
    """
    from scipy.optimize import minimize
    from scipy.special import betaln, digamma

    shown = hits + skips > 1e-9
    hits, skips, look = hits[shown], skips[shown], look[shown]
    if hits.size < 2 or hits.sum() <= 0 or skips.sum() <= 0:
        return BetaPrior(1.0, 1.0)
    if hits.size > _LATENT_SAMPLE:
        chosen = np.random.default_rng(0).choice(hits.size, _LATENT_SAMPLE, replace=False)
        hits, skips, look = hits[chosen], skips[chosen], look[chosen]
    r = _grid(_POINTS)
    log_r, log_other = np.log(r), np.log1p(-r)
    level = hits[:, None] * log_r + skips[:, None] * np.log1p(-np.minimum(look[:, None] * r, 1 - 1e-12))
    level -= level.max(axis=1, keepdims=True)
    likelihood = np.exp(level)

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = np.exp(x)
        weights = np.exp((a - 1) * log_r + (b - 1) * log_other - betaln(a, b)) / _POINTS
        mass = likelihood @ weights
        mean_log = (likelihood @ (weights * log_r)) / mass
        mean_other = (likelihood @ (weights * log_other)) / mass
        slope_a = mean_log.mean() - (digamma(a) - digamma(a + b))
        slope_b = mean_other.mean() - (digamma(b) - digamma(a + b))
        return -float(np.log(mass).mean()), -np.array([a * slope_a, b * slope_b])

    start = np.log(np.clip(estimate_prior(hits, hits + skips * look), 0.2, 50.0))
    optimum = minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(np.log(0.05), np.log(1e3))] * 2)
    a, b = np.exp(optimum.x)
    return BetaPrior(float(a), float(b))


@kernel
def _latent_posterior(lo, hi, offsets, hits, skips, look, a, b, tail, grid, log_grid, log_other, out):
    n = grid.size
    level = np.empty(n)
    for p in range(lo, hi):
        top = -np.inf
        for g in range(n):
            level[g] = (hits[p] + a - 1.0) * log_grid[g] + (b - 1.0) * log_other[g]
            level[g] += skips[p] * np.log(max(1.0 - look[p] * grid[g], 1e-300))
            top = max(top, level[g])
        out[0, p], variance, out[2, p], out[3, p] = density_moments(level, top, grid, tail)
        out[1, p] = max(variance, 1e-12)


def latent_posterior(
    hits: np.ndarray,
    skips: np.ndarray,
    look: np.ndarray,
    prior: BetaPrior,
    level: float,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Mean, variance and both ends of an interval of each probability, as four rows; see `latent_prior`."""
    out = np.zeros((4, hits.size))
    grid = _grid(_POINTS)
    a, b = max(prior.a, 1e-3), max(prior.b, 1e-3)
    over_queries(
        _latent_posterior,
        np.arange(hits.size + 1),
        hits,
        skips,
        look,
        a,
        b,
        (1 - level) / 2,
        grid,
        np.log(grid),
        np.log1p(-grid),
        out,
        n_jobs=n_jobs,
        rows_per_thread=1000,
    )
    return out


def prior_of_scores(
    value: np.ndarray, score: np.ndarray, information: np.ndarray, former: BetaPrior = UNIFORM
) -> BetaPrior:
    """The Beta distribution of probabilities that are observed indirectly.

    Each is known by the slope of its log-likelihood at some value and the information there: one Newton step gives an
    unbiased estimate with known variance. The variance between pairs is what their spread has beyond that (Paule and
    Mandel's estimate). The former prior stays if too few of them are known well enough.
    """
    trials = information * value * (1 - value)
    known = trials > 1.0
    if known.sum() < 10:
        return former
    noise = 1.0 / information[known]
    guess = np.clip(value[known] + score[known] * noise, -0.5, 1.5)

    def mean_at(between: float) -> float:
        share = 1.0 / (between + noise)
        return float((share * guess).sum() / share.sum())

    low, high = 0.0, 0.25
    for _ in range(60):
        between = (low + high) / 2
        if ((guess - mean_at(between)) ** 2 / (between + noise)).sum() > guess.size - 1:
            low = between
        else:
            high = between
    mean = float(np.clip(mean_at(between), 0.01, 0.99))
    strength = float(np.clip(mean * (1 - mean) / max(between, 1e-9) - 1.0, 0.1, 1e3))
    return BetaPrior(mean * strength, (1 - mean) * strength)


def beta_interval(mean: np.ndarray, variance: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Central interval of the Beta distribution with this mean and variance."""
    from scipy.special import betaincinv

    mean = np.clip(mean, 1e-9, 1 - 1e-9)
    strength = np.maximum(mean * (1 - mean) / np.maximum(variance, 1e-300) - 1.0, 1e-3)
    a, b = mean * strength, (1 - mean) * strength
    tail = (1 - level) / 2
    return betaincinv(a, b, tail), betaincinv(a, b, 1 - tail)


def product_moments(
    mean: np.ndarray, variance: np.ndarray, other_mean: np.ndarray, other_variance: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a product of two independent variables."""
    square = mean**2 * other_variance + other_mean**2 * variance + variance * other_variance
    return mean * other_mean, square
