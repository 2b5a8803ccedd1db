"""An order of rows and queries that depends only on their content."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett.data.added import added_rows
from plackett.data.dataset import RankingDataset
from plackett.data.fields import NUMBERS, taken
from plackett.data.mapped import query_blocks, row_array, rows_of_queries, take_rows
from plackett.data.parts import values_at
from plackett.data.preferences import Preferences

_SCRAMBLE = np.uint64(0x9E3779B97F4A7C15)
#: How far equal rows look along preferences for something that tells them apart.
_STEPS = 3


def canonical_order(data: RankingDataset) -> RankingDataset:
    """The dataset with queries, and rows inside each query, sorted by a hash of their content.

    Trained on the result, a ranker is the same to the last bit however the input was ordered or its ids were spelt:
    sums are taken in the same order and random draws fall on the same queries. Rows and queries with equal content
    are interchangeable. Weights, relations, preferences and subtopics decide only between rows and queries that are
    equal otherwise, so that the order with them is one of those without them, and a ranker that does not look at
    relations is the same with and without them. Preferences are sorted by their rows.
    """
    extra = _labels_and_positions(data)
    if not isinstance(data.X, np.ndarray) and not data.X.has_sorted_indices:
        data = data.replace(X=data.X.sorted_indices())  # a copy: the caller's matrix stays as it is
    keys = row_keys(data.X, data.offsets, extra)
    row_ties, query_ties = [keys], [_query_keys(keys, data)]
    if data.relations or data.preferences is not None or data.subtopics is not None:
        related = _with_preferences(_with_relations(_with_subtopics(keys, data), data), data)
        row_ties, query_ties = [related, keys], [_query_keys(related, data), *query_ties]
    if data.query_features is not None:
        query_ties = [*data.query_features.T, *query_ties]
    if data.sample_weight is not None:
        extra.view(np.uint64)[:, 1] ^= data.sample_weight.view(np.uint64)
        row_ties.insert(0, data.sample_weight)
        query_ties.insert(0, _query_keys(row_keys(data.X, data.offsets, extra), data))
    if data.query_weight is not None:
        query_ties.insert(0, data.query_weight)
    if data.subtopic_weight is not None:
        query_ties = [*data.subtopic_weight.T, *query_ties]
    queries = np.lexsort(query_ties)
    return _taken(data, _sorted_rows(data, queries, row_ties), queries)


def query_keys(data: RankingDataset) -> np.ndarray:
    """The hash of the content of each query by which `canonical_order` sorts them."""
    return _query_keys(row_keys(data.X, data.offsets, _labels_and_positions(data)), data)


def _labels_and_positions(data: RankingDataset) -> np.ndarray:
    extra = row_array(data.X, (data.n_rows, 2))
    if data.y is not None:
        extra[:, 0] = data.y
    if data.positions is not None:
        extra.view(np.uint64)[:, 1] ^= data.positions.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return extra


def _sorted_rows(data: RankingDataset, queries: np.ndarray, row_ties: list[np.ndarray]) -> np.ndarray:
    """Rows in the order of the queries, and inside each by the keys; sorted block by block."""
    offsets = np.concatenate(([0], np.cumsum(data.group[queries])))
    rows = rows_of_queries(data.X, data.offsets, queries, offsets)
    for lo, hi in query_blocks(offsets):
        own = rows[offsets[lo] : offsets[hi]]
        query = np.repeat(np.arange(hi - lo), np.diff(offsets[lo : hi + 1]))
        own[...] = own[np.lexsort((*(key[own] for key in row_ties), query))]
    return rows


def _with_relations(keys: np.ndarray, data: RankingDataset) -> np.ndarray:
    """The hashes with those of the related rows mixed in: equal rows in different places of a graph are not equal."""
    for _, relation in sorted((data.relations or {}).items()):
        keys = _with_others(keys, relation.row, relation.other, relation.weights.view(np.uint64))
    return keys


def _with_preferences(keys: np.ndarray, data: RankingDataset) -> np.ndarray:
    """The hashes with those of the rows before and after each mixed in, and of the rows next to these."""
    pairs = data.preferences
    if pairs is None:
        return keys
    bits = np.zeros(len(pairs), np.uint64)
    for values in (pairs.margin, pairs.weight):
        if values is not None:
            bits = (bits ^ values.view(np.uint64)) * _SCRAMBLE
    for _ in range(_STEPS):
        keys = _with_others(keys, pairs.winner, pairs.loser, bits)
    return keys


def _with_others(keys: np.ndarray, row: np.ndarray, other: np.ndarray, bits: np.ndarray) -> np.ndarray:
    near = np.zeros(keys.size, np.uint64)  # whole numbers: sums commute
    np.add.at(near, row, (keys[other] ^ bits) * _SCRAMBLE)
    np.add.at(near, other, (keys[row] ^ ~bits) * _SCRAMBLE)
    return keys ^ (near * _SCRAMBLE)


def _with_subtopics(keys: np.ndarray, data: RankingDataset) -> np.ndarray:
    if data.subtopics is None:
        return keys
    for column in np.where(np.isnan(data.subtopics), np.float32(np.nan), data.subtopics + np.float32(0.0)).T:
        bits = np.ascontiguousarray(column).view(np.uint32).astype(np.uint64)
        keys = ((keys ^ bits) * _SCRAMBLE) ^ (keys >> np.uint64(29))
    return keys


def _query_keys(keys: np.ndarray, data: RankingDataset) -> np.ndarray:
    """A number for each query; sums commute, so it does not depend on the order of the rows."""
    sums = np.empty(data.n_queries)
    for lo, hi in query_blocks(data.offsets):
        numbers = (keys[data.offsets[lo] : data.offsets[hi]] >> np.uint64(11)).astype(np.float64)
        sums[lo:hi] = np.bincount(np.repeat(np.arange(hi - lo), data.group[lo:hi]), numbers, hi - lo)
    return sums


def row_keys(X: Any, offsets: np.ndarray, extra: np.ndarray) -> np.ndarray:
    """A hash of each row's features and of two further numbers; the same for dense and for sparse rows."""
    keys = row_array(X, (X.shape[0],), np.uint64)
    if isinstance(X, np.ndarray):
        bits = X.view(np.uint32) if X.flags.c_contiguous else np.ascontiguousarray(X).view(np.uint32)
        over_queries(_hash_dense, offsets, bits, extra.view(np.uint64), keys)
    else:
        if not X.has_sorted_indices:
            X = X.sorted_indices()
        values, pointers = X.data.view(np.uint32), X.indptr.astype(np.int64)
        over_queries(_hash_sparse, offsets, pointers, X.indices.astype(np.int64), values, extra.view(np.uint64), keys)
    return keys


