"""TREC judgements and runs."""

from __future__ import annotations

import gzip
import lzma

import numpy as np
import polars as pl
import pytest

from plackett import DataError, RankingDataset
from plackett.data import trec_lines
from plackett.data.trec import (
    as_qrels,
    as_run,
    qrels_frame,
    read_qrels,
    read_run,
    run_frame,
    write_qrels,
    write_run,
)

QRELS = [("q1", "d1", 1.0), ("q1", "d2", 0.0), ("q2", "d1", -1.0)]
RUN = [("q1", "d2", 2.5), ("q1", "d3", -1e-300), ("q2", "d1", 7.0)]


def naive(path, value: int) -> list[tuple]:
    rows = []
    for line in path.read_text().splitlines():
        fields = line.split()
        if fields and not line.startswith("#"):
            rows.append((fields[0], fields[2], float(fields[value])))
    return rows


@pytest.mark.golden
@pytest.mark.parametrize("name", ["qrels.test", "qrels.test.with-comments", "qrels.comment.test", "qrels.rel_level"])
def test_qrels_of_trec_eval(data_dir, name):
    path = data_dir / "trec_eval" / "test" / name
    frame = read_qrels(path)
    assert frame.rows() == naive(path, 3)
    assert frame.schema == {"qid": pl.String, "docid": pl.String, "label": pl.Float64}


@pytest.mark.golden
def test_comments_change_nothing(data_dir):
    """The second file has three comments, and one document id with a # in it."""
    folder = data_dir / "trec_eval" / "test"
    plain, commented = (set(read_qrels(folder / name).rows()) for name in ("qrels.test", "qrels.test.with-comments"))
    assert plain ^ commented == {("301", "CR93E-1860", 0.0), ("301", "CR#93E-1860", 0.0)}


@pytest.mark.golden
@pytest.mark.parametrize("name", ["results.test", "results.trunc", "results.comment.test"])
def test_runs_of_trec_eval(data_dir, name):
    path = data_dir / "trec_eval" / "test" / name
    assert read_run(path).rows() == naive(path, 4)


def test_agrees_with_ir_measures(tmp_path):
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    rng = np.random.default_rng(1)
    triples = [(f"q{i % 7}", f"d{i}", float(rng.normal())) for i in range(200)]
    write_run(triples, tmp_path / "run")
    theirs = [(d.query_id, d.doc_id, d.score) for d in ir_measures.read_trec_run(str(tmp_path / "run"))]
    assert theirs == read_run(tmp_path / "run").rows()
    assert sorted(theirs) == sorted(triples)
    write_qrels(QRELS, tmp_path / "qrels")
    theirs = [(d.query_id, d.doc_id, d.relevance) for d in ir_measures.read_trec_qrels(str(tmp_path / "qrels"))]
    assert theirs == QRELS


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_any_white_space(tmp_path, compress):
    text = b"\xef\xbb\xbf q1\t0  d1\x0b1 \r\n\n   \t\n#q 0 x 1\nq1 0\td#2 0\nq2 \x0c 0 \xc3\xa9 -1"
    (tmp_path / "qrels").write_bytes(compress(text))
    assert read_qrels(tmp_path / "qrels").rows() == [("q1", "d1", 1), ("q1", "d#2", 0), ("q2", "é", -1)]


@pytest.mark.parametrize(
    "number", ["1", "-0.5", "+2.5", "1e-3", "1E5", "inf", "-inf", ".5", "5.", "123456789012345678901"]
)
def test_numbers(tmp_path, number):
    (tmp_path / "run").write_text(f"q Q0 'd\"1 1 {number} t\nq Q0 d2 1 0\n")
    assert read_run(tmp_path / "run").rows() == [("q", "'d\"1", float(number)), ("q", "d2", 0)]


def test_empty_files(tmp_path):
    (tmp_path / "a").write_text("\n# nothing\n")
    assert read_run(tmp_path / "a").shape == (0, 3)
    (tmp_path / "a").write_text("")
    assert read_qrels(tmp_path / "a").schema["label"] == pl.Float64


