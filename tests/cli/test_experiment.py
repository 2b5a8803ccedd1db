"""``plackett experiment``, run as a user runs it."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from plackett.data.letor import write_letor
from plackett.datasets import make_ranking
from plackett.experiments.result import Experiment

FAST = ("--trials", "2", "--jobs", "1", "--folds", "3")


@pytest.fixture
def folder(tmp_path):
    from plackett.data.files import write

    for seed, name in enumerate(("train", "valid", "test")):
        data = make_ranking(15, 6, 4, random_state=seed)
        write(replace(data, qids=data.qids + 100 * seed), tmp_path / f"{name}.plackett")
    return tmp_path


def test_table_and_files(run, folder):
    code, out, _ = run(
        "experiment", folder / "train.plackett", "-a", "ListNet", "-a", "LinearRegression(alpha=0.5)", "-m", "AP", "-m",
        "nDCG@5", "--report", folder / "out", *FAST,
    )  # fmt: skip
    assert code == 0 and "ListNet" in out and "95 % interval" in out and "over queries" in out
    record = json.loads((folder / "out" / "results.json").read_text())
    assert {row["ranker"] for row in record["leaderboard"]} == {"ListNet", "LinearRegression(alpha=0.5)"}
    assert len(list((folder / "out" / "cells").glob("*.plackett"))) == 12  # 2 rankers, 3 folds, cell and model
    result = Experiment.load(folder / "out")
    assert result.datasets == ("train",) and result.leaderboard.height == 4
    stamps = {path: path.stat().st_mtime_ns for path in (folder / "out" / "cells").iterdir()}
    code, again, _ = run(
        "experiment", folder / "train.plackett", "-a", "ListNet", "-a", "LinearRegression(alpha=0.5)", "-m", "AP", "-m",
        "nDCG@5", "--report", folder / "out", *FAST,
    )  # fmt: skip
    assert again == out and {p: p.stat().st_mtime_ns for p in (folder / "out" / "cells").iterdir()} == stamps


def test_report(run, folder):
    """``--report`` leaves the page beside the cells and says where it is."""
    pytest.importorskip("plotly")
    code, out, err = run("experiment", folder / "train.plackett", "-a", "ListNet", "--report", folder / "out", *FAST)
    assert code == 0 and str(folder / "out" / "report.html") in err and "report" not in out
    assert {"report.html", "report.md", "report.tex", "results.json"} <= {p.name for p in (folder / "out").iterdir()}
    assert Experiment.load(folder / "out").report(folder / "again").exists()


def test_blend(run, folder):
    """``--blend`` is one more row of the table and of the report."""
    pytest.importorskip("plotly")
    arguments = (
        "experiment",
        folder / "train.plackett",
        "-a",
        "ListNet",
        "-a",
        "LinearRegression",
        "--blend",
        "2",
        *FAST,
    )
    code, out, _ = run(*arguments, "--report", folder / "out")
    assert code == 0 and "Blend of best 2" in out
    assert "Blend of best 2" in (folder / "out" / "report.md").read_text()
    code, _, err = run("experiment", folder / "train.plackett", "-a", "ListNet", "--blend", "2", *FAST)
    assert code == 1 and "blend=2 needs at least two rankers of plackett, but there are 1" in err


def test_folder_of_folds(run, tmp_path):
    for fold in (1, 2):
        (tmp_path / "mine" / f"Fold{fold}").mkdir(parents=True)
        for seed, name in enumerate(("train", "vali", "test")):
            data = make_ranking(8, 6, 4, random_state=10 * fold + seed)
            write_letor(replace(data, qids=data.qids + 100 * seed), tmp_path / "mine" / f"Fold{fold}" / f"{name}.txt")
    code, out, _ = run("experiment", tmp_path / "mine", "-a", "ListNet", "--json", "--trials", "1", "--jobs", "1")
    (row, *_) = json.loads(out)["leaderboard"]
    assert code == 0 and (row["dataset"], row["n_folds"], row["n_queries"]) == ("mine", 2, 16)


def test_what_is_wrong_is_said_before_the_work(run, folder):
    train = folder / "train.plackett"
    code, _, err = run("experiment", "mq20008", "-a", "ListNet")
    assert code == 1 and "did you mean mq2008?" in err
    code, _, err = run("experiment", train, "-a", "ListNet", "--report", train, *FAST)
    assert code == 1 and "cannot be written" in err and "it is a file" in err
    code, _, err = run("experiment", train, "-a", "AdaRank", "--search", "grid", "--trials", "1", "--folds", "3")
    assert code == 2 and "AdaRank has 3 settings" in " ".join(err.replace("│", " ").split())
    code, _, err = run("experiment", train, "-a", "ListNt")
    assert code == 2 and "did you mean ListNet" in " ".join(err.replace("│", " ").split())


def test_chosen_ranker_is_named_and_doubts_are_raised(run, folder):
    """Bold cannot be seen in a file, and figures of nothing look like figures."""
    data = make_ranking(9, 6, 4, random_state=5)
    write_letor(replace(data, y=np.zeros_like(data.y), qids=data.qids + 900), folder / "bare.txt")
    rankers = ("-a", "ListNet", "-a", "LinearRegression")
    _, out, _ = run("experiment", folder / "train.plackett", *rankers, "-m", "nDCG@10", "-m", "AP", *FAST)
    assert "No ranker is reliably better by nDCG@10." in out or ", p " in out
    assert "Chosen by nDCG@10 on validation data: L" in out and "Beware" not in out
    parts = ("--valid", folder / "valid.plackett", "--test", folder / "bare.txt")
    _, out, _ = run("experiment", folder / "train.plackett", *parts, *rankers, *FAST)
    assert "no document of the test part of fold 1 of train is relevant" in out


def test_interrupted(run, folder, monkeypatch):
    from plackett.experiments.cells.task import CellTask

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(CellTask, "run", stop)
    code, out, err = run("experiment", folder / "train.plackett", "-a", "ListNet", "--report", folder / "out", *FAST)
    assert (code, out) == (130, "") and "interrupted: run the same command again to resume" in err


def test_report_without_its_extra(run, folder, monkeypatch):
    """Known before anything is trained."""
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    code, _, err = run("experiment", folder / "train.plackett", "-a", "ListNet", "--report", folder / "out", *FAST)
    assert code == 1 and "pip install 'plackett[report]'" in " ".join(err.split()) and not (folder / "out").exists()


def test_given_split(run, folder):
    split = ("--valid", folder / "valid.plackett", "--test", folder / "test.plackett")
    code, out, _ = run("experiment", folder / "train.plackett", *split, "-a", "ListNet", "--json", *FAST)
    record = json.loads(out)
    assert code == 0 and {row["n_folds"] for row in record["leaderboard"]} == {1}
    qids = np.array([int(row["qid"]) for row in record["per_query"]])
    assert qids.size == 15 and (qids >= 200).all()


def test_several_datasets_and_formats(run, folder):
    files = (folder / "train.plackett", folder / "test.plackett")
    options = ("--search", "none", "--format", "markdown", "--jobs", "1", "--folds", "3")
    code, out, _ = run("experiment", *files, "-a", "LinearRegression", "-m", "AP", *options)
    assert code == 0 and out.count("LinearRegression") == 2 and out.startswith("| dataset")


def test_mistakes(run, folder):
    train = folder / "train.plackett"
    assert run("experiment", train)[0] == 2  # no ranker
    code, _, err = run("experiment", train, "-a", "LambdaMat")
    assert code == 2 and "did you mean LambdaMART" in " ".join(err.replace("│", " ").split())
    assert run("experiment", train, "-a", "ListNet", "--valid", train)[0] == 2
    assert run("experiment", train, "-a", "ListNet", "--format", "pdf")[0] == 2
    assert run("experiment", train, train, "-a", "ListNet")[0] == 2
    code, _, err = run("experiment", folder / "nothing.txt", "-a", "ListNet")
    assert code == 1 and "nothing.txt" in err
    code, _, err = run("experiment", train, "-a", "ListNet", "--search", "luck")
    assert code == 2 and "luck" in err and "halving" in err
    assert run("experiment", train, "-a", "ListNet", "--trials", "0")[0] == 2
    assert run("experiment", train, "-a", "ListNet", "--time-budget", "0")[0] == 2


def test_failed_cells_are_named_and_told_by_the_exit_code(run, folder):
    rankers = ("-a", "ListNet(solver='nonsense')", "-a", "LinearRegression")
    code, out, _ = run("experiment", folder / "train.plackett", *rankers, "-m", "AP", *FAST)
    assert code == 1 and "Failed: ListNet" in out and "nonsense" in out and "LinearRegression" in out


@pytest.mark.parametrize(
    ("arguments", "module", "extra"),
    [(["--mlflow", "x"], "mlflow", "mlflow"), (["--search", "bayes"], "optuna", "tune")],
)
def test_a_missing_extra_is_named_before_anything_is_trained(run, tmp_path, monkeypatch, arguments, module, extra):
    write_letor(make_ranking(9, 4, 3, random_state=0), tmp_path / "data.txt")
    monkeypatch.setitem(sys.modules, module, None)
    code, out, err = run("experiment", tmp_path / "data.txt", "-a", "LinearRegression", *FAST, *arguments)
    assert code == 1 and out == "" and f"pip install 'plackett[{extra}]'" in err and "Traceback" not in err
