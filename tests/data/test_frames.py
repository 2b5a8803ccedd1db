"""Datasets from and to tables."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from plackett import DataError, PlackettWarning, RankingDataset
from whole_dataset import assert_same, full

from_frame = RankingDataset.from_frame
COLUMNS = {
    "qid": ["b", "a", "b", "a"],
    "docid": ["d1", "d2", "d3", "d4"],
    "label": [0, 1, 2, 0],
    "bm25": [1.5, 2.5, None, 0.0],
    "is_home": [True, False, True, None],
    "length": [3, 4, 5, 6],
}


def check(data: RankingDataset) -> None:
    assert data.qids.tolist() == ["b", "a"]
    assert data.docids.tolist() == ["d1", "d3", "d2", "d4"]
    assert data.y.tolist() == [0, 2, 1, 0]
    np.testing.assert_array_equal(data.X, np.array([[1.5, 1, 3], [np.nan, 1, 5], [2.5, 0, 4], [0, np.nan, 6]], "f4"))
    assert data.X.flags.c_contiguous
    assert data.feature_names == ("bm25", "is_home", "length")
    assert data.to_input_order(data.y).tolist() == [0, 1, 2, 0]


def test_polars_and_lazy():
    check(from_frame(pl.DataFrame(COLUMNS)))
    check(from_frame(pl.LazyFrame(COLUMNS)))
    check(RankingDataset.from_frame(COLUMNS))


@pytest.mark.parametrize("dtypes", [{}, {"length": "Int32", "is_home": "boolean", "label": "Int64", "bm25": "Float64"}])
def test_pandas(dtypes):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    check(from_frame(pd.DataFrame(COLUMNS).astype(dtypes)))
    frame = pd.DataFrame(COLUMNS, index=[9, 8, 7, 7]).astype(dtypes)
    check(from_frame(frame.astype({"qid": "category", "docid": "category"})))


def test_pandas_index_of_query_ids():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    check(from_frame(pd.DataFrame(COLUMNS).set_index("qid")))
    check(from_frame(pd.DataFrame(COLUMNS).set_index(["docid", "qid"])))


def test_pandas_with_arrow_columns():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    check(from_frame(pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow")))


def test_pandas_without_pyarrow():
    pytest.importorskip("pandas", reason="pandas is not installed")
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import pandas as pd; from plackett import RankingDataset\n"
        "frame = pd.DataFrame({'qid': ['a', 'b'], 'label': [1, 0], 'f': pd.array([1, None], dtype='Int64')})\n"
        "data = RankingDataset.from_frame(frame)\n"
        "assert data.qids.tolist() == ['a', 'b'] and data.X[0, 0] == 1 and data.X[1, 0] != data.X[1, 0]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_arrow():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    check(from_frame(pa.table(COLUMNS)))
    check(from_frame(pa.RecordBatchReader.from_batches(pa.table(COLUMNS).schema, pa.table(COLUMNS).to_batches())))


def test_anything_with_the_arrow_capsule():
    class Table:
        def __arrow_c_stream__(self, requested_schema=None):
            return pl.DataFrame(COLUMNS).__arrow_c_stream__(requested_schema)

    check(from_frame(Table()))


@pytest.mark.parametrize("form", ["polars", "pandas", "arrow"])
def test_round_trip(form):
    data = full().replace(preferences=None, relations=None)  # preferences do not fit into rows
    if form != "polars":
        pytest.importorskip(form.replace("arrow", "pyarrow"), reason=f"{form} is not installed")
    back = from_frame(getattr(data, f"to_{form}")())
    object.__setattr__(back, "input_rows", data.input_rows)  # the frame is in grouped order
    assert_same(data, back)


def test_round_trip_of_a_plain_dataset():
    data = RankingDataset.from_arrays(None, None, qid=[5, 5, 3])
    assert data.to_polars().columns == ["qid"]
    assert_same(data, from_frame(data.to_polars(), label=None))
    assert RankingDataset.from_arrays([[1.0, 2.0]], [0]).to_polars().columns == ["qid", "label", "f1", "f2"]


def test_sparse_features_become_columns():
    sparse, dense = full(sparse=True).to_polars(), full().to_polars()
    assert sparse["bm25"].to_list() == dense["bm25"].to_list()


@pytest.mark.parametrize(
    "names",
    [
        ("query_id", "doc_id", "relevance"),  # ir-measures
        ("qid", "docno", "label"),  # PyTerrier
        ("query-id", "corpus-id", "relevance"),  # BEIR
        ("q_id", "document_id", "y"),
        ("query", "docid", "rel"),
        ("Query ID", "Product", "Grade"),
        ("search_id", "item_id", "judgement"),
        ("topic", "doc", "relevance_grade"),
    ],
)
def test_usual_names(names):
    data = from_frame(pl.DataFrame(dict(zip(names, ([1, 1, 2], ["x", "y", "x"], [3, 0, 1]), strict=True))))
    assert (data.qids.tolist(), data.docids.tolist(), data.y.tolist()) == ([1, 2], ["x", "y", "x"], [3, 0, 1])
    assert data.n_features == 0


def test_pyterrier_result_frame():
    """docno is the id; docid (a number of the index) and the text of the query are no features; lists are."""
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(
        {
            "qid": ["1", "1"],
            "query": ["chemical reactions", "chemical reactions"],
            "docid": [10703, 1055],
            "docno": ["10704", "1056"],
            "label": [1, 0],
            "score": [13.4, 12.5],
            "features": [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
        }
    )
    data = from_frame(frame)
    assert data.docids.tolist() == ["10704", "1056"]
    assert data.feature_names == ("score", "features_0", "features_1")
    np.testing.assert_array_equal(data.X, np.array([[13.4, 1, 2], [12.5, 3, 4]], "f4"))


def test_named_columns_and_chosen_features():
    import polars.selectors as cs

    frame = pl.DataFrame({"session": [1, 2], "grade": [0, 1], "label": [9.0, 8.0], "w": [1.0, 2.0], "b": [1, 2]})
    data = from_frame(frame, qid="session", label="grade", features=["b", "label"], sample_weight="w")
    assert data.feature_names == ("b", "label")
    assert data.y.tolist() == [0, 1]
    assert data.sample_weight.tolist() == [1, 2]
    assert from_frame(frame, qid="session", label=None, features=cs.starts_with("b")).feature_names == ("b",)
    assert from_frame(frame, qid="session", label=None).feature_names == ("session", "grade", "w", "b")[1:]


def frame(**changes):
    columns = {**COLUMNS, **changes}
    return pl.DataFrame({name: values for name, values in columns.items() if values is not None}, strict=False)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (frame(qid=None), {}, r"no column 'qid' \(nor query_id, .*4 rows and the columns docid \(String\), label"),
        (frame(label=None), {}, r"no column 'label'.*label=None"),
        (frame(), {"label": "grade"}, r"no column 'grade' for label: the table has"),
        (frame(), {"docid": "url"}, "no column 'url' for docid"),
        (frame(), {"features": ["bm25", "tfidf"]}, "features: there is no column 'tfidf'; there are"),
        (
            frame(title=list("abcd")),
            {},
            r"column 'title' is String, but features must be numbers, and 'a' .*drop=\['title'\]; .*categories='title'",
        ),
        (frame(lists=[[1], [1, 2], [1], [1]]), {}, "'lists'.*equal length"),
        (frame(qid=["a", None, "b", "b"]), {}, r"column 'qid', row 1 \(counted from 0\): the id is missing"),
        (frame(qid=[1.0, 2.5, 1.0, 1.0]), {}, "row 1 .*2.5 is not an id"),
        (frame(label=[1, 2, None, 0]), {}, "column 'label', row 2 .*the value is missing .use -1"),
        (frame(label=list("01b2")), {}, r"column 'label', row 2 .*: 'b' is not a number"),
        (frame(label=[True, None, True, True]), {}, "row 1 .*missing"),
        (frame(bm25=["1", "2", "three", "4"]), {}, "'bm25', row 2 .*: 'three' is not a number: correct it, or encode"),
        (frame(sample_weight=[1, 2, 3, -4]), {}, r"'sample_weight', row 3 .*: -4 is not a weight"),
        (frame(position=[1, 2, 1.5, 4]), {}, r"'position', row 2 .*: 1.5 is not a position"),
        (frame(), {"label": "lable"}, r"no column 'lable' for label; did you mean label\?"),
        (frame(label=None, relevance=[0] * 4, y=[1] * 4), {}, "could be 'relevance' or 'y'"),
        (frame(query_weight=[1.0, 2.0, 3.0, 2.0]), {}, "query_weight differs between the rows of query b"),
        (frame(bm25=[float("inf")] * 4), {}, "'bm25', row 0 .*: inf is not a finite number"),
        ({"qid": [1, 2], "label": [1]}, {}, "do not form a table"),
        ([1, 2], {}, r"table was expected, not builtins\.list"),
    ],
)
def test_errors_say_what_was_found(table, options, message):
    with pytest.raises(DataError, match=message):
        from_frame(table, **options)


def test_odd_columns_of_pandas_are_refused():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    with pytest.raises(DataError, match="'x' occurs twice"):
        from_frame(pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(DataError, match="'m' is Object"):
        from_frame(pd.DataFrame({"qid": [1, 1], "label": [0, 1], "m": [1, "a"]}))


def test_feature_called_like_a_column():
    with pytest.raises(DataError, match="label"):
        RankingDataset.from_arrays([[1.0]], [0], feature_names=["label"]).to_polars()


def test_strong_names_go_before_weak_ones():
    """A product's rating is a feature beside a label, and the label where nothing else looks like one."""
    frame = pl.DataFrame({"query": ["a", "a"], "product": ["x", "y"], "grade": [0, 1], "rating": [4.5, 3.0]})
    data = from_frame(frame)
    assert (data.y.tolist(), data.feature_names) == ([0, 1], ("rating",))
    assert from_frame(frame.drop("grade"), features=["rating"], labels_needed=False).y is None
    assert from_frame(frame.drop("grade"), label="rating").y.tolist() == [4.5, 3.0]


