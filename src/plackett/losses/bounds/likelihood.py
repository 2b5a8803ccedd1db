"""Measures by ListMLE: Theorem 5.3."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import Any

from plackett.losses.bounds.known_bound import (
    KnownBound,
    has_falling_discount,
    largest_weight,
    over,
    per_query,
    relevant_documents,
)
from plackett.measures.ap import AveragePrecision
from plackett.measures.base import Measure
from plackett.measures.ndcg import NDCG
from plackett.measures.rr import ReciprocalRank


def likelihood_bounds(loss: Any, measure: Measure) -> Iterator[KnownBound]:
    """Bounds by a negative log-likelihood of all ranks: that of a wrong first document is at least log 2."""
    L = per_query(loss, 1.0 / log(2.0))
    theorem = "Theorems 5.1 and 5.3"
    if isinstance(measure, NDCG) and has_falling_discount(measure):
        text = f"1 − {measure} ≤ G(max) η(1) / Z · L / log 2"
        yield KnownBound(loss, measure, text, theorem, "graded", over(L, largest_weight(measure)))
    if isinstance(measure, AveragePrecision) and measure.k is None:
        text = f"1 − {measure} ≤ L / (log 2 · number of relevant)"
        yield KnownBound(loss, measure, text, theorem, "graded", over(L, relevant_documents(measure.rel)))
    if isinstance(measure, ReciprocalRank) and measure.k is None:
        yield KnownBound(loss, measure, f"1 − {measure} ≤ L / log 2", "Theorem 5.3, exercise 5.2", "binary", L)
