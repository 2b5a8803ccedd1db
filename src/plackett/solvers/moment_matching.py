"""Expectation propagation for probit models: a normal posterior whose moments match, one observation at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

#: Damping of each round: all observations are updated at once, and full steps could overshoot.
_DAMPING = 0.5


def probit_moments(mean: np.ndarray, variance: np.ndarray, sign: float, scale: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Mean and variance of f under :math:`N(f; m, v)\,\Phi(\pm f / c)`, normalised.

    >>> mean, variance = probit_moments(np.zeros(1), np.ones(1), 1.0, 1.0)
    >>> round(float(mean[0]), 4), round(float(variance[0]), 4)  # 1/√π and 1 − 1/π
    (0.5642, 0.6817)
    """
    from scipy.special import log_ndtr

    width = np.sqrt(scale**2 + variance)
    z = sign * mean / width
    ratio = np.exp(-0.5 * z * z - 0.5 * np.log(2.0 * np.pi) - log_ndtr(z))
    shrink = np.clip(ratio * (z + ratio), 0.0, 1.0)
    return mean + sign * variance * ratio / width, variance - (variance / width) ** 2 * shrink


def probit_posterior_steps(
    design: np.ndarray, successes: np.ndarray, failures: np.ndarray, prior_variance: float, scale: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rounds of expectation propagation for binomial observations of Φ(design · w / scale), w with a normal prior.

    Each round gives the mean of w and a factor F with covariance F F'. The observations of a row are copies of the same
    two, a success and a failure, so that counts may be any numbers of 0 or more.
    """
    n, d = design.shape
    prior = np.eye(d) / prior_variance
    counts = np.stack([successes, failures])
    taken_out = np.minimum(counts, 1.0)  # one copy, or a fraction of one
    precision, shift = np.zeros((2, n)), np.zeros((2, n))  # of one success and of one failure of each row
    posterior = prior
    mean = np.zeros(d)
    while True:
        factor = np.linalg.inv(np.linalg.cholesky(posterior)).T
        spread = np.square(design @ factor).sum(axis=1)
        middle = design @ mean
        for i, sign in enumerate((1.0, -1.0)):
            without = 1.0 / np.maximum(1.0 / spread - taken_out[i] * precision[i], 1e-12)
            cavity = without * (middle / spread - taken_out[i] * shift[i])
            moment, variance = probit_moments(cavity, without, sign, scale)
            precision[i] += _DAMPING * (np.maximum(1.0 / variance - 1.0 / without, 0.0) - precision[i])
            shift[i] += _DAMPING * (moment / variance - cavity / without - shift[i])
        posterior = prior + (design * (counts * precision).sum(axis=0)[:, None]).T @ design
        mean = np.linalg.solve(posterior, design.T @ (counts * shift).sum(axis=0))
        yield mean, np.linalg.inv(np.linalg.cholesky(posterior)).T