@pytest.mark.parametrize("needed", [True, "if there"])
@pytest.mark.parametrize("name", ["rating", "Target"])
def test_a_guessed_label_is_said(name, needed):
    frame = pl.DataFrame({"query": ["a", "a"], name: [4.5, 3.0], "price": [1, 2]})
    with pytest.warns(PlackettWarning, match=f"'{name}' is taken as the label.*label='{name}'.*features=…"):
        assert from_frame(frame, labels_needed=needed).y.tolist() == [4.5, 3.0]


@pytest.mark.parametrize("values", [[4.5, 3.0], [4.5, None], [4.5, float("nan")]])
@pytest.mark.parametrize("name", ["rating", "Rating", "target"])
def test_a_rating_is_a_feature_of_data_that_are_only_scored(name, values):
    """What customers gave is neither the label that was not asked for, nor left out because some did not give any."""
    frame = pl.DataFrame({"query": ["a", "a"], name: values, "price": [1, 2]})
    data = from_frame(frame, qid="query", labels_needed=False)
    assert data.y is None
    assert data.feature_names == (name, "price")
    np.testing.assert_array_equal(data.X[:, 0], [4.5, 3.0 if values[1] == 3.0 else np.nan])


def test_labels_that_are_not_needed():
    frame = pl.DataFrame({"qid": [1, 1], "bm25": [0.5, 1.0]})
    assert from_frame(frame, labels_needed=False).y is None
    for labels in ([1, None], ["good", "bad"], [1.0, float("nan")]):
        data = from_frame(frame.with_columns(relevance=pl.Series(labels)), labels_needed=False)
        assert data.y is None and data.feature_names == ("bm25",)
    assert from_frame(frame.with_columns(label=pl.Series([1, 0])), labels_needed=False).y.tolist() == [1, 0]


