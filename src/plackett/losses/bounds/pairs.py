"""Measures by pair losses: Theorem 5.2, Joachims' bound, and the share of wrong pairs."""

from __future__ import annotations

from collections.abc import Iterator
from math import log
from typing import Any

import numpy as np

from plackett.losses.associates import ASSOCIATES
from plackett.losses.bounds.joachims_map import joachims_map_bound
from plackett.losses.bounds.known_bound import (
    KnownBound,
    has_falling_discount,
    largest_weight,
    over,
    per_query,
    relevant_documents,
)
from plackett.measures.ap import AveragePrecision
from plackett.measures.auc import AreaUnderCurve
from plackett.measures.base import Measure
from plackett.measures.misranking import BipartiteMisranking
from plackett.measures.ndcg import NDCG
from plackett.measures.rc import RankCorrelation
from plackett.measures.rr import ReciprocalRank


def pair_bounds(loss: Any, measure: Measure) -> Iterator[KnownBound]:
    """Pair losses by Theorem 5.2, Joachims' bound, and the share of wrong pairs."""
    plain = loss.replace(normalize=False)
    unit = pair_unit(plain)
    if unit == 0:
        return
    L = per_query(plain, 1.0 / unit)
    name = "L" if abs(unit - 1) < 1e-9 else "L / log 2" if abs(unit - log(2)) < 1e-9 else f"L / {unit:.4g}"
    theorem = "Theorems 5.1 and 5.2"
    if isinstance(measure, NDCG) and has_falling_discount(measure):
        text = f"1 − {measure} ≤ G(max) η(1) / Z · {name}"
        yield KnownBound(loss, measure, text, theorem, "graded", over(L, largest_weight(measure)))
    if isinstance(measure, AveragePrecision) and measure.k is None:
        relevant = relevant_documents(measure.rel)
        text = f"1 − {measure} ≤ {name} / number of relevant"
        yield KnownBound(loss, measure, text, theorem, "graded", over(L, relevant))
        text = f"1 − {measure} ≤ 1 − (Σ √j)² / (m₁ ({name} + m₁ (m₁ + 1) / 2))"
        joachims = lambda s, data: joachims_map_bound(L(s, data), relevant(data).astype(np.int64))  # noqa: E731
        yield KnownBound(loss, measure, text, "Joachims 2002 (5.3)", "graded", joachims)
    if isinstance(measure, ReciprocalRank) and measure.k is None:
        yield KnownBound(loss, measure, f"1 − {measure} ≤ {name}", "exercise 5.2", "binary", L)
    if isinstance(measure, (AreaUnderCurve, BipartiteMisranking)):
        error = f"1 − {measure}" if measure.ascending else str(measure)
        pairs = ASSOCIATES["pair"].labelled
        yield KnownBound(loss, measure, f"{error} ≤ {name} / pairs", "φ bounds 0–1", "binary", over(L, pairs))
    if isinstance(measure, RankCorrelation) and measure.weight == "uniform":
        all_pairs = ASSOCIATES["pair"].complete
        yield KnownBound(
            loss, measure, f"1 − {measure} ≤ {name} / all pairs", "exercise 5.2", "graded", over(L, all_pairs)
        )


def pair_unit(loss: Any) -> float:
    """φ(0) if the loss is non-negative and at least φ(0) for misordered pairs; 0 if it is not a bound."""
    z = np.concatenate([np.linspace(-8.0, 0.0, 801), np.linspace(0.01, 8.0, 800)]) - loss.margin
    value, slope, curvature = np.empty((3, z.size))
    loss.phi(z, value, slope, curvature, *loss.shape)
    at_zero = value[800]
    fits = at_zero > 0 and (value[:801] >= at_zero * (1 - 1e-12)).all() and (value >= -1e-12).all()
    return float(at_zero) if fits else 0.0
