"""Labels as classes 0..K−1, for losses with a score per class."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.arguments import number_or_none
from plackett._base.errors import LossError
from plackett.data.dataset import RankingDataset
from plackett.measures.gains import gains_of

#: A score per class and document: more classes than this are a mistake.
_MOST_CLASSES = 1000


def check_n_classes(loss: Any) -> None:
    """Reject a non-positive number of classes."""
    number_or_none(f"{loss.name}: n_classes", loss.n_classes, least=1, error=LossError)


def classes_of(loss: Any, data: RankingDataset) -> tuple[np.ndarray, np.ndarray, int]:
    """Class of each document, whether it is judged, and the number of classes."""
    labels = data.labels
    judged = labels >= 0
    largest = labels.max(initial=0.0)
    if loss.n_classes is None and largest >= _MOST_CLASSES:
        raise LossError(
            f"{loss.name} has a score for each whole number up to the largest label, but a label is {largest:g}; "
            f"number the grades from 0, at most {_MOST_CLASSES}"
        )
    whole = np.minimum(labels, 2.0**62).astype(np.int64)
    if not (whole == labels)[judged].all():
        row = np.flatnonzero((whole != labels) & judged)[0]
        raise LossError(f"{loss.name} needs whole-number labels as classes, but label {row} is {labels[row]}")
    classes = loss.n_classes or int(whole.max(initial=0)) + 1
    if whole.max(initial=0) >= classes:
        raise LossError(f"{loss.name}: label {whole.max()} with n_classes={classes}; labels must be below it")
    return whole, judged, classes


def class_gains(n_classes: int, gain: Any) -> np.ndarray:
    """What each class is worth when documents are ranked by their expected worth."""
    return gains_of(np.arange(n_classes, dtype=np.float64), gain)