@pytest.mark.parametrize("block", [1, 7, 100, 10**6])
def test_blocks_do_not_matter(tmp_path, monkeypatch, block):
    """A file is parsed in pieces; comments, long lines and errors may fall on their borders."""
    monkeypatch.setattr(trec_lines, "_BLOCK", block)
    path = tmp_path / "a"
    path.write_text("# comment\n" + "".join(f"q{i}  0 d{'x' * (i * 97 % 5000)} {i}\n#\n\n" for i in range(40)))
    assert read_qrels(path).rows() == naive(path, 3)
    with path.open("a") as file:
        file.write("q 0 d +1\nq 0 d2 x\n")
    with pytest.raises(DataError, match="a, line 123: the label is not a number in 'q 0 d2 x'"):
        read_qrels(path)
    with path.open("a") as file:
        file.write("q 0\n")
    with pytest.raises(DataError, match=r"a, line 124: expected .* found 2 fields: 'q 0'"):
        read_qrels(path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# c\n\nq 0 d 1\nq 0 d2\n", r"a, line 4: expected 'query iteration document label', found 3 fields: 'q 0 d2'"),
        ("q 0 d 1 extra\n", r"a, line 1: .* found 5 fields"),
        ("q 0 d 1\n#\nq 0 e high\n", r"a, line 3: the label is not a number in 'q 0 e high'"),
        ("q 0 d 1\nq 0 e nan\n", r"a, line 2: the label is not a number"),
        ("q 0 d 1\n\nq 0 e 1\nq 1 d 0\n", r"a, line 4: qid 'q', docid 'd' occurs a second time"),
    ],
)
def test_bad_lines_are_named(tmp_path, text, message):
    (tmp_path / "a").write_text(text)
    with pytest.raises(DataError, match=message):
        read_qrels(tmp_path / "a")


def test_bad_encoding_and_runs(tmp_path):
    (tmp_path / "a").write_bytes(b"q Q0 d\xff 1 1 t\n")
    with pytest.raises(DataError, match="a: not a text file in UTF-8"):
        read_run(tmp_path / "a")
    (tmp_path / "a").write_text("q 0 d 1\n")
    with pytest.raises(DataError, match="line 1: expected 'query Q0 document rank score tag', found 4 fields"):
        read_run(tmp_path / "a")


def frames():
    columns = {
        "ir-measures": ("query_id", "doc_id", "relevance"),
        "PyTerrier": ("qid", "docno", "label"),
        "BEIR": ("query-id", "corpus-id", "score"),
    }
    for name, names in columns.items():
        frame = pl.DataFrame(QRELS, schema=list(names), orient="row")
        yield pytest.param(frame, id=name)
        yield pytest.param(frame.lazy(), id=f"{name} lazy")
        yield pytest.param(frame.cast({names[0]: pl.Categorical}), id=f"{name} categories")


