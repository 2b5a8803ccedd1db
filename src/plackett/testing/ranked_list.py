"""One ranked list in one order, as the definition of a measure sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class RankedList(NamedTuple):
    """One query, its documents in one order: the ranked ones first, then those that were not retrieved.

    Attributes
    ----------
    labels
        Label of each document.
    depth
        How many documents were retrieved.
    tie
        Number of the tie each document belongs to; those that were not retrieved are one tie.
    docids, weights
        Id and sample weight of each document.
    subtopics
        Grade of each document for each subtopic; NaN for a subtopic that the query does not have.
    subtopic_weight
        Probability of each subtopic.
    largest_label, largest_grade
        The largest label, and the largest grade of a subtopic, in the whole dataset.
    """

    labels: list[float]
    depth: int
    tie: list[int]
    docids: list[str]
    weights: list[float]
    subtopics: list[list[float]]
    subtopic_weight: list[float]
    largest_label: float
    largest_grade: float


Definition = Callable[[Any, RankedList], float]