def _sorted_pairs(pairs: Preferences) -> Preferences:
    ties = [values for values in (pairs.weight, pairs.margin) if values is not None]
    return pairs.take(np.lexsort((*ties, pairs.loser, pairs.winner)))


def _taken(data: RankingDataset, rows: np.ndarray, queries: np.ndarray) -> RankingDataset:
    offsets = np.concatenate(([0], np.cumsum(data.group[queries])))
    preferences = data.preferences
    if preferences is not None:
        moved = np.empty(data.n_rows, np.int64)
        moved[rows] = np.arange(data.n_rows)
        preferences = _sorted_pairs(
            replace(preferences, winner=moved[preferences.winner], loser=moved[preferences.loser])
        )
    relations = data.relations and {name: relation.moved(rows) for name, relation in data.relations.items()}
    numbers = taken(data, lambda values: values_at(values, rows, data.X), lambda values: values[queries], NUMBERS)
    return RankingDataset(
        **{"y": None} | numbers,
        X=take_rows(data.X, rows),
        offsets=offsets,
        qids=data.qids[queries],
        preferences=preferences,
        relations=relations and MappingProxyType(relations),
        feature_names=data.feature_names,
        comments=data.comments.take(rows) if data.comments is not None and added_rows(data).size else None,
        categories=data.categories,
    )


@kernel
def _mixed(h, feature, bits):
    """The hash with one feature added; zeros of either sign add nothing, so that sparse and dense rows agree."""
    if bits & np.uint32(0x7FFFFFFF) == 0:
        return h
    h = (h ^ (np.uint64(feature) << np.uint64(32)) ^ np.uint64(bits)) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(29))


@kernel
def _hash_dense(lo, hi, offsets, bits, extra, keys):
    for i in range(offsets[lo], offsets[hi]):
        h = np.uint64(0x9E3779B97F4A7C15)
        for j in range(bits.shape[1]):
            h = _mixed(h, j, bits[i, j])
        h = mix(h ^ extra[i, 0])
        keys[i] = mix(h ^ extra[i, 1])


@kernel
def _hash_sparse(lo, hi, offsets, pointers, indices, values, extra, keys):
    for i in range(offsets[lo], offsets[hi]):
        h = np.uint64(0x9E3779B97F4A7C15)
        for p in range(pointers[i], pointers[i + 1]):
            h = _mixed(h, indices[p], values[p])
        h = mix(h ^ extra[i, 0])
        keys[i] = mix(h ^ extra[i, 1])
