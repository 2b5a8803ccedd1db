"""Experiments of other shapes: falling measures, no validation data, one ranker, many, failures, other libraries."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from plackett import Experiment, RankingDataset
from plackett.data.splits import Fold
from plackett.datasets import make_ranking
from plackett.experiments.experiment import experiment
from plackett.experiments.report import write_report
from plackett.experiments.report.cost import pareto_front
from plackett.experiments.report.over_datasets import cliques
from plackett.experiments.report.plots import place_names
from plackett.experiments.report.write import report_sections


@pytest.fixture(scope="module")
def data():
    return make_ranking(20, 6, 4, random_state=2)


def run(data, rankers, measures=("AP",), **options):
    return experiment(data, rankers, measures, **({"n_jobs": 1, "folds": 3, "search": None} | options))


def words(result):
    """The paragraphs of each section by its id."""
    return {s.name: " ".join(b.text for b in s.blocks if b.kind == "text") for s in report_sections(result)}


def test_one_ranker(data, tmp_path):
    result = run(data, "ListNet")
    said = words(result)
    assert "ListNet is the only ranker" in said["answer"]
    assert "queries" not in said and "ranks" not in said
    write_report(result, tmp_path)


def test_falling_measure(data, tmp_path):
    """Better is smaller: the words, the sign of the bars and the front follow."""
    result = run(data, ["ListNet", "LinearRegression"], ("ARP", "AP"), select="ARP")
    said = words(result)["answer"]
    best = result.best()
    other = next(ranker for ranker in result.rankers if ranker != best)
    means = {r: result.leaderboard.filter(ranker=r, measure="ARP")["mean_over_queries"].item() for r in (best, other)}
    direction = "better than the next best" if means[best] <= means[other] else "worse than the best there"
    assert f"{abs(means[best] - means[other]):.4f} {direction}, {other}" in said
    (section,) = [s for s in report_sections(result) if s.name == "queries"]
    assert section.blocks[-1].data["datasets"][0]["measures"][0] == {"name": "ARP", "sign": -1}
    write_report(result, tmp_path)


def test_without_validation_data(data, tmp_path):
    fold = Fold(data.select(np.arange(12)), None, data.select(np.arange(12, 20)))
    result = experiment(fold, ["ListNet", "LinearRegression"], "AP", search=None, n_jobs=1)
    said = words(result)
    assert "no validation data to choose by" in said["answer"] and "selection" not in said
    write_report(result, tmp_path)


def test_other_libraries_have_no_model_to_look_into(data, tmp_path):
    result = run(data, {"ridge": Ridge(), "ListNet": "ListNet"})
    said = words(result)
    assert "as ListNet orders it" in said["example"]
    write_report(result, tmp_path)
    alone = words(run(data, {"ridge": Ridge()}))
    assert "example" not in alone and "features" in alone


def test_many_rankers_are_not_all_drawn(data, tmp_path):
    result = run(data, [f"LinearRegression(alpha={alpha})" for alpha in range(1, 12)], folds=2 + 1)
    sections = {s.name: s for s in report_sections(result)}
    assert "8 rankers of 11" in sections["cutoffs"].blocks[0].text
    board = next(b.table for b in sections["leaderboard"].blocks if b.kind == "table")
    assert len(board.rows) == 11
    shown = sections["queries"].blocks[-1].data["datasets"][0]["rankers"]
    assert len(shown) == 8 and result.best() in shown
    write_report(result, tmp_path)


def test_failures_are_named(data):
    def broken():
        raise RuntimeError("no luck")

    result = run(data, {"ListNet": "ListNet", "broken": broken})
    (table,) = [b.table for b in report_sections(result)[0].blocks if b.kind == "table"]
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["broken", "data", "1, 2, 3", "RuntimeError: no luck"]  # the three folds in one row
    ]


def test_report_where_everything_failed(data, tmp_path):
    def broken():
        raise RuntimeError("no luck <here>")

    result = run({"one": data, "two": data}, {"broken": broken})
    said = words(result)
    assert list(said) == ["answer", "data", "protocol"] and "No ranker is finished" in said["answer"]
    page = write_report(result, tmp_path).read_text("utf-8")
    assert "RuntimeError: no luck &lt;here&gt;" in page and "Profile of two" in page
    for name in ("report.md", "report.tex"):
        assert "no luck" in (tmp_path / name).read_text("utf-8")


def test_report_of_a_run_that_was_stopped(data, tmp_path):
    result = run(data, ["ListNet", "LinearRegression"], out=tmp_path)
    for cell in result.cells:
        if cell.ranker == "ListNet" or cell.fold == 3:
            (tmp_path / "cells" / f"{cell.key}.plackett").unlink()
    again = Experiment.load(tmp_path)
    assert "4 cells of the experiment are still to be computed" in words(again)["answer"]


def test_large_test_part_is_sampled_for_importances(data):
    result = run(data, "ListNet")
    (section,) = [s for s in report_sections(result, max_rows=20) if s.name == "features"]
    figure = next(b for b in section.blocks if b.kind == "figure")
    assert "3 test queries" in figure.label  # 6 documents each


def test_bars_are_a_sample_with_the_extremes(data, monkeypatch):
    from plackett.experiments.report import queries

    monkeypatch.setattr(queries, "_QUERIES", 12)
    result = run(data, ["ListNet", "LinearRegression"])
    (section,) = [s for s in report_sections(result) if s.name == "queries"]
    entry = section.blocks[-1].data["datasets"][0]
    assert len(entry["qids"]) == 12 and entry["n_queries"] == 20
    values = {r: result.per_query.filter(ranker=r) for r in entry["rankers"]}
    a, b = (values[r]["AP"].to_numpy() for r in entry["rankers"])
    qids = values["ListNet"]["qid"].to_list()
    assert {qids[int(np.argmax(a - b))], qids[int(np.argmin(a - b))]} <= set(entry["qids"])
    for position in entry["lists"]:
        assert 0 <= int(position) < 12


def test_published_figures_stand_beside_ours(data, tmp_path, read_page):
    """LETOR 4.0's table: ListNet has MAP 0.478 on MQ2008, a mean over five folds."""
    named = RankingDataset.from_arrays(
        data.X, data.y, [f"q{i}" for i in data.query_of_row], docids=[f"d<{i}" for i in range(data.n_rows)]
    )
    result = run({"mq2008": named}, ["ListNet", "LambdaMART(n_estimators=3, min_child_samples=1)"], preset="letor4")
    page = read_page(write_report(result, tmp_path).read_text("utf-8"))
    header, rows = page.table("Leaderboard of mq2008")
    shown = {row[0]: row[header.index("published AP")] for row in rows}
    assert shown == {"ListNet": "0.478", "LambdaMART(n_estimators=3, min_child_samples=1)": "–"}
    assert "means over 5 folds, but this experiment has 3 of mq2008" in " ".join(page.words)
    assert all(qid.startswith("q") for qid in page.data["browser"]["datasets"][0]["qids"])
    assert all(d[0].startswith("d<") for e in page.data["browser"]["datasets"][0]["lists"].values() for d in e["docs"])


