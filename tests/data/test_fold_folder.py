"""Folds in folders."""

from __future__ import annotations

import gzip

import pytest

import plackett as pk
from plackett import DataError
from plackett.data.fold_folder import read_folds


def _fold(folder, number, names=("train.txt", "vali.txt", "test.txt")):
    folder.mkdir(parents=True)
    for i, name in enumerate(names):
        line = f"{i} qid:{10 * number + i} {number + i}:0.5\n".encode()
        (folder / name).write_bytes(gzip.compress(line) if name.endswith(".gz") else line)


def test_folds_in_the_order_of_their_numbers_with_equal_features(tmp_path):
    for number in (10, 2, 1):
        _fold(tmp_path / f"Fold{number}", number)
    (tmp_path / "S1.txt").write_text("beside the folds")
    result = read_folds(tmp_path)
    assert [fold.train.qids.tolist() for fold in result] == [[10], [20], [100]]
    assert [fold.valid.qids.tolist() for fold in result] == [[11], [21], [101]]
    for fold, number in zip(result, (1, 2, 10), strict=True):  # each part names another feature, the test part the last
        assert fold.train.n_features == fold.valid.n_features == fold.test.n_features == number + 2
        assert fold.train.X[0].tolist() == [0.0] * (number - 1) + [0.5, 0.0, 0.0]


def test_one_fold_other_names_compressed_without_validation(tmp_path):
    _fold(tmp_path / "mine", 1, ("Training.txt.gz", "vali.txt", "test.txt"))
    (tmp_path / "mine" / "vali.txt").unlink()
    (fold,) = read_folds(tmp_path / "mine")
    assert fold.valid is None and fold.train.qids.tolist() == [10] and fold.test.n_features == 3
    result = pk.experiment([fold], "LinearRegression", "AP", search=None, n_jobs=1)
    assert result.cells[0].values["AP"].tolist() == [1.0]  # the one document, which is relevant


def test_errors_say_what_is_there(tmp_path):
    with pytest.raises(DataError, match="is not a folder"):
        read_folds(tmp_path / "nowhere")
    with pytest.raises(DataError, match="no folds.*it has nothing"):
        read_folds(tmp_path)
    (tmp_path / "data.txt").write_text("")
    with pytest.raises(DataError, match="it has data.txt. Pass a file"):
        read_folds(tmp_path)
    _fold(tmp_path / "a", 1, ("train.txt", "train.tsv"))
    with pytest.raises(DataError, match="two files for train: train.tsv and train.txt"):
        read_folds(tmp_path / "a")
    _fold(tmp_path / "b", 1, ("train.txt", "vali.txt"))
    with pytest.raises(DataError, match="train.txt but no test file"):
        read_folds(tmp_path / "b")
