"""Tables on the command line: columns by name, tables without labels, what was taken for what; and files to write."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett.cli import catalogue
from plackett.cli.app import ALIASES, COMMANDS


@pytest.fixture
def run(run):
    """The same with stderr in one line, without the frame."""

    def call(*arguments):
        code, out, err = run(*arguments)
        return code, out, " ".join(err.replace("│", " ").split())

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
    for name in ("info", "convert", "train", "predict", "explain", "evaluate", "experiment"):
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
    for name in ("s.txt", "r.run", "q.csv"):
        (shop / name).write_text("0.5\n" * 20 if name == "s.txt" else "mine")
    for arguments, option in (
        (("predict", model, shop / "d.plackett", "--out", shop / "s.txt"), "--out"),
        (("predict", model, shop / "d.plackett", "--run", shop / "r.run"), "--run"),
        (("evaluate", shop / "d.plackett", shop / "s.txt", "--per-query", shop / "q.csv"), "--per-query"),
        (("convert", shop / "d.plackett", model), "TARGET"),
        (("convert-model", model, shop / "s.txt"), "TARGET"),
    ):
        code, _, err = run(*arguments)
        assert code == 2 and option in err and "pass --force to overwrite it" in err, arguments
    assert (shop / "r.run").read_text() == "mine" == (shop / "q.csv").read_text()
    assert run("evaluate", shop / "d.plackett", shop / "s.txt", "--per-query", shop / "q.csv", "-f")[0] == 0
    assert run("predict", model, shop / "d.plackett", "--run", shop / "r.run", "--force")[0] == 0
    assert "mine" not in (shop / "r.run").read_text() + (shop / "q.csv").read_text()


def test_former_names_work_and_are_not_shown(run):
    assert ALIASES == {"compare": "experiment"} and "experiment" in COMMANDS
    argv = run("--help")[1].replace("│", "\n").split("\n")
    shown = {line.split()[0] for line in argv if line[:1] == " " and line.strip() and line[1:2] != " "}
    assert "experiment" in shown and "compare" not in shown
    code, out, _ = run("compare", "--help")
    assert code == 0 and "--algorithm" in out and "--fresh" in out


def test_list_shows_sentences(run):
    _, out, _ = run("list", "--kind", "ranker")
    assert "listwise." not in out and "pairwise." not in out and "boosting over queries" in out
    _, out, _ = run("list", "--kind", "ranker", "--ids")
    assert "plackett.rankers.listwise.adarank" in out
    code, _, err = run("list", "--kind", "rankers")
    assert code == 2 and "did you mean ranker or re-ranker?" in err


def test_list_has_ids_in_a_checkout_only(run, monkeypatch, tmp_path):
    _, out, _ = run("list", "--ids", "--json")
    ids = {(row["kind"], row["name"]): row["ids"] for row in json.loads(out)}
    assert "eval.ndcg" in ids["measure", "nDCG"]
    table = tmp_path / "inventory.tsv"
    table.write_text("id\tname\titems\nx.y\tXy\tstudies.xy plackett.measures.NDCG\n", encoding="utf-8")
    monkeypatch.setattr(catalogue, "INVENTORY", table)
    _, out, _ = run("list", "--ids", "--json")
    assert [(row["module"], row["name"]) for row in json.loads(out) if row["ids"]] == [
        ("plackett.measures.ndcg", "nDCG"),
        ("studies", "xy"),
    ]
    monkeypatch.setattr(catalogue, "INVENTORY", tmp_path / "none.tsv")
    code, _, err = run("list", "--ids")
    assert code == 2 and "docs/inventory.tsv" in " ".join(err.split())
    code, out, _ = run("list", "--json")
    assert code == 0 and "ids" not in json.loads(out)[0]


def test_train_with_parameters_in_the_name(run, shop):
    data = shop / "d.plackett"
    pk.write(pk.datasets.make_ranking(6, 5, 2, random_state=0), data)
    arguments = ("train", "lambda_mart(num_leaves=3, n_estimators=2)", data, "--out", shop / "m.plackett")
    arguments += "-p", "n_jobs=1", "-p", "min_child_samples=1"
    code, out, _ = run(*arguments)
    assert code == 0 and "num_leaves=3" in out and out.count("\n") == 3
    assert pk.load(shop / "m.plackett").get_params()["num_leaves"] == 3
    code, out, _ = run(*arguments, "--force", "--verbose")
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

    arguments = ("train", "AdaRank", data, "--out", shop / "m.plackett")
    stop_after(0)
    code, out, err = run(*arguments)
    assert (code, out) == (130, "") and "m.plackett was not written" in err and not (shop / "m.plackett").exists()
    stop_after(2)
    code, out, err = run(*arguments)
    assert code == 130 and "the model so far was saved to" in err and "AdaRank" in out
    assert pk.load(shop / "m.plackett").card_["interrupted"]
    monkeypatch.setattr("plackett.cli.reading.read", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run("info", data)[0] == 130


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_closed_streams(closed):
    code = "import sys; from plackett.cli import main; main()"
    descriptor = {"stdout": 1, "stderr": 2}[closed]
    command = f'exec {descriptor}>&-; exec "$0" -c "{code}" list --kind model'
    result = subprocess.run(["sh", "-c", command, sys.executable], capture_output=True, text=True)
    assert result.returncode == 0 and "Traceback" not in result.stderr
    assert ("Linear" in result.stdout) == (closed == "stderr")


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
    parameters = {"folds": 3, "search": None, "n_jobs": 1, "out": out}

    def stamps():
        return {
            path.name: path.stat().st_mtime_ns
            for path in (out / "cells").glob("*.plackett")
            if "model" not in path.name
        }

    pk.experiment(pk.read(data), ["LinearRegression"], "AP", **parameters)
    before = stamps()
    pk.experiment(pk.read(data), ["LinearRegression"], "AP", **parameters)
    assert stamps() == before
    pk.experiment(pk.read(data), ["LinearRegression"], "AP", fresh=True, **parameters)
    after = stamps()
    assert after.keys() == before.keys() and all(after[name] > before[name] for name in before)


@pytest.mark.filterwarnings("always::plackett.PlackettWarning")
def test_a_missing_label_is_an_error_and_never_a_feature(run, tmp_path):
    (tmp_path / "a.csv").write_text("query,product,rating,price\na,x,1,2.5\na,y,,3.5\na,z,2,1.5\n")
    for arguments in (("info",), ("info", "--label", "rating"), ("convert",)):
        out = (tmp_path / "a.plackett",) if arguments[0] == "convert" else ()
        code, _, err = run(arguments[0], tmp_path / "a.csv", *out, *arguments[1:])
        assert code == 1 and "'rating'" in err and "missing" in err
        assert ("'rating' is taken as the label" in err) is ("--label" not in arguments)
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
    code, out, err = run(
        "compare-runs", "--data", *files, "--drop", "title", "--label", "rating", "-m", "nDCG@2", "--json"
    )
    assert code == 0 and "nDCG@2" in out, err


# ------------------------------------------------------------------------------------------- what new users stumbled on


@pytest.fixture
def holes(tmp_path):
    """A table with missing values, text, and one query's documents apart from each other."""
    rng = np.random.default_rng(1)
    n = 60
    x = rng.normal(size=(n, 2)).round(3)
    frame = pl.DataFrame(
        {
            "query": [f"q{i % 10}" for i in range(n)],
            "product": [f"p{i}" for i in range(n)],
            "title": ["blue shoe"] * n,
            "match": x[:, 0],
            "stars": np.where(rng.random(n) < 0.2, np.nan, x[:, 1]),
            "grade": np.digitize(x.sum(axis=1), [-0.5, 1.0]),
        }
    ).with_columns(pl.col("stars").fill_nan(None))
    frame.write_csv(tmp_path / "holes.csv")
    frame.drop("grade", "title").write_csv(tmp_path / "new.csv")
    return tmp_path


