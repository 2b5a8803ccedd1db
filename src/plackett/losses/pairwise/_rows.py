"""The sweep over all pairs, one row at a time, which pair losses without a faster form share.

For each document u of a query, the family of losses determines which of the documents after it, by descending label,
form pairs with it. Each loss is a formula φ on the row of their differences: a kernel over arrays, which vectorises.
Only one row of pairs is kept at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from plackett._kernels.kernel import REASSOC, kernel, kernel_from, template
from plackett._kernels.scratch import lanes, most


class Pairs(NamedTuple):
    """The judged documents of each query by descending label, and what they weigh."""

    order: np.ndarray  #: rows of each query, its judged documents first
    below: np.ndarray  #: for each position the first one with a lower label
    judged: np.ndarray  #: judged documents of each query
    labels: np.ndarray
    weight: np.ndarray  #: of each row
    scale: np.ndarray  #: of each query


class Row(NamedTuple):
    """Scratch of a sweep: numbers of the documents of a query, and of one row of pairs."""

    score: np.ndarray
    weight: np.ndarray
    label: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray
    gap: np.ndarray  #: of the row from here on
    target: np.ndarray
    value: np.ndarray
    slope: np.ndarray
    bend: np.ndarray


@kernel
def row_for(lo, hi, judged):  # type: ignore[no-untyped-def]
    """Scratch for the longest of some queries."""
    lane = lanes(10, most(lo, hi, judged))
    return Row(lane[0], lane[1], lane[2], lane[3], lane[4], lane[5], lane[6], lane[7], lane[8], lane[9])


@kernel
def gather(q, offsets, scores, pairs, row):  # type: ignore[no-untyped-def]
    """Scores, weights and labels of a query's judged documents by descending label; returns their number."""
    n = pairs.judged[q]
    for i in range(n):
        document = pairs.order[offsets[q] + i]
        row.score[i] = scores[document]
        row.weight[i] = pairs.weight[document]
        row.label[i] = pairs.labels[document]
        row.gradient[i] = 0.0
        row.curvature[i] = 0.0
    return n


@kernel(inline=True)
def gaps(row, u, start, stop, margin):  # type: ignore[no-untyped-def]
    """The row of document u with the documents ``start`` to ``stop``: differences less the margin, and room for φ."""
    n = stop - start
    z = row.gap[:n]
    top = row.score[u] - margin
    for v in range(start, stop):
        z[v - start] = top - row.score[v]
    return z, row.value[:n], row.slope[:n], row.bend[:n]


@kernel(fastmath=REASSOC)
def _add(w, g, h, value, slope, bend, factor):  # type: ignore[no-untyped-def]
    total = 0.0
    total_slope = 0.0
    total_bend = 0.0
    for v in range(w.size):
        d = w[v] * slope[v]
        c = w[v] * bend[v]
        total += w[v] * value[v]
        total_slope += d
        total_bend += c
        g[v] -= factor * d
        h[v] += factor * c
    return total, total_slope, total_bend


@kernel(inline=True)
def add(row, u, start, stop):  # type: ignore[no-untyped-def]
    """Add a row to gradient and curvature; returns its weighted value."""
    r = slice(start, stop)
    m = stop - start
    factor = row.weight[u]
    total, slope, bend = _add(
        row.weight[r], row.gradient[r], row.curvature[r], row.value[:m], row.slope[:m], row.bend[:m], factor
    )
    row.gradient[u] += factor * slope
    row.curvature[u] += factor * bend
    return factor * total


@template
def _terms(row, u, below, n, shape):  # type: ignore[no-untyped-def]
    """Stands for the pairs of one document: adds them to the row's gradient and curvature, returns their value."""
    raise NotImplementedError


def _sweep(lo, hi, offsets, scores, documents, shape, want_value, value, gradient, curvature):  # type: ignore[no-untyped-def]
    """Loss of each query, gradient and curvature of each score."""
    pairs = Pairs(documents[0], documents[1], documents[2], documents[3], documents[4], documents[5])
    row = row_for(lo, hi, pairs.judged)
    for q in range(lo, hi):
        a = offsets[q]
        n = gather(q, offsets, scores, pairs, row)
        total = 0.0
        for u in range(n):
            total += _terms(row, u, pairs.below[a + u], n, shape)
        value[q] = pairs.scale[q] * total
        for i in range(n):
            document = pairs.order[a + i]
            gradient[document] = pairs.scale[q] * row.gradient[i]
            curvature[document] = pairs.scale[q] * row.curvature[i]


def sweep_of(terms: Callable[..., Any], **formulas: Any) -> Any:
    """The sweep of a loss: ``terms`` defines the pairs of a family of losses, ``formulas`` are the functions used."""
    return kernel_from(_sweep, _terms=kernel_from(terms, inline=True, **formulas))
