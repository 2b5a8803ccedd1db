"""Weights that make a biased sample look like what the ranker will meet: KLIEP and uLSIF."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import number_or_none
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset

__all__ = ["kliep_weights", "ulsif_weights"]


def _table(part: Any) -> np.ndarray:
    X = part.dense() if isinstance(part, RankingDataset) else np.asarray(part)
    X = X.astype(np.float64)
    if X.ndim != 2 or not len(X) or not np.isfinite(X).all():
        raise DataError(f"a table of finite features is needed, got shape {X.shape}")
    return X


def _kernels(
    train: Any, test: Any, n_centers: int, width: float | None, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian kernels of both samples at centres drawn from the test sample; the median distance is the width."""
    a, b = _table(train), _table(test)
    if a.shape[1] != b.shape[1]:
        raise DataError(f"{a.shape[1]} features in training, {b.shape[1]} in test")
    scale = np.where(b.std(axis=0) > 1e-12, b.std(axis=0), 1.0)
    a, b = a / scale, b / scale
    centers = b[rng.choice(len(b), min(n_centers, len(b)), replace=False)]

    def distances(X: np.ndarray) -> np.ndarray:
        squares = np.square(X).sum(axis=1)[:, None] + np.square(centers).sum(axis=1) - 2.0 * X @ centers.T
        return np.maximum(squares, 0.0)

    inner = distances(centers)
    if width is None:
        others = inner[np.triu_indices(len(centers), 1)]
        width = float(np.sqrt(np.median(others))) if others.size else 1.0
    if not width > 0:
        raise DataError("the width of the kernels is 0: the test documents are all equal")
    return np.exp(-distances(a) / (2 * width**2)), np.exp(-distances(b) / (2 * width**2))


def _scaled(weight: np.ndarray) -> np.ndarray:
    mean = weight.mean()
    if not mean > 0:
        raise DataError("no training document is like the test documents")
    return weight / mean


def ulsif_weights(
    train: Any,
    test: Any,
    *,
    alpha: float = 0.1,
    n_centers: int = 100,
    width: float | None = None,
    random_state: Any = 0,
) -> np.ndarray:
    r"""Density ratio of test to training documents by unconstrained least squares, with mean 1 over training.

    The ratio is a sum of Gaussian kernels with the coefficients :math:`(H + \alpha I)^{-1} h`, where
    :math:`H = E_{train}[kk^\top]` and :math:`h = E_{test}[k]`, cut at 0. Give the weights as
    ``sample_weight``. `plackett.clicks.selection_weights` does the same by logistic regression, which is better for
    many features.

    Parameters
    ----------
    alpha
        Penalty; None chooses it by cross-validation.
    n_centers, width
        Number of kernels, and their width in standard deviations of the test sample (default: the median distance).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train, test = rng.normal(0, 1, (2000, 1)), rng.normal(0.5, 1, (2000, 1))
    >>> bool(abs((ulsif_weights(train, test) * train[:, 0]).mean() - 0.5) < 0.1)
    True

    References
    ----------
    Kanamori, Hido, Sugiyama: A least-squares approach to direct importance estimation. JMLR 10, 2009.
    """
    number_or_none("alpha", alpha, above=0)
    rng = np.random.default_rng(random_state)
    a, b = _kernels(train, test, n_centers, width, rng)
    if alpha is None:
        folds = [(rng.permutation(len(part)) % 5) for part in (a, b)]
        alpha = min(_ALPHAS, key=lambda each: sum(_held_out(a, b, folds, f, each) for f in range(5)))
    return _scaled(np.maximum(a @ _least_squares(a, b, alpha), 0.0))


#: Penalties that are tried.
_ALPHAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)


def _least_squares(a: np.ndarray, b: np.ndarray, alpha: float) -> np.ndarray:
    H = a.T @ a / len(a) + alpha * np.eye(a.shape[1])
    return np.linalg.solve(H, b.mean(axis=0))


def _held_out(a: np.ndarray, b: np.ndarray, folds: list[np.ndarray], fold: int, alpha: float) -> float:
    """Squared error of the ratio, up to a constant, on one fold of both samples."""
    inside = [each == fold for each in folds]
    if not (inside[0].any() and inside[1].any()):
        return 0.0
    theta = _least_squares(a[~inside[0]], b[~inside[1]], alpha)
    one, two = (np.maximum(part[mask] @ theta, 0.0) for part, mask in zip((a, b), inside, strict=True))
    return float(0.5 * np.square(one).mean() - two.mean())


def kliep_weights(
    train: Any,
    test: Any,
    *,
    n_centers: int = 100,
    width: float | None = None,
    max_iter: int = 2000,
    tol: float = 1e-7,
    random_state: Any = 0,
) -> np.ndarray:
    r"""Density ratio of test to training documents by Kullback–Leibler importance estimation, with mean 1.

    Maximises :math:`\sum_{test} \ln \theta^\top k(x)` over :math:`\theta \ge 0` with mean ratio 1 over training. The
    multiplicative step :math:`\theta_l \leftarrow \theta_l \, E_{test}[k_l / \theta^\top k] / E_{train}[k_l]` keeps
    the constraint and never lowers the objective: it is expectation maximisation for a mixture.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> train, test = rng.normal(0, 1, (2000, 1)), rng.normal(0.5, 1, (2000, 1))
    >>> bool(abs((kliep_weights(train, test) * train[:, 0]).mean() - 0.5) < 0.1)
    True

    References
    ----------
    Sugiyama, Suzuki, Nakajima, Kashima, von Bünau, Kawanabe: Direct importance estimation for covariate shift
    adaptation. Annals of the Institute of Statistical Mathematics 60, 2008.
    """
    a, b = _kernels(train, test, n_centers, width, np.random.default_rng(random_state))
    mass = np.maximum(a.mean(axis=0), 1e-300)
    share = np.full(mass.size, 1.0 / mass.size)  # θ times mass: sums to 1
    scaled = b / mass
    value = -np.inf
    for _ in range(max_iter):
        ratio = np.maximum(scaled @ share, 1e-300)
        share = share * (scaled / ratio[:, None]).mean(axis=0)
        new = float(np.log(ratio).mean())
        if new - value < tol:
            break
        value = new
    return _scaled(a @ (share / mass))