def test_measure_without_values(data, tmp_path):
    """Every query is skipped: there is no figure to draw, and the report is written all the same."""
    result = run(data.replace(y=np.zeros(data.n_rows)), ["ListNet", "LinearRegression"], ('AP(empty="skip")',))
    with np.errstate(all="ignore"):
        write_report(result, tmp_path)


# ---------------------------------------------------------------------------------------------------------- functions


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 1), st.integers(1, 30)), min_size=1, max_size=9))
def test_names_do_not_lie_on_each_other(points):
    x, y = [p[0] for p in points], [p[1] for p in points]
    texts, places = place_names(x, y, ["n" * p[2] for p in points], {0: ("top left",)})
    spans = [720 / ((max(x) - min(x)) or 1), 250 / ((max(y) - min(y)) or 1)]
    boxes = []
    for a, b, text, position in zip(x, y, texts, places, strict=True):
        if text:
            centre, low = (a - min(x)) * spans[0], (b - min(y)) * spans[1]
            vertical, horizontal = position.split()
            low += {"top": 5, "middle": -8, "bottom": -21}[vertical]
            left = centre + {"center": -3.5 * len(text), "right": 9, "left": -7 * len(text) - 9}[horizontal]
            boxes.append((left, low, left + 7 * len(text), low + 16))
    for one, other in itertools.combinations(boxes, 2):
        wide = min(one[2], other[2]) - max(one[0], other[0])
        high = min(one[3], other[3]) - max(one[1], other[1])
        assert wide <= 1e-6 or high <= 1e-6


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=7))
def test_pareto_front_by_brute_force(points):
    named = {str(i): (float(t), float(q)) for i, (t, q) in enumerate(points)}

    def beaten(name):
        time, quality = named[name]
        return any(t <= time and q >= quality and (t, q) != (time, quality) for t, q in named.values())

    front = pareto_front(named)
    assert sorted(front) == sorted(name for name in named if not beaten(name))
    assert [named[name][0] for name in front] == sorted(named[name][0] for name in front)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=6), st.integers(0, 6))
