"""Every protocol gives the scores that `predict` gives, and says what is wrong with what it refuses."""

from __future__ import annotations

import json
import math
import re
import threading

import numpy as np
import polars as pl
import pytest
import sklearn
from sklearn.pipeline import make_pipeline

import plackett as pk
from asgi_client import get, post
from plackett._base.time_limit import time_limit
from plackett.scorers.trees.scorer import TreeScorer
from plackett.serve.application import application
from plackett.serve.csv_rows import csv_table
from plackett.serve.deadline import Deadline
from plackett.serve.http import RefusedError

pa = pytest.importorskip("pyarrow")
orjson = pytest.importorskip("orjson")

ARROW, RAW = "application/vnd.apache.arrow.stream", "application/octet-stream"
NAMES = ["bm25", "age", "clicks", "price"]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(5).normal(size=(50, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def scores(trees, X):
    return trees.predict(X)


def tensor(X, **changes):
    result = {"name": "features", "shape": list(X.shape), "datatype": "FP32", "data": X.ravel().tolist()}
    return {"inputs": [result | changes]}


# ------------------------------------------------------------------------------------------------------ open inference


def test_metadata_and_health(app):
    result = get(app, "/v2/models/trees").json
    assert result["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, 4]}]
    assert result["versions"] == ["1"] and result["parameters"]["feature_names"] == NAMES
    assert result["parameters"]["card"]["algorithm"] == "LambdaMART"
    assert get(app, "/v2/models/trees/versions/1/ready").json == {"name": "trees", "ready": True}
    assert get(app, "/v2/health/live").status == get(app, "/v2/health/ready").status == get(app, "/ping").status == 200
    assert "binary_tensor_data" in get(app, "/v2").json["extensions"]


def test_infer_json(app, X, scores):
    for body in (tensor(X), tensor(X, data=X.tolist()), tensor(X[:3]), tensor(X.astype(np.float64), datatype="FP64")):
        n = body["inputs"][0]["shape"][0]
        answer = post(app, "/v2/models/trees/infer", body | {"id": "q1"})
        assert answer.status == 200 and answer.json["id"] == "q1" and answer.json["model_version"] == "1"
        output = answer.json["outputs"][0]
        assert output["shape"] == [n] and output["data"] == scores[:n].tolist()


def test_infer_by_feature_name(app, X, scores):
    inputs = [{"name": n, "shape": [50], "datatype": "FP32", "data": X[:, j].tolist()} for j, n in enumerate(NAMES)]
    assert post(app, "/v2/models/trees/infer", {"inputs": inputs[::-1]}).json["outputs"][0]["data"] == scores.tolist()
    answer = post(app, "/v2/models/trees/infer", {"inputs": inputs[:3]})
    assert answer.status == 400 and "'price' is missing" in answer.json["error"]


def test_infer_with_raw_bytes(app, X, scores):
    for array, kind in ((X, "FP32"), (X.astype(np.float64), "FP64")):
        entry = {"name": "x", "shape": [50, 4], "datatype": kind, "parameters": {"binary_data_size": array.nbytes}}
        header = json.dumps({"inputs": [entry], "parameters": {"binary_data_output": True}}).encode()
        body = header + array.tobytes()
        answer = post(app, "/v2/models/trees/infer", body, inference_header_content_length=str(len(header)))
        assert answer.status == 200, answer.body
        length = int(answer.headers[b"inference-header-content-length"])
        output = json.loads(answer.body[:length])["outputs"][0]
        assert output["parameters"]["binary_data_size"] == len(answer.body) - length
        assert np.array_equal(np.frombuffer(answer.body[length:], "<f8"), scores)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"shape": [50, 3]}, r"shape is \[50, 3\], but data has 200"),
        ({"shape": [100, 2]}, r"\[documents, 4\] is needed"),
        ({"shape": [-1, 4]}, "shape must be"),
        ({"shape": "x"}, "shape must be"),
        ({"shape": [2**60, 2**60]}, "shape .* is too large"),
        ({"shape": [2**63 - 1, 0], "data": []}, "shape .* is too large"),
        ({"shape": [0, 2**63 - 1], "data": []}, "shape .* is too large"),
        ({"datatype": "FP33"}, "'FP33'"),
        ({"datatype": "BYTES"}, "strings"),
        ({"datatype": "INT32"}, "not of type INT32"),
        ({"data": None}, "must be a list"),
        ({"data": ["a"] * 200}, "value 0 is not of type FP32"),
        ({"data": [True] * 200}, "value 0 is not of type FP32"),
        ({"datum": [1]}, r"inputs\[0\] has the unknown key 'datum'; did you mean data"),
        ({"datatype": "INT64", "data": [1.5] + [1] * 199}, "value 0 is 1.5, which is not of type INT64"),
        ({"datatype": "INT64", "data": [1] * 199 + [2.5]}, "value 199 is 2.5, which is not of type INT64"),
        ({"datatype": "INT64", "data": [1] * 199 + [None]}, "value 199 is n.*not of type INT64"),
        ({"datatype": "INT64", "data": [True] + [1] * 199}, "value 0 is not of type INT64"),
        ({"datatype": "UINT64", "data": [-1] + [1] * 199}, "value 0 is -1, which is not of type UINT64"),
        ({"datatype": "INT8", "data": [[200] * 4] * 50}, "value 0 is 200, which is not of type INT8"),
        ({"datatype": "BOOL", "data": [2] * 200}, "value 0 is 2, which is not of type BOOL"),
        ({"data": [10**400] + [1.0] * 199}, "not JSON|beyond"),
        ({"name": 7}, "name, shape"),
        ({"parameters": {"binary_data_size": 800}}, "0 bytes are left"),
        ({"parameters": []}, "must be an object"),
    ],
)
def test_infer_refusals(app, X, change, reason):
    answer = post(app, "/v2/models/trees/infer", tensor(X, **change))
    assert answer.status in (400, 413)
    assert re.search(reason, answer.json["error"]), answer.json


