"""LETOR text: reading, writing, chunks, and what is refused."""

from __future__ import annotations

import gzip
import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import plackett as pk
from plackett import DataError, RankingDataset
from plackett.data.letor import letor_comment_fields, read_letor, read_letor_chunks, write_letor
from plackett.data.strings import Strings


@pytest.fixture
def put(tmp_path):
    """Write a file and give its path."""

    def put(text: str | bytes, name: str = "a.txt"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return put


def assert_same(a: RankingDataset, b: RankingDataset) -> None:
    for x, y in ((a, b), (b, a)):
        assert isinstance(x.X, np.ndarray) == isinstance(y.X, np.ndarray)
    dense = [x.X if isinstance(x.X, np.ndarray) else x.X.toarray() for x in (a, b)]
    assert dense[0].tobytes() == dense[1].tobytes()
    np.testing.assert_array_equal(a.y, b.y)
    np.testing.assert_array_equal(a.offsets, b.offsets)
    assert a.qids.dtype == b.qids.dtype
    assert a.qids.tolist() == b.qids.tolist()
    assert (a.docids is None) == (b.docids is None)
    assert a.docids is None or a.docids.tolist() == b.docids.tolist()
    assert a.comments == b.comments


# --------------------------------------------------------------------------------------------------------- the format


def test_line(put):
    data = read_letor(put("2 qid:10 1:0.5 2:-3 3:1e-3 #docid = GX1 inc = 1 prob = 0.25\n"))
    assert data.X.dtype == np.float32
    assert data.X.flags.c_contiguous
    np.testing.assert_array_equal(data.X, np.array([[0.5, -3, 1e-3]], np.float32))
    assert data.y.tolist() == [2]
    assert data.qids.dtype == np.int64
    assert data.qids.tolist() == [10]
    assert data.docids.tolist() == ["GX1"]
    assert data.comments[0] == b"docid = GX1 inc = 1 prob = 0.25"
    assert data.input_rows is None


@pytest.mark.parametrize(
    "text",
    [
        "1 qid:1 1:5 2:6\n0 qid:1 1:7 2:8\n",
        "1 qid:1 1:5 2:6\n0 qid:1 1:7 2:8",
        "1 qid:1 1:5 2:6\r\n0 qid:1 1:7 2:8\r\n",
        "1 qid:1 1:5 2:6 \r\n0 qid:1 1:7 2:8 ",
        "\ufeff1 qid:1 1:5 2:6\n0 qid:1 1:7 2:8\n",
        "1\tqid:1\t1:5\t2:6\n0  qid:1   1:7    2:8  \n",
        "\n\n  \n# head\n1 qid:1 1:5 2:6\n\r\n # more\n0 qid:1 1:7 2:8\n\n\n",
        "  1 qid:1 1:5 2:6\n\t+0.0 qid:1 1:7. 2:8.000000000\n",
        "1 qid:1 2:6 1:5\n0 qid:1 2:8 1:7\n",
        "1 qid:1 01:5 002:6\n0 qid:1 1:70e-1 2:.8e1\n",
        "1 qid:1 1:5 2:6#\n0 qid:1 1:7 2:8#\n",
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_same_in_many_spellings(put, text, sparse):
    data = read_letor(put(text), sparse=sparse)
    X = data.X.toarray() if sparse else data.X
    assert X.tolist() == [[5, 6], [7, 8]]
    assert data.y.tolist() == [1, 0]
    assert data.qids.tolist() == [1]
    assert data.comments is None
    assert data.docids is None


def test_missing_and_absent(put):
    path = put("1 qid:1 1:NULL 3:nan 4:5\n0 qid:1 2:-NaN\n-1 qid:1\n")
    nan = np.nan
    np.testing.assert_array_equal(read_letor(path).X, [[nan, 0, nan, 5], [0, nan, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(
        read_letor(path, missing="nan").X, [[nan, nan, nan, 5], [nan, nan, nan, nan], [nan, nan, nan, nan]]
    )
    sparse = read_letor(path, sparse=True)
    assert isinstance(sparse.X, csr_matrix)
    assert sparse.X.nnz == 4
    np.testing.assert_array_equal(sparse.X.toarray(), read_letor(path).X)
    assert read_letor(path).y.tolist() == [1, 0, -1]


def test_labels_are_doubles(put):
    data = read_letor(put("0.1 qid:1\n-1 qid:1\n1e-320 qid:1\n12345678901234567890 qid:1\n"))
    assert data.y.tolist() == [0.1, -1, 1e-320, 12345678901234567890.0]
    assert data.X.shape == (4, 0)


def test_queries_apart_are_grouped(put):
    path = put("1 qid:b 1:1 # x\n2 qid:a 1:2\n3 qid:b 1:3 # y\n4 qid:c 1:4\n5 qid:a 1:5\n")
    for sparse in (False, True):
        data = read_letor(path, sparse=sparse)
        assert data.qids.tolist() == ["b", "a", "c"]
        assert data.y.tolist() == [1, 3, 2, 5, 4]
        assert data.X[:, [0]].sum(axis=1).ravel().tolist() in ([1, 3, 2, 5, 4], [[1, 3, 2, 5, 4]])
        assert data.input_rows.tolist() == [0, 2, 1, 4, 3]
        assert [data.comments[i] for i in range(5)] == [b" x", b" y", b"", b"", b""]


@pytest.mark.parametrize("ids", [["1", "2"], ["-5", "0"], ["999999999999999999", "7"]])
def test_integer_ids(put, ids):
    data = read_letor(put("".join(f"1 qid:{i} 1:1\n" for i in ids)))
    assert data.qids.dtype == np.int64
    assert data.qids.tolist() == [int(i) for i in ids]


@pytest.mark.parametrize(
    "ids", [["1", "01"], ["1", "x"], ["-0", "0"], ["1", "1" * 19], ["+1", "1"], ["é", "1:2"], ["-", "1"]]
)
def test_string_ids(put, ids):
    data = read_letor(put("".join(f"1 qid:{i} 1:1\n" for i in ids)))
    assert data.qids.dtype.kind == "T"
    assert data.qids.tolist() == ids


def test_comments_are_kept_byte_for_byte(put):
    data = read_letor(put(b"1 qid:1 1:1 # \xff\xfe caf\xe9 # twice \t\r\n0 qid:1 1:1\n0 qid:1 1:1#x\n"))
    assert [data.comments[i] for i in range(3)] == [b" \xff\xfe caf\xe9 # twice \t", b"", b"x"]
    assert data.docids is None


def test_comment_fields(put):
    path = put("1 qid:1 #docid = D1 inc = 0.1 prob = 1e-320\n1 qid:1 # nothing\n1 qid:1 # prob=2 xinc = 3 docid =D3\n")
    fields = letor_comment_fields(read_letor(path))
    assert fields.docid.tolist() == ["D1", "", "D3"]
    np.testing.assert_array_equal(fields.inc, [0.1, np.nan, np.nan])
    np.testing.assert_array_equal(fields.prob, [1e-320, np.nan, 2])
    none = letor_comment_fields(read_letor(put("1 qid:1\n")))
    assert none.docid.tolist() == [""]
    assert np.isnan(none.inc).all()


def test_group(put):
    path = put("1 1:1\n0 1:2\n2 1:3\n")
    assert read_letor(path, group=[1, 2]).offsets.tolist() == [0, 1, 3]
    side = put("1\n2\n", "sizes")
    assert read_letor(path, group=side).offsets.tolist() == [0, 1, 3]
    with pytest.raises(DataError, match=r"line 1, column 3: a line without query: '1:1'.*group="):
        read_letor(path)
    with pytest.raises(DataError, match=r"has 3 rows, but the queries of group have 4 together"):
        read_letor(path, group=[1, 3])
    with pytest.raises(DataError, match="whole numbers"):
        read_letor(path, group=[1.5, 1.5])
    with pytest.raises(DataError, match="sizes, line 2: the number of rows"):
        read_letor(path, group=put("1\nx\n", "sizes"))
    put("2\n1\n", "a.txt.query")
    data = read_letor(path)
    assert data.offsets.tolist() == [0, 2, 3]
    assert data.qids.tolist() == [0, 1]
    with pytest.raises(DataError, match="group must not be given"):
        read_letor(put("1 qid:1 1:1\n", "b.txt"), group=[1])


def test_n_features(put):
    path = put("1 qid:1 1:1 3:2\n")
    for sparse in (False, True):
        assert read_letor(path, sparse=sparse).X.shape == (1, 3)
        assert read_letor(path, sparse=sparse, n_features=5).X.shape == (1, 5)
        with pytest.raises(DataError, match=r"line 1, column 13: a feature id is larger than n_features: '3:2'"):
            read_letor(path, sparse=sparse, n_features=2)
    with pytest.raises(DataError, match="n_features=-1; give a whole number from 0 to 2147483647, or None"):
        read_letor(path, n_features=-1)


def test_options(put):
    path = put("1 qid:1 1:1\n")
    with pytest.raises(DataError, match="missing='0'; give one of 'zero', 'nan'"):
        read_letor(path, missing="0")
    with pytest.raises(DataError, match="sparse=False"):
        read_letor(path, missing="nan", sparse=True)


def test_wide_rows_late_in_the_file(put):
    """The largest id stands in few lines: no sampled line has it."""
    lines = [f"0 qid:{i // 9} 1:{i} 2:2\n" for i in range(5000)]
    lines[3211] = "0 qid:x 1:1 2000:7\n"
    data = read_letor(put("".join(lines)))
    assert data.X.shape == (5000, 2000)
    assert data.to_input_order(data.X[:, 1999])[3211] == 7
    assert data.X.sum(dtype=np.float64) == sum(range(5000)) - 3211 + 1 + 2 * 4999 + 7


def test_comment_that_looks_like_a_feature(put):
    assert read_letor(put("1 qid:1 1:1 # 12:30\n")).X.shape == (1, 1)
    for number in (99, 999_999_999):
        assert read_letor(put("1 qid:1 1:1 # seen at 12:30 o'clock" + f" {number}:1" * 2000 + "\n")).X.shape == (1, 1)


def test_threads_do_not_matter(put):
    rng = np.random.default_rng(0)
    lines = [
        f"{i % 5} qid:{i // 7} " + " ".join(f"{j}:{v:.6f}" for j, v in enumerate(rng.normal(size=20), 1)) + " #c\n"
        for i in range(6000)
    ]
    lines[4000:4000] = ["\n", "# only a comment\n"] * 50
    path = put("".join(lines))
    one = read_letor(path, n_jobs=1)
    assert one.n_rows == 6000
    for n_jobs in (2, 7):
        assert_same(one, read_letor(path, n_jobs=n_jobs))
        assert_same(read_letor(path, sparse=True), read_letor(path, sparse=True, n_jobs=n_jobs))


# ----------------------------------------------------------------------------------------------------------- exactness


@given(
    st.lists(
        st.one_of(
            st.floats(width=32, allow_nan=False, allow_infinity=False).map(repr),
            st.floats(-1e38, 1e38).map(lambda v: f"{v:.17g}"),
            st.decimals(-(10**6), 10**6, places=6).map(str),
            st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,2})?", fullmatch=True),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_values_are_those_of_python(tmp_path_factory, texts):
    with np.errstate(over="ignore"):
        expected = np.array([float(text) for text in texts]).astype(np.float32)
    path = tmp_path_factory.mktemp("exact") / "a.txt"
    path.write_text("0 qid:1 " + " ".join(f"{i}:{text}" for i, text in enumerate(texts, 1)))
    if np.isinf(expected).any():
        with pytest.raises(DataError, match="infinite"):
            read_letor(path)
        return
    assert read_letor(path).X.tobytes() == expected.tobytes()
    assert read_letor(path, sparse=True).X.data.tobytes() == expected.tobytes()


def test_many_values_for_python(put):
    """More values that the kernel leaves open than it has room for, in one row and in many."""
    texts = [f"{i}.5e-321" for i in range(1000)] + ["1e-400", "0.25"]
    row = " ".join(f"{i}:{text}" for i, text in enumerate(texts, 1))
    data = read_letor(put(f"1e-322 qid:1 {row}\n" * 4))
    assert data.y.tolist() == [1e-322] * 4
    np.testing.assert_array_equal(data.X, np.array([[float(t) for t in texts]] * 4).astype(np.float32))
    assert read_letor(put(f"1e-322 qid:1 {row}\n" * 4), sparse=True).X.nnz == 4 * len(texts)


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("x qid:1 1:1", 1, "a label was expected: 'x'"),
        ("1_0 qid:1 1:1", 1, "a label was expected: '1_0'"),
        ("nan qid:1 1:1", 1, "the label is missing: 'nan'"),
        ("NULL qid:1", 1, "the label is missing"),
        ("inf qid:1 1:1", 1, "the label is infinite: 'inf'"),
        ("1e999 qid:1 1:1", 1, "the label is infinite: '1e999'"),
        ("1" * 5000 + " qid:1", 1, "the label has too many characters: '1111"),
        ("1 1:1", 3, "a line without query: '1:1'"),
        ("1", 2, "a line without query: the end of the line"),
        ("1 qid: 1:1", 3, "the query id is empty: 'qid:'"),
        ("1 qid:a\x01b 1:1", 8, "a control character"),
        ("1 qid:" + "q" * 1001 + " 1:1", 7, "the query id is longer than 1000 bytes"),
        ("1 qid:1 0:1", 9, "feature ids begin at 1, found 0: '0:1'"),
        ("1 qid:1 -3:1", 9, "a feature id is negative: '-3:1'"),
        (f"1 qid:1 {2**40}:1", 9, "a feature id is larger than 2147483647"),
        (f"1 qid:1 1:1 {10**30}:1", 13, "a feature id is larger than 2147483647"),
        ("1 qid:1 1:1 1:1", 13, "a feature appears twice in one line: '1:1'"),
        ("1 qid:1 3:1 1:1 3:2", 17, "a feature appears twice in one line: '3:2'"),
        ("1 qid:1 3:+2 9:1 3:2", 18, "a feature appears twice in one line: '3:2'"),
        ("1 qid:1 1:1 2:2 3:3 1:4", 21, "a feature appears twice in one line: '1:4'"),
        ("1 qid:1 1:inf", 11, "infinite or too large"),
        ("1 qid:1 1:-Infinity", 11, "infinite or too large"),
        ("1 qid:1 1:1e39", 11, "infinite or too large for single precision: '1e39'"),
        ("1 qid:1 1:1 2:1e999", 15, "infinite or too large"),
        ("1 qid:1 1:1 2:x", 15, "a feature value is not a number: 'x'"),
        ("1 qid:1 1: 2:2", 11, "a feature value is not a number: a blank"),
        ("1 qid:1 1:0x1", 11, "a feature value is not a number: '0x1'"),
        ("1 qid:1 1:1_0", 11, "a feature value is not a number: '1_0'"),
        ("1 qid:1 1:1,5", 11, "a feature value is not a number: '1,5'"),
        ("1 qid:1 1:1:2", 11, "a feature value is not a number: '1:2'"),
        ("1 qid:1 1:1.2.3", 11, "a feature value is not a number"),
        ("1 qid:1 1:NULLx", 11, "a feature value is not a number"),
        ("1 qid:1 1:" + "9" * 5000, 11, "too many characters"),
        ("1 qid:1 1:1 2", 13, "'feature:value' was expected: '2'"),
        ("1 qid:1 a:1", 9, "'feature:value' was expected: 'a:1'"),
        ("1 qid:1 qid:2 1:1", 9, "'feature:value' was expected: 'qid:2'"),
        ("1 qid:1 1:1 é:2", 13, "'feature:value' was expected: 'é:2'"),
        ("1 qid:1 1:1\r2 qid:1 1:1", 13, "'feature:value' was expected: '2'"),
        ("1 qid:1 " + "y" * 60, 9, "'" + "y" * 40 + "'…; a feature is"),
    ],
)
def test_errors_name_the_place(put, line, column, message, sparse):
    text = "# head\n\n1 qid:1 1:1\r\n" + line + "\n1 qid:1 1:1\n"
    for name, content in (("a.txt", text.encode()), ("a.txt.gz", gzip.compress(text.encode()))):
        path = put(content, name)
        with pytest.raises(
            DataError, match=re.escape(f"{path}, line 4, column {column}: ") + ".*" + re.escape(message)
        ):
            read_letor(path, sparse=sparse)


def test_error_without_final_newline(put):
    with pytest.raises(DataError, match="line 2, column 11: a feature value is not a number: '-'"):
        read_letor(put("1 qid:1 1:1\n1 qid:1 1:-"))


def test_first_error_is_reported_whatever_the_threads(put):
    lines = [f"0 qid:{i} 1:{i} 2:3 3:{i}.5\n" for i in range(60_000)]
    for bad in (59_000, 41_000, 40_999, 3):
        lines[bad] = "0 qid:1 1:1 2:oops\n"
        path = put("".join(lines))
        for n_jobs in (1, 3):
            with pytest.raises(DataError, match=f"line {bad + 1}, column 15: .*'oops'"):
                read_letor(path, n_jobs=n_jobs)


def test_query_id_must_be_utf8(put):
    with pytest.raises(DataError, match=r"line 2, column 7: the query id is not UTF-8: 'a\\xff'"):
        read_letor(put(b"1 qid:a 1:1\n1 qid:a\xff 1:1\n"))


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"# only\n# comments", b"\xef\xbb\xbf", b"   ", gzip.compress(b"", mtime=0)]
)
def test_no_rows(put, content):
    with pytest.raises(DataError, match=r"a\.txt: no rows"):
        read_letor(put(content))
    with pytest.raises(DataError, match=r"a\.txt: no rows"):
        list(read_letor_chunks(put(content)))


def test_no_file(tmp_path, put):
    with pytest.raises(FileNotFoundError, match="none"):
        read_letor(tmp_path / "none")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_letor(tmp_path)
    path = put("1 qid:1 1:1\n")
    path.chmod(0)
    if not os.access(path, os.R_OK):  # root may read everything
        with pytest.raises(PermissionError, match=r"a\.txt"):
            read_letor(path)


@given(st.binary(max_size=400))
def test_random_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("random") / "a.txt"
    path.write_bytes(content)
    for sparse in (False, True):
        with pytest.raises((DataError, OSError)):
            read_letor(path, sparse=sparse)


@given(st.text("0123456789.:-+qidNULnae#\n \t\r", max_size=120), st.booleans())
def test_near_misses(tmp_path_factory, text, sparse):
    """Texts made of the format's own characters are read or refused, and read the same way whatever the path."""
    folder = tmp_path_factory.mktemp("near")
    (folder / "a").write_text("1 qid:1 1:2\n" + text, newline="")
    (folder / "b").write_bytes(gzip.compress((folder / "a").read_bytes()))
    try:
        data = read_letor(folder / "a", sparse=sparse)
    except DataError as error:
        with pytest.raises(DataError, match=re.escape(str(error).split(", line", 1)[1])):
            read_letor(folder / "b", sparse=sparse)
        return
    assert_same(data, read_letor(folder / "b", sparse=sparse))
    write_letor(data, folder / "c")
    assert_same(data, read_letor(folder / "c", sparse=sparse, n_features=data.n_features))


def test_huge_id(put):
    path = put("1 qid:1 1:1 2147483647:1\n")
    with pytest.raises(DataError, match=r"dense array of 8\.0 GiB; read it with sparse=True"):
        read_letor(path)
    with pytest.raises(DataError, match=r"dense array of .* GiB; read it with sparse=True$"):
        read_letor(put("1 qid:1 1:1\n" * 100_000, "b.txt"), n_features=2147483647)
    data = read_letor(path, sparse=True)
    assert data.X.shape == (1, 2147483647)
    assert data.X.nnz == 2


@pytest.mark.parametrize("line", [b"9" * 20_000_000, b"1 qid:1 1:" + b"1" * 20_000_000, b"1 qid:" + b"7" * 20_000_000])
def test_endless_lines_are_refused(put, line):
    with pytest.raises(DataError, match="line 1, column"):
        read_letor(put(line))


def test_endless_comment_and_row(put):
    comment = b"x" * 20_000_000
    assert len(read_letor(put(b"1 qid:1 1:1 #" + comment)).comments[0]) == len(comment)
    n = 1_000_000
    row = b" ".join(b"%d:1" % i for i in range(1, n + 1))
    assert read_letor(put(b"1 qid:1 " + row)).X.sum() == n


# ------------------------------------------------------------------------------------------------------------- writing


def test_written_text(tmp_path):
    X = np.array([[0.1, np.nan, 3], [-0.0, 1e-7, 65535.5]], np.float32)
    data = RankingDataset.from_arrays(X, [2, 0.5], qid=["a", "b"], docids=["d1", ""])
    write_letor(data, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == (
        "2 qid:a 1:0.1 2:NULL 3:3 #docid = d1\n0.5 qid:b 1:-0 2:1e-7 3:65535.5\n"
    )
    write_letor(data, tmp_path / "a.txt", comments=False)
    assert (tmp_path / "a.txt").read_text() == "2 qid:a 1:0.1 2:NULL 3:3\n0.5 qid:b 1:-0 2:1e-7 3:65535.5\n"
    write_letor(data.replace(X=csr_matrix([[0, 1.5, 0], [2, 0, 0]], dtype=np.float32)), tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "2 qid:a 2:1.5 #docid = d1\n0.5 qid:b 1:2\n"


@st.composite
def datasets(draw):
    n, width = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    bits = np.array(draw(st.lists(st.integers(0, 2**32 - 1), min_size=n * width, max_size=n * width)), np.uint32)
    X = bits.view(np.float32).reshape(n, width).copy()
    X[~np.isfinite(X)] = np.nan
    qid = draw(
        st.one_of(
            st.lists(st.integers(-(10**17), 10**17), min_size=n, max_size=n),
            st.lists(st.text("abcé:-", min_size=1, max_size=6), min_size=n, max_size=n),
        )
    )
    y = draw(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=n, max_size=n))
    comments = draw(st.lists(st.text("ab# ü\t=", max_size=8), min_size=n, max_size=n))
    kept = Strings.from_values(comments) if any(comments) else None
    return RankingDataset.from_arrays(X, y, qid=qid, comments=kept)


@given(datasets(), st.sampled_from(["", ".gz", ".xz", ".zst"]), st.booleans())
def test_round_trip(tmp_path_factory, data, suffix, sparse):
    if sparse:
        data = data.replace(X=csr_matrix(data.X))
    path = tmp_path_factory.mktemp("trip") / f"a.txt{suffix}"
    write_letor(data, path)
    again = read_letor(path, sparse=sparse, n_features=data.n_features)
    assert_same(data, again)
    assert again.input_rows is None
    content = path.read_bytes()
    write_letor(again, path)
    assert path.read_bytes() == content


def test_round_trip_keeps_bytes(put):
    text = b"2 qid:1 1:0.5 2:NULL #docid = \xff inc = 1\n0 qid:1 1:3 2:-0.25\n-1.5 qid:q2 1:0 2:1e-9 # z\n"
    path = put(text)
    write_letor(read_letor(path), path)
    assert path.read_bytes() == text


@pytest.mark.parametrize("qid", ["a b", "a#", "a\n", "\x7f"])
def test_unwritable_query_ids(tmp_path, qid):
    data = RankingDataset.from_arrays([[1.0], [2.0]], [1, 2], qid=["fine", qid])
    with pytest.raises(DataError, match=re.escape(f"the query id {qid!r} cannot be written")):
        write_letor(data, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


def test_without_features(tmp_path):
    data = RankingDataset.from_arrays(None, [1, 0], qid=["a", "b"])
    write_letor(data, tmp_path / "a.txt")
    assert (tmp_path / "a.txt").read_text() == "1 qid:a\n0 qid:b\n"
    assert_same(data, read_letor(tmp_path / "a.txt"))


def test_unwritable_comments(tmp_path):
    data = RankingDataset.from_arrays([[1.0]], [1], qid=["a"], docids=["two\nlines"])
    with pytest.raises(DataError, match="a document id holds a line break"):
        write_letor(data, tmp_path / "a.txt")
    write_letor(data, tmp_path / "a.txt", comments=False)
    with pytest.raises(DataError, match="no labels"):
        write_letor(RankingDataset.from_arrays([[1.0]], qid=["a"]), tmp_path / "a.txt")


# -------------------------------------------------------------------------------------------------------------- chunks


def join(chunks: list[RankingDataset]) -> tuple:
    X = np.concatenate([c.X if isinstance(c.X, np.ndarray) else c.X.toarray() for c in chunks])
    return X.tolist(), np.concatenate([c.y for c in chunks]).tolist(), [q for c in chunks for q in c.qids.tolist()]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("chunk_bytes", [1, 100, 5000, 10**9])
def test_chunks(put, sparse, suffix, chunk_bytes):
    rng = np.random.default_rng(2)
    lines = ["# head"]
    for query, size in enumerate(rng.integers(1, 40, 60)):
        lines += [f"{i} qid:{query} 1:{i} {rng.integers(2, 9)}:2.5 # {query} {i}" for i in range(size)]
        lines += [""] * int(rng.integers(0, 3))
    content = "\r\n".join(lines).encode()
    path = put(gzip.compress(content) if suffix else content, f"a.txt{suffix}")
    whole = read_letor(path, sparse=sparse)
    chunks = list(read_letor_chunks(path, chunk_bytes=chunk_bytes, sparse=sparse))
    assert join(chunks) == join([whole])
    assert np.concatenate([chunk.group for chunk in chunks]).tolist() == whole.group.tolist()
    assert [chunk.comments[i] for chunk in chunks for i in range(len(chunk))] == [
        whole.comments[i] for i in range(len(whole))
    ]
    if chunk_bytes == 100 and not suffix:
        assert len(chunks) > 1


def test_chunk_sizes(put):
    """A text of a megabyte is one piece; larger ones come in chunks near the size asked for."""
    line = "0 qid:%d 1:1 # " + "x" * 1000 + "\n"
    path = put("".join(line % (i // 10) for i in range(8000)))
    chunks = list(read_letor_chunks(path, chunk_bytes=2 << 20))
    assert len(chunks) in (3, 4)
    assert sum(len(chunk) for chunk in chunks) == 8000


def test_chunks_refuse_queries_apart(put):
    path = put("1 qid:1 1:1\n1 qid:2 1:1\n\n1 qid:1 1:1\n")
    for chunk_bytes in (1, 10**6):
        with pytest.raises(DataError, match="line 4, column 7: the rows of a query are not contiguous: '1'; sort"):
            list(read_letor_chunks(path, chunk_bytes=chunk_bytes))


def test_chunk_errors(put):
    path = put("1 qid:1 1:1\n1 qid:2 1:1 2:1\n\n1 qid:3 1:x\n")
    with pytest.raises(DataError, match="line 4, column 11"):
        next(read_letor_chunks(path, chunk_bytes=1))
    with pytest.raises(DataError, match="line 2, column 13: a feature id is larger than n_features"):
        list(read_letor_chunks(path, n_features=1))
    with pytest.raises(DataError, match="line 1, column 3: a line without query"):
        list(read_letor_chunks(put("1 1:1\n")))
    with pytest.raises(DataError, match="chunk_bytes=0; give a whole number of 1 or more"):
        read_letor_chunks(path, chunk_bytes=0)


def test_pipe(put):
    """A pipe can be read once, from begin to end."""
    text = b"1 qid:1 1:1\n1 qid:2 1:1 2:1\n"
    read_end, write_end = os.pipe()
    os.write(write_end, text)
    os.close(write_end)
    try:
        assert_same(read_letor(f"/dev/fd/{read_end}"), read_letor(put(text)))
        with pytest.raises(DataError, match="give n_features"):
            read_letor_chunks(f"/dev/fd/{read_end}")
    finally:
        os.close(read_end)


# ----------------------------------------------------------------------------------------------------- other programs


@pytest.mark.parametrize("sparse", [False, True])
def test_what_scikit_learn_writes(tmp_path, sparse):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 7)) * 10.0 ** rng.integers(-20, 20, (200, 7)) * (rng.random((200, 7)) < 0.7)
    qid = np.sort(rng.integers(0, 30, 200))
    y = rng.normal(size=200)
    dump_svmlight_file(X, y, str(tmp_path / "a"), zero_based=False, query_id=qid)
    data = read_letor(tmp_path / "a", sparse=sparse, n_features=7)
    expected, labels, ids = load_svmlight_file(str(tmp_path / "a"), n_features=7, query_id=True)
    result = data.X.toarray() if sparse else data.X
    np.testing.assert_array_equal(result, expected.toarray().astype(np.float32))
    np.testing.assert_array_equal(data.y, labels)
    np.testing.assert_array_equal(data.qid, ids)


def test_what_scikit_learn_reads(tmp_path):
    rng = np.random.default_rng(4)
    data = RankingDataset.from_arrays(rng.normal(size=(50, 4)), rng.integers(0, 5, 50), qid=np.repeat(np.arange(10), 5))
    write_letor(data, tmp_path / "a")
    X, y, qid = load_svmlight_file(str(tmp_path / "a"), query_id=True, dtype=np.float32)
    np.testing.assert_array_equal(X.toarray(), data.X)
    np.testing.assert_array_equal(y, data.y)
    np.testing.assert_array_equal(qid, data.qid)


@pytest.mark.golden
@pytest.mark.parametrize(
    "name",
    [
        "LETOR4.0-MQ2008/S1.txt",
        "LETOR3.0-OHSUMED/QueryLevelNorm/S1.txt",
        "LETOR2.0-OHSUMED/Fold1/test.txt",
        "MSLR-WEB-10K-sample-rankeval/msn1.fold1.test.5k.txt",
        "MSLR-WEB-10K-sample-rankeval/svmlight_classification_qid.txt",
    ],
)
def test_real_files_against_scikit_learn(data_dir, tmp_path, name):
    path = data_dir / name
    data = read_letor(path)
    X, y, qid = load_svmlight_file(str(path), query_id=True)
    np.testing.assert_array_equal(
        data.X[np.argsort(data.input_rows)] if data.input_rows is not None else data.X, X.toarray().astype(np.float32)
    )
    np.testing.assert_array_equal(data.to_input_order(data.y), y)
    np.testing.assert_array_equal(data.to_input_order(data.qid), qid)
    write_letor(data, tmp_path / "again.txt")
    again = read_letor(tmp_path / "again.txt")
    assert_same(data, again)


@pytest.mark.golden
@pytest.mark.parametrize(
    ("name", "rows", "features"),
    [("LETOR3.0-OHSUMED/Feature-null/S1.txt", 2570, 45), ("LETOR4.0-MQ2007-agg/S1.txt", 14013, 21)],
)
def test_real_files_with_null(data_dir, name, rows, features):
    text = (data_dir / name).read_bytes()
    data = read_letor(data_dir / name)
    assert data.X.shape == (rows, features) == (text.count(b"\n"), features)
    assert np.isnan(data.X).sum() == text.count(b":NULL")
    assert data.docids.tolist() == re.findall(r"docid = (\S+)", text.decode())
    fields = letor_comment_fields(data)
    assert (~np.isnan(fields.prob)).sum() == text.count(b"prob =")
    assert fields.prob[~np.isnan(fields.prob)].tolist() == [float(v) for v in re.findall(rb"prob = (\S+)", text)]


@pytest.mark.golden
def test_lightgbm_side_file(data_dir):
    path = data_dir / "lightgbm-lambdarank" / "rank.train"
    data = read_letor(path)
    X, y = load_svmlight_file(str(path))
    np.testing.assert_array_equal(data.X, X.toarray().astype(np.float32))
    np.testing.assert_array_equal(data.y, y)
    assert data.group.tolist() == [
        int(v) for v in (data_dir / "lightgbm-lambdarank/rank.train.query").read_text().split()
    ]


@pytest.mark.golden
def test_real_files_refused(data_dir):
    folder = data_dir / "MSLR-WEB-10K-sample-rankeval"
    with pytest.raises(DataError, match="line 1, column 1: a label was expected: 'python'"):
        read_letor(folder / "svmlight_invalid.txt")
    with pytest.raises(DataError, match=r"line 2, column 5: a line without query: '2:2\.5'"):
        read_letor(folder / "svmlight_classification.txt")


def test_what_the_format_cannot_hold_is_said(tmp_path):
    data = RankingDataset.from_arrays([[1.0]], [0], qid=[1], sample_weight=[2.0], positions=[1])
    with pytest.warns(pk.PlackettWarning, match=r"a\.txt: LETOR text cannot hold sample_weight, positions"):
        pk.write(data, tmp_path / "a.txt")


def test_query_ids_that_do_not_fit_can_be_numbered(tmp_path):
    data = RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["red shoes", "#1", "red shoes"])
    with pytest.raises(DataError, match=r"a\.txt: the query id 'red shoes'.*qids='number'"):
        pk.write(data, tmp_path / "a.txt")
    pk.write(data, tmp_path / "a.txt", qids="number")
    result = pk.read(tmp_path / "a.txt")
    assert (result.qids.tolist(), result.y.tolist()) == ([1, 2], [0.0, 2.0, 1.0])


def test_read_without_mapping(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("2 qid:1 1:0.5 # docid = a\n0 qid:1 2:1\n1 qid:2 2:3")
    one, two = (pk.read(path, mmap=mmap) for mmap in (True, False))
    np.testing.assert_array_equal(one.X, two.X)
    assert one.docids.tolist() == two.docids.tolist()
    path.write_text("2 qid:1 1:0.5\n0 qid:1 2:x\n")
    with pytest.raises(DataError, match=r"a\.txt, line 2"):
        pk.read(path, mmap=False)