@pytest.mark.parametrize(("strategy", "fill"), [("median", None), ("query-median", None), ("-7.5", -7.5)])
def test_missing_values_are_filled_in_and_again_when_scoring(run, holes, strategy, fill):
    train = ("train", "ListNet", holes / "holes.csv", "--drop", "title", "--out", holes / "m.plackett")
    code, _, err = run(*train)
    assert code == 1 and "the data have missing values" in err and "--impute median" in err and "pk." not in err
    arguments = ("--impute", strategy, "--valid", holes / "holes.csv")
    code, out, err = run(*train, *arguments)
    assert code == 0 and "ListNet()" in out and "nDCG@10" in out, err
    code, out, _ = run("info", holes / "m.plackett")
    assert code == 0 and "Imputer(" in out and "strategy=" in out
    code, out, _ = run("predict", holes / "m.plackett", holes / "new.csv", "--out", "-")
    data = pk.read(holes / "holes.csv", drop="title")
    imputer = pk.Imputer(*([strategy] if fill is None else ["constant"]), fill_value=fill or 0.0).fit(data)
    expected = pk.ListNet().fit(imputer.transform(data), eval_set=imputer.transform(data))
    result = data.from_input_order(np.array([float(line) for line in out.split()]))
    np.testing.assert_allclose(result, expected.predict(imputer.transform(data)), rtol=1e-12)
    code, out, _ = run("explain", holes / "m.plackett", holes / "new.csv", "-q", "q3")
    assert code == 0 and "reason 1" in out
    code, _, err = run(*train, "--impute", "medain", "--force")
    assert code == 2 and "did you mean median" in err