@pytest.mark.parametrize("length", ["x", "-1", "99999", "9" * 30])
def test_bad_length_of_the_json_part(app, X, length):
    answer = post(app, "/v2/models/trees/infer", tensor(X), inference_header_content_length=length)
    assert answer.status == 400 and "Inference-Header-Content-Length" in answer.json["error"]


def test_unknown_keys_of_requests_are_named(app, X):
    for change, reason in (
        ({"input": []}, "the request has the unknown key 'input'"),
        ({"outputs": [{"name": "scores", "binary": True}]}, r"outputs[0] has the unknown key 'binary'"),
    ):
        answer = post(app, "/v2/models/trees/infer", tensor(X) | change)
        assert answer.status == 400 and reason in answer.json["error"]
    body = {"dataframe_split": {"data": X.tolist()}, "parms": {}}
    answer = post(app, "/invocations?model=trees", body)
    assert answer.status == 400 and "'parms'" in answer.json["error"]
    body = {"dataframe_split": {"data": X.tolist(), "column": list(NAMES)}}
    answer = post(app, "/invocations?model=trees", body)
    assert answer.status == 400 and "'column'" in answer.json["error"]
    body = {"dataframe_split": {"data": X.tolist(), "index": list(range(len(X)))}, "params": {}}
    assert post(app, "/invocations?model=trees", body).status == 200
    answer = post(app, "/rank/trees?versoin=1", {"features": X.tolist()})
    assert answer.status == 400 and "'versoin'; did you mean version" in answer.json["error"]


@pytest.mark.parametrize("n", [3, 200])
def test_large_ids_of_lists_stay_apart(app, X, n, monkeypatch):
    """As doubles 2**60 and 2**60 + 1 would be one list."""
    seen = []
    monkeypatch.setattr(
        "plackett.serve.model.ServedModel.score",
        lambda self, X, qid, exit: seen.append(qid) or np.zeros(len(X)),
    )
    ids = [2**60 + i for i in range(n)]
    rows = np.resize(X, (n, 4))
    body = tensor(rows)
    body["inputs"].append({"name": "qid", "shape": [n], "datatype": "INT64", "data": ids})
    assert post(app, "/v2/models/trees/infer", body).status == 200
    records = [dict(zip(NAMES, row, strict=True)) | {"qid": i} for i, row in zip(ids, rows.tolist(), strict=True)]
    assert post(app, "/invocations?model=trees", {"dataframe_records": records}).status == 200
    assert [result.tolist() for result in seen] == [ids, ids]


def test_booleans_are_numbers_where_they_are_declared(app, trees):
    rows = np.array([[0, 1, 1, 0], [1, 1, 0, 0]])
    for values in (rows.astype(bool).tolist(), rows.tolist()):
        entry = {"name": "features", "shape": [2, 4], "datatype": "BOOL", "data": values}
        answer = post(app, "/v2/models/trees/infer", {"inputs": [entry]})
        assert answer.json["outputs"][0]["data"] == trees.predict(rows).tolist()
    frame = {"dataframe_records": [dict(zip(NAMES, row, strict=True)) for row in rows.astype(bool).tolist()]}
    assert post(app, "/invocations?model=trees", frame).json["predictions"] == trees.predict(rows).tolist()


