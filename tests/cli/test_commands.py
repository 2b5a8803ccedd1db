"""Every command, run as a user runs it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.main import get_command

import plackett as pk
from plackett import cli
from plackett.cli.app import app
from plackett.data.scores import read_scores
from plackett.rankers import storage


@pytest.fixture
def folder(tmp_path):
    """Training, validation and test data as LETOR text, the rows of a query apart from each other."""
    rng = np.random.default_rng(0)
    for name, queries in (("train", 20), ("valid", 8), ("test", 6)):
        qid = rng.permutation(np.repeat(np.arange(queries), 8))
        X = rng.normal(size=(qid.size, 3)).round(3)
        y = np.digitize(X[:, 0] - X[:, 1], [-0.5, 1]).astype(int)
        lines = [
            f"{label} qid:{q} " + " ".join(f"{j}:{v}" for j, v in enumerate(row, 1)) + f" #docid = d{i}"
            for i, (label, q, row) in enumerate(zip(y, qid, X, strict=True))
        ]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def train(run, folder, *more, algorithm="LambdaMART"):
    parameters = ("-p", "n_estimators=4", "-p", "min_child_samples=1", "-p", "n_jobs=1")
    return run("train", algorithm, folder / "train.txt", "--out", folder / "m.plackett", *parameters, *more)


def test_version_and_misuse(run):
    assert run("--version")[:2] == (0, f"{pk.__version__}\n")
    assert run("no-such-command")[0] == 2


def test_list(run):
    code, out, _ = run("list", "--kind", "ranker", "--json")
    result = {entry["name"]: entry for entry in json.loads(out)}
    assert code == 0 and result["LambdaMART"]["module"] == "plackett.rankers.pairwise.lambdamart"
    code, out, _ = run("list", "--kind", "measure")
    assert code == 0 and "nDCG" in out
    code, _, err = run("list", "--kind", "zzz")
    assert code == 2 and "ranker" in err


def test_info_and_convert(run, folder):
    code, out, _ = run("info", folder / "train.txt", "--json")
    facts = json.loads(out)
    assert code == 0 and (facts["n_queries"], facts["n_rows"], facts["n_features"]) == (20, 160, 3)
    code, out, _ = run("convert", folder / "train.txt", folder / "train.plackett")
    assert code == 0 and "20 queries, 160 documents, 3 features" in out
    code, out, _ = run("info", folder / "train.plackett")
    assert code == 0 and "160" in out
    assert run("convert", folder / "train.txt", folder / "train.plackett")[0] == 2
    assert run("convert", folder / "train.txt", folder / "train.plackett", "--force")[0] == 0
    code, _, err = run("info", folder / "missing.txt")
    assert code == 1 and "missing.txt" in err and "Traceback" not in err


def test_train_and_predict(run, folder):
    code, out, _ = train(run, folder, "--valid", folder / "valid.txt", "--json")
    card = json.loads(out)
    assert code == 0 and card["algorithm"] == "LambdaMART" and len(card["history"]) == 4
    assert card["validation"]["value"] == max(card["history"]) > 0.8
    code, out, _ = run("predict", folder / "m.plackett", folder / "test.txt", "--out", "-")
    assert code == 0
    data = pk.read_letor(folder / "test.txt")
    expected = data.to_input_order(storage.load(folder / "m.plackett").predict(data))
    assert [float(line) for line in out.split()] == expected.tolist()
    code, out, _ = run(
        "predict", folder / "m.plackett", folder / "test.txt", "--out", folder / "s.txt", "--run", folder / "r.run"
    )
    assert code == 0 and "s.txt: 48 scores, in the order of" in out and "r.run: 48 documents of 6 queries" in out
    np.testing.assert_array_equal(read_scores(folder / "s.txt"), expected)
    by_document = dict(pk.read_run(folder / "r.run").select("docid", "score").rows())
    assert by_document == {f"d{i}": score for i, score in enumerate(expected)}


def test_train_is_the_library_call(run, folder):
    assert train(run, folder, "--seed", 5, algorithm="lambdamart")[0] == 0
    data = pk.read_letor(folder / "train.txt")
    ranker = pk.rankers.LambdaMART(n_estimators=4, min_child_samples=1, n_jobs=1, random_state=5).fit(data)
    loaded = storage.load(folder / "m.plackett")
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))
    assert loaded.get_params() == ranker.get_params()


def test_info_of_a_model(run, folder):
    train(run, folder, "--valid", folder / "valid.txt")
    code, out, _ = run("info", folder / "m.plackett")
    assert code == 0 and "LambdaMART" in out and "20 queries" in out and "nDCG@10" in out and "n_estimators" in out
    assert re.search("chosen for the data +num_leaves=", out)
    code, out, _ = run("info", folder / "m.plackett", "--json")
    assert json.loads(out)["card"]["data"]["rows"] == 160


def test_info_shows_parameters_as_in_python(run, folder, tmp_path):
    data = pk.read_letor(folder / "train.txt")
    members = (pk.MART(n_estimators=2, n_jobs=1), pk.LinearRegression())
    pk.Blend(members=members, weights=(0.75, 0.25)).fit(data, eval_set=data).save(tmp_path / "blend.plackett")
    code, out, _ = run("info", tmp_path / "blend.plackett")
    told = " ".join(out.split())
    assert code == 0 and "members (MART(n_estimators=2, n_jobs=1), LinearRegression())" in told
    assert "weights (0.75, 0.25)" in told and "tuple" not in told
    pk.AutoRanker(candidates=members, n_trials=2, n_folds=2, n_repeats=1).fit(data, eval_set=data).save(
        tmp_path / "auto.plackett"
    )
    assert "in round 1 of 1" not in run("info", tmp_path / "auto.plackett")[1]


def test_train_refusals(run, folder):
    for arguments, match in (
        ((), "did you mean LambdaMART"),
        (("-p", "n_trees=3"), "n_estimators"),
        (("-p", "n_estimators"), "name=value"),
        (("-p", "n_estimators=many"), "give a whole number such as 100"),
        (("-p", "verbose=3"), "give True or False"),
    ):
        code, _, err = train(run, folder, *arguments, algorithm="LambdaMART" if arguments else "LamdaMart")
        assert code == 2 and match in " ".join(err.replace("│", " ").split())
    code, _, err = run("train", "LambdaMART", folder / "train.txt", "--out", folder / "no" / "m.plackett")
    assert code == 2
    for arguments, match in (
        (("-p", "early_stopping_rounds=3"), "validation data"),
        (("-p", "measure=nDCX"), "nDCX"),
        (("-p", "boosting=magic"), "boosting='magic'"),
    ):
        code, _, err = train(run, folder, *arguments)
        assert code == 1 and match in err and "Traceback" not in err
    assert not (folder / "m.plackett").exists()
    assert train(run, folder)[0] == 0
    before = (folder / "m.plackett").read_bytes()
    code, _, err = train(run, folder)
    assert code == 2 and "--force" in err and (folder / "m.plackett").read_bytes() == before
    assert train(run, folder, "--force", "-p", "num_leaves=2")[0] == 0
    assert (folder / "m.plackett").read_bytes() != before


def test_predict_refusals(run, folder):
    train(run, folder)
    code, _, err = run("predict", folder / "m.plackett", folder / "test.txt")
    assert code == 2 and "--out" in err
    run("convert", folder / "test.txt", folder / "test.plackett")
    code, _, err = run("predict", folder / "test.plackett", folder / "test.txt", "--out", "-")
    assert code == 1 and "holds a dataset, not a model" in err
    (folder / "wide.txt").write_text("1 qid:1 1:0.5 9:1\n")
    code, _, err = run("predict", folder / "m.plackett", folder / "wide.txt", "--out", "-")
    assert code == 1 and "9" in err and "Traceback" not in err
    (folder / "narrow.txt").write_text("1 qid:1 1:0.5\n")  # features that are 0 need not be named
    assert run("predict", folder / "m.plackett", folder / "narrow.txt", "--out", "-")[0] == 0


def test_evaluate(run, folder):
    train(run, folder)
    run("predict", folder / "m.plackett", folder / "test.txt", "--out", folder / "s.txt", "--run", folder / "r.run")
    code, out, _ = run("evaluate", folder / "test.txt", folder / "s.txt", "-m", "nDCG@5", "-m", "AP", "--json")
    result = json.loads(out)
    data = pk.read_letor(folder / "test.txt")
    expected = pk.evaluate(data, storage.load(folder / "m.plackett").predict(data), ["nDCG@5", "AP"]).mean
    assert code == 0 and result["queries"] == 6 and result["mean"] == expected
    pk.write_qrels(data.to_polars(), folder / "test.qrels")
    code, out, _ = run(
        "evaluate", "--qrels", folder / "test.qrels", "--run", folder / "r.run", "-m", "nDCG@5", "--json"
    )
    assert code == 0 and json.loads(out)["mean"]["nDCG@5"] == pytest.approx(expected["nDCG@5"], rel=1e-12)
    code, _, err = run("evaluate", folder / "train.txt", folder / "s.txt")
    assert code == 1 and "48" in err and "160" in err
    assert run("evaluate", folder / "test.txt")[0] == 2
    code, _, err = run("evaluate", folder / "test.txt", folder / "s.txt", "-m", "nDCQ")
    assert code == 2 and "nDCQ" in err


def test_compare_runs(run, folder):
    for name, leaves in (("a", 2), ("b", 8)):
        train(run, folder, "--force", "-p", f"num_leaves={leaves}")
        run("predict", folder / "m.plackett", folder / "test.txt", "--out", folder / f"{name}.txt")
    files = (folder / "a.txt", folder / "b.txt")
    code, out, _ = run("compare-runs", *files, "--data", folder / "test.txt", "-m", "nDCG@5", "--json")
    assert code == 0 and json.loads(out)
    code, out, _ = run("compare-runs", *files, "--data", folder / "test.txt", "--format", "markdown")
    assert code == 0 and "|" in out
    code, out, _ = run("compare-runs", *files, "--data", folder / "test.txt", "-m", "nDCG@5")
    assert code == 0 and "95% interval" in out and "win/tie/loss" in out and "In brackets: 95% confidence" in out
    wins = re.search(r"a − b.* (\d+)/(\d+)/(\d+)", out)
    assert sum(map(int, wins.groups())) == 6
    code, out, _ = run("compare-runs", *files, "--data", folder / "test.txt", "-m", "nDCG@5", "--baseline", "b")
    assert code == 0 and "Compared with b only" in out
    assert run("compare-runs", files[0], "--data", folder / "test.txt")[0] == 2
    assert run("compare-runs", *files)[0] == 2


def test_info_says_what_a_run_and_judgements_are(run, tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 2.5 tag\nq2 Q0 d1 1 0.5 tag\n")
    (tmp_path / "a.txt").write_text("# judged\nq1 0 d1 1\nq1 0 d2 0\nq2 0 d1 2\n")
    (tmp_path / "div.qrels").write_text("1 1 d1 1\n1 2 d1 0\n1 2 d2 3\n")
    code, out, _ = run("info", tmp_path / "a.run", "--json")
    assert code == 0 and json.loads(out) == {
        "kind": "run", "queries": 2, "lines": 3, "fewest_documents": 1, "most_documents": 2, "least_score": 0.5,
        "largest_score": 2.5, "queries_with_ties": 1,
    }  # fmt: skip
    code, out, _ = run("info", tmp_path / "a.txt")
    assert code == 0 and "TREC judgements" in out and "0: 1, 1: 1, 2: 1" in out
    assert json.loads(run("info", tmp_path / "div.qrels", "--json")[1])["subtopics"] == 2


def test_output_that_cannot_encode_everything(tmp_path, monkeypatch):
    """A run that is significantly better has a raised letter, which these encodings do not have."""
    qrels = [f"q{q} 0 d{d} {int(d == 0)}" for q in range(12) for d in range(3)]
    for name, sign in (("good", -1), ("bad", 1)):
        lines = [f"q{q} Q0 d{d} 0 {sign * d} tag" for q in range(12) for d in range(3)]
        (tmp_path / f"{name}.run").write_text("\n".join(lines))
    (tmp_path / "qrels").write_text("\n".join(qrels))
    arguments = ["compare-runs", "good.run", "bad.run", "--qrels", "qrels", "-m", "nDCG@3"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["plackett", *arguments])

    def here(encoding):
        stream = io.TextIOWrapper(io.BytesIO(), encoding, errors="strict")
        with contextlib.redirect_stdout(stream), pytest.raises(SystemExit) as ended:
            cli.run()
        stream.flush()
        return ended.value.code or 0, stream.buffer.getvalue()

    def in_a_process(encoding):
        code = [sys.executable, "-c", "from plackett.cli import main; main()", *arguments]
        done = subprocess.run(code, capture_output=True, env=os.environ | {"PYTHONIOENCODING": encoding}, check=False)
        return done.returncode, done.stdout

    for run, encoding in ((here, "latin-1"), (here, "cp1252"), (in_a_process, "ascii")):
        code, written = run(encoding)
        out = written.decode(encoding)
        assert code == 0 and "1.0000 [1.0000, 1.0000]b" in out and "p <= 0.05" in out and "?" not in out, encoding


def test_installed_program(folder):
    """The console script in a process of its own: output on stdout, errors in one line on stderr, exit codes."""
    code = "from plackett.cli import main; main()"
    out = subprocess.run([sys.executable, "-c", code, "info", folder / "none.txt"], capture_output=True, text=True)
    assert out.returncode == 1 and out.stderr.startswith("error: ") and out.stderr.count("\n") == 1 and not out.stdout


def test_convert_streams_large_text(run, folder, monkeypatch):
    """Rows that stand together are converted part by part; others are read as a whole."""
    from plackett.cli import convert

    monkeypatch.setattr(convert, "LARGE", 0)
    pk.write_letor(pk.read_letor(folder / "train.txt"), folder / "grouped.txt")
    for name in ("train", "grouped"):
        code, out, _ = run("convert", folder / f"{name}.txt", folder / f"{name}.plackett")
        assert code == 0 and "20 queries, 160 documents, 3 features" in out
        result, expected = pk.load(folder / f"{name}.plackett"), pk.read_letor(folder / f"{name}.txt")
        assert np.array_equal(result.X, expected.X) and np.array_equal(result.y, expected.y)
        assert result.qids.tolist() == expected.qids.tolist()


def test_convert_streams_columns_of_queries(run, folder, monkeypatch):
    from plackett.cli import convert, reading

    monkeypatch.setattr(convert, "LARGE", 0)
    (folder / "a.csv").write_text("qid,label,x,words\n1,0,2,3\n1,1,2,3\n2,1,2,5\n")
    (folder / "queries.csv").write_text("qid,words\n1,3\n2,5\n")
    whole = run("convert", folder / "a.csv", folder / "whole.plackett", "--drop", "words", "--query-features",
                folder / "queries.csv")  # fmt: skip
    monkeypatch.setattr(reading, "read", lambda *_, **__: pytest.fail("read as a whole"))
    parts = run("convert", folder / "a.csv", folder / "parts.plackett", "--query-features", "words")
    assert whole[0] == parts[0] == 0
    for name in ("whole", "parts"):
        assert pk.load(folder / f"{name}.plackett").query_features.tolist() == [[3], [5]]


def test_convert_does_not_read_a_bad_large_file_as_a_whole(run, folder, monkeypatch):
    from plackett.cli import convert, reading

    monkeypatch.setattr(convert, "LARGE", 0)
    monkeypatch.setattr(reading, "read", lambda *_, **__: pytest.fail("read as a whole"))
    (folder / "bad.txt").write_text("1 qid:1 1:2\n0 qid:1 1:x\n")
    (folder / "bad.csv").write_text("qid,label,x\n1,0,2\n1,,2\n")
    for name, where in (("bad.txt", "line 2, column 11"), ("bad.csv", "line 3, column 'label'")):
        code, _, err = run("convert", folder / name, folder / "bad.plackett")
        assert code == 1 and where in err
        assert not (folder / "bad.plackett").exists()


def test_an_output_is_no_other_file_of_the_command(run, folder):
    before = (folder / "train.txt").read_bytes()
    (folder / "link.txt").symlink_to("train.txt")
    for out in ("train.txt", "link.txt"):
        code, _, err = run("train", "ListNet", folder / "train.txt", "--out", folder / out, "--force")
        assert code == 2
        assert "another file" in " ".join(err.replace("│", " ").split())
    train(run, folder)
    both = folder / "both"
    assert run("predict", folder / "m.plackett", folder / "test.txt", "--out", both, "--run", both)[0] == 2
    assert not both.exists()
    assert (folder / "train.txt").read_bytes() == before


def test_help_has_no_brackets():
    """Typer takes a word in brackets for markup, and leaves it out."""

    def texts(command):
        yield command.help or ""
        for parameter in command.params:
            yield getattr(parameter, "help", None) or ""
        for each in getattr(command, "commands", {}).values():
            yield from texts(each)

    assert [text for text in texts(get_command(app)) if "[" in text] == []


def test_only_the_command_that_runs_is_imported():
    code = """
