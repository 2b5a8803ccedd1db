"""The native dataset file."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace

import numpy as np
import pytest
import scipy.sparse as sp

from plackett import DataError, RankingDataset
from plackett._files import storage
from plackett.data.native import open_dataset, save_dataset
from plackett.data.preferences import Preferences
from whole_dataset import assert_same, full


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_field_survives(tmp_path, sparse, mmap):
    data = full(sparse)
    # a new field must be stored too
    assert all(
        getattr(data, field.name) is not None or (sparse and field.name == "categories") for field in fields(data)
    )
    save_dataset(data, tmp_path / "a.plackett")
    assert_same(data, open_dataset(tmp_path / "a.plackett", mmap=mmap))


@pytest.mark.parametrize(
    "data",
    [
        RankingDataset.from_arrays(None, [1, 2], qid=[2**60, -5]),
        RankingDataset.from_arrays(np.empty((0, 3)), [], qid=np.empty(0, np.int64)),
        RankingDataset.from_arrays(sp.csr_matrix((2, 0)), None, qid=["a", "b"]),
        RankingDataset.from_arrays([[1.0]], None, preferences=Preferences.from_pairs([])),
        full().select([2, 0]),
        full().select([1]),
    ],
    ids=["integers", "empty", "sparse without columns", "no labels", "selection", "view"],
)
def test_small_and_partial_datasets(tmp_path, data):
    save_dataset(data, tmp_path / "a")
    assert_same(data, open_dataset(tmp_path / "a"))


def test_features_stay_on_disk(tmp_path):
    save_dataset(full(), tmp_path / "a")
    X = open_dataset(tmp_path / "a").X
    assert not X.flags.owndata
    assert X.flags.c_contiguous and X.flags.aligned and not X.flags.writeable


@pytest.mark.parametrize("sparse", [False, True])
def test_damage_is_an_error_or_harmless(tmp_path, sparse):
    """Random bytes changed or cut off: a DataError, or a dataset whose parts can all be used."""
    path = tmp_path / "a"
    save_dataset(full(sparse), path)
    raw = path.read_bytes()
    rng = np.random.default_rng(0)
    opened = refused = 0
    for trial in range(600):
        damaged = bytearray(raw if trial % 4 else raw[: rng.integers(len(raw))])
        start = 0 if trial % 3 else min(8 + int.from_bytes(raw[:8], "little"), len(damaged))  # often only the arrays
        for position in rng.integers(start, max(len(damaged), start + 1), rng.integers(1, 5)):
            if position < len(damaged):
                damaged[position] = rng.choice([0, 1, 2, 255, rng.integers(256)])
        path.write_bytes(damaged)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                data = open_dataset(path)
        except DataError as error:
            refused += 1
            assert str(path) in str(error)  # noqa: PT017
            continue
        opened += 1
        data.select(np.arange(data.n_queries)[::-1]).fingerprint()
        if data.comments is not None:
            data.comments.to_numpy()
        if sparse:
            assert data.X.toarray().shape == (5, data.n_features)
    assert opened > 50
    assert refused > 50


def rewritten(path, **changes):
    save_dataset(full(sparse=True), path)
    arrays, metadata = storage.read(path, mmap=False)
    arrays = {**arrays, **{name.replace("__", "."): value for name, value in changes.items()}}
    storage.write(path, {name: value for name, value in arrays.items() if value is not None}, metadata)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"offsets": np.array([0, 3, 2, 5])}, "offsets do not begin at 0 and increase"),
        ({"offsets": np.array([0, 2, 4, 6])}, "instead of 6"),
        ({"offsets": None}, "offsets is missing"),
        ({"qids__bytes": None}, "qids are missing"),
        ({"y": np.array([0, 1, np.inf, 0, 0])}, "a label is not finite"),
        ({"y": np.zeros(4)}, "y has 4 rows instead of 5"),
        ({"y": np.zeros(5, np.float32)}, "y is float32"),
        ({"docids__offsets": np.array([0, 2, 2, 4, 20, 23])}, "end with the 22 bytes"),
        ({"docids__offsets": np.array([0, 2, 22])}, "2 docids for 5 rows"),
        ({"X__indices": np.array([0, 2, 2, 1, 0, 3], np.int32)}, "beyond the 3 features"),
        ({"X__indptr": np.array([0, 9, 3, 3, 4, 6], np.int32)}, "X.indptr do not begin"),
        ({"input_rows": np.array([0, 0, 1, 2, 3])}, "every row once"),
        ({"preferences__winner": np.array([1, 7])}, "no row 7"),
        ({"preferences__loser": np.array([0, 4])}, "crosses queries"),
    ],
)
def test_inconsistent_files_are_refused(tmp_path, changes, problem):
    rewritten(tmp_path / "a", **changes)
    with pytest.raises(DataError, match=rf"a: damaged dataset file: .*({problem})"):
        open_dataset(tmp_path / "a")


def test_a_model_is_not_a_dataset(tmp_path):
    storage.write(tmp_path / "m", {}, {"kind": "model"})
    with pytest.raises(DataError, match="holds a model, not a dataset"):
        open_dataset(tmp_path / "m")


def test_saving_over_the_file_that_is_open(tmp_path):
    save_dataset(full(), tmp_path / "a")
    data = open_dataset(tmp_path / "a")
    save_dataset(replace(data, y=data.y + 1), tmp_path / "a")
    assert open_dataset(tmp_path / "a").y.tolist() == (full().y + 1).tolist()
