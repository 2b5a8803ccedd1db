"""Corrections for testing many hypotheses at once, as adjusted p-values to compare with the level."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["benjamini_hochberg", "bonferroni", "holm"]


def bonferroni(p: Any) -> np.ndarray:
    """Bonferroni: min(1, m p). Keeps the probability of any false finding below the level.

    >>> bonferroni([0.01, 0.4]).tolist()
    [0.02, 0.8]

    References
    ----------
    Dunn: Multiple comparisons among means. Journal of the American Statistical Association 1961.
    """
    p = _probabilities(p)
    return np.minimum(p * p.size, 1.0)


def holm(p: Any) -> np.ndarray:
    r"""Holm's step-down: :math:`\max_{j \le i} \min(1, (m - j + 1)\,p_{(j)})` for the i-th smallest of m.

    Gives the same guarantee as `bonferroni` and never finds fewer differences.

    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]

    References
    ----------
    Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 1979.
    """
    p = _probabilities(p)
    order = np.argsort(p, kind="stable")
    out = np.empty_like(p)
    out[order] = np.maximum.accumulate(np.minimum(p[order] * np.arange(p.size, 0, -1), 1.0))
    return out


def benjamini_hochberg(p: Any) -> np.ndarray:
    r"""Benjamini and Hochberg's step-up: :math:`\min_{j \ge i} \min(1, m\,p_{(j)} / j)` for the i-th smallest of m.

    Keeps the expected share of false findings below the level. The guarantee is weaker than that of `holm`, but it
    finds more.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]

    References
    ----------
    Benjamini, Hochberg: Controlling the false discovery rate: a practical and powerful approach to multiple testing.
    Journal of the Royal Statistical Society B 1995.
    """
    p = _probabilities(p)
    order = np.argsort(p, kind="stable")
    stepped = np.minimum(p[order] * p.size / np.arange(1, p.size + 1), 1.0)
    out = np.empty_like(p)
    out[order] = np.minimum.accumulate(stepped[::-1])[::-1]
    return out


def uncorrected(p: Any) -> np.ndarray:
    """The p-values as they are."""
    return _probabilities(p)


#: Corrections by name.
CORRECTIONS: dict[str, Callable[[Any], np.ndarray]] = {
    "holm": holm,
    "bonferroni": bonferroni,
    "benjamini-hochberg": benjamini_hochberg,
    "bh": benjamini_hochberg,
    "none": uncorrected,
}


def correct(p: Any, correction: str | None) -> np.ndarray:
    """p-values adjusted by a correction of `CORRECTIONS`; None means no correction."""
    name = "none" if correction is None else correction
    if name not in CORRECTIONS:
        raise ValueError(f"correction={correction!r}; give one of {', '.join(CORRECTIONS)}")
    return CORRECTIONS[name](p)


def _probabilities(p: Any) -> np.ndarray:
    p = np.array(p, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p-values must be one row of numbers in 0..1, got {p}")
    return p
