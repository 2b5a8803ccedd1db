"""Normalisation of the scores of different lists, per query and list; the names are those of ranx."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.aggregation.lists import RankLists

#: A spread below this counts as zero.
_LEAST = 1e-9


def normalize(lists: RankLists, name: str | None, n_jobs: int | None = None) -> np.ndarray:
    """Values of the lists on one scale, rows × lists; NaN if a list lacks a document (``borda`` has no NaN).

    ``min-max``: (x − min)/(max − min). ``max``: x/max. ``sum``: (x − min)/Σ(x − min). ``zmuv``: (x − mean)/standard
    deviation. ``rank``: 1 − (r − 1)/N with N documents in the list. ``borda``: 1 − (r − 1)/n with n documents of the
    query, and documents that the list lacks share the rest. None: unchanged.

    >>> lists = RankLists.from_arrays([[4.0], [2.0], [0.0]], kind="scores")
    >>> normalize(lists, "min-max").ravel().tolist()
    [1.0, 0.5, 0.0]
    """
    if name is None:
        return lists.values
    plain = name.lower().replace("_", "").replace("-", "")
    if plain not in _BY_NAME:
        raise DataError(f"normalize={name!r}; the normalisations are {', '.join(NORMALISATIONS)}, or None")
    return lists.once(("normalised", plain), lambda: _BY_NAME[plain](lists, n_jobs))


def _linear(shift_and_spread: Callable[..., tuple[np.ndarray, np.ndarray]]) -> Callable[..., np.ndarray]:
    """A normalisation (x − shift)/spread, with both computed from count, sum, min, max and standard deviation."""

    def apply(lists: RankLists, n_jobs: int | None) -> np.ndarray:
        stats = np.empty((5, lists.n_queries, lists.n_lists))
        over_queries(_statistics, lists.offsets, lists.values, stats, n_jobs=n_jobs)
        shift, spread = shift_and_spread(*stats)
        out = np.empty_like(lists.values)
        over_queries(_scaled, lists.offsets, lists.values, shift, 1.0 / np.maximum(spread, _LEAST), out, n_jobs=n_jobs)
        return out

    return apply


def _by_rank(lists: RankLists, n_jobs: int | None) -> np.ndarray:
    sizes = np.add.reduceat(lists.listed, lists.offsets[:-1], axis=0, dtype=np.int64)
    return 1.0 - (lists.ranks - 1.0) / np.maximum(lists.per_row(sizes), 1)


def _by_borda(lists: RankLists, n_jobs: int | None) -> np.ndarray:
    return 1.0 - (lists.places("below").ranks - 1.0) / lists.per_row(lists.group)[:, None]


#: The normalisations by name.
NORMALISATIONS: dict[str, Callable[..., np.ndarray]] = {
    "min-max": _linear(lambda count, total, least, largest, deviation: (least, largest - least)),
    "max": _linear(lambda count, total, least, largest, deviation: (np.zeros_like(least), largest)),
    "sum": _linear(lambda count, total, least, largest, deviation: (least, total - count * least)),
    "zmuv": _linear(lambda count, total, least, largest, deviation: (total / np.maximum(count, 1), deviation)),
    "rank": _by_rank,
    "borda": _by_borda,
}

_BY_NAME = {name.replace("-", ""): function for name, function in NORMALISATIONS.items()}
_BY_NAME |= {"zscore": _BY_NAME["zmuv"]}


@kernel
def _statistics(lo, hi, offsets, values, stats):
    n_lists = values.shape[1]
    for q in range(lo, hi):
        for m in range(n_lists):
            stats[0, q, m] = 0.0
            stats[1, q, m] = 0.0
            stats[2, q, m] = np.inf
            stats[3, q, m] = -np.inf
            stats[4, q, m] = 0.0
        for row in range(offsets[q], offsets[q + 1]):
            for m in range(n_lists):
                x = values[row, m]
                if not np.isnan(x):
                    stats[0, q, m] += 1.0
                    stats[1, q, m] += x
                    stats[2, q, m] = min(stats[2, q, m], x)
                    stats[3, q, m] = max(stats[3, q, m], x)
        for row in range(offsets[q], offsets[q + 1]):
            for m in range(n_lists):
                x = values[row, m]
                if not np.isnan(x):
                    stats[4, q, m] += (x - stats[1, q, m] / stats[0, q, m]) ** 2
        for m in range(n_lists):
            if stats[0, q, m] > 0.0:
                stats[4, q, m] = np.sqrt(stats[4, q, m] / stats[0, q, m])
            else:  # nothing to scale
                stats[2, q, m] = 0.0
                stats[3, q, m] = 0.0


@kernel
def _scaled(lo, hi, offsets, values, shift, scale, out):
    for q in range(lo, hi):
        for row in range(offsets[q], offsets[q + 1]):
            for m in range(values.shape[1]):
                out[row, m] = (values[row, m] - shift[q, m]) * scale[q, m]