def test_many_small_parts_are_refused_before_they_are_made(one, trees, monkeypatch):
    """Objects and lists, wherever they are, and tensors; long arrays of numbers are no parts."""
    app = application({"trees": trees}, max_documents=100)
    rows = {"features": [[0.5, 1, 2, 3]] * 100}
    assert post(app, "/rank", rows).status == 200
    monkeypatch.setattr(orjson, "loads", lambda text: pytest.fail("parsed before it was checked"))
    for path, body in (
        ("/rank", b'{"items":[' + b"{}," * 1_000 + b"{}]}"),
        ("/invocations", b'{"instances":[' + b"[]," * 1_000 + b"[]]}"),
        ("/v2/models/trees/infer", b'{"inputs":[' + b'{"data":[]},' * 500 + b"{}]}"),
    ):
        answer = post(app, path, body, content_type="application/json")
        assert answer.status == 413 and "objects and lists; at most 912" in answer.json["error"]
    monkeypatch.undo()
    empty = {"shape": [0], "datatype": "FP32", "data": []}
    answer = post(one, "/v2/models/trees/infer", {"inputs": [empty | {"name": str(i)} for i in range(6)]})
    assert answer.status == 400 and "6 tensors are given; trees has 4 features" in answer.json["error"]


def test_outputs_must_exist(app, X):
    answer = post(app, "/v2/models/trees/infer", tensor(X) | {"outputs": [{"name": "label"}]})
    assert answer.status == 400 and "'scores'" in answer.json["error"]


# -------------------------------------------------------------------------------------------------------------- mlflow


def frames(X):
    records = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    yield {"dataframe_split": {"columns": NAMES, "data": X.tolist()}}
    yield {"dataframe_split": {"columns": NAMES[::-1], "data": X[:, ::-1].tolist()}}
    yield {"dataframe_split": {"columns": [*NAMES, "qid"], "data": [[*row, "a"] for row in X.tolist()]}}
    yield {"dataframe_records": records}
    yield {"dataframe_records": [row | {"qid": 1} for row in records]}
    yield {"instances": X.tolist()}
    yield {"instances": records}
    yield {"inputs": {name: X[:, j].tolist() for j, name in enumerate(NAMES)}}


@pytest.mark.parametrize("form", range(8))
def test_invocations(one, X, scores, form):
    answer = post(one, "/invocations", list(frames(X))[form])
    assert answer.status == 200, answer.json
    assert answer.json == {"predictions": scores.tolist()}


def test_invocations_csv_and_arrow(app, X, scores):
    frame = pl.DataFrame(X, schema=NAMES)
    answer = post(app, "/invocations?model=trees", frame.write_csv().encode(), content_type="text/csv; charset=utf-8")
    assert answer.json["predictions"] == scores.tolist()
    answer = post(app, "/invocations?model=trees", stream(frame), content_type=ARROW)
    assert answer.json["predictions"] == scores.tolist()
    ids = frame.with_columns(qid=pl.Series(["1.10"] * len(X)))  # no numbers
    answer = post(app, "/invocations?model=trees", ids.write_csv().encode(), content_type="text/csv")
    assert answer.json["predictions"] == scores.tolist()
    answer = post(app, "/invocations?model=trees", b'"', content_type="text/csv")
    assert answer.status == 400
    answer = post(app, "/invocations?model=trees", b"bm25,age\n1,x\n", content_type="text/csv")
    assert answer.status == 400 and "'clicks'" in answer.json["error"]


def test_invocations_csv_as_in_files(app):
    """Empty lines are not documents, but a line of separators is one; words and empty quotes are missing values."""
    header = "bm25,age,clicks,price,qid\n"
    missing = post(app, "/invocations?model=trees", f"{header}1,,3,4,a\n,,,,a\n".encode(), content_type="text/csv")
    assert missing.status == 200 and len(missing.json["predictions"]) == 2
    for text in ("\n1,NA,3,4,a\n\n,?,,,a\n\n", '1,"",3,4,a\r\n\r\n,,,,a\r\n'):
        answer = post(app, "/invocations?model=trees", f"{header}{text}".encode(), content_type="text/csv")
        assert answer.json == missing.json
    ids = post(app, "/invocations?model=trees", f'{header}1,2,3,4,"a\n\nb"\n'.encode(), content_type="text/csv")
    assert len(ids.json["predictions"]) == 1


def csv(*lines):
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (csv(",".join(f"c{i}" for i in range(150_000))), "more than 1004 commas"),
        (csv(",".join(f"c{i}" for i in range(900))), "900 columns; trees has 4 features, and qid is one more"),
        (csv('"a', *["b" + ",c" * 900] * 50), "more than 1004 commas"),
        (csv('"a', "b"), "not CSV: line 2"),
        (csv("bm25,age,clicks,price,cost", "1,2,3,4,5"), "'cost', which trees was not trained on"),
        (csv("bm25,age,clicks", "1,2,3"), "lacks the feature 'price'"),
        (csv("bm25,age,clicks,price,price", "1,2,3,4,5"), "twice"),
        (csv("bm25,age,clicks,price", "", "1,2,3,4", "1,2,3"), "line 4 has 3 values; the header has 4"),
        (csv("bm25,age,clicks,price", *["1,2,3,4"] * 1500, "1,x,3,4"), "the CSV.age: value 1500 must be a number"),
        (csv("bm25,age,clicks,price", "1,2_0,3,4"), "the CSV.age: value 0 must be a number or null, not a string"),
        (csv("bm25,age,clicks,price", "1,2,3,4e99"), "beyond single precision"),
        (b"bm25,age,clicks,price\n1,2,\xff,4\n", "byte 26 is not UTF-8"),
        (b"", "lacks the features"),
    ],
)
def test_csv_refusals(one, body, reason):
    answer = post(one, "/invocations", body, content_type="text/csv")
    assert answer.status == 400
    assert re.search(reason, answer.json["error"]), answer.json


