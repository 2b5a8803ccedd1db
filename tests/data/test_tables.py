"""Parquet and separated text."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

from plackett import DataError, RankingDataset
from plackett.data import files
from plackett.data.strings import Strings
from plackett.data.tables import read_csv, read_parquet, write_csv, write_parquet
from whole_dataset import assert_same, full


def rows_of(data: RankingDataset, **gone) -> RankingDataset:
    """The dataset as a table can hold it: in grouped order, without preferences and relations."""
    data = data.replace(preferences=None, relations=None, **gone)
    object.__setattr__(data, "input_rows", None)
    return data


def test_parquet_round_trip(tmp_path):
    data = rows_of(full())
    write_parquet(data, tmp_path / "a.parquet")
    assert_same(data, read_parquet(tmp_path / "a.parquet"))
    assert pl.read_parquet(tmp_path / "a.parquet").columns[:3] == ["qid", "docid", "label"]


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.xz"])
def test_csv_round_trip(tmp_path, name):
    data = rows_of(full(), subtopics=None, subtopic_weight=None, query_features=None, categories=None)
    write_csv(data, tmp_path / name)
    assert_same(data, read_csv(tmp_path / name))


def test_csv_keeps_every_bit(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2**32, (500, 3), np.uint32).view(np.float32)
    X[~np.isfinite(X)] = 0
    y = rng.random(500)
    write_csv(RankingDataset.from_arrays(X, y), tmp_path / "a.csv")
    back = read_csv(tmp_path / "a.csv")
    np.testing.assert_array_equal(back.X, X)
    np.testing.assert_array_equal(back.y, y)


def test_csv_of_others(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('query_id,doc_id,relevance,a,b\n007,"x, y",1,1,NA\n007,z,0,0.5,\n12,x,2,?,-3e2\n')
    data = read_csv(path)
    assert data.qids.tolist() == ["007", "12"]
    assert data.docids.tolist() == ["x, y", "z", "x"]
    np.testing.assert_array_equal(data.X, np.array([[1, np.nan], [0.5, np.nan], [np.nan, -300]], "f4"))
    path.write_text("qid,docid,label,comment\n1,NA,0,?\n1,?,1,None\n")  # words for missing values may be ids
    data = read_csv(path)
    assert data.docids.tolist() == ["NA", "?"]
    assert data.comments.to_numpy().tolist() == ["?", "None"]
    path.write_text("session;label;x\n3;1;2\n-4;0;3\n")
    data = read_csv(path, separator=";", qid="session")
    assert data.qids.tolist() == [3, -4]


@pytest.mark.parametrize("qids", [[3, 1], ["03", "1"], ["a", "1"], ["12345678901234567890", "1"]])
def test_ids_survive_as_they_are(tmp_path, qids):
    data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], qid=qids)
    for write, read, name in ((write_csv, read_csv, "a.csv"), (write_parquet, read_parquet, "a.parquet")):
        write(data, tmp_path / name)
        assert read(tmp_path / name).qids.tolist() == qids


def test_a_number_late_in_the_file_may_be_of_another_kind(tmp_path):
    (tmp_path / "a.csv").write_text("qid,label,x\n" + "1,0,1\n" * 20_000 + "1,0,1.5\nlast,1,2\n")
    data = read_csv(tmp_path / "a.csv")
    assert data.X[20_000, 0] == 1.5
    assert data.qids.tolist() == ["1", "last"]


def test_unlabelled(tmp_path):
    write_parquet(RankingDataset.from_arrays([[1.0]], None), tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet", label=None).y is None
    with pytest.raises(DataError, match=r"a\.parquet: there is no column 'label'"):
        read_parquet(tmp_path / "a.parquet")


def test_refusals(tmp_path):
    with pytest.raises(DataError, match=r"a\.parquet: preferences.*write \.plackett"):
        write_parquet(full(), tmp_path / "a.parquet")
    with pytest.raises(DataError, match="subtopics"):
        write_csv(full(), tmp_path / "a.csv")
    assert not list(tmp_path.iterdir())
    (tmp_path / "a.parquet").write_bytes(b"PAR1 no PAR1")
    with pytest.raises(DataError, match=r"a\.parquet: not a parquet file"):
        read_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("qid,label\n1,2,3\n")
    with pytest.raises(DataError, match=r"a\.csv: line 2 has 3 fields, but there are 2 columns"):
        read_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").touch()
    with pytest.raises(DataError, match=r"b\.csv"):
        read_csv(tmp_path / "b.csv")
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "none.parquet")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_names_with_quotes_and_separators_survive(tmp_path, suffix):
    names = ('say "hi"', '"', "a,b", "c\td", "two\nlines", '""', "plain")
    data = RankingDataset.from_arrays(np.eye(7)[:2], [0, 1], qid=[1, 1], feature_names=names)
    files.write(data, tmp_path / f"a{suffix}")
    assert files.read(tmp_path / f"a{suffix}").feature_names == names


def test_subtopic_weights_keep_their_digits(tmp_path):
    weight = [[0.1, 0.9], [1 / 3, 2 / 3]]
    data = RankingDataset.from_arrays(
        [[1.0], [2.0]], [0, 1], qid=[1, 2], subtopics=[[1, 0], [0, 1]], subtopic_weight=weight
    )
    files.write(data, tmp_path / "a.parquet")
    assert files.read(tmp_path / "a.parquet").subtopic_weight.tolist() == weight


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_sparse_on_request(tmp_path, suffix):
    X = np.array([[0.0, 2.0, np.nan], [0.0, 0.0, 0.5], [1.0, 0.0, 0.0]], np.float32)
    data = RankingDataset.from_arrays(sp.csr_matrix(X), [0, 1, 1], qid=[1, 1, 2])
    files.write(data, tmp_path / f"a{suffix}")
    result = files.read(tmp_path / f"a{suffix}", sparse=True)
    assert sp.issparse(result.X) and result.X.nnz == 4
    np.testing.assert_array_equal(result.X.toarray(), X)
    assert isinstance(files.read(tmp_path / f"a{suffix}").X, np.ndarray)


def test_data_keep_texts_that_look_like_formulas(tmp_path):
    data = RankingDataset.from_arrays([[1.0]], [0], qid=["=1+1"], docids=['=HYPERLINK("x")'])
    files.write(data, tmp_path / "a.csv")
    result = files.read(tmp_path / "a.csv")
    assert (result.qids.tolist(), result.docids.tolist()) == (["=1+1"], ['=HYPERLINK("x")'])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"qid,label,a\n1,1,2\n1,0\n1,0,3,4\n", "line 4 has 4 fields, but there are 3 columns"),
        (b'qid,label,a\n1,1,"x\ny",7\n', "line 2 has 4 fields"),
        (b'qid,label,a\n1,1,2\n"1,1,2\n', "line 3: a quoted field does not end"),
        ("qid,label,a\n1,1,2\n".encode("utf-16"), "UTF-16"),
        ("qid,label,gr\u00f6\u00dfe\n1,1,2\n".encode("latin-1"), "byte 12 is not UTF-8"),
        (b"qid,label,a,a\n1,1,2,3\n", "two columns are called 'a'"),
        (b"qid;label;a\n1;1;2\n", "separated by ';', not by ','"),
        (b"qid,label,a\n1,1,1e39\n1,0,2\n", "line 2, column 'a': 1e.39 is not a finite number"),
    ],
)
def test_damaged_text_is_described_without_the_parameters_of_polars(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_csv(tmp_path / "a.csv")
    assert "\n" not in str(caught.value) and "schema" not in str(caught.value).lower()


def test_comments_and_empty_lines_of_separated_text(tmp_path):
    data = RankingDataset.from_arrays([[1], [2]], [0, 1], ["a", "a"], comments=Strings.from_values(["007", "1e3"]))
    path = tmp_path / "a.csv"
    write_csv(data, path)
    assert_same(read_csv(path), data.replace(feature_names=("f1",)))
    path.write_text('\nqid, label ,x\n\n7, 1 ,""\n,,\n7,0, 2.5\n\n')
    data = read_csv(path)
    assert data.y.tolist() == [1, 0] and np.isnan(data.X[0, 0]) and data.X[1, 0] == 2.5
    path.write_text("qid,label,x\n\n7,1,2\n7,0,x\n")
    with pytest.raises(DataError, match="line 4, column 'x': 'x' is not a number"):
        read_csv(path)


def test_columns_with_the_name_of_an_id_are_numbers_if_named_as_features(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("qid,label,product,comment\n7,1,0.5,3\n7,0,NA,4\n")
    data = read_csv(path, features=["product", "comment"], docid=None)
    np.testing.assert_array_equal(data.X, [[0.5, 3], [np.nan, 4]])


def test_a_table_without_rows(tmp_path):
    (tmp_path / "a.csv").write_text("qid,label,query_weight,x\n")
    assert read_csv(tmp_path / "a.csv").n_rows == 0
