"""Gains of labels and discounts of positions, by name."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.sort import sort_descending
from plackett.data.dataset import RankingDataset
from plackett.measures.ranking import Ranking

#: Gain of a label, elementwise; labels below 0 (unjudged) have gain 0 whatever the function says.
GAINS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp2": lambda labels: np.exp2(labels) - 1.0,
    "linear": lambda labels: labels,
    "binary": lambda labels: (labels >= 1).astype(float),
}

#: Weight of a position (1 is the top), elementwise.
DISCOUNTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "log2": lambda rank: 1.0 / np.log2(1.0 + rank),
    "letor": lambda rank: 1.0 / np.maximum(np.log2(np.maximum(rank, 2.0)), 1.0),
    "reciprocal": lambda rank: 1.0 / rank,
    "none": lambda rank: np.ones_like(rank),
}

#: Largest label of which millions of gains 2^label − 1 have a finite sum.
_LARGEST_EXPONENT = 1000.0

Pairs = tuple[tuple[float, float], ...]


def check_gain(gain: Any, measure: str, name: str = "gain") -> str | Pairs:
    """A gain parameter in its stored form: a name of `GAINS` or pairs (label, gain)."""
    if isinstance(gain, str):
        if gain not in GAINS:
            raise MeasureError(f"{measure}: {name}={gain!r}; the gains are {', '.join(GAINS)} or a dict label: gain")
        return gain
    if isinstance(gain, Mapping | Sequence):
        stored = isinstance(gain, tuple) and gain and all(isinstance(pair, tuple) for pair in gain)
        entries = gain.items() if isinstance(gain, Mapping) else gain if stored else enumerate(gain)
        with contextlib.suppress(TypeError, ValueError):
            pairs = tuple(sorted((float(label), float(value)) for label, value in entries))
            if pairs and np.isfinite(pairs).all():
                return pairs
    raise MeasureError(
        f"{measure}: {name}={gain!r}; give one of {', '.join(GAINS)}, a dict label: gain or a list of gains, all finite"
    )


def gains_of(labels: np.ndarray, gain: str | Pairs) -> np.ndarray:
    """Gain of each label. Labels without an entry in a table have gain 0, as have labels below 0.

    >>> gains_of(np.array([-1.0, 0.0, 2.0]), "exp2").tolist()
    [0.0, 0.0, 3.0]
    """
    if isinstance(gain, str):
        if not has_gains(labels, gain):
            raise MeasureError(
                f"labels up to {labels.max():g} are too large for the gain 2^label − 1; use a linear gain, for example "
                "\"nDCG(gain='linear')@10\" as measure and eval_measure, or smaller labels"
            )
        return np.where(labels > 0, GAINS[gain](labels), 0.0)
    known, values = np.array(gain).T
    at = np.minimum(np.searchsorted(known, labels), known.size - 1)
    return np.where((known[at] == labels) & (labels >= 0), values[at], 0.0)


def has_gains(labels: np.ndarray, gain: str | Pairs) -> bool:
    """Whether sums of the gains of such labels are finite."""
    return gain != "exp2" or bool(labels.max(initial=0.0) <= _LARGEST_EXPONENT)


def ideal_gains(data: RankingDataset, gain: str | Pairs) -> np.ndarray:
    """Gains of each query from large to small; a table of gains need not grow with the label."""
    gains = gains_of(data.sorted_labels, gain)
    if not isinstance(gain, str):
        over_queries(sort_descending, data.offsets, gains.copy(), gains)
    return gains


def check_discount(discount: Any, measure: str) -> str | tuple[float, ...]:
    """A discount parameter in its stored form: a name of `DISCOUNTS` or the weights of the first positions."""
    if isinstance(discount, str):
        if discount not in DISCOUNTS:
            known = ", ".join(DISCOUNTS)
            raise MeasureError(f"{measure}: discount={discount!r}; the discounts are {known} or a list of weights")
        return discount
    try:
        return tuple(float(weight) for weight in discount)
    except (TypeError, ValueError):
        raise MeasureError(f"{measure}: discount={discount!r}; give a name or a list of weights") from None


def discount_table(discount: str | tuple[float, ...], length: int) -> np.ndarray:
    """Weights of positions 1..length; a given list of weights is followed by zeros."""
    if isinstance(discount, str):
        return DISCOUNTS[discount](np.arange(1.0, length + 1.0))
    table = np.zeros(length)
    table[: len(discount)] = discount[:length]
    return table


def position_gains(ranking: Ranking, gain: str | Pairs) -> tuple[np.ndarray, np.ndarray]:
    """Gain at each position, as values and table for `gain_at`.

    Labels are whole numbers nearly always: then the values are the labels and the table has the gain of each, which
    spares a pass over all documents. Otherwise the values are the gains and the table is empty.
    """
    grade = ranking.data.max_grade
    if grade is not None:
        return ranking.labels, ranking.data.memo.setdefault(("table", gain), gains_of(np.arange(grade + 1.0), gain))
    return ranking.once(("gains", gain), lambda: gains_of(ranking.labels, gain)), np.empty(0)


def ideal_dcg(data: RankingDataset, gain: str | Pairs, discount: str | tuple[float, ...], k: int | None) -> np.ndarray:
    """The largest DCG that any order of the documents of each query has."""
    key = ("ideal", gain, discount, k)
    if key not in data.memo:
        longest = int(data.group.max(initial=1))
        out = np.empty(data.n_queries)
        weights = discount_table(discount, longest)
        if data.max_grade is not None and isinstance(gain, str):
            table = gains_of(np.arange(data.max_grade + 1.0), gain)
            over_queries(_ideal_of_grades, data.offsets, data.labels, table, weights, k or longest, out)
        else:
            over_queries(_ideal_of_gains, data.offsets, ideal_gains(data, gain), weights, k or longest, out)
        data.memo[key] = out
    return data.memo[key]


@kernel
def gain_at(value, table):
    """Gain of one value of `position_gains`."""
    if table.size == 0:
        return value
    return table[np.int64(value)] if value >= 0.0 else 0.0


@kernel
def _ideal_of_grades(lo, hi, offsets, labels, table, discount, k, out):
    counts = np.empty(table.size, np.int64)
    for q in range(lo, hi):
        counts[:] = 0
        for i in range(offsets[q], offsets[q + 1]):
            counts[np.int64(max(labels[i], 0.0))] += 1
        total = 0.0
        rank = 0
        for grade in range(table.size - 1, 0, -1):
            for r in range(rank, min(rank + counts[grade], k)):
                total += table[grade] * discount[r]
            rank += counts[grade]
        out[q] = total


@kernel
def _ideal_of_gains(lo, hi, offsets, gains, discount, k, out):
    for q in range(lo, hi):
        a = offsets[q]
        total = 0.0
        for r in range(min(k, offsets[q + 1] - a)):
            total += gains[a + r] * discount[r]
        out[q] = total
