"""Random numbers per document that depend on the seed, the labels of the query and the position of the row in it."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett._kernels.sort import argsort_descending, sorting_memory
from plackett.data.dataset import RankingDataset


@kernel
def label_key(labels, seed):
    """Start of the draws of a query: a hash of the seed and of its labels."""
    state = mix(seed ^ np.uint64(labels.size))
    for i in range(labels.size):
        state = mix(state ^ np.float64(labels[i]).view(np.uint64))
    return state


@kernel
def unit(bits):
    """Number inside (0, 1) from 64 random bits."""
    return (np.float64(bits >> np.uint64(11)) + 0.5) * 2.0**-53


@kernel
def _uniform(lo, hi, offsets, labels, seed, out):
    for q in range(lo, hi):
        a = offsets[q]
        b = offsets[q + 1]
        state = label_key(labels[a:b], seed)
        for t in range(out.shape[0]):
            for i in range(a, b):
                state = mix(state)
                out[t, i] = unit(state)


def uniform(data: RankingDataset, seed: int, times: int, n_jobs: int | None) -> np.ndarray:
    """Numbers in (0, 1), ``times`` for each document."""
    out = np.empty((times, data.n_rows))
    over_queries(_uniform, data.offsets, data.labels, np.uint64(seed), out, n_jobs=n_jobs)
    return out


@kernel
def _orders(lo, hi, offsets, labels, exponent, seed, longer_than, out):
    n_max = longest(lo, hi, offsets)
    keys, rows, spare_keys, spare_rows = sorting_memory(n_max)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        if n <= longer_than:
            continue
        state = label_key(labels[a : a + n], seed)
        for t in range(out.shape[0]):
            for i in range(n):
                state = mix(state)
                keys[i] = exponent[a + i] - np.log(-np.log(unit(state)))  # Gumbel noise makes it Plackett–Luce
            argsort_descending(keys, rows, spare_keys, spare_rows, n)
            for i in range(n):
                out[t, a + i] = rows[i]


def sampled_orders(
    data: RankingDataset, exponent: np.ndarray, seed: int, times: int, longer_than: int, n_jobs: int | None
) -> np.ndarray:
    """Orders drawn from the Plackett–Luce model of e^exponent, for queries of more documents than ``longer_than``.

    Entry ``[t, a + r]`` is the position in its query of the document at rank r; a document of exponent −∞ comes last.
    """
    short = data.group.max(initial=0) <= np.iinfo(np.int16).max  # there may be many of them
    out = np.zeros((times, data.n_rows), np.int16 if short else np.int32)
    over_queries(_orders, data.offsets, data.labels, exponent, np.uint64(seed), longer_than, out, n_jobs=n_jobs)
    return out


#: Gaps between scores are resolved to this many parts of 1, up to this size.
_PARTS, _FARTHEST_GAP = 1024.0, 1e12


@kernel
def score_key(labels, scores, rows, seed):
    """Start of the draws of a query: a hash of the seed, and of labels and gaps to the best score, best first.

    ``rows`` are those of the query in the order of their scores. Draws change with the scores, unless all scores shift
    by the same amount.
    """
    state = label_key(labels, seed)
    for i in range(rows.size):
        gap = min((scores[rows[0]] - scores[rows[i]]) * _PARTS, _FARTHEST_GAP)
        state = mix(state ^ np.uint64(np.int64(gap + 0.5)))
    return state
