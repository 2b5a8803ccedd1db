"""Mining: all conjunctions of ranges with enough support, by intersecting sets of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.threshold_bins import MISSING
from plackett.scorers.rules.bits import count_bits, lowest_bit

#: A share this small of a threshold is rounding.
_ROUNDING = 1e-12
#: Number of words of sets per thread.
_WORDS_PER_THREAD = 100_000


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """Conjunctions as a forest in preorder: the conditions of a node are its own and those of the nodes above it.

    Attributes
    ----------
    feature, code
        The condition of each node: feature number and range.
    depth
        1 for the roots.
    counts
        Number of documents of each class in which the conditions hold.
    weights
        Their weights, summed.
    """

    feature: np.ndarray
    code: np.ndarray
    depth: np.ndarray
    counts: np.ndarray
    weights: np.ndarray


def mine(
    codes: np.ndarray,
    classes: np.ndarray,
    weight: np.ndarray,
    n_classes: int,
    min_support: float,
    max_items: int,
    max_rules: int,
    n_jobs: int | None = None,
) -> Conjunctions:
    """Every conjunction of at most ``max_items`` ranges of different features that is frequent together with a class.

    Frequent means that the documents in which all ranges and one class occur have ``min_support`` of all weight. No
    longer conjunction can have more, so what is not frequent is not made longer (Apriori, Eclat).

    Parameters
    ----------
    codes
        One row per feature, one column per document, uint8.
    classes, weight
        Of each document.
    """
    feature, code = _items(codes)
    later = np.searchsorted(feature, feature, side="right")  # two ranges of one feature never hold together
    # documents class by class; no word is shared by two classes
    sizes = np.bincount(classes, minlength=n_classes)
    edges = np.concatenate(([0], np.cumsum(-(-sizes // 64))))
    bit = np.empty(classes.size, np.int64)
    bit[np.argsort(classes, kind="stable")] = np.arange(classes.size) + np.repeat(
        edges[:-1] * 64 - (np.cumsum(sizes) - sizes), sizes
    )
    mass = np.zeros(edges[-1] * 64)
    mass[bit] = weight
    equal = float(weight[0]) if weight.size and (weight == weight[0]).all() else -1.0
    documents = _sets(codes, feature, code, bit, int(edges[-1])), later, edges, mass, equal
    limits = min_support * float(weight.sum()) * (1.0 - _ROUNDING), max_items, max_rules
    mined: dict[int, tuple[np.ndarray, ...]] = {0: _mine(0, 0, documents, limits)}

    def part(lo: int, hi: int, work: np.ndarray) -> None:
        mined[lo] = _mine(lo, hi, documents, limits)

    # the cost of a first item is roughly the number of items after it
    work = np.concatenate(([0], np.cumsum((feature.size - later + 1) * max(int(edges[-1]), 1))))
    over_queries(part, work, n_jobs=n_jobs, rows_per_thread=_WORDS_PER_THREAD)
    item, depth, counts, weights = (
        np.concatenate(parts) for parts in zip(*(mined[lo] for lo in sorted(mined)), strict=True)
    )
    if item.size > max_rules:
        raise DataError(
            f"more than max_rules={max_rules} conjunctions of up to {max_items} ranges reach "
            f"min_support={min_support:g}; raise min_support, lower max_items or n_bins, or raise max_rules"
        )
    return Conjunctions(feature[item], code[item], depth, counts, weights)


def _items(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features and codes of the ranges that occur; features with a single range are left out."""
    features, codes_present = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for j, row in enumerate(codes):
        present = np.flatnonzero(np.bincount(row, minlength=MISSING + 1))
        if present.size > 1:
            features.append(np.full(present.size, j))
            codes_present.append(present)
    return np.concatenate(features), np.concatenate(codes_present)


def _sets(codes: np.ndarray, feature: np.ndarray, code: np.ndarray, bit: np.ndarray, n_words: int) -> np.ndarray:
    """The documents of each item as bits of 64-bit words, in the order of ``bit``."""
    out = np.empty((feature.size, n_words * 8), np.uint8)
    inside = np.zeros(n_words * 64, np.bool_)
    for row, j, c in zip(out, feature, code, strict=True):
        inside[bit] = codes[j] == c
        row[:] = np.packbits(inside, bitorder="little")
    return out.view("<u8").astype(np.uint64, copy=False)


@kernel
def _count(bits, edges, mass, equal, counts, weights):
    """Number and weight of the documents of a set by class; the largest weight. ``equal`` is every weight, or -1."""
    most = 0.0
    for y in range(counts.size):
        n, total = 0, 0.0
        for w in range(edges[y], edges[y + 1]):
            n += count_bits(bits[w])
        if equal >= 0.0:
            total = n * equal
        else:
            for w in range(edges[y], edges[y + 1]):
                word = bits[w]
                while word:
                    total += mass[w * 64 + lowest_bit(word)]
                    word &= word - np.uint64(1)
        counts[y], weights[y] = n, total
        most = max(most, total)
    return most


@kernel
def _longer(old, n):
    new = np.empty((n, old.shape[1]), old.dtype)
    for i in range(old.shape[0]):  # a slice would take seconds to compile
        for y in range(old.shape[1]):
            new[i, y] = old[i, y]
    return new


@kernel
def _mine(lo, hi, documents, limits):
    """Depth first over the conjunctions that begin with items lo … hi − 1: items, depths, counts and weights.

    Stops as soon as there are more than allowed.
    """
    bits, later, edges, mass, equal = documents
    least, max_items, most = limits
    n_items, n_words = bits.shape
    k = edges.size - 1
    sets = np.empty((max_items, n_words), np.uint64)
    path = np.empty(max_items, np.int64)  # the item at each level
    nodes, counts, weights = np.empty((64, 2), np.int64), np.empty((64, k), np.int64), np.empty((64, k))
    n = 0
    for root in range(lo, hi):
        level = 0
        path[0] = root
        while level >= 0 and n <= most:
            b = path[level]
            if b >= (root + 1 if level == 0 else n_items):
                level -= 1
                if level >= 0:
                    path[level] += 1
                continue
            for w in range(n_words):
                sets[level, w] = bits[b, w] if level == 0 else sets[level - 1, w] & bits[b, w]
            if n == nodes.shape[0]:
                nodes, counts, weights = _longer(nodes, 2 * n), _longer(counts, 2 * n), _longer(weights, 2 * n)
            top = _count(sets[level], edges, mass, equal, counts[n], weights[n])
            if top < least or top <= 0.0:
                path[level] += 1
                continue
            nodes[n, 0], nodes[n, 1] = b, level + 1
            n += 1
            if level + 1 < max_items:
                level += 1
                path[level] = later[b]
            else:
                path[level] += 1
    return nodes[:n, 0], nodes[:n, 1], counts[:n], weights[:n]


def preorder_ends(depth: np.ndarray) -> np.ndarray:
    """For each node of a forest in preorder the next one that is not below it.

    >>> preorder_ends(np.array([1, 2, 2, 1])).tolist()
    [3, 2, 3, 4]
    """
    out = np.empty(depth.size, np.int64)
    _ends(depth, out)
    return out


@kernel
def _ends(depth, out):
    n = depth.size
    for i in range(n - 1, -1, -1):
        j = i + 1
        while j < n and depth[j] > depth[i]:
            j = out[j]
        out[i] = j