@pytest.mark.parametrize("source", [*frames(), QRELS, iter(QRELS), {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": -1}}])
def test_forms_of_qrels(source):
    assert as_qrels(source).rows() == QRELS


def test_forms_of_runs(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(RUN, columns=["qid", "docno", "score"]).assign(rank=[9, 9, 9], query="text")
    assert as_run(frame).rows() == RUN
    assert as_run(pl.DataFrame(RUN, schema=["query_id", "doc_id", "score"], orient="row").to_arrow()).rows() == RUN
    write_run(RUN, tmp_path / "run.gz")
    assert as_run(str(tmp_path / "run.gz")).rows() == RUN
    numbers = pl.DataFrame({"qid": [1, 2], "docid": [10.0, 11.0], "score": [1, 2]})
    assert as_run(numbers).rows() == [("1", "10", 1.0), ("2", "11", 2.0)]


def test_tuples_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures", reason="ir_measures is not installed")
    assert as_qrels([ir_measures.Qrel("q", "d", 1)]).rows() == [("q", "d", 1.0)]
    assert as_run([ir_measures.ScoredDoc("q", "d", 0.5)]).rows() == [("q", "d", 0.5)]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([("q", "d", 1), ("q", "d", 2)], "row 1: qid 'q', docid 'd' occurs a second time"),
        ([("q", "d", 1), ("q", "e", None)], r"row 1 \(qid 'q', docid 'e'\): the label is missing"),
        ([("q", "d")], r"triples \(query_id, doc_id, label\) were expected, found \('q', 'd'\)"),
        ({"q": ["d"]}, "query 'q': a dict"),
        (pl.DataFrame({"qid": ["q"], "label": [1]}), r"no column 'docid' \(nor docno.*columns qid \(String\)"),
        (pl.DataFrame({"qid": ["q"], "docid": ["d"]}), "no column 'label'"),
        (pl.DataFrame({"qid": ["q"], "docid": ["d"], "label": ["x"]}), "must be a number, found String"),
        (
            pl.DataFrame({"qid": ["q", None], "docid": ["d", "e"], "label": [1, 2]}),
            "'qid', row 1 .*: the id is missing",
        ),
        (5, "not int"),
    ],
)
def test_bad_forms(source, message):
    with pytest.raises(DataError, match=message):
        as_qrels(source)


@pytest.mark.parametrize("name", ["a", "a.gz", "a.xz"])
def test_round_trip(tmp_path, name):
    qrels = [*QRELS, ("q2", "d9", 0.25)]
    write_qrels(qrels, tmp_path / name)
    assert read_qrels(tmp_path / name).rows() == qrels
    write_run(RUN, tmp_path / name, tag="mine")
    assert read_run(tmp_path / name).rows() == RUN


def test_qrels_are_written_as_trec_eval_wants_them(tmp_path):
    write_qrels(QRELS, tmp_path / "a")
    assert (tmp_path / "a").read_text() == "q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 -1\n"


def test_run_is_written_in_the_order_of_trec_eval(tmp_path):
    """By score, ties by document id downwards; queries keep their order."""
    write_run([("b", "x", 1.0), ("a", "y", 1.0), ("b", "z", 1.0), ("b", "w", 3.0)], tmp_path / "a", tag="t")
    assert (tmp_path / "a").read_text().splitlines() == [
        "b Q0 w 1 3.0 t",
        "b Q0 z 2 1.0 t",
        "b Q0 x 3 1.0 t",
        "a Q0 y 1 1.0 t",
    ]


def test_ids_that_would_break_the_lines(tmp_path):
    for bad in ("a b", "nan", "a\u00a0b"):
        with pytest.raises(DataError, match="white space.* or would be read as a missing one"):
            write_qrels([("q", "7", 1), ("q", bad, 1)], tmp_path / "a")
    with pytest.raises(DataError, match="white space"):
        write_run([("q", "d", 1)], tmp_path / "a", tag="my run")
    with pytest.raises(DataError, match="begins with '#'"):
        write_qrels([("#q", "d", 1)], tmp_path / "a")
    assert not list(tmp_path.iterdir())


def test_from_a_dataset():
    data = RankingDataset.from_arrays(None, [2, -1, 0], qid=[7, 3, 7])
    assert qrels_frame(data).rows() == [("7", "0", 2.0), ("7", "1", 0.0)]
    assert run_frame(data, [0.5, 0.25, 1]).rows() == [("7", "0", 0.5), ("7", "1", 0.25), ("3", "2", 1.0)]
    with pytest.raises(DataError, match="shape"):
        run_frame(data, [1.0])


def test_judgements_and_run_in_the_wrong_places(tmp_path):
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d1 1 2.5 x\n")
    (tmp_path / "x").write_text("q1 0 d1\n")
    with pytest.raises(DataError, match="this looks like a run: were judgements and run swapped"):
        read_qrels(tmp_path / "run")
    with pytest.raises(DataError, match="this looks like judgements: were judgements and run swapped"):
        read_run(tmp_path / "qrels")
    with pytest.raises(DataError) as error:
        read_run(tmp_path / "x")
    assert "swapped" not in str(error.value)


def test_beir_judgements_are_read_by_their_header(tmp_path):
    path = tmp_path / "test.tsv"
    path.write_text('query-id\tcorpus-id\tscore\n01\td 1\t1\nq\td"2\t2\n')
    assert read_qrels(path).rows() == [("01", "d 1", 1.0), ("q", 'd"2', 2.0)]


def test_judgements_in_another_order(tmp_path):
    path = tmp_path / "cran.rel"
    path.write_text("1 184 0 0\n\n# from SMART\n1  29\t0 0\n2 12 0 0\n")
    with pytest.raises(DataError, match=r"line 4: .*a second time; if the file has other columns, name them"):
        read_qrels(path)
    expected = [("1", "184", 1.0), ("1", "29", 1.0), ("2", "12", 1.0)]
    assert read_qrels(path, columns="query document").rows() == expected
    path.write_text("184 3 1\n29 2 1\n")
    assert read_qrels(path, columns="document, label, query").rows() == [("1", "184", 3.0), ("1", "29", 2.0)]
    assert read_qrels(path, columns="document - query").rows() == [("1", "184", 1.0), ("1", "29", 1.0)]


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        ("1 2", "query", "query and document are needed"),
        ("1 2", "query doc", r"'doc'; give each of query, document, label once, and - to skip one"),
        ("1 2", "query query document", "once"),
        ("1 2\n3", "query document", "line 2: expected 'query document', found 1 fields: '3'"),
        ("1 2 x", "query document label", "line 1: the label is not a number in '1 2 x'"),
        ("1 2\n\n1 2", "query document", "line 3: qid '1', docid '2' occurs a second time"),
    ],
)
def test_bad_columns(tmp_path, text, columns, message):
    path = tmp_path / "qrels"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_qrels(path, columns=columns)