def test_cliques_by_brute_force(ranks, critical):
    ranks = sorted(map(float, ranks))
    runs = [(i, j) for i, j in itertools.combinations(range(len(ranks)), 2) if ranks[j] - ranks[i] <= critical]
    largest = [r for r in runs if not any(o != r and o[0] <= r[0] and o[1] >= r[1] for o in runs)]
    assert cliques(ranks, critical) == largest


def test_data_without_relevant_documents_are_doubted_first(data):
    bare = RankingDataset.from_arrays(data.X, np.zeros(data.n_rows), qid=np.repeat(data.qids, data.group))
    said = words(run(bare, ["ListNet", "LinearRegression"]))["answer"]
    assert said.startswith("Beware: no document of the training part of folds 1, 2, 3 of data is relevant")
    assert "the same as that of" in said and "significant" not in said  # no test of no difference


def test_published_figures_of_other_rules_are_named(data):
    for preset, expected in ((None, True), ("letor4", False)):
        result = run({"mq2008": data}, ["ListNet"], preset=preset)
        board = next(s for s in report_sections(result) if s.name == "leaderboard")
        notes = " ".join(next(b.table for b in board.blocks if b.kind == "table").notes)
        assert ("follow the rules of letor4" in notes) == expected


def test_two_datasets_that_agree_are_no_proof(data):
    """Friedman's F would be infinite, its p 0."""
    said = words(run({"one": data, "two": data}, ["ListNet", "LinearRegression(alpha=100000.0)"]))["ranks"]
    assert "do not differ significantly" in said and ("p = 0.5" in said or "p = 1" in said)


def test_a_rounding_error_is_a_tie_everywhere():
    """Of these 60 queries, one differs by 1e-16, which is no win, neither in a section nor in a plot."""
    import plackett as pk

    data = make_ranking(60, (5, 12), 5, random_state=25)
    data = data.replace(X=np.round(data.X, 1))
    result = experiment(data, ["column:match_0", "column:match_1"], "nDCG@10", search=None, folds=3, n_jobs=1)
    a, b = (result.evaluation("data", ranker).values["nDCG@10"] for ranker in result.rankers)
    assert 0 < np.abs(a - b)[np.abs(a - b) > 0].min() < 1e-9
    pair = result.comparison().pairs.row(0, named=True)
    wins, losses = (
        (pair["wins"], pair["losses"]) if result.chosen("data") == pair["a"] else (pair["losses"], pair["wins"])
    )
    sections = {section.name: section for section in report_sections(result)}
    browser = next(block for block in sections["queries"].blocks if block.kind == "browser")
    assert f"is better on {wins} queries, worse on {losses} and" in browser.table.notes[0]
    table = next(block.table for block in sections["changes"].blocks if block.kind == "table")
    assert [cell.text for cell in table.rows[0]][5:7] == [str(wins), str(losses)]
    texts = [each.text for each in pk.plot.differences(result.comparison()).layout.annotations]
    assert [text.rpartition(" ")[2] for text in texts] == [str(pair["wins"]), str(pair["losses"])]