def test_a_csv_of_too_many_rows_is_not_read_to_its_end(trees, monkeypatch):
    app = application({"trees": trees}, max_documents=2_000)
    lines = ["bm25,age,clicks,price", *["1,2,3,4"] * 2_000]
    assert len(post(app, "/invocations", csv(*lines), content_type="text/csv").json["predictions"]) == 2_000
    answer = post(app, "/invocations", csv(*lines, *["1,2,3,4"] * 1_000, "not,read"), content_type="text/csv")
    assert answer.status == 413 and "3000 documents" in answer.json["error"]


def test_empty_lines_of_a_csv_have_a_limit(trees):
    app = application({"trees": trees}, max_documents=100)
    for n, status in ((100, 200), (101, 413)):
        answer = post(
            app, "/invocations", csv("bm25,age,clicks,price", "1,2,3,4", "") + b"\n" * n, content_type="text/csv"
        )
        assert answer.status == status, answer.json
    assert "empty lines" in answer.json["error"]


def test_a_csv_whose_lines_are_no_rows_ends_with_its_time(one):
    late = Deadline(60)
    late.end()
    for text in (b"\n" * 3_000, b'"' + b"\n" * 3_000 + b'",1,2,3'):
        with time_limit(late.check), pytest.raises(RefusedError, match="within 60 seconds"):
            csv_table(one.models.get(), b"bm25,age,clicks,price\n" + text, one.settings)


def test_csv_values(one, trees):
    """Numbers, booleans, quotes, blanks and a mark of the byte order are read as in files."""
    body = b'\xef\xbb\xbfbm25, age ,"clicks",price\r\n 1.5 ,true,"2",NA\r\n-1e-3,False,nan, \r\n'
    answer = post(one, "/invocations", body, content_type="text/csv")
    expected = trees.predict(np.array([[1.5, 1, 2, np.nan], [-1e-3, 0, np.nan, np.nan]]))
    assert answer.json == {"predictions": expected.tolist()}


def test_a_model_without_names_takes_columns_in_their_order(nameless, X):
    """In every table that has an order, whatever its columns are called, with and without qid."""
    app = application({"m": nameless})
    expected = nameless.predict(X).tolist()
    ids = ["a"] * len(X)
    rows = X.tolist()
    with_id = [[row[0], "a", *row[1:]] for row in rows]
    for header in (list("0123"), [0, 1, 2, 3], NAMES, ["f 7", "f 3", "x", "y"]):
        asked = [
            {"dataframe_split": {"columns": header, "data": rows}},
            {"dataframe_split": {"columns": [header[0], "qid", *header[1:]], "data": with_id}},
        ]
        for body in asked:
            assert post(app, "/invocations", body).json == {"predictions": expected}
        names = list(map(str, header))
        frame = pl.DataFrame(X, schema=names)
        for table in (frame, frame.insert_column(1, pl.Series("qid", ids))):
            answer = post(app, "/invocations", table.write_csv().encode(), content_type="text/csv")
            assert answer.json == {"predictions": expected}
            answer = post(app, "/invocations", stream(table), content_type=ARROW)
            assert answer.json == {"predictions": expected}
    for header in (list("0213"), [0, 2, 1, 3]):
        answer = post(app, "/invocations", {"dataframe_split": {"columns": header, "data": rows}})
        assert answer.status == 400 and "another order" in answer.json["error"]
    answer = post(app, "/invocations", b"0,2,1,3\n1,2,3,4\n", content_type="text/csv")
    assert answer.status == 400 and "another order" in answer.json["error"]
    for body in ({"dataframe_records": [{}]}, {"dataframe_records": [dict.fromkeys(NAMES, 1)]}, {"inputs": [{}]}):
        answer = post(app, "/invocations", body)
        assert answer.status == 400 and "without feature names" in answer.json["error"]
    answer = post(app, "/rank", {"items": [{"features": {}, "id": 0}]})
    assert answer.status == 400 and "without feature names" in answer.json["error"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "one of dataframe_split"),
        ([], "one of dataframe_split"),
        ({"instances": [[1, 2, 3, 4]], "inputs": [[1, 2, 3, 4]]}, "one of"),
        ({"instances": 3}, "list"),
        ({"instances": [[1, 2, 3]]}, r"instances|inputs\[0\] has 3 numbers"),
        ({"instances": [[1, 2, 3, "x"]]}, "a string"),
        ({"dataframe_split": {"columns": ["a"], "data": [[1]]}}, "lacks the features"),
        ({"dataframe_split": {"columns": NAMES, "data": [[1, 2, 3, 4], [1]]}}, r"data\[1\] has 1"),
        ({"dataframe_split": {"columns": ["bm25", "bm25"], "data": []}}, "twice"),
        ({"dataframe_records": [{"bm25": 1}]}, "lacks the features"),
        ({"inputs": {**{key: [1.0] for key in NAMES}, "age": [1.0, 2.0]}}, "values"),
        ({"inputs": {**{key: [1.0] for key in NAMES}, "qid": [1, 2]}}, "qid has 2"),
        ({"inputs": {**{key: [1.0] for key in NAMES}, "qid": [None]}}, "qid must be"),
    ],
)
def test_invocations_refusals(one, body, reason):
    answer = post(one, "/invocations", body)
    assert answer.status == 400
    assert re.search(reason, answer.json["error"]), answer.json


