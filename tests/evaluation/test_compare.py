from __future__ import annotations

import io
import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

import plackett as pk
from plackett import DataError, MeasureError
from plackett.evaluation.compare import compare
from plackett.evaluation.compare_evaluations import compare_evaluations
from plackett.evaluation.compare_runs import compare_runs
from plackett.evaluation.evaluate_run import evaluate_run
from plackett.evaluation.risk import geo_risk, reward_risk, trisk, urisk
from plackett.evaluation.significance import confidence_interval, fisher, holm, tukey, win_tie_loss
from plackett.measures import nDCG


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(60), 8)
    y = rng.integers(0, 4, qid.size)
    order = rng.permutation(qid.size)  # rows in no order
    scores = {f"s{i}": y + rng.normal(0, 1 + i, qid.size) for i in range(3)}
    return qid[order], y[order], {name: s[order] for name, s in scores.items()}


@pytest.fixture(scope="module")
def result(case):
    qid, y, scores = case
    return compare(y, scores, ["nDCG@5", "nDCG(empty='skip')"], qid=qid)


def columns(case, measure):
    qid, y, scores = case
    actual = {name: pk.evaluate(y, s, [measure], qid=qid) for name, s in scores.items()}
    return {name: evaluation.values[str(measure)][np.argsort(evaluation.qids)] for name, evaluation in actual.items()}


def test_table(case, result):
    values = columns(case, nDCG @ 5)
    rows = result.table.filter(pl.col("measure") == "nDCG@5")
    assert rows["system"].to_list() == ["s0", "s1", "s2"]
    for row in rows.iter_rows(named=True):
        x = values[row["system"]]
        assert row["mean"] == pytest.approx(x.mean())
        assert (row["low"], row["high"]) == pytest.approx(confidence_interval(x), abs=1e-12)
        assert row["best"] == (row["system"] == "s0")
    risks = geo_risk(np.column_stack(list(values.values())))
    assert rows["geo_risk"].to_list() == pytest.approx(risks.tolist())


def test_pairs(case, result):
    values = columns(case, nDCG @ 5)
    rows = result.pairs.filter(pl.col("measure") == "nDCG@5")
    pairs = [("s0", "s1"), ("s0", "s2"), ("s1", "s2")]
    assert list(zip(rows["a"], rows["b"], strict=True)) == pairs
    p = [fisher(values[a], values[b]).pvalue for a, b in pairs]
    assert rows["p"].to_list() == p
    assert rows["p_corrected"].to_list() == holm(p).tolist()  # the pairs of one measure are one family
    for row in rows.iter_rows(named=True):
        a, b = values[row["a"]], values[row["b"]]
        assert row["difference"] == pytest.approx((a - b).mean())
        assert (row["low"], row["high"]) == pytest.approx(confidence_interval(a, b), abs=1e-12)
        assert row["significant"] == (row["p_corrected"] <= 0.05)
        assert (row["wins"], row["ties"], row["losses"]) == win_tie_loss(a, b)
        assert (row["reward"], row["risk"]) == reward_risk(a, b)
        assert row["urisk"] == urisk(a, b) and row["trisk"] == trisk(a, b)


def test_better_than_follows_the_pairs(result):
    for row in result.table.iter_rows(named=True):
        won = result.pairs.filter((pl.col("measure") == row["measure"]) & (pl.col("better") == row["system"]))
        losers = {a if b == row["system"] else b for a, b in zip(won["a"], won["b"], strict=True)}
        assert set(row["better_than"]) == losers
    assert result.pairs["significant"].any()


def test_dataset_in_grouped_order(case, result):
    qid, y, scores = case
    data = pk.RankingDataset.from_arrays(None, y, qid)
    grouped = {name: data.from_input_order(s) for name, s in scores.items()}
    again = compare(data, grouped, ["nDCG@5", "nDCG(empty='skip')"])
    assert again.pairs.equals(result.pairs) and again.table.equals(result.table)
    with pytest.raises(DataError, match="qid"):
        compare(data, grouped, "nDCG", qid=qid)