import sys
from plackett.cli import main
sys.argv[1:] = ["info", "--help"]
try:
    main()
except SystemExit:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = done.stderr.split()
    assert "plackett.cli.info" in modules and "plackett.cli.train" not in modules


@pytest.mark.parametrize("command", [["evaluate", "{}", "{}"], ["train", "ListNet", "{}", "--out", "m.plackett"]])
def test_data_without_labels_are_named(command, run, tmp_path):
    path = tmp_path / "unjudged.plackett"
    pk.write(pk.RankingDataset.from_arrays([[1.0], [2.0]], None, [1, 1]), path)
    code, _, err = run(*(part.format(path) for part in command))
    assert code == 1
    assert f"{path}: the dataset has no labels, which this command needs" in " ".join(err.split())


def test_train_with_swapped_arguments(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.1\n")
    code, _, error = run("train", "train.txt", "LambdaMART", "--out", "model.plackett")
    assert code == 2
    assert "'train.txt' is a file, not a ranker: name the ranker" in " ".join(error.replace("│", "").split())


def test_text_without_queries_proposes_what_the_command_line_has(run, tmp_path):
    (tmp_path / "train.txt").write_text("1 1:0.5\n0 1:0.1\n")
    _, _, error = run("info", tmp_path / "train.txt")
    assert "write qid:id after every label" in error
    assert "group=" not in error