def test_an_experiment_with_missing_values(run, holes):
    arguments = (
        "experiment",
        holes / "holes.csv",
        "--drop",
        "title",
        "--folds",
        "3",
        "--search",
        "none",
        "--jobs",
        "1",
        "--json",
    )
    code, out, _ = run(*arguments, "-a", "ListNet", "-a", "LambdaMART(n_estimators=5)")
    assert code == 1 and len(json.loads(out)["failures"]) == 3
    code, out, _ = run(*arguments, "-a", "ListNet", "-a", "LambdaMART(n_estimators=5)", "--impute", "median")
    result = json.loads(out)
    assert code == 0 and not result["failures"]
    assert {row["ranker"] for row in result["leaderboard"]} == {"ListNet", "LambdaMART(n_estimators=5)"}


def test_text_columns_are_ignored_where_features_do_not_matter(run, holes):
    code, out, err = run("info", holes / "holes.csv")
    assert code == 0 and "left out: title" in err and "features" in out
    (holes / "s.txt").write_text("\n".join(map(str, range(60))))
    assert run("evaluate", holes / "holes.csv", holes / "s.txt")[0] == 0
    (holes / "t.txt").write_text("\n".join(map(str, range(60, 0, -1))))
    assert run("compare-runs", holes / "s.txt", holes / "t.txt", "--data", holes / "holes.csv")[0] == 0
    code, _, err = run("convert", holes / "holes.csv", holes / "a.parquet")  # this would lose it
    assert code == 1 and "'title' is String" in err and "--drop 'title'" in err
    assert pk.read(holes / "holes.csv", drop_text=True).feature_names == ("match", "stars")


CSV = 'query,grade,x,note\nq1,1,0.5,"two\nlines"\nq1,{grade},{x},b\nq2,0,1,c\n'


@pytest.mark.parametrize(
    ("cells", "place"),
    [
        ({"grade": "high"}, "line 4, column 'grade': 'high' is not a number"),
        ({"grade": ""}, "line 4, column 'grade': the value is missing"),
        ({"x": "0,5".replace(",", "·")}, "line 4, column 'x': '0·5' is not a number"),
        ({"x": "inf"}, "line 4, column 'x': inf is not a finite number"),
    ],
)
def test_a_bad_cell_is_named_as_an_editor_counts(run, tmp_path, cells, place):
    (tmp_path / "a.csv").write_text(CSV.format(**({"grade": "0", "x": "2"} | cells)))
    code, _, err = run("train", "ListNet", tmp_path / "a.csv", "--drop", "note", "--out", tmp_path / "m.plackett")
    assert code == 1 and f"a.csv: {place}" in err


def test_a_bad_cell_of_parquet_is_a_row(run, tmp_path):
    pl.DataFrame({"qid": [1, 1], "label": [0, None], "x": [1.0, 2.0]}).write_parquet(tmp_path / "a.parquet")
    code, _, err = run("info", tmp_path / "a.parquet")
    assert code == 1 and "a.parquet: row 2, column 'label': the value is missing" in err