@pytest.mark.parametrize("name", ["run.csv", "run.tsv", "run.parquet", "run.jsonl", "run.csv.gz"])
def test_tables_are_runs_and_judgements_whose_ids_have_blanks(tmp_path, name):
    rows = [("grüne Jacke", "SKU 1", 2.5), ("grüne Jacke", "SKU 2", 0.5), ("7", "nan", 1.0)]
    path = tmp_path / name
    if name == "run.tsv":  # a TREC file may have this suffix too, and is what the suffix meant before
        lines = ["\t".join(map(str, row)) for row in [("qid", "docid", "score"), *rows]]
        path.write_text("\n".join(lines))
    else:
        write_run(rows, path)
    assert read_run(path).rows() == as_run(str(path)).rows() == rows
    grades = tmp_path / name.replace("run", "qrels")
    if name != "run.tsv":
        write_qrels(rows, grades)
        assert read_qrels(grades).rows() == rows
    with pytest.raises(DataError, match=r"white space.*write a table instead \(\.csv, \.parquet\)"):
        write_run(rows, tmp_path / "run.txt")


@pytest.mark.parametrize("names", ["query_id,doc_id,relevance", "query-id,corpus-id,score", "qid,docno,label"])
def test_judgements_have_the_column_names_of_other_tools(tmp_path, names):
    path = tmp_path / "qrels.csv"
    path.write_text(f"{names}\nrote Schuhe,a b,2\n")
    assert read_qrels(path).rows() == [("rote Schuhe", "a b", 2.0)]
    path.write_text(f"{names}\nrote Schuhe,a b,viel\n")
    with pytest.raises(DataError, match="line 2: the label is not a number: 'viel'"):
        read_qrels(path)


def test_tables_of_shops_have_columns_of_their_own(tmp_path):
    path = tmp_path / "run.csv"
    path.write_text("search_term,SKU,score\ngrüne Jacke,7,1\n", encoding="utf-8")
    assert read_run(path).rows() == [("grüne Jacke", "7", 1.0)]


def test_tab_separated_trec_runs_stay_what_they_are(tmp_path):
    path = tmp_path / "run.tsv"
    path.write_text("301\tQ0\tFT-1\t1\t2.5\tbm25\n")
    assert read_run(path).rows() == [("301", "FT-1", 2.5)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("qid,docid,score\nq a,d,1\nq a,e,much\n", r"run\.csv: line 3: the score is not a number: 'much'"),
        ("qid,docid,score\nq a,d,1\n\nq a,,1\n", r"run\.csv: line 4, column 'docid': the id is missing"),
        ("qid,docid,score\nq a,d,1\nq a,d,1\n", r"run\.csv: line 3: .*occurs a second time"),
        ("qid,docid,points\nq,d,1\n", r"run\.csv: there is no column 'score'"),
        ("qid,thing,score\nq,d,1\n", r"run\.csv: no column says what the document is; call it docid: .*thing"),
        ("qid,docid,score\nq,d,1,7\n", r"run\.csv: line 2 has 4 fields"),
    ],
)
def test_what_is_wrong_in_a_table_is_named_by_its_line(tmp_path, text, said):
    path = tmp_path / "run.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_run(path)
