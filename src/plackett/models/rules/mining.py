"""Mining: all conjunctions of ranges with enough support, by intersecting sets of documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._errors import DataError
from plackett._kernel import kernel, over_queries
from plackett.models.threshold_bins import MISSING

__all__ = ["Conjunctions", "mine", "preorder_ends"]

#: A share this small of a threshold is rounding.
_ROUNDING = 1e-12
#: Words of sets that are worth a thread.
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
    bits = _sets(codes, feature, code)
    least = min_support * float(weight.sum()) * (1.0 - _ROUNDING)
    later = np.searchsorted(feature, feature, side="right")  # two ranges of one feature never hold together
    # what a first item costs is about the number of items after it
    work = np.concatenate(([0], np.cumsum((feature.size - later + 1) * max(bits.shape[1], 1))))
    documents, limits = (bits, later, classes, weight), (least, max_items, max_rules)
    sizes = np.zeros(feature.size, np.int64)

    def walk(fill: bool, places: np.ndarray, found: tuple[np.ndarray, ...]) -> None:
        args = documents, limits, fill, places, found
        over_queries(_mine, work, *args, n_jobs=n_jobs, rows_per_thread=_WORDS_PER_THREAD)

    walk(False, sizes, _tables(0, n_classes))
    total = int(sizes.sum())
    if total > max_rules:
        raise DataError(
            f"more than max_rules={max_rules} conjunctions of up to {max_items} ranges reach "
            f"min_support={min_support:g}; raise min_support, lower max_items or n_bins, or raise max_rules"
        )
    item, depth, counts, weights = found = _tables(total, n_classes)
    walk(True, np.cumsum(sizes) - sizes, found)
    return Conjunctions(feature[item], code[item], depth, counts, weights)


def _tables(n: int, n_classes: int) -> tuple[np.ndarray, ...]:
    """Room for items, depths, counts and weights of conjunctions."""
    return np.empty(n, np.int64), np.empty(n, np.int64), np.empty((n, n_classes), np.int64), np.empty((n, n_classes))


def _items(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features and codes of the ranges that occur; a feature with a single one says nothing and is left out."""
    features, found = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for j, row in enumerate(codes):
        present = np.flatnonzero(np.bincount(row, minlength=MISSING + 1))
        if present.size > 1:
            features.append(np.full(present.size, j))
            found.append(present)
    return np.concatenate(features), np.concatenate(found)


def _sets(codes: np.ndarray, feature: np.ndarray, code: np.ndarray) -> np.ndarray:
    """The documents of each item as bits of 64-bit words."""
    words = -(-codes.shape[1] // 64)
    out = np.zeros((feature.size, words * 8), np.uint8)
    for row, j, c in zip(out, feature, code, strict=True):
        packed = np.packbits(codes[j] == c, bitorder="little")
        row[: packed.size] = packed
    return out.view("<u8").astype(np.uint64, copy=False)


@kernel
def _count(bits, classes, weight, counts, weights):  # type: ignore[no-untyped-def]
    """Documents of a set by class; the largest weight of a class."""
    for y in range(counts.size):
        counts[y], weights[y] = 0, 0.0
    for w in range(bits.size):
        word = bits[w]
        i = w * 64
        while word:
            low = word & (~word + np.uint64(1))
            # place of the lowest bit, by halves
            p = 0
            if not low & np.uint64(0xFFFFFFFF):
                p += 32
            if not low & np.uint64(0x0000FFFF0000FFFF):
                p += 16
            if not low & np.uint64(0x00FF00FF00FF00FF):
                p += 8
            if not low & np.uint64(0x0F0F0F0F0F0F0F0F):
                p += 4
            if not low & np.uint64(0x3333333333333333):
                p += 2
            if not low & np.uint64(0x5555555555555555):
                p += 1
            counts[classes[i + p]] += 1
            weights[classes[i + p]] += weight[i + p]
            word ^= low
    most = 0.0
    for y in range(counts.size):
        most = max(most, weights[y])
    return most


@kernel
def _mine(lo, hi, work, documents, limits, fill, places, found):  # type: ignore[no-untyped-def]
    """Depth first over the conjunctions that begin with items lo … hi − 1.

    First their numbers go into ``places``; with ``fill``, ``places`` says where in the tables they are written down.
    """
    bits, later, classes, weight = documents
    least, max_items, most = limits
    item, depth, counts, weights = found
    n_items, words = bits.shape
    sets = np.empty((max_items, words), np.uint64)
    path = np.empty(max_items + 1, np.int64)  # the item at each level, or the one to try next
    n_classes = counts.shape[1]
    here, mass = np.empty(n_classes, np.int64), np.empty(n_classes)
    for root in range(lo, hi):
        n, level = 0, 0
        path[0] = root
        while level >= 0 and n <= most:
            b = path[level]
            if b >= (root + 1 if level == 0 else n_items):
                level -= 1
                if level >= 0:
                    path[level] += 1
                continue
            for w in range(words):
                sets[level, w] = bits[b, w] if level == 0 else sets[level - 1, w] & bits[b, w]
            top = _count(sets[level], classes, weight, here, mass)
            if top < least or top <= 0.0:
                path[level] += 1
                continue
            if fill:
                at = places[root] + n
                item[at], depth[at] = b, level + 1
                for y in range(n_classes):
                    counts[at, y], weights[at, y] = here[y], mass[y]
            n += 1
            if level + 1 < max_items:
                level += 1
                path[level] = later[b]
            else:
                path[level] += 1
        if not fill:
            places[root] = n


def preorder_ends(depth: np.ndarray) -> np.ndarray:
    """For each node of a forest in preorder the next one that is not below it.

    >>> preorder_ends(np.array([1, 2, 2, 1])).tolist()
    [3, 2, 3, 4]
    """
    out = np.empty(depth.size, np.int64)
    _ends(depth, out)
    return out


@kernel
def _ends(depth, out):  # type: ignore[no-untyped-def]
    n = depth.size
    for i in range(n - 1, -1, -1):
        j = i + 1
        while j < n and depth[j] > depth[i]:
            j = out[j]
        out[i] = j