def test_messages_name_options_and_not_parameters(run, holes, tmp_path):
    pl.read_csv(holes / "holes.csv").rename({"grade": "points", "query": "words"}).write_csv(holes / "odd.csv")
    out = ("--out", tmp_path / "m.plackett")
    for arguments, options in (
        (("train", "ListNet", holes / "odd.csv", *out), ["--qid COLUMN"]),
        (("train", "ListNet", holes / "odd.csv", *out, "--qid", "words"), ["--label COLUMN"]),
        (("train", "ListNet", holes / "holes.csv", *out), ["--drop 'title'"]),
        (
            ("train", "LambdaMART", holes / "holes.csv", *out, "--drop", "title", "-p", "early_stopping_rounds=3"),
            ["--valid FILE", "-p validation_fraction=0.2"],
        ),
    ):
        code, _, err = run(*arguments)
        assert code == 1 and all(option in err for option in options), err
        for python in ("label=", "qid=", "drop=", "eval_set", "None", "from_frame", "(X, y)"):
            assert python not in err, err
    pk.write(pk.RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], ["red shoe"] * 2), tmp_path / "blank.plackett")
    code, _, err = run("convert", tmp_path / "blank.plackett", tmp_path / "blank.txt")
    assert code == 1 and "--number-queries" in err and "qids=" not in err
    code, text, _ = run("convert", tmp_path / "blank.plackett", tmp_path / "blank.txt", "--number-queries")
    assert code == 0 and "1 query, 2 documents, 1 feature" in text
    assert (tmp_path / "blank.txt").read_text().startswith("0 qid:1 ")
    with pytest.raises(pk.DataError, match=r"qids='number'"):  # in Python it is still the parameter
        pk.write(pk.load(tmp_path / "blank.plackett"), tmp_path / "python.txt")


def test_a_document_is_named_by_its_position_too(run, holes):
    run("train", "LambdaMART", holes / "holes.csv", "--drop", "title", "--out", holes / "m.plackett")
    explain = ("explain", holes / "m.plackett", holes / "new.csv", "-q", "q3")
    (rows,) = json.loads(run(*explain, "--json")[1])["tables"].values()
    for position in ("2", "#2"):
        code, out, _ = run(*explain, "-d", position, "--json")
        assert code == 0 and list(json.loads(out)["tables"]) == [f"document {rows[1]['document']} of query q3"]
    code, out, _ = run(*explain, "-d", "3", "--above", rows[0]["document"], "--json")
    assert code == 0 and f"why {rows[0]['document']} is above {rows[2]['document']}" in json.loads(out)["tables"]
    for wrong, said in (("99", "positions are 1 to 6"), ("0", "positions are 1 to 6"), ("pp33", "did you mean p33")):
        code, _, err = run(*explain, "-d", wrong)
        assert code == 1 and said in err


