"""Tables on the command line: columns by name, tables without labels, what was taken for what; and files to write."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett.cli import main
from plackett.cli.app import ALIASES, COMMANDS


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs ``plackett`` in this process: exit code, stdout, stderr."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["plackett", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        return ended.value.code or 0, out, " ".join(err.replace("│", " ").split())

    return call


@pytest.fixture
def shop(tmp_path):
    """A table as a shop has it: odd names, a text column, a product number."""
    rng = np.random.default_rng(0)
    n = 40
    frame = pl.DataFrame(
        {
            "Search Term": [f"q{i % 8}" for i in range(n)],
            "title": ["a"] * n,
            "sku": rng.permutation(n),
            "price": rng.random(n),
            "clicks": rng.random(n),
            "stars": rng.integers(0, 3, n),
            "w": rng.random(n) + 0.5,
        }
    )
    frame.write_csv(tmp_path / "train.csv")
    frame.drop("stars").select("clicks", "Search Term", "price", "title").write_parquet(tmp_path / "new.parquet")
    return tmp_path


NAMES = ("--qid", "Search Term", "--label", "stars", "--docid", "sku", "--weight", "w", "--drop", "title")


def test_columns_are_named_and_shown(run, shop):
    code, out, err = run("info", shop / "train.csv", *NAMES, "--json")
    assert code == 0 and (json.loads(out)["n_queries"], json.loads(out)["n_features"]) == (8, 2)
    assert (
        "train.csv: qid = Search Term, label = stars, docid = sku, sample_weight = w; 2 features: price, clicks" in err
    )
    code, _, err = run("train", "ListNet", shop / "train.csv", *NAMES[:4], "--out", shop / "m.plackett")
    assert code == 1 and "column 'title' is String" in err and "'a' is not a number" in err and "--drop 'title'" in err
    code, _, err = run("info", shop / "train.csv", "--qid", "Serch Term")
    assert code == 1 and "no column 'Serch Term' for qid; did you mean Search Term?" in err


def test_scoring_needs_no_labels_and_takes_features_by_name(run, shop):
    code, out, err = run("train", "LinearRegression", shop / "train.csv", *NAMES, "--out", shop / "m.plackett")
    assert code == 0 and "trained on 8 queries, 40 documents, 2 features" in out, err
    code, out, _ = run("predict", shop / "m.plackett", shop / "new.parquet", "--qid", "Search Term", "--out", "-")
    frame = pl.read_csv(shop / "train.csv")
    expected = pk.load(shop / "m.plackett").predict(frame.select("price", "clicks").to_numpy())
    assert code == 0
    np.testing.assert_allclose([float(line) for line in out.split()], expected)
    frame.select("Search Term", "price").write_csv(shop / "less.csv")
    code, _, err = run("predict", shop / "m.plackett", shop / "less.csv", "--qid", "Search Term", "--out", "-")
    assert code == 1 and "there is no column 'clicks'" in err
    code, _, err = run("evaluate", shop / "new.parquet", shop / "less.csv", "--qid", "Search Term", "--drop", "title")
    assert code == 1 and "there is no column 'label'" in err


def test_every_command_that_reads_tables_takes_the_same_options(run):
    for name in ("info", "convert", "train", "predict", "explain", "evaluate", "experiment", "study"):
        _, out, _ = run(name, "--help")
        for option in ("--qid", "--label", "--docid", "--weight", "--features", "--drop"):
            assert option in out, (name, option)


def test_columns_of_what_has_none(run, shop):
    (shop / "a.txt").write_text("1 qid:1 1:0.5\n")
    code, _, err = run("info", shop / "a.txt", "--qid", "query")
    assert code == 1 and "qid names a column of a table" in err and "LETOR text" in err


def test_numbers_that_look_like_ids(run, shop, recwarn):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        frame = pl.read_csv(shop / "train.csv").rename({"sku": "brand_id"})
        frame.write_csv(shop / "ids.csv")
        code, _, err = run("info", shop / "ids.csv", "--qid", "Search Term", "--label", "stars", "--drop", "title")
    assert code == 0 and "warning: 'brand_id': whole numbers that look like ids" in err and "--drop brand_id" in err


def test_nothing_is_overwritten_without_force(run, shop):
    data = pk.datasets.make_ranking(4, 5, 2, random_state=0)
    pk.write(data, shop / "d.plackett")
    model = shop / "m.plackett"
    pk.LinearRegression().fit(data).save(model)
    for name in ("s.txt", "r.run", "q.csv", "study.md"):
        (shop / name).write_text("0.5\n" * 20 if name == "s.txt" else "mine")
    for words, option in (
        (("predict", model, shop / "d.plackett", "--out", shop / "s.txt"), "--out"),
        (("predict", model, shop / "d.plackett", "--run", shop / "r.run"), "--run"),
        (("evaluate", shop / "d.plackett", shop / "s.txt", "--per-query", shop / "q.csv"), "--per-query"),
        (("convert", shop / "d.plackett", model), "TARGET"),
        (("convert-model", model, model), "TARGET"),
        (("study", "push-and-owa", "--out", shop / "study.md"), "--out"),
    ):
        code, _, err = run(*words)
        assert code == 2 and option in err and "pass --force to overwrite it" in err, words
    assert (shop / "r.run").read_text() == "mine" == (shop / "q.csv").read_text()
    assert run("evaluate", shop / "d.plackett", shop / "s.txt", "--per-query", shop / "q.csv", "-f")[0] == 0
    assert run("predict", model, shop / "d.plackett", "--run", shop / "r.run", "--force")[0] == 0
    assert "mine" not in (shop / "r.run").read_text() + (shop / "q.csv").read_text()


def test_former_names_work_and_are_not_shown(run):
    assert ALIASES == {"compare": "experiment"} and "experiment" in COMMANDS
    words = run("--help")[1].replace("│", "\n").split("\n")
    shown = {line.split()[0] for line in words if line[:1] == " " and line.strip() and line[1:2] != " "}
    assert "experiment" in shown and "compare" not in shown
    code, out, _ = run("compare", "--help")
    assert code == 0 and "--algorithm" in out and "--fresh" in out


def test_list_shows_sentences(run):
    _, out, _ = run("list", "--kind", "ranker")
    assert "listwise." not in out and "pairwise." not in out and "boosting over queries" in out
    _, out, _ = run("list", "--kind", "ranker", "--ids")
    assert "plackett.rankers.listwise.adarank" in out
    code, _, err = run("list", "--kind", "rankers")
    assert code == 2 and "did you mean ranker?" in err


def test_train_with_parameters_in_the_name(run, shop):
    data = shop / "d.plackett"
    pk.write(pk.datasets.make_ranking(6, 5, 2, random_state=0), data)
    words = ("train", "lambda_mart(num_leaves=3, n_estimators=2)", data, "--out", shop / "m.plackett")
    words += "-p", "n_jobs=1", "-p", "min_child_samples=1"
    code, out, _ = run(*words)
    assert code == 0 and "num_leaves=3" in out and out.count("\n") == 3
    assert pk.load(shop / "m.plackett").get_params()["num_leaves"] == 3
    code, out, _ = run(*words, "--force", "--verbose")
    assert code == 0 and "min_child_samples" in out
    code, _, err = run("train", "LambdaMART", data, "--out", shop / "n.plackett", "-p", "num_leafs=3")
    assert code == 2 and "has no parameter 'num_leafs'; did you mean num_leaves" in err and "n_estimators" not in err
    code, _, err = run("train", "LambdaMART(num_leafs=3)", data, "--out", shop / "n.plackett")
    assert code == 2 and "did you mean num_leaves" in err
    code, _, err = run("train", "sklearn.linear_model.Ridge", data, "--out", shop / "n.plackett")
    assert code == 2 and "another library" in err


def test_interrupted_training(run, shop, monkeypatch):
    """After a round the model is kept and saved; before, nothing is. Either way the shell sees Ctrl-C."""
    from plackett.solvers.monitor import Monitor

    data, update = shop / "d.plackett", Monitor.update
    pk.write(pk.datasets.make_ranking(6, 5, 2, random_state=0), data)

    def stop_after(rounds):
        def stopping(self, *args):
            if self.n_rounds == rounds:
                raise KeyboardInterrupt
            return update(self, *args)

        monkeypatch.setattr(Monitor, "update", stopping)

    words = ("train", "AdaRank", data, "--out", shop / "m.plackett")
    stop_after(0)
    code, out, err = run(*words)
    assert (code, out) == (130, "") and "m.plackett was not written" in err and not (shop / "m.plackett").exists()
    stop_after(2)
    code, out, err = run(*words)
    assert code == 130 and "the model so far was saved to" in err and "AdaRank" in out
    assert pk.load(shop / "m.plackett").card_["interrupted"]
    monkeypatch.setattr("plackett.cli.reading.read", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run("info", data)[0] == 130


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_closed_streams(closed):
    code = "import sys; from plackett.cli import main; main()"
    descriptor = {"stdout": 1, "stderr": 2}[closed]
    command = f'exec {descriptor}>&-; exec "$0" -c "{code}" list --kind model'
    found = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, text=True)
    assert found.returncode == 0 and "Traceback" not in found.stderr
    assert ("Linear" in found.stdout) == (closed == "stderr")


def test_long_studies_say_that_they_are_running(monkeypatch, capfd):
    import time

    from plackett.cli import messages

    monkeypatch.setattr(messages, "PATIENCE", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with messages.waiting("listnet-curve"):
        time.sleep(0.3)
    assert "listnet-curve" in capfd.readouterr().err


def test_fresh_cells(run, shop):
    data, out = shop / "d.plackett", shop / "out"
    pk.write(pk.datasets.make_ranking(9, 5, 2, random_state=0), data)
    words = {"folds": 3, "search": None, "n_jobs": 1, "out": out}

    def stamps():
        return {
            path.name: path.stat().st_mtime_ns
            for path in (out / "cells").glob("*.plackett")
            if "model" not in path.name
        }

    pk.experiment(pk.read(data), ["LinearRegression"], "AP", **words)
    before = stamps()
    pk.experiment(pk.read(data), ["LinearRegression"], "AP", **words)
    assert stamps() == before
    pk.experiment(pk.read(data), ["LinearRegression"], "AP", fresh=True, **words)
    after = stamps()
    assert after.keys() == before.keys() and all(after[name] > before[name] for name in before)


def test_a_missing_label_is_an_error_and_never_a_feature(run, tmp_path):
    (tmp_path / "a.csv").write_text("query,product,rating,price\na,x,1,2.5\na,y,,3.5\na,z,2,1.5\n")
    for words in (("info",), ("info", "--label", "rating"), ("convert",)):
        out = (tmp_path / "a.plackett",) if words[0] == "convert" else ()
        code, _, err = run(words[0], tmp_path / "a.csv", *out, *words[1:])
        assert code == 1 and "'rating'" in err and "missing" in err
    assert not (tmp_path / "a.plackett").exists()


def test_converted_tables_keep_the_order_of_the_rows(run, tmp_path):
    """Scores of the input belong to the rows of the output."""
    (tmp_path / "a.csv").write_text("qid,docid,label,f\nb,1,1,1\na,2,0,2\nb,3,0,3\na,4,1,4\n")
    for name in ("b.csv", "b.parquet"):
        assert run("convert", tmp_path / "a.csv", tmp_path / name)[0] == 0
        frame = pl.read_csv(tmp_path / name) if name.endswith("csv") else pl.read_parquet(tmp_path / name)
        assert frame["qid"].to_list() == ["b", "a", "b", "a"] and frame["f"].to_list() == [1, 2, 3, 4]


def test_compare_runs_takes_columns(run, tmp_path):
    rows = "".join(f"q{i // 3},{i},{i % 3 % 2},{i % 3},word\n" for i in range(12))
    (tmp_path / "a.csv").write_text(f"query,product,rating,price,title\n{rows}")
    for name, sign in (("x", 1), ("y", -1)):
        (tmp_path / name).write_text("".join(f"{sign * (i % 3)}\n" for i in range(12)))
    files = tmp_path / "a.csv", tmp_path / "x", tmp_path / "y"
    code, out, err = run("compare-runs", "--data", *files, "--drop", "title",
                         "--label", "rating", "-m", "nDCG@2", "--json")  # fmt: skip
    assert code == 0 and "nDCG@2" in out, err