def test_several_models_need_a_name(app, X):
    answer = post(app, "/invocations", {"instances": X.tolist()})
    assert answer.status == 400 and "linear, trees" in answer.json["error"]
    assert post(app, "/invocations?model=tree", {"instances": []}).status == 404


# ---------------------------------------------------------------------------------------------------------------- rank


def test_rank(app, X, scores):
    order = np.argsort(-scores, kind="stable")
    ids = [f"d{i}" for i in range(50)]
    by_name = [
        {"id": i, "features": dict(zip(NAMES, row, strict=True))} for i, row in zip(ids, X.tolist(), strict=True)
    ]
    by_place = [{"id": i, "features": row} for i, row in zip(ids, X.tolist(), strict=True)]
    columns = {name: X[:, j].tolist() for j, name in enumerate(NAMES)}
    for body in (
        {"items": by_name},
        {"items": by_place},
        {"ids": ids, "features": X.tolist()},
        {"ids": ids, "features": columns, "top": 7},
    ):
        answer = post(app, "/rank/trees?version=1", body)
        assert answer.status == 200, answer.json
        n = body.get("top", 50)
        assert [item["id"] for item in answer.json["items"]] == [ids[i] for i in order[:n]]
        assert [item["score"] for item in answer.json["items"]] == scores[order[:n]].tolist()


def test_ids_come_back_as_they_were(one, X):
    for ids in (list(range(10**12, 10**12 + 50)), [str(i) for i in range(50)]):
        items = post(one, "/rank", {"ids": ids, "features": X.tolist()}).json["items"]
        assert sorted(item["id"] for item in items) == sorted(ids)


def test_rank_explains(app, trees, linear, X):
    for name, ranker in (("trees", trees), ("linear", linear)):
        body = {"features": X.tolist(), "explain": True, "top": 5}
        items = post(app, f"/rank/{name}", body).json["items"]
        assert len(items) == 5
        for item in items:
            reason = item["explanation"]
            total = reason["base"] + reason["others"] + sum(part["contribution"] for part in reason["features"])
            assert math.isclose(total, item["score"], rel_tol=1e-5, abs_tol=1e-6)
            values = {part["feature"]: part["value"] for part in reason["features"]}
            assert values == dict(zip(NAMES, X[item["id"]].tolist(), strict=True))
        assert items[0]["score"] == ranker.predict(X).max()


def test_only_what_is_returned_is_explained(one, trees, monkeypatch):
    """And the contributions are those among all documents."""
    rows = np.random.default_rng(1).normal(size=(2_000, 4)).astype(np.float32)
    seen = []
    explain = TreeScorer.relative_contributions
    monkeypatch.setattr(
        TreeScorer,
        "relative_contributions",
        lambda scorer, X, around: seen.append(len(X)) or explain(scorer, X, around),
    )
    body = {"features": rows.tolist(), "explain": True, "top": 3}
    items = post(one, "/rank", body).json["items"]
    assert seen == [3]
    assert [item["id"] for item in items] == np.argsort(-trees.predict(rows), kind="stable")[:3].tolist()
    for item in items:
        reason = item["explanation"]
        total = reason["base"] + reason["others"] + sum(part["contribution"] for part in reason["features"])
        assert math.isclose(total, item["score"], rel_tol=1e-5)
        assert {part["feature"]: part["value"] for part in reason["features"]} == dict(
            zip(NAMES, rows[item["id"]].tolist(), strict=True)
        )
    assert post(one, "/rank", body | {"top": 101}).status == 400
    assert post(one, "/rank", {"features": rows[:100].tolist(), "explain": True, "top": 1_000}).status == 200


def test_an_explanation_ends_with_its_time(data, trees):
    """Where the form is exact, and where a document takes hundreds of scores of the whole list."""
    for ranker, method in ((trees, "trees"), (trees.with_exit((2, 3)), "sampling")):
        model = application({"m": ranker}).models.get()
        assert model.scoring.explain(data.X[:50], np.arange(1)).method == method
        late = Deadline(60)
        late.end()
        with time_limit(late.check), pytest.raises(RefusedError, match="within 60 seconds"):
            model.scoring.explain(data.X[:50], np.arange(1))