def test_baseline(case):
    qid, y, scores = case
    actual = compare(y, scores, "nDCG", qid=qid, baseline="s1", test="t", correction=None)
    assert list(zip(actual.pairs["a"], actual.pairs["b"], strict=True)) == [("s0", "s1"), ("s2", "s1")]
    values = columns(case, nDCG)
    for row in actual.pairs.iter_rows(named=True):
        expected = stats.ttest_rel(values[row["a"]], values["s1"]).pvalue
        assert row["p"] == pytest.approx(expected) and row["p_corrected"] == row["p"]
    assert "Compared with s1 only" in actual.to_markdown()


def test_tukey_is_not_corrected_again(case):
    qid, y, scores = case
    actual = compare(y, scores, "nDCG", qid=qid, test="tukey", correction="bonferroni")
    p = tukey(np.column_stack(list(columns(case, nDCG).values()))).pvalue
    assert actual.pairs["p_corrected"].to_list() == actual.pairs["p"].to_list() == [p[0, 1], p[0, 2], p[1, 2]]
    assert actual.correction == "none"


def test_users_own_test(case):
    qid, y, scores = case
    scipys = compare(y, scores, "nDCG", qid=qid, test=stats.ttest_rel)
    own = compare(y, scores, "nDCG", qid=qid, test=lambda a, b: stats.ttest_rel(a, b).pvalue)
    student = compare(y, scores, "nDCG", qid=qid, test="student")
    assert scipys.pairs["p"].to_list() == own.pairs["p"].to_list()
    assert scipys.pairs["p"].to_list() == pytest.approx(student.pairs["p"].to_list())
    assert scipys.test == "ttest_rel"


def test_a_measure_whose_small_values_are_better(case):
    qid, y, scores = case
    actual = compare(y, scores, "ARP", qid=qid)
    best = actual.table.filter(pl.col("best"))["system"].to_list()
    assert best == ["s0"] and actual.means["ARP"].min() == actual.means["ARP"][0]
    first = actual.pairs.row(0, named=True)
    assert first["difference"] < 0 < first["wins"] - first["losses"]
    assert first["better"] == "s0" and first["reward"] > first["risk"]


def test_skipped_queries_are_left_out_for_all():
    y, qid = [1, 0, 0, 0, 1, 0], ["a", "a", "b", "b", "c", "c"]
    actual = compare(y, {"x": [2, 1, 2, 1, 2, 1], "y": [1, 2, 1, 2, 2, 1]}, 'nDCG(empty="skip")', qid=qid)
    assert actual.pairs.select("wins", "ties", "losses").row(0) == (1, 1, 0)
    assert actual.means.row(0)[1] == 1.0


def test_equal_systems(case):
    qid, y, scores = case
    actual = compare(y, {"a": scores["s0"], "b": scores["s0"]}, "nDCG", qid=qid)
    row = actual.pairs.row(0, named=True)
    assert row["p"] == 1.0 and not row["significant"] and row["better"] is None and row["cohens_dz"] == 0
    assert actual.table["best"].to_list() == [True, True]


def test_evaluations_are_aligned_by_query(case, result):
    qid, y, scores = case
    reverse = slice(None, None, -1)
    evaluations = {
        name: pk.evaluate(y[order], s[order], ["nDCG@5", "nDCG(empty='skip')"], qid=qid[order])
        for (name, s), order in zip(scores.items(), [slice(None), reverse, slice(None)], strict=True)
    }
    actual = compare_evaluations(evaluations)
    assert actual.pairs.equals(result.pairs) and actual.table.equals(result.table)
    assert actual.qids.tolist() == sorted(set(qid.tolist()))