def test_dropped_columns_and_what_was_taken_for_what(caplog):
    frame = pl.DataFrame(
        {"Query": ["a", "a"], "grade": [0, 1], "bm25": [1.0, 2.0], "title": ["x", "y"], "docid": [1, 2]}
    )
    with caplog.at_level("INFO", logger="plackett.data"):
        data = RankingDataset.from_frame(frame, drop=["title"], docid=None)
    assert data.feature_names == ("bm25",) and data.docids is None
    assert caplog.messages == ["the table: qid = Query, label = grade; 1 feature: bm25; left out: title, docid"]
    with pytest.raises(DataError, match="drop: there is no column 'titel'; did you mean title"):
        from_frame(frame, drop="titel")


@pytest.mark.parametrize(
    ("column", "warned"),
    [
        (pl.Series("brand_id", [5, 9] * 15), True),
        (pl.Series("sellerId", [5, 9] * 15), True),
        (pl.Series("Unnamed: 0", range(30)), True),
        (pl.Series("rank_in_file", range(1, 31)), True),
        (pl.Series("brand_id", [0.5, 1.5] * 15), False),
        (pl.Series("clicks", range(5, 35)), False),
        (pl.Series("paid", [0, 1] * 15), False),
    ],
)
def test_whole_numbers_that_look_like_ids_are_warned_about(column, warned):
    import warnings

    frame = pl.DataFrame({"qid": [1] * 30, "label": [0, 1] * 15}).with_columns(column)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert from_frame(frame).feature_names == (column.name,)
        from_frame(frame, features=[column.name])  # asked for: no warning
    assert len(caught) == warned
    assert all(f"{column.name!r}: whole numbers that look like ids" in str(warning.message) for warning in caught)


def test_a_parameter_that_does_not_exist_is_pointed_to_the_right_one():
    frame = {"q": ["a", "a"], "label": [0, 1], "bm25": [0.5, 2.0]}
    with pytest.raises(TypeError, match=r"no parameter 'query'; the column is named by qid='q'"):
        RankingDataset.from_frame(frame, query="q")
    with pytest.raises(TypeError, match=r"no parameter 'feature'; did you mean features"):
        RankingDataset.from_frame(frame, qid="q", feature=["bm25"])


@pytest.mark.parametrize("cell", ["0,5", "-12,25", "1.234,5"])
def test_decimal_commas_are_named(cell):
    with pytest.raises(DataError, match=f"'{cell}' is not a number: it has a decimal comma; write the numbers with a"):
        from_frame(pl.DataFrame({"qid": [1, 1], "label": [0, 1], "a": [cell, "1"]}))


def test_tables_need_queries():
    with pytest.raises(DataError, match="^qid=None: a table needs the query of each row"):
        from_frame(pl.DataFrame({"label": [0, 1], "a": [1, 2]}), qid=None)
