"""One label per item from several judges."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.selection.judges.dawid_skene import dawid_skene
from plackett.selection.judges.ratings import JudgeRatings

__all__ = ["aggregate_labels"]


def _majority(ratings: JudgeRatings) -> np.ndarray:
    counts = ratings.counts
    most = counts == counts.max(axis=1, keepdims=True)
    # of grades with equally many votes, the middle one; of two, the lower
    wanted = (most.sum(axis=1, keepdims=True) + 1) // 2
    return ratings.grades[(np.cumsum(most, axis=1) >= wanted).argmax(axis=1)]


RULES: dict[str, Callable[[JudgeRatings], np.ndarray]] = {
    "model": lambda ratings: dawid_skene(ratings).labels,
    "model-mean": lambda ratings: dawid_skene(ratings).mean,
    "majority": _majority,
    "median": lambda ratings: np.nanquantile(ratings.labels, 0.5, axis=1, method="lower"),
    "mean": lambda ratings: np.nanmean(ratings.labels, axis=1),
}


def aggregate_labels(ratings: Any, rule: str = "model") -> np.ndarray:
    """One label per item: by the model of judges, its mean, the majority, the median (lower of two) or the mean.

    >>> aggregate_labels([[0, 0, 2], [2, 2, 2], [0, 1, 2]], "majority").tolist()
    [0.0, 2.0, 1.0]
    """
    choice("rule", rule, RULES)
    table = JudgeRatings.of(ratings)
    empty = np.isnan(table.labels).all(axis=1)
    if empty.any():
        raise DataError(f"item {int(empty.argmax()) + 1} has no label")
    return RULES[rule](table)