def test_errors_name_what_is_wrong(case):
    qid, y, scores = case
    with pytest.raises(DataError, match="baseline='best' is not one of the systems: s0, s1, s2"):
        compare(y, scores, "nDCG", qid=qid, baseline="best")
    with pytest.raises(DataError, match="two systems"):
        compare(y, {"s0": scores["s0"]}, "nDCG", qid=qid)
    with pytest.raises(DataError, match=r"system 's1'.*NaN"):
        compare(y, scores | {"s1": scores["s1"] * np.nan}, "nDCG", qid=qid)
    with pytest.raises(ValueError, match="fisher, student"):
        compare(y, scores, "nDCG", qid=qid, test="anova")
    with pytest.raises(ValueError, match="holm, bonferroni"):
        compare(y, scores, "nDCG", qid=qid, correction="scheffe")
    with pytest.raises(ValueError, match="bca"):
        compare(y, scores, "nDCG", qid=qid, interval="exact")
    with pytest.raises(ValueError, match="alpha"):
        compare(y, scores, "nDCG", qid=qid, alpha=5)
    with pytest.raises(MeasureError, match="GMAP is not a plain mean"):
        compare(y, scores, "GMAP", qid=qid)
    one, other = pk.evaluate([1], [1], "nDCG", qid=["a"]), pk.evaluate([1], [1], "nDCG", qid=["b"])
    with pytest.raises(DataError, match="different queries"):
        compare_evaluations({"x": one, "y": other})
    with pytest.raises(DataError, match="same measures"):
        compare_evaluations({"x": one, "y": pk.evaluate([1], [1], "nDCG@3", qid=["a"])})


def test_runs(tmp_path):
    rng = np.random.default_rng(3)
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(6)} for q in range(9)}
    runs = {
        name: {q: {d: label + rng.normal(0, noise) for d, label in docs.items()} for q, docs in qrels.items()}
        for name, noise in (("good", 0.1), ("bad", 9.0))
    }
    del runs["bad"]["q4"]  # counts as nothing retrieved, with trec_eval's rules too
    file = tmp_path / "good.run"
    file.write_text("".join(f"{q} Q0 {d} 0 {s} x\n" for q, docs in runs["good"].items() for d, s in docs.items()))
    actual = compare_runs(qrels, runs | {"good": file}, ["nDCG@3", "AP"], preset="trec", test="student")
    for measure in ("nDCG@3", "AP"):
        values = [evaluate_run(qrels, run, [measure], preset="trec", complete=True).per_query for run in runs.values()]
        assert actual.qids.tolist() == values[0]["qid"].to_list() == values[1]["qid"].to_list()
        p = stats.ttest_rel(values[0][measure], values[1][measure]).pvalue
        row = actual.pairs.filter(pl.col("measure") == measure)
        assert row["p"].item() == pytest.approx(p)
    assert actual.values["AP"][actual.qids.tolist().index("q4"), 1] == 0.0


# ------------------------------------------------------------------------------------------------------ renderings


@pytest.fixture
def small():
    qid, y = np.repeat(np.arange(8), 2), np.tile([1, 0], 8)
    return compare(y, {"a_b": np.tile([2, 1], 8), "c&d": np.tile([1, 2], 8)}, "nDCG", qid=qid)


def test_markdown(small):
    lines = small.to_markdown(digits=2).splitlines()
    assert lines[2].split() == ["|", "a", "|", r"a\_b", "|", "**1.00**<sup>b</sup>", "|"]
    assert lines[3].split() == ["|", "b", "|", "c&d", "|", "0.63", "|"]
    assert len({len(line) for line in lines[:4]}) == 1


def test_latex(small):
    text = small.to_latex(digits=2)
    assert r"a & a\_b & \textbf{1.00}$^{b}$ \\" in text
    assert r"b & c\&d & 0.63 \\" in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1


def test_html(small):
    text = small._repr_html_()
    assert "<b>1.0000</b><sup>b</sup>" in text and "c&amp;d" in text


def test_terminal(small):
    text = small.to_terminal()
    assert "1.0000ᵇ" in text and str(small) == text
    from rich.console import Console

    console = Console(width=60)
    with console.capture() as captured:
        console.print(small)
    assert "1.0000ᵇ" in captured.get()


def test_intervals_in_the_table(small):
    assert "0.63 [0.63, 0.63]" in small.to_markdown(digits=2, intervals=True)


def test_csv_and_json(small, tmp_path):
    small.to_csv(tmp_path / "r.csv")
    frame = pl.read_csv(tmp_path / "r.csv")
    assert frame["mean"].to_list() == small.table["mean"].to_list()
    record = json.loads(small.to_json(tmp_path / "r.json"))
    assert json.loads((tmp_path / "r.json").read_text()) == record
    assert record["pairs"][0]["p"] == 2 / 2**8 and record["table"][0]["better_than"] == ["c&d"]
    assert record["pairs"][0]["cohens_dz"] is None  # infinite: all differences are equal