def test_exit_codes_have_one_rule(run, holes, tmp_path):
    """2: the command line is wrong, and nothing was done. 1: a file is missing or does not fit."""
    scores, data = tmp_path / "s.txt", holes / "holes.csv"
    scores.write_text("1\n")
    wrong = [
        ("evaluate", data, scores, "-m", "nDCX"),
        ("evaluate", data, scores, "--preset", "letor9"),
        ("evaluate", data),
        ("compare-runs", scores, data, "--data", data, "-m", "nDCX"),
        ("compare-runs", scores, data, "--data", data, "--test", "tea"),
        ("compare-runs", scores, data, "--data", data, "--correction", "none at all"),
        ("compare-runs", scores, data, "--data", data, "--baseline", "x"),
        ("experiment", data, "-a", "NoSuch"),
        ("experiment", data, "-a", "ListNet", "-m", "nDCX"),
        ("experiment", data, "-a", "ListNet", "--select", "nDCX"),
        ("train", "NoSuch", data, "--out", tmp_path / "m"),
        ("train", "ListNet", data, "--out", tmp_path / "m", "-p", "nonsense=1"),
        ("fuse", scores, data, "--method", "nonsense", "--out", tmp_path / "f"),
        ("fuse", scores, data, "-m", "nDCX", "--out", tmp_path / "f"),
        ("plan", "-j", "100", "-m", "nDCX"),
        ("plan", "-j", "100", "--pilot", data, "-a", "NoSuch"),
        ("convert", data, tmp_path / "a.unknown"),
        ("auto", data, "-m", "nDCX", "--out", tmp_path / "m"),
        ("auto", data, "-a", "NoSuch", "--out", tmp_path / "m"),
        ("list", "--kind", "nonsense"),
    ]
    for arguments in wrong:
        code, out, err = run(*arguments)
        assert (code, out) == (2, "") and "Traceback" not in err, arguments
    missing = tmp_path / "missing.csv"
    for arguments in (
        ("info", missing),
        ("evaluate", missing, scores),
        ("evaluate", data, scores),
        ("train", "ListNet", missing, "--out", tmp_path / "m"),
        ("predict", missing, data, "--out", "-"),
        ("explain", missing, data, "-q", "1"),
        ("experiment", missing, "-a", "ListNet"),
        ("convert", missing, tmp_path / "a.parquet"),
        ("convert-model", missing, tmp_path / "m"),
        ("compare-runs", missing, scores, "--data", data),
        ("fuse", missing, scores, "--out", tmp_path / "f"),
        ("plan", "-j", "100", "--pilot", missing),
        ("auto", missing, "--out", tmp_path / "m"),
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (1, "") and "error: " in err and "Traceback" not in err, arguments


def test_a_plan_reads_tables_like_the_others(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = {"term": np.repeat(np.arange(12), 8), "stars": rng.integers(0, 3, 96), "x": rng.normal(size=96)}
    pl.DataFrame(frame).write_csv(tmp_path / "pilot.csv")
    arguments = ("plan", "-j", "60", "--pilot", tmp_path / "pilot.csv", "--repeats", "1", "--json")
    code, _, err = run(*arguments)
    assert code == 1 and "--qid COLUMN" in err
    code, out, err = run(*arguments, "--qid", "term", "--label", "stars")
    assert code == 0 and len(json.loads(out)["answers"]) == 3, err
    pl.DataFrame(frame | {"x": [None, *frame["x"][1:]]}).write_csv(tmp_path / "pilot.csv")
    arguments = (*arguments, "--qid", "term", "--label", "stars", "-a", "ListNet(max_iter=5)")
    code, _, err = run(*arguments)
    assert code == 1 and "--impute median" in err
    code, out, err = run(*arguments, "--impute", "median")
    assert code == 0 and len(json.loads(out)["answers"]) == 3, err
    assert run("plan", "-j", "60", "--n-features", 3, "--impute", "median")[0] == 2, "there is nothing to fill in"


def test_a_doubt_is_raised_once(run, tmp_path):
    pl.DataFrame({"qid": [1, 1, 2, 2], "label": [1, 2, 3, 1], "x": [0.0] * 4}).write_csv(tmp_path / "a.csv")
    (tmp_path / "s.txt").write_text("1\n2\n3\n4\n")
    (tmp_path / "t.txt").write_text("4\n2\n3\n1\n")
    code, out, err = run("evaluate", tmp_path / "a.csv", tmp_path / "s.txt", "-m", "AP")
    assert code == 0 and (out + err).count("AP has the same value") == 1 and "warning" not in err
    code, out, err = run(
        "compare-runs", tmp_path / "s.txt", tmp_path / "t.txt", "--data", tmp_path / "a.csv", "-m", "AP"
    )
    assert code == 0 and "warning" not in err and "Beware" in out


def test_another_report_is_replaced_only_with_force(run, holes):
    arguments = (
        "experiment",
        holes / "holes.csv",
        "--drop",
        "title",
        "--folds",
        "3",
        "--search",
        "none",
        "--jobs",
        "1",
    )
    report = ("--report", holes / "report")
    assert run(*arguments, "-a", "LambdaMART(n_estimators=2)", *report)[0] == 0
    page = (holes / "report" / "report.html").read_bytes()
    code, _, err = run(*arguments, "-a", "MART(n_estimators=2)", *report)
    assert code == 2 and "holds an experiment with other rankers" in err and "--force" in err
    assert (holes / "report" / "report.html").read_bytes() == page
    assert run(*arguments, "-a", "LambdaMART(n_estimators=2)", *report)[0] == 0
    assert run(*arguments, "-a", "MART(n_estimators=2)", *report, "--force")[0] == 0
    assert (holes / "report" / "report.html").read_bytes() != page


def test_a_table_is_no_model(tmp_path):
    (tmp_path / "shop.csv").write_text("qid,label\n1,1\n")
    with pytest.raises(
        pk.DataError, match=r"this is data \(separated text\), not a model; read it with plackett\.read"
    ):
        pk.load(tmp_path / "shop.csv")
    with pytest.raises(TypeError, match="read has no option 'labels' for separated text; did you mean label"):
        pk.read(tmp_path / "shop.csv", labels="label")
    with pytest.raises(FileNotFoundError):
        pk.load(tmp_path / "missing.csv")


@pytest.fixture
def dated_shop(tmp_path):
    """A table with a dictionary of brands and a date, as parquet and as text, and new data with other codes."""
    rng = np.random.default_rng(0)
    for name, brands in (("old", "cab"), ("new", "bax")):
        brand = rng.choice(list(brands), 200)
        table = pl.DataFrame(
            {
                "session": [f"{name}{i // 10}" for i in range(200)],
                "clicked": 2 * (brand == "a") + rng.integers(0, 2, 200),
                "price": rng.normal(size=200).round(2),
                "brand": pl.Series(brand.tolist(), dtype=pl.Enum(list(brands))),
                "day": [f"2024-05-{1 + i // 10:02}" for i in range(200)],
            }
        ).with_columns(pl.col("day").str.to_date())
        table.write_parquet(tmp_path / f"{name}.parquet")
        table.write_csv(tmp_path / f"{name}.csv")
    return tmp_path


SHOP = ("--qid", "session", "--label", "clicked")


def test_tables_with_categories_are_trained_on_and_scored(run, dated_shop):
    """The model knows which columns hold categories: text needs no option, and codes are those of training."""
    model, trained = dated_shop / "m.plackett", (*SHOP, "--drop", "day")
    code, _, err = run("train", "LambdaMART", dated_shop / "old.parquet", *trained, "--valid", dated_shop / "new.csv",
                       "-p", "n_estimators=5", "-p", "min_child_samples=5", "--out", model)  # fmt: skip
    assert code == 0 and "categories: brand" in err
    for name in ("new.parquet", "new.csv", "new.plackett"):
        source = dated_shop / name
        if source.suffix == ".plackett":
            code, _, _ = run("convert", dated_shop / "new.csv", source, *trained, "--categories", "brand")
            assert code == 0
        columns = () if source.suffix == ".plackett" else trained
        assert run("predict", model, source, *columns, "--out", dated_shop / f"{name}.txt")[0] == 0
    one, *others = ((dated_shop / f"new.{kind}.txt").read_text() for kind in ("parquet", "csv", "plackett"))
    assert others == [one, one]
    code, out, _ = run("info", dated_shop / "new.plackett")
    assert code == 0 and "1: brand (3 values)" in out
    code, _, err = run("train", "ListNet", dated_shop / "old.parquet", *trained, "--out", dated_shop / "l.plackett")
    assert code == 1 and "ListNet takes numbers, not categories" in err and "--drop brand" in err
    code, _, err = run("train", "LambdaMART", dated_shop / "old.csv", *trained, "--out", dated_shop / "l.plackett")
    assert code == 1 and "--categories 'brand'" in err


def test_dates_are_named_or_left_out(run, dated_shop):
    code, _, err = run("convert", dated_shop / "old.parquet", dated_shop / "a.plackett", *SHOP)
    assert code == 1 and "'day' is Date" in err and "--drop 'day'" in err and "--time 'day'" in err
    for kind, more in (("parquet", ()), ("csv", ("--categories", "brand"))):
        out = dated_shop / f"{kind}.plackett"
        assert run("convert", dated_shop / f"old.{kind}", out, *SHOP, "--time", "day", *more)[0] == 0
        assert pk.read(out).query_time[0] == 1714521600.0  # 2024-05-01
    code, out, _ = run("experiment", dated_shop / "parquet.plackett", "-a", "LambdaMART(n_estimators=3)",
                       "--folds", "time", "--search", "none", "--json")  # fmt: skip
    assert code == 0 and json.loads(out)
    for folds, problem in (("weeks", "a number of folds, or 'time'"), ("-1", "a number of folds")):
        code, _, err = run("experiment", dated_shop / "parquet.plackett", "-a", "LambdaMART", "--folds", folds)
        assert code == 2 and "--folds" in err and problem.split(",")[0] in " ".join(err.replace("│", " ").split())
