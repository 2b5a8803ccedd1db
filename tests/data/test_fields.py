"""Every field of a dataset: declared once, kept by whatever copies a dataset, and seen by its fingerprint."""

from __future__ import annotations

import hashlib
from dataclasses import fields

import numpy as np
import pytest

from plackett import Preferences, RankingDataset, concat
from plackett.data.canonical import canonical_order
from plackett.data.fields import FIELDS, NUMBERS
from plackett.data.some_rows import some_rows
from plackett.experiments.cells.key import data_digest
from whole_dataset import assert_same, full

#: The fields that are neither one entry per row nor one per query.
OTHERS = {"X", "offsets", "qids", "preferences", "relations", "feature_names", "categories", "input_rows"}


def test_a_field_is_declared_or_known_to_be_special():
    assert {field.name for field in fields(RankingDataset)} == OTHERS | set(FIELDS)


def per_row(data, name):
    """A field with its values per row, as lists."""
    value = getattr(data, name)
    if FIELDS[name].dtype is str:
        value = value.to_numpy()
    elif FIELDS[name].per == "query":
        value = value[data.query_of_row]
    return np.asarray(value).tolist()


@pytest.mark.parametrize("name", FIELDS)
def test_selections_have_every_field(name):
    data = full()
    for queries in ([2, 0], [1]):  # a copy and a view
        part = data.select(queries)
        rows = np.concatenate([np.arange(data.offsets[q], data.offsets[q + 1]) for q in queries])
        assert repr(per_row(part, name)) == repr([per_row(data, name)[row] for row in rows])
    rows = np.array([0, 2, 3])
    assert repr(per_row(some_rows(data, rows), name)) == repr([per_row(data, name)[row] for row in rows])
    ordered = canonical_order(data)
    if name in NUMBERS:
        keys = [f"{q} {x}" for q, x in zip(data.qid, data.X, strict=True)]
        result = dict(
            zip([f"{q} {x}" for q, x in zip(ordered.qid, ordered.X, strict=True)], per_row(ordered, name), strict=True)
        )
        assert repr([result[key] for key in keys]) == repr(per_row(data, name))
    else:
        assert getattr(ordered, name) is None  # names do not belong to the content


def test_parts_put_together_are_the_whole():
    data = full()
    data = data.replace(relations=dict(sorted(data.relations.items())))
    assert_same(concat([data.select([q]) for q in range(data.n_queries)]), data.select(np.arange(data.n_queries)))


@pytest.mark.parametrize("name", NUMBERS)
def test_the_fingerprint_sees_every_number(name):
    data = full()
    value = np.array(getattr(data, name))
    value.flat[0] += 1
    changed = data.replace(**{name: value})
    without = data.replace(**{name: None})
    assert len({each.fingerprint() for each in (data, changed, without)}) == 3


def test_the_fingerprint_sees_preferences_and_categories():
    data = full()
    pairs = data.preferences
    others = [
        data.replace(preferences=None),
        data.replace(preferences=Preferences(pairs.loser, pairs.winner, pairs.margin, pairs.weight)),
        data.replace(preferences=Preferences(pairs.winner, pairs.loser, None, pairs.weight)),
        data.replace(preferences=Preferences(pairs.winner, pairs.loser, pairs.weight, pairs.margin)),
        data.replace(categories=None),
        data.replace(categories={"pagerank": [*"abcdex"]}),
        full(sparse=True),
    ]
    for same in (data, full(), data.replace(docids=None, comments=None)):
        assert same.fingerprint() == data.fingerprint()
        assert data_digest(same) == data_digest(data)
    prints = [each.fingerprint() for each in (data, *others)]
    assert len({*prints}) == len(prints)
    assert len({data_digest(each) for each in (data, *others)}) == len(prints)


def test_the_fingerprint_sees_columns_without_entries():
    from scipy.sparse import csr_matrix

    X = csr_matrix([[1.0, 0.0], [2.0, 3.0]])
    wide = csr_matrix((X.data, X.indices, X.indptr), shape=(2, 3))
    assert RankingDataset.from_arrays(X, [0, 1]).fingerprint() != RankingDataset.from_arrays(wide, [0, 1]).fingerprint()


def test_the_fingerprint_of_plain_data_stays():
    """Hashes that are written down elsewhere: features, labels, offsets, weights, ids, positions, query features."""
    data = RankingDataset.from_arrays(
        [[1.5], [2.0]], [0, 2], ["a", "b"], query_weight=[1, 3], positions=[1, 1], query_features=[[2.0], [4.0]]
    )
    digest = hashlib.sha256()
    for part in (np.array([1.5, 2.0], np.float32), np.array([0.0, 2.0]), np.array([0, 1, 2]), b"-", np.array([1.0, 3]),
                 b"a\0b", np.array([1, 1], np.int32), np.array([2.0, 4.0], np.float32)):  # fmt: skip
        digest.update(part)
    assert data.fingerprint() == digest.hexdigest()[:24]
