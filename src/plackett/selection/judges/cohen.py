"""Cohen's kappa of two judges."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError

__all__ = ["cohen_kappa"]


def cohen_kappa(a: Any, b: Any, *, weights: str | None = None) -> float:
    r"""Agreement of two judges beyond chance.

    .. math:: \kappa = 1 - \frac{\sum_{kl} w_{kl} O_{kl}}{\sum_{kl} w_{kl} E_{kl}}

    with O the shares of pairs of grades, E what independent judges with the same shares would give, and w the
    disagreement: 1 for unequal grades, or the difference of the grades or its square. NaN if there is only one grade.

    Parameters
    ----------
    a, b
        Labels of the same items; items that one of the judges left out (NaN) are not counted.
    weights
        None, ``"linear"`` or ``"quadratic"``.

    Examples
    --------
    >>> yes_no = np.repeat([[1, 1], [1, 0], [0, 1], [0, 0]], [20, 5, 10, 15], axis=0)
    >>> round(cohen_kappa(yes_no[:, 0], yes_no[:, 1]), 3)
    0.4

    References
    ----------
    Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 1960.
    Cohen: Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit.
    Psychological Bulletin 1968.
    """
    kinds: dict[str | None, Any] = {None: lambda d: (d != 0).astype(float), "linear": np.abs, "quadratic": np.square}
    choice("weights", weights, kinds)
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise DataError(f"the labels of both judges must be lists of one length, got shapes {a.shape} and {b.shape}")
    both = ~(np.isnan(a) | np.isnan(b))
    grades, codes = np.unique(np.concatenate([a[both], b[both]]), return_inverse=True)
    n, k = int(both.sum()), grades.size
    if n == 0:
        return float("nan")
    observed = np.bincount(codes[:n] * k + codes[n:], minlength=k * k).reshape(k, k) / n
    expected = np.outer(observed.sum(axis=1), observed.sum(axis=0))
    cost = kinds[weights](np.subtract.outer(grades, grades))
    chance = float((cost * expected).sum())
    return 1.0 - float((cost * observed).sum()) / chance if chance > 0 else float("nan")
