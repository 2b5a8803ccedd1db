"""Numbers per document and per query from blocks of queries: those of the whole dataset."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data import mapped
from plackett.data.parts import all_rows, labels_that_occur, parts, per_query, per_row, rows_where, values_at


@pytest.fixture(params=[False, True], ids=["memory", "disk"])
def data(request, tmp_path, monkeypatch):
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1)
    monkeypatch.setattr(mapped, "BLOCK_ROWS", 5)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2), np.float32), rng.integers(-1, 3, 40)
    data = pk.RankingDataset.from_arrays(X, y, np.sort(rng.integers(0, 12, 40)))
    if not request.param:
        return data
    pk.write(data, tmp_path / "data.plackett")
    return pk.load(tmp_path / "data.plackett")


def test_blocks_are_put_together(data):
    assert len(list(parts(data))) > 3
    labels = per_row(data, lambda part: part.labels)
    assert np.array_equal(labels, data.y) and mapped.is_mapped(labels) == mapped.is_mapped(data.X)
    sums = per_query(data, lambda part: np.bincount(part.query_of_row, part.labels, part.n_queries))
    assert np.array_equal(sums, np.bincount(data.query_of_row, data.y, data.n_queries))
    assert labels_that_occur(data, lambda part: part.labels >= 0).tolist() == [0, 1, 2]
    assert np.array_equal(all_rows(data), np.arange(40))


def test_rows_that_are_chosen(data):
    rows = rows_where(data, lambda part: part.labels > 0)
    assert np.array_equal(rows, np.flatnonzero(data.y > 0))
    assert np.array_equal(values_at(data.y, rows, data.X), data.y[rows])
    assert rows_where(data, lambda part: part.labels > -9) is None
    assert values_at(data.y, None, data.X) is data.y
    assert rows_where(data, lambda part: part.labels > 9).size == 0


def test_tables_made_for_a_large_one_are_large(data, monkeypatch):
    """However narrow they are, what is computed for their rows stays where they are; a slice of them is not large."""
    column = mapped.row_array(data.X, (40, 1), np.float32)
    monkeypatch.setattr(mapped, "_LEAST_BYTES", 1 << 20)
    assert mapped.is_large(column) == mapped.is_mapped(data.X)
    assert not mapped.is_large(column[:20]) and not mapped.is_large(data.X)
