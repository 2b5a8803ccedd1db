"""The margin of an ensemble of weak rankers: exact, and smooth."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.arguments import array

__all__ = ["ranking_margin", "smooth_ranking_margin"]


def ranking_margin(differences: Any, alphas: Any) -> float:
    r"""Smallest margin of a pair, :math:`\min_i \sum_j \alpha_j d_{ij} / \lVert\alpha\rVert_1`.

    RankBoost drives the training error to 0 but need not maximise this margin: on the matrix of the example in
    ``docs/boosting.md`` it tends to 1/3, where 3/8 is possible (`MarginLP`, `SmoothMarginRanking`).

    Parameters
    ----------
    differences
        :math:`d_{ij} = h_j(u_i) - h_j(v_i)` for pair i, of which u should be before v, and weak ranker j.
    alphas
        Weight of each weak ranker, not all 0.

    References
    ----------
    Rudin, Schapire: Margin-based ranking and an equivalence between AdaBoost and RankBoost. JMLR 2009.

    Examples
    --------
    >>> ranking_margin([[1, 0], [1, -1]], [3.0, 1.0])
    0.5
    """
    margins, norm = _margins(differences, alphas)
    return float(margins.min() / norm)


def smooth_ranking_margin(differences: Any, alphas: Any) -> float:
    r"""Smooth margin :math:`G = -\log \sum_i e^{-\sum_j \alpha_j d_{ij}} / \lVert\alpha\rVert_1`.

    At most the margin, and less by :math:`\log m / \lVert\alpha\rVert_1` at most, with m pairs.

    >>> round(smooth_ranking_margin([[1.0], [1.0]], [2 * np.log(2.0)]), 6)
    0.5

    References
    ----------
    Rudin, Schapire: Margin-based ranking and an equivalence between AdaBoost and RankBoost. JMLR 2009.
    """
    margins, norm = _margins(differences, alphas)
    lowest = margins.min()
    return float((lowest - np.log(np.exp(lowest - margins).sum())) / norm)


def ensemble_margins(differences: Any, alphas: Any) -> tuple[np.ndarray, float]:
    """Margin of each pair, not normalised, and the sum of the absolute weights of the rounds."""
    table, weights = array("differences", differences, 2), array("alphas", alphas)
    if table.shape[1] != weights.size:
        raise DataError(
            f"differences of {table.shape[1]} rounds and {weights.size} alphas; give one alpha for each column"
        )
    return table @ weights, float(np.abs(weights).sum())


def _margins(differences: Any, alphas: Any) -> tuple[np.ndarray, float]:
    margins, norm = ensemble_margins(differences, alphas)
    if norm == 0:
        raise DataError("alphas are all 0: an ensemble of nothing has no margin")
    return margins, norm