def test_letters_go_on_after_z():
    y, qid = np.tile([1, 0], 4), np.repeat(np.arange(4), 2)
    actual = compare(y, {f"s{i}": np.tile([2, 1], 4) for i in range(30)}, "nDCG", qid=qid, test="sign", interval="t")
    assert list(actual.letters.values())[24:29] == ["y", "z", "aa", "ab", "ac"]


def test_an_evaluation_renders_too():
    actual = pk.evaluate([1, 0, 0, 1], [2, 1, 2, 1], ["nDCG", "P@1"], qid=["a", "a", "b", "b"])
    assert [line.split("|")[1:3] for line in actual.to_markdown(digits=2).splitlines()[2:4]] == [
        [" nDCG    ", " 0.82 "],
        [" P@1     ", " 0.50 "],
    ]
    assert actual.to_csv().splitlines()[2].endswith("0.0") and json.loads(actual.to_json())["mean"] == actual.mean


def test_labels_without_an_irrelevant_grade_are_noticed():
    """With grades from 1 to 3 every document counts as relevant, and AP is 1 for everybody."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), 5)
    labels, a, b = rng.integers(1, 4, 100), rng.random(100), rng.random(100)
    with pytest.warns(pk.PlackettWarning, match=r"AP has the same value .*no label is below 1.*AP\(rel=2\)"):
        actual = pk.evaluate(labels, a, ["AP", "nDCG", "AP(rel=2)"], qid=qid)
    assert (
        actual.mean["AP"] == 1.0 and actual.doubts.keys() == {"AP"} and "Beware: AP has the same value" in str(actual)
    )
    with pytest.warns(pk.PlackettWarning, match="every document counts as relevant"):
        result = pk.compare(labels, {"a": a, "b": b}, ["AP", "nDCG"], qid=qid)
    assert result.doubts.keys() == {"AP"} and "Beware: AP" in result.to_markdown()


def test_measures_that_cannot_tell_systems_apart_are_noticed():
    qid = np.repeat(np.arange(6), 3)
    mixed, scores = np.tile([1, 0, 0], 6), np.tile([3.0, 2.0, 1.0], 6)
    assert pk.evaluate(mixed, scores, ["AP", "nDCG"], qid=qid).doubts == {}  # perfect, not constant by the labels
    same = pk.compare(mixed, {"a": scores, "b": 2 * scores}, ["AP"], qid=qid)
    assert same.doubts == {"AP": "all systems have the same AP on every query."}
    alike = np.repeat([1, 0, 2, 0, 1, 0], 3)
    assert pk.evaluate(alike, scores, ["AP", "nDCG", "AP(rel=3)"], qid=qid).doubts == {
        "AP": "AP has the same value for every order: in each query all documents are relevant, or none is.",
        "nDCG": "nDCG has the same value for every order: in each query all documents have the same label.",
        "AP(rel=3)": "AP(rel=3) has the same value for every order: no document is relevant: no label is 3 or more.",
    }
    only_relevant = {"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}}  # judgements often list relevant documents only
    run = {"q1": {"d1": 2.0, "d9": 3.0}, "q2": {"d1": 1.0, "d3": 2.0}}
    assert pk.evaluate_run(only_relevant, run, ["AP"]).doubts == {}


def test_a_narrow_terminal_keeps_figures_and_marks():
    """At 60 columns the measures follow each other in several parts; nothing is cut."""
    from rich.console import Console

    from plackett.evaluation.tables import rich_table

    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(30), 6)
    labels = rng.integers(0, 3, 180)
    scores = {"a system with a rather long name": labels + rng.random(180), "noise": rng.random(180), "more": -labels}
    result = compare(labels, scores, ["nDCG@5", "AP", "RR", "P@3"], qid=qid)
    for options in ({}, {"intervals": True}):
        console = Console(width=60, record=True, file=io.StringIO())
        console.print(rich_table(result._layout(**options)))
        text = console.export_text()
        assert "…" not in text and max(map(len, text.splitlines())) <= 60
        assert [text.count(name) for name in result.measures] == [1] * 4
        assert text.count("ᵇᶜ") == sum(row == ["noise", "more"] for row in result.table["better_than"].to_list()) > 0
        assert all(f"{mean:.4f}" in text for mean in result.table["mean"])