def test_long_lists_of_a_list_aware_model_are_scored_in_a_thread(data, monkeypatch):
    app, result = application({"m": pk.HedgeRanker(n_jobs=1).fit(data)}), []
    model = app.models.get()
    score = model.score
    monkeypatch.setattr(
        model, "score", lambda *a, **b: result.append(threading.current_thread().name) or score(*a, **b)
    )
    for n in (10, 600):
        assert post(app, "/score", np.zeros((n, 4), np.float32).tobytes(), content_type=RAW).status == 200
    assert result == ["MainThread", "plackett-serve"]


def test_lists_have_a_limit_where_the_model_looks_at_all_of_one(data, linear):
    """Each list by itself; a model that scores row by row, and an early exit, have none."""
    ranker = pk.HedgeRanker(n_jobs=1).fit(data)
    app = application({"whole": ranker, "rows": linear}, max_list=20)
    X = data.X[:60]
    tensors = tensor(X)["inputs"]
    for length in (20, 21):
        qid = {"name": "qid", "shape": [60], "datatype": "INT64", "data": [i // length for i in range(60)]}
        status = 200 if length == 20 else 413
        assert post(app, "/v2/models/whole/infer", {"inputs": [*tensors, qid]}).status == status
        assert post(app, "/rank/whole", {"features": X[:length].tolist()}).status == status
        assert post(app, "/score/whole", X[:length].tobytes(), content_type=RAW).status == status
        asked = {"dataframe_split": {"columns": [*NAMES, "qid"], "data": [[*row, "a"] for row in X[:length].tolist()]}}
        answer = post(app, "/invocations?model=whole", asked)
        assert answer.status == status
        for path in ("/score/whole", "/invocations?model=whole"):
            body = stream(pl.DataFrame(X[:length], schema=NAMES))
            assert post(app, path, body, content_type=ARROW).status == status
    assert "a list of 21 documents; whole looks at whole lists" in answer.json["error"]
    assert post(app, "/score/rows", X.tobytes(), content_type=RAW).status == 200


def test_relevance_of_calibrated_rankers(data, X):
    ranker = pk.ListNet(calibration="logistic", validation_fraction=0.3).fit(data)
    items = post(application({"m": ranker}), "/rank", {"features": X.tolist()}).json["items"]
    expected = np.sort(ranker.predict_relevance(X))[::-1]
    assert np.allclose([item["relevance"] for item in items], expected)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ([], "must be a JSON object"),
        ({}, "give items"),
        ({"items": [{"id": 1}]}, r"items\[0\] lacks features"),
        ({"items": [{"features": []}]}, r"items\[0\] lacks id"),
        ({"items": "x"}, "must be a list"),
        ({"items": [{"id": 1, "features": {"bm25": 1}}]}, "lacks the features 'age', 'clicks', 'price'"),
        ({"items": [{"id": 1, "features": {**dict.fromkeys(NAMES, 1), "x": 1}}]}, "has 'x', which"),
        ({"items": [{"id": 1, "features": [1, 2]}]}, r"items\[0\] has 2 numbers"),
        ({"items": [{"id": None, "features": [1, 2, 3, 4]}]}, "id of document 0"),
        ({"items": [{"id": True, "features": [1, 2, 3, 4]}]}, "id of document 0"),
        ({"ids": [1], "features": []}, "1 ids for 0"),
        ({"features": [[1, 2, 3, [4]]]}, "must be a number"),
        ({"features": [[1, 2, 3, 1e300]]}, "beyond single precision"),
        ({"features": [[1, 2, 3, 4]], "top": 0}, "top"),
        ({"features": [[1, 2, 3, 4]], "tpo": 1}, "the unknown key 'tpo'; did you mean top"),
        ({"features": [[1, 2, 3, 4]], "items": []}, "not both"),
        ({"items": [{"id": 1, "features": [1, 2, 3, 4], "boost": 2}]}, r"items\[0\] has the unknown key 'boost'"),
        ({"features": [[1, 2, 3, 4], [1, 2, 3, True]]}, r"features\[1\]\[3\] must be a number or null, not a boolean"),
        ({"items": [{"id": 1, "features": dict.fromkeys(NAMES, False)}]}, "not a boolean"),
        ({"features": [[1, 2, 3, 4]], "explain": 1}, "explain"),
        ({"features": [[1, 2, 3, 4]] * 101, "explain": True}, "at most 100"),
        (b'{"features": [[1, 2, 3, NaN]]}', "not JSON"),
        (b'{"features": [[1, 2, 3', "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_rank_refusals(one, body, reason):
    answer = post(one, "/rank", body)
    assert answer.status == 400
    assert re.search(reason, answer.json["error"]), answer.json
    assert "Traceback" not in answer.json["error"] and len(answer.json["error"]) < 500


def test_one_document_is_explained_against_training(app, trees, linear, data):
    """Weight times the distance from the mean of training, which the deciles give roughly; in a list, the same."""
    x = np.array([[3.0, 0.0, 0.0, 0.0]], np.float32)
    for name, ranker in (("trees", trees), ("linear", linear)):
        answer = post(app, f"/rank/{name}", {"features": x.tolist(), "explain": True}).json["items"][0]
        reason = answer["explanation"]
        parts = {part["feature"]: part["contribution"] for part in reason["features"]}
        assert reason["relative_to"] == "training"
        assert np.isclose(reason["base"] + sum(parts.values()) + reason["others"], ranker.predict(x)[0])
        rows = [*x.tolist(), [0.0, 2.0, 1.0, 1.0]]
        both = post(app, f"/rank/{name}", {"features": rows, "explain": True}).json["items"]
        assert next(item for item in both if item["id"] == 0)["explanation"] == reason
    weight = float(linear.scorer_.weights[0, 0])
    assert np.isclose(parts["bm25"], weight * (3 - data.X[:, 0].mean()), rtol=0.05)


def test_nothing_to_rank(one):
    assert post(one, "/rank", {"items": []}).json["items"] == []
    assert post(one, "/rank", {"items": [], "explain": True}).json["items"] == []


def test_missing_values(app, X, trees):
    rows = X[:3].astype(object)
    rows[1, 2] = None
    answer = post(app, "/rank/trees", {"features": rows.tolist()})
    expected = trees.predict(np.array(rows, np.float32))
    assert sorted(item["score"] for item in answer.json["items"]) == sorted(expected)
    answer = post(app, "/rank/linear", {"features": rows.tolist()})
    assert answer.status == 400 and "'clicks' of document 1 is missing" in answer.json["error"]


# --------------------------------------------------------------------------------------------------------------- score


def stream(frame):
    table = frame.to_arrow() if hasattr(frame, "to_arrow") else frame
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def test_raw_scores(one, X, scores):
    answer = post(one, "/score", X.tobytes(), content_type="application/octet-stream")
    assert np.array_equal(np.frombuffer(answer.body, "<f8"), scores)
    assert post(one, "/score/trees", b"", content_type="application/octet-stream").body == b""
    answer = post(one, "/score", X.tobytes()[:-1], content_type="application/octet-stream")
    assert answer.status == 400 and "799 bytes" in answer.json["error"]
    bad = X.copy()
    bad[7, 1] = np.inf
    answer = post(one, "/score", bad.tobytes(), content_type="application/octet-stream")
    assert answer.status == 400 and "'age' of document 7 is infinite" in answer.json["error"]


def test_arrow_scores(one, X, scores):
    frame = pl.DataFrame(X, schema=NAMES).select("price", *NAMES[:3]).with_columns(sku=pl.Series(range(50)).cast(str))
    answer = post(one, "/score", stream(frame), content_type=ARROW)
    result = pl.DataFrame(pa.ipc.open_stream(answer.body).read_all())
    assert result.columns == ["sku", "score"] and result["score"].to_list() == scores.tolist()
    answer = post(one, "/score", stream(frame.drop("age")), content_type=ARROW)
    assert answer.status == 400 and "'age'" in answer.json["error"]
    answer = post(one, "/score", stream(frame.with_columns(age=pl.lit("old"))), content_type=ARROW)
    assert answer.status == 400 and "'age' is of type" in answer.json["error"]
    whole = stream(frame)
    for body in (b"", b"x" * 50, whole[:300], whole[:100] + b"\xff" * 40 + whole[140:]):
        answer = post(one, "/score", body, content_type=ARROW)
        assert answer.status in (200, 400)
        assert answer.status == 400 or body not in (b"", b"x" * 50, whole[:300])


def test_other_content_is_refused(one):
    for kind in ("application/json", "text/html", ""):
        assert post(one, "/score", b"{}", content_type=kind).status == 415
    assert post(one, "/invocations", b"{}", content_type="text/html").status == 415


# --------------------------------------------------------------------------------------------- lists, categories, steps


def test_lists_and_pipelines(data, X):
    """A pipeline that normalises by query must see which list a document belongs to."""
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(pk.QueryNormalizer(), pk.ListNet()).fit(data.X, data.y, qid=data.qid)
        app = application({"m": model})
        qid = np.arange(50) // 10
        body = {"inputs": {"qid": qid.tolist(), "x": X.tolist()}}
        expected = model.predict(X, qid=qid)
        assert np.allclose(post(app, "/invocations", body).json["predictions"], expected, rtol=1e-12)
        two = {"name": "qid", "shape": [50], "datatype": "BYTES", "data": [f"q{i}" for i in qid]}
        result = post(app, "/v2/models/m/infer", {"inputs": [*tensor(X)["inputs"], two]})
        assert np.allclose(result.json["outputs"][0]["data"], expected, rtol=1e-12)
        one_list = post(app, "/rank", {"features": X.tolist()}).json["items"]
        assert np.allclose(one_list[0]["score"], model.predict(X, qid=np.zeros(50, int)).max())
        explained = post(app, "/rank", {"features": X.tolist(), "explain": True, "top": 3})
        assert explained.status == 200


def test_categories_by_name():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 300)
    frame = pl.DataFrame(
        {"qid": np.arange(300) // 15, "size": rng.normal(size=300), "colour": pl.Series(colour).cast(pl.Categorical)}
    )
    ranker = pk.LambdaMART(n_estimators=5, min_child_samples=5, n_jobs=1).fit(frame, (colour == "red").astype(int))
    app = application({"m": ranker})
    rows = [{"size": 0.5, "colour": value} for value in ("blue", "red", "pink", None)]
    answer = post(app, "/rank", {"items": [{"id": i, "features": row} for i, row in enumerate(rows)]})
    assert answer.status == 200, answer.json
    expected = ranker.predict(pl.DataFrame(rows).cast({"colour": pl.Categorical}))
    assert {item["id"]: item["score"] for item in answer.json["items"]} == dict(enumerate(expected.tolist()))
    assert answer.json["items"][0]["id"] == 1


@pytest.mark.parametrize("kind", ["trees", "line"])
def test_pipelines_of_ours_are_scored_without_their_checks(kind, data, monkeypatch):
    """Bit for bit what the pipeline gives, and without going through it."""
    X = data.X.copy()
    X[::5, 1] = np.nan
    last = pk.LambdaMART(n_estimators=5, n_jobs=1) if kind == "trees" else pk.ListNet(n_jobs=1)
    with sklearn.config_context(enable_metadata_routing=True):
        for steps in ((pk.Imputer(),), (pk.QueryNormalizer("zscore"), pk.Imputer(add_indicator=True))):
            pipeline = make_pipeline(*steps, last).fit(X, data.y, qid=data.qid)
            expected = pipeline.predict(X[:30], qid=np.zeros(30))
            app = application({"m": pipeline})
            served = app.models.get()
            monkeypatch.setattr(served.scoring, "model", None)
            assert np.array_equal(served.score(X[:30].copy()), expected)
    normaliser = make_pipeline(pk.QueryNormalizer(), pk.ListNet(n_jobs=1))
    with sklearn.config_context(enable_metadata_routing=True):
        app = application({"m": normaliser.fit(data.X, data.y, qid=data.qid)})
    answer = post(app, "/score", X[:30].tobytes(), content_type="application/octet-stream")
    assert answer.status == 400 and "of document 0 is missing" in answer.json["error"]


# --------------------------------------------------------------------------------------------------------- early exits


def test_a_request_decides_on_the_early_exit(trees, X):
    """Every protocol can ask for all trees; a model without an exit refuses to be asked for one."""
    exiting = trees.with_exit((2, 3))
    app = application({"fast": exiting, "full": trees})
    fast, full = exiting.predict(X, qid=np.zeros(50, int)), trees.predict(X)
    assert not np.array_equal(fast, full)
    raw = {"content_type": "application/octet-stream"}
    asked: list[tuple[str, str, object, dict[str, str]]] = [
        ("/rank/{}", "body", {"ids": list(range(50)), "features": X.tolist()}, {}),
        ("/v2/models/{}/infer", "parameters", tensor(X), {}),
        ("/invocations?model={}", "address", {"instances": X.tolist()}, {}),
        ("/score/{}", "address", X.tobytes(), raw),
    ]
    for path, where, body, headers in asked:

        def scored(name, exit=None, path=path, where=where, body=body, headers=headers):
            if exit is not None and where == "address":
                path += f"{'&' if '?' in path else '?'}exit={json.dumps(exit)}"
            elif exit is not None:
                body = body | ({"exit": exit} if where == "body" else {"parameters": {"exit": exit}})
            return post(app, path.format(name), body, **headers)

        def values(answer, path=path):
            assert answer.status == 200, answer.body
            if path.startswith("/score"):
                return np.frombuffer(answer.body)
            if path.startswith("/rank"):
                result = {item["id"]: item["score"] for item in answer.json["items"]}
                return np.array([result[i] for i in range(50)])
            result = answer.json
            return np.array(result["predictions"] if "predictions" in result else result["outputs"][0]["data"])

        for name, exit, expected in (
            ("fast", None, fast),
            ("fast", True, fast),
            ("fast", False, full),
            ("full", False, full),
        ):
            np.testing.assert_array_equal(values(scored(name, exit)), expected)
        refused = scored("full", True)
        assert refused.status == 400 and "full has no early exit" in refused.json["error"]
        wrong = scored("fast", "no")
        assert wrong.status == 400 and "must be true or false" in wrong.json["error"]
