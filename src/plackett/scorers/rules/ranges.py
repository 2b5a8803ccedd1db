"""Features cut into ranges: where the cuts are, and which range a value lies in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.arguments import choice, whole
from plackett._kernels.kernel import kernel
from plackett.data.threshold_bins import MISSING, columns

#: A share this small of all weight is rounding.
_ROUNDING = 1e-9


def find_cuts(
    X: Any, classes: np.ndarray, weight: np.ndarray, n_classes: int, n_bins: int, discretization: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cuts of all features (those of feature j from ``first[j]`` to ``first[j + 1]``), and which features have NaN.

    Range r of a feature holds the values above exactly r of its cuts. Cuts lie halfway between values of the data.
    """
    choice("discretization", discretization, DISCRETIZATIONS)
    whole("n_bins", n_bins, least=2, most=MISSING)
    find_starts = DISCRETIZATIONS[discretization]
    table = X if isinstance(X, np.ndarray) else X.tocsc()
    cuts, missing = [], np.zeros(X.shape[1], np.bool_)
    for j in range(X.shape[1]):
        x = columns(table, j)
        known = ~np.isnan(x)
        missing[j] = not known.all()
        order = np.flatnonzero(known)[np.argsort(x[known], kind="stable")]
        x = np.ascontiguousarray(x[order], np.float32)
        cut = find_starts(x, classes[order], weight[order], n_classes, n_bins)
        below, above = x[cut - 1], x[cut]
        middle = (0.5 * (below.astype(np.float64) + above)).astype(np.float32)
        cuts.append(np.where(middle < above, middle, below))  # neighbouring floats have nothing between them
    first = np.concatenate(([0], np.cumsum([part.size for part in cuts])))
    return np.concatenate([np.empty(0, np.float32), *cuts]), first, missing


def _quantile_starts(x: np.ndarray, classes: np.ndarray, weight: np.ndarray, n_classes: int, n_bins: int) -> np.ndarray:
    """Indices into the sorted values where ranges of about equal weight begin; equal values stay together."""
    changes = np.flatnonzero(x[1:] != x[:-1]) + 1
    if not changes.size:
        return changes
    total = np.cumsum(weight)
    targets = total[-1] * (np.arange(1, n_bins) / n_bins - _ROUNDING)
    return changes[np.unique(np.searchsorted(total[changes - 1], targets).clip(max=changes.size - 1))]


def _entropy_starts(x: np.ndarray, classes: np.ndarray, weight: np.ndarray, n_classes: int, n_bins: int) -> np.ndarray:
    """Indices where ranges that separate grades begin: the most informative cuts worth their description length."""
    out = np.empty(n_bins - 1, np.int64)
    return np.sort(out[: _split(x, classes, weight, n_classes, out)])


#: How features are cut.
DISCRETIZATIONS: dict[str, Callable[..., np.ndarray]] = {"entropy": _entropy_starts, "quantile": _quantile_starts}


@kernel
def _bits(counts):
    """Weight times entropy in bits, and the number of classes that occur."""
    total, inner, present = 0.0, 0.0, 0
    for c in counts:
        if c > 0.0:
            total += c
            inner += c * np.log2(c)
            present += 1
    return (total * np.log2(total) - inner if total > 0.0 else 0.0), present


@kernel
def _best_split(x, classes, weight, lo, hi, left, right):
    """Index of the most informative cut of a segment, and its gain in bits, or 0 if the cut is not worth its cost."""
    for y in range(left.size):
        left[y], right[y] = 0.0, 0.0
    total = 0.0
    for i in range(lo, hi):
        right[classes[i]] += weight[i]
        total += weight[i]
    whole, present = _bits(right)
    best, cut, paid, weight_below = 0.0, -1, 0.0, 0.0
    for i in range(lo + 1, hi):
        left[classes[i - 1]] += weight[i - 1]
        weight_below += weight[i - 1]
        right[classes[i - 1]] = max(right[classes[i - 1]] - weight[i - 1], 0.0)
        if x[i] == x[i - 1]:
            continue
        below, kinds_below = _bits(left)
        above, kinds_above = _bits(right)
        gain = whole - below - above
        if gain > best + _ROUNDING * total:
            best, cut = gain, i
            entropies = present * whole / total - kinds_below * below / max(weight_below, 1e-300)
            entropies -= kinds_above * above / max(total - weight_below, 1e-300)
            price = np.log2(max(total - 1.0, 1e-300)) + np.log2(3.0**present - 2.0) - entropies
            paid = gain - price
    return cut, (best if paid > 0.0 else 0.0)


@kernel
def _split(x, classes, weight, n_classes, out):
    """Repeatedly cut the segment with the most informative cut; indices go to ``out``, their number is returned."""
    left, right = np.zeros(n_classes), np.zeros(n_classes)
    edges = np.empty((out.size + 1, 2), np.int64)
    position, gain = np.empty(out.size + 1, np.int64), np.empty(out.size + 1)
    edges[0, 0], edges[0, 1] = 0, x.size
    position[0], gain[0] = _best_split(x, classes, weight, edges[0, 0], edges[0, 1], left, right)
    for n in range(out.size):
        top = 0
        for s in range(1, n + 1):
            if gain[s] > gain[top]:
                top = s
        if gain[top] <= 0.0:
            return n
        cut = position[top]
        out[n] = cut
        edges[n + 1, 0], edges[n + 1, 1] = cut, edges[top, 1]
        edges[top, 1] = cut
        for side in range(2):
            s = top if side == 0 else n + 1
            position[s], gain[s] = _best_split(x, classes, weight, edges[s, 0], edges[s, 1], left, right)
    return out.size


@kernel(inline=True)
def range_code(value, cuts, lo, hi):
    """How many of ``cuts[lo:hi]`` lie below a value; `MISSING` for NaN."""
    if np.isnan(value):
        return MISSING
    start = lo
    while lo < hi:
        middle = (lo + hi) >> 1
        if cuts[middle] < value:
            lo = middle + 1
        else:
            hi = middle
    return lo - start


@kernel
def range_codes(X, cuts, first, out):
    """Range of each value of a dense table; ``out`` has one row per feature."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            out[j, i] = range_code(X[i, j], cuts, first[j], first[j + 1])


def range_text(name: str, code: int, cuts: np.ndarray) -> str:
    """A range as readable text.

    >>> [range_text("bm25", code, np.array([0.5, 0.75])) for code in (0, 1, 2, 255)]
    ['bm25 ≤ 0.5', '0.5 < bm25 ≤ 0.75', 'bm25 > 0.75', 'bm25 is missing']
    """
    if code == MISSING:
        return f"{name} is missing"
    if code == 0:
        return f"{name} ≤ {cuts[0]:g}"
    if code == len(cuts):
        return f"{name} > {cuts[-1]:g}"
    return f"{cuts[code - 1]:g} < {name} ≤ {cuts[code]:g}"
