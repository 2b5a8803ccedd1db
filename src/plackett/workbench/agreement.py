"""How far raters agree: weighted kappa of two, Krippendorff's alpha of all, and the pairs on which they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from plackett.workbench.store import Judgement

__all__ = ["agreement", "alpha", "kappa"]


def kappa(a: Iterable[float], b: Iterable[float]) -> float:
    r"""Cohen's kappa of two raters with quadratic weights.

    .. math:: 1 - \frac{\sum_i (a_i - b_i)^2 / n}{\sum_{i,j} (a_i - b_j)^2 / n^2}

    1 is full agreement, 0 what two raters with these grades reach by chance. NaN if both give one and the same grade
    throughout.

    >>> kappa([0, 1, 2, 2], [0, 1, 2, 2]), round(kappa([0, 0, 2, 2], [0, 1, 1, 2]), 4)
    (1.0, 0.6667)

    References
    ----------
    Cohen: Weighted kappa. Psychological Bulletin 70, 1968.
    """
    x, y = np.fromiter(a, np.float64), np.fromiter(b, np.float64)
    chance = float(np.mean(x**2) + np.mean(y**2) - 2 * np.mean(x) * np.mean(y)) if x.size else 0.0
    return float("nan") if chance <= 0 else float(1 - np.mean((x - y) ** 2) / chance)


def alpha(grades: Mapping[Any, Iterable[float]]) -> float:
    r"""Krippendorff's alpha of the grades that several raters gave, by what was graded, for intervals.

    .. math:: 1 - \frac{D_o}{D_e},\quad D_o = \frac{1}{n} \sum_u \frac{1}{m_u - 1} \sum_{i \ne j} (x_{ui} - x_{uj})^2

    where :math:`D_e` is the same over all pairs of grades. What only one rater graded does not count. NaN if there is
    nothing to compare, or only one grade.

    >>> alpha({"d1": [2, 2], "d2": [0, 0], "d3": [1, 1]})
    1.0

    References
    ----------
    Krippendorff: Content analysis. Sage, 2004.
    """
    units = [unit for given in grades.values() if (unit := np.fromiter(given, np.float64)).size > 1]
    values = np.concatenate([np.empty(0), *units])
    n = values.size
    if n < 2 or np.ptp(values) == 0:
        return float("nan")
    # the sum of squared differences over ordered pairs is 2 m Σ (x − mean)²
    observed = sum(2 * unit.size * float(((unit - unit.mean()) ** 2).sum()) / (unit.size - 1) for unit in units) / n
    expected = 2 * n * float(((values - values.mean()) ** 2).sum()) / (n * (n - 1))
    return float(1 - observed / expected)


def agreement(judgements: Iterable[Judgement]) -> dict[str, Any]:
    """Agreement of all raters, of each two of them, and the pairs on which they differ, the widest first."""
    by_pair: dict[tuple[str, str], dict[str, Judgement]] = {}
    for found in judgements:
        if found.grade is not None:
            by_pair.setdefault((found.qid, found.docid), {})[found.rater] = found
    raters = sorted({rater for given in by_pair.values() for rater in given})
    pairs = []
    for a, b in combinations(raters, 2):
        both = [(given[a].grade, given[b].grade) for given in by_pair.values() if a in given and b in given]
        if both:
            first, second = zip(*both, strict=True)
            same = sum(x == y for x, y in both) / len(both)
            pairs.append({"a": a, "b": b, "n": len(both), "same": same, "kappa": kappa(first, second)})
    conflicts: list[dict[str, Any]] = [
        {
            "qid": qid,
            "docid": docid,
            "grades": {rater: found.grade for rater, found in sorted(given.items())},
            "notes": {rater: found.note for rater, found in sorted(given.items()) if found.note},
        }
        for (qid, docid), given in by_pair.items()
        if len({found.grade for found in given.values()}) > 1
    ]
    conflicts.sort(key=lambda one: min(one["grades"].values()) - max(one["grades"].values()))
    grades = {pair: [float(found.grade or 0.0) for found in given.values()] for pair, given in by_pair.items()}
    everyone = alpha(grades)
    return {"alpha": everyone, "pairs": pairs, "conflicts": conflicts}
