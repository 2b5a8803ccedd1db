"""Fleiss' kappa of several judges."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.selection.judges.ratings import JudgeRatings

__all__ = ["fleiss_kappa"]


def fleiss_kappa(ratings: Any) -> float:
    r"""Agreement beyond chance of any number of judges, who need not be the same for every item.

    .. math:: \kappa = \frac{\bar P - P_e}{1 - P_e}, \qquad
              \bar P = \frac1N \sum_i \frac{\sum_k n_{ik}(n_{ik} - 1)}{n(n-1)}, \qquad P_e = \sum_k p_k^2

    Every item must have the same number of labels, as in the paper; use `krippendorff_alpha` where some are missing.

    Examples
    --------
    >>> round(fleiss_kappa([[1, 1, 1], [2, 2, 2], [1, 1, 2]]), 3)
    0.55

    References
    ----------
    Fleiss: Measuring nominal scale agreement among many raters. Psychological Bulletin 76, 1971.
    """
    counts = JudgeRatings.of(ratings).counts
    n = counts.sum(axis=1)
    if (n != n[0]).any() or n[0] < 2:
        raise DataError(
            f"items have from {n.min()} to {n.max()} labels; Fleiss' kappa needs the same number, two or more: "
            "use krippendorff_alpha"
        )
    agreement = float((counts * (counts - 1)).sum(axis=1).mean() / (n[0] * (n[0] - 1)))
    chance = float(np.square(counts.sum(axis=0) / counts.sum()).sum())
    return (agreement - chance) / (1.0 - chance) if chance < 1.0 else float("nan")
