"""``plackett clicks``."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import plackett as pk
from plackett.cli.app import app
from plackett.clicks.loading import load_model
from plackett.clicks.simulate import simulate_log
from plackett.clicks.storage import open_log


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("clicks")
    data = pk.datasets.make_ranking(n_queries=10, docs_per_query=5, n_features=4, random_state=0)
    log = simulate_log(data, n_pages=1500, k=4, random_state=0)
    log.save(path / "log.plackett")
    log.to_frame().rename({"document": "thing"}).write_csv(path / "log.csv")
    for name, scores in (("good", data.y), ("bad", -data.y)):
        rows = zip(data.qids[data.query_of_row].tolist(), range(data.n_rows), scores, strict=True)
        pk.write_run([(str(q), str(d), float(s)) for q, d, s in rows], path / f"{name}.run")
    pk.write_letor(data, path / "data.txt") if hasattr(pk, "write_letor") else pk.write(data, path / "data.plackett")
    return path


def call(*arguments):
    result = CliRunner().invoke(app, ["clicks", *map(str, arguments)])
    assert result.exit_code == 0, f"{result.output}{result.exception!r}"
    return result.stdout


def test_info(folder):
    text = call("info", folder / "log.plackett")
    assert "1,500" in text
    assert "Documents moved between all ranks" in text
    facts = json.loads(call("info", folder / "log.csv", "-c", "document=thing", "--json"))
    assert facts["pages"] == 1500
    assert facts["connected_ranks"] == 4


def test_convert_fit_and_simulate(folder, tmp_path):
    call("convert", folder / "log.csv", tmp_path / "small.plackett", "-c", "document=thing", "--distinct")
    assert open_log(tmp_path / "small.plackett").weight.sum() == 1500
    out = tmp_path / "model.plackett"
    text = call("fit", folder / "log.plackett", "--out", out, "--relevance", tmp_path / "r.csv")
    assert "examination: 1.000" in text
    assert load_model(out).name == "PBM"
    assert pl.read_csv(tmp_path / "r.csv").height == 50
    call("simulate", out, "--like", folder / "log.plackett", "--out", tmp_path / "new.plackett")
    assert open_log(tmp_path / "new.plackett").n_pages == 1500
    source = next(folder.glob("data.*"))
    call("simulate", source, "--out", tmp_path / "s.plackett", "--pages", 100, "--feature", 1, "--users", "cascade")
    assert open_log(tmp_path / "s.plackett").n_pages == 100


def test_examination_that_depends_on_the_last_click(folder, tmp_path):
    text = call("fit", folder / "log.plackett", "--out", tmp_path / "m.plackett", "-m", "UBM")
    lines = [line.split(": ") for line in text.splitlines()[1:]]
    assert [name for name, _ in lines] == [
        "examination without a click above",
        *(f"examination after a click at rank {i}" for i in (1, 2, 3)),
    ]
    assert [len(values.split()) for _, values in lines] == [4, 3, 2, 1]


def test_a_role_has_one_column(folder):
    result = CliRunner().invoke(app, ["clicks", "info", str(folder / "log.csv"), "-c", "rank=a", "-c", "rank=b"])
    assert result.exit_code == 2
    assert "rank is given twice: a and b" in result.output


def test_the_log_is_not_overwritten(folder):
    path = folder / "log.plackett"
    before = path.read_bytes()
    for argv in (
        ["fit", path, "--out", path],
        ["fit", path, "--out", folder / "x.csv", "--relevance", folder / "x.csv"],
    ):
        result = CliRunner().invoke(app, ["clicks", *map(str, argv), "--force"])
        assert result.exit_code == 2
        assert "is also another file of this command" in " ".join(result.output.replace("│", " ").split())
    assert path.read_bytes() == before


def test_compare(folder):
    rows = json.loads(call("compare", folder / "log.plackett", "-m", "PBM", "-m", "RankCTR", "--json"))
    assert [row["model"] for row in rows] == ["PBM", "RankCTR"]


@pytest.mark.parametrize("method", ["model", "random-walk", "discount", "skip-above"])
def test_labels(folder, tmp_path, method):
    call("labels", folder / "log.plackett", "--method", method, "--out", tmp_path / "labels.parquet")
    assert "weight" in pl.read_parquet(tmp_path / "labels.parquet").columns


@pytest.mark.filterwarnings("ignore:intervals of EM")
def test_propensities(folder):
    for method in ("harvest", "random", "em"):
        result = json.loads(call("propensities", folder / "log.plackett", "--method", method, "--json"))
        assert result["examination"][0] == 1.0
        assert result["examination"][3] < 0.6


def test_evaluate(folder):
    arguments = [folder / "log.plackett", folder / "bad.run", folder / "good.run", "--k", 4]
    rows = json.loads(call("evaluate", *arguments, "--json"))
    assert rows[1]["difference_lower"] > 0
    assert "clicks per page" in call("evaluate", *arguments, "--method", "model")
    short, honest = (
        json.loads(call("evaluate", *arguments, "--method", "model", "--bootstrap", n, "--json"))[1] for n in (0, 20)
    )
    assert short["clicks_per_page"] == honest["clicks_per_page"]
    assert short["lower"] != honest["lower"]


def test_mistakes_are_explained(folder, tmp_path):
    result = CliRunner().invoke(app, ["clicks", "info", str(folder / "log.csv")])
    assert result.exit_code != 0
    assert "no column for the document" in str(result.exception)
    np.testing.assert_equal(result.output.count("Traceback"), 0)
    result = CliRunner().invoke(app, ["clicks", "propensities", str(folder / "log.plackett"), "--method", "x"])
    assert result.exit_code == 2


def test_fixed_lists_are_named(tmp_path):
    rows = [f"{page},q,{name},{rank},{int(rank == 1)}" for page in range(5) for rank, name in ((1, "a"), (2, "b"))]
    path = tmp_path / "log.csv"
    path.write_text("page,query,doc,rank,clicked\n" + "\n".join(rows) + "\n", encoding="utf-8")
    for words in (["labels", str(path)], ["fit", str(path)]):
        result = CliRunner().invoke(app, ["clicks", *words, "--out", str(tmp_path / f"{words[0]}.parquet")])
        assert result.exit_code == 0, result.output
        assert "cannot be told apart" in result.stderr
        assert "document=doc" in result.stderr
    result = CliRunner().invoke(app, ["clicks", "labels", str(path), "-m", "ICM", "--out", str(tmp_path / "i.parquet")])
    assert "cannot be told apart" not in result.stderr
    result = CliRunner().invoke(app, ["clicks", "propensities", str(path), "--method", "em"])
    assert result.exit_code != 0
    assert "cannot be told apart" in str(result.exception)


def test_only_the_top(folder):
    assert json.loads(call("info", folder / "log.plackett", "--top", 2, "--json"))["longest"] == 2


def test_mistakes_are_found_before_the_work(folder, tmp_path):
    missing = str(tmp_path / "no-such-log.csv")
    for arguments, message in (
        (["labels", missing, "--out", "l.txt"], ".parquet"),
        (["labels", missing, "--out", "l.csv", "--method", "magic"], "random-walk"),
        (["fit", missing, "--out", "m.plackett", "--relevance", "r.xls"], ".parquet"),
    ):
        result = CliRunner().invoke(app, ["clicks", *arguments])
        assert result.exit_code == 2
        assert message in result.output


def test_a_chart_of_propensities(folder, tmp_path):
    pytest.importorskip("plotly")
    call("propensities", folder / "log.plackett", "--plot", tmp_path / "p.html")
    assert "intervention harvesting" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_charts_are_not_overwritten(folder, tmp_path):
    chart = tmp_path / "chart.html"
    chart.write_text("mine")
    for argv in (("propensities", folder / "log.plackett"), ("compare", folder / "log.plackett", "-m", "PBM")):
        result = CliRunner().invoke(app, ["clicks", *map(str, argv), "--plot", str(chart)])
        assert result.exit_code == 2 and chart.read_text() == "mine"
        result = CliRunner().invoke(app, ["clicks", *map(str, argv), "--plot", str(tmp_path / "chart.png")])
        assert result.exit_code == 2


def test_runs_of_queries_with_blanks(folder, tmp_path):
    log = open_log(folder / "log.plackett")
    frame = log.to_frame().with_columns(
        pl.format("query {}", "query").alias("query"), pl.format("thing {}", "document").alias("document")
    )
    frame.write_csv(tmp_path / "log.csv")
    run = frame.group_by("query", "document", maintain_order=True).agg(score=pl.col("clicks").mean())
    run.write_csv(tmp_path / "new.csv")
    run.filter(pl.col("query") != "query 3").write_parquet(tmp_path / "less.parquet")
    doubts = [
        json.loads(call("evaluate", tmp_path / "log.csv", tmp_path / name, "-k", 4, "--json"))[0]["doubts"]
        for name in ("new.csv", "less.parquet")
    ]
    assert "new list" not in doubts[0] and "without a new list, such as 'query 3'" in doubts[1]
    run.rename({"score": "points"}).write_csv(tmp_path / "bad.csv")
    result = CliRunner().invoke(app, ["clicks", "evaluate", str(tmp_path / "log.csv"), str(tmp_path / "bad.csv")])
    assert result.exit_code != 0 and "no column 'score'" in result.output + str(result.exception)


def test_a_model_clicks_on_pages_with_columns_of_their_own(folder, tmp_path):
    model, out = tmp_path / "pbm.plackett", tmp_path / "new.plackett"
    call("fit", folder / "log.csv", "-c", "document=thing", "--out", model)
    call("simulate", model, "--like", folder / "log.csv", "-c", "document=thing", "--top", 2, "--out", out)
    assert open_log(out).longest == 2


def test_a_trust_bias_fit_says_what_it_found(folder, tmp_path):
    text = call("fit", folder / "log.plackett", "-m", "TrustBias", "--out", tmp_path / "model.plackett")
    assert "relevant: " in text and "irrelevant: " in text


def test_a_table_of_events_from_the_first_look_to_a_decision(tmp_path):
    """A shop's export: the error proposes the options, with which the log is read; queries have blanks."""
    rng = np.random.default_rng(0)
    rows = []
    for page in range(2000):
        for rank, product in enumerate(rng.permutation(6)[:4], 1):
            event = {"search_id": page, "query": f"grüne Jacke {page % 3}", "sku": f"P {product}", "position": rank}
            clicked = bool(rng.random() < (product + 1) / 7 / rank)
            kinds = ["view", *["select"] * clicked, *["order"] * (clicked and rng.random() < 0.5)]
            rows += [event | {"what": kind, "revenue": 10.0 + product if kind == "order" else None} for kind in kinds]
    events, options = tmp_path / "events.csv", []
    pl.DataFrame(rows, infer_schema_length=None).sample(fraction=1.0, shuffle=True, seed=0).write_csv(events)
    result = CliRunner().invoke(app, ["clicks", "info", str(events)])
    assert result.exit_code != 0
    (line,) = [line for line in str(result.exception).splitlines() if line.strip().startswith("plackett clicks info")]
    options = line.split("events.csv", 1)[1].split()
    facts = json.loads(call("info", events, *options, "--json"))
    assert (facts["pages"], facts["queries"]) == (2000, 3)
    for name, sign in (("good", 1.0), ("bad", -1.0)):
        run = [(f"grüne Jacke {q}", f"P {product}", sign * product) for q in range(3) for product in range(6)]
        pk.write_run(run, tmp_path / f"{name}.csv")
    arguments = [
        events,
        tmp_path / "bad.csv",
        tmp_path / "good.csv",
        *options,
        "--method",
        "model",
        "--reward",
        "actions",
        "-k",
        4,
    ]
    actual = json.loads(call("evaluate", *arguments, "--json"))
    look = 1 / np.arange(1, 5)
    true = [
        (look * (np.array(order) + 1) / 7 * 0.5 * (10 + np.array(order))).sum()
        for order in ((0, 1, 2, 3), (5, 4, 3, 2))
    ]
    np.testing.assert_allclose([row["actions_per_page"] for row in actual], true, rtol=0.1)
    call("convert", events, tmp_path / "log.plackett", *options, "--distinct")
    assert open_log(tmp_path / "log.plackett").weight.sum() == 2000
