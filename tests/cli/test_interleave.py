"""`plackett interleave`."""

from __future__ import annotations

import json
import random
from inspect import get_annotations
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from plackett._base.errors import DataError, PlackettWarning
from plackett.cli.app import app
from plackett.cli.interleave import score
from plackett.data.trec import write_run
from plackett.online.interleaving.files import score_events, write_lists


@pytest.fixture
def runs(tmp_path):
    rng = np.random.default_rng(0)
    paths = []
    for name in "AB":
        path = tmp_path / f"{name}.run"
        lines = [f"q{q} Q0 d{d} 0 {rng.random()} {name}" for q in range(5) for d in range(12)]
        path.write_text("\n".join(lines))
        paths.append(str(path))
    return paths


def command(*arguments):
    return CliRunner().invoke(app, ["interleave", *map(str, arguments)])


@pytest.mark.parametrize("method", ["team-draft", "balanced", "probabilistic", "optimised"])
def test_lists_are_shown_and_scored(runs, tmp_path, method):
    shown, events = tmp_path / "shown.jsonl", tmp_path / "events.jsonl"
    assert command(*runs, "--out", shown, "--method", method, "-k", 5, "--copies", 40).exit_code == 0
    lists = [json.loads(line) for line in shown.read_text().splitlines()]
    assert len(lists) == 200 and all(len(each["documents"]) == 5 for each in lists)
    best = {}  # users who want what B has first
    for line in Path(runs[1]).read_text().splitlines():
        qid, _, document, _, score, _ = line.split()
        best[qid] = max(best.get(qid, (0, "")), (float(score), document))
    rows = [
        {"id": each["id"], "event": i, "clicks": [d for d in each["documents"] if d == best[each["qid"]][1]]}
        for i, each in enumerate(lists)
    ]
    events.write_text("\n".join(map(json.dumps, [*rows, rows[0]])))
    result = json.loads(command("score", events, "--shown", shown, "--json").output)
    assert result["n_events"] == 200 and result["n_repeated"] == 1
    assert result["rows"][0]["p"] < 0.01 and result["rows"][0]["preference"] < 0 and result["advice"] == "B is better."
    whole = tmp_path / "whole.jsonl"  # events that carry their list
    whole.write_text("\n".join(json.dumps(each | row) for each, row in zip(lists, rows, strict=True)))
    assert "B is better." in command("score", whole).output


def test_a_few_large_orders_decide_nothing(runs, tmp_path):
    shown, events = tmp_path / "shown.jsonl", tmp_path / "events.jsonl"
    command(*runs, "--out", shown, "--method", "probabilistic", "-k", 5, "--copies", 40)
    lists = [json.loads(line) for line in shown.read_text().splitlines()]
    rows = [{"id": each["id"], "event": i, "clicks": []} for i, each in enumerate(lists)]
    for row, each, worth in zip(rows[:3], lists, (1, 400, 2), strict=False):
        row["clicks"] = {each["documents"][0]: worth}
    events.write_text("\n".join(map(json.dumps, rows)))
    result = json.loads(command("score", events, "--shown", shown, "--json").output)
    assert result["rows"][0]["p"] == 1.0 and result["holds_from"] > 5000
    assert result["advice"].startswith("Too early: few pages have most of the credit. About ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no events"),
        ("{\n", "line 1: not a line of JSON"),
        ("[1]", "line 1: an object"),
        ('{"id": "x"}', "line 1: no field 'rankers'"),
        (
            '{"rankers": ["a", "b"], "method": "team-draft", "documents": ["d"], "credits": [[1, 0]], "clicks": ["e"]}',
            "line 1: clicked document 'e'",
        ),
        (
            '{"rankers": ["a", "b"], "method": "team-draft", "documents": 3, "credits": [[1, 0]], "clicks": ["e"]}',
            "line 1: ",
        ),
    ],
)
def test_bad_events_are_named_by_line(tmp_path, text, said):
    path = tmp_path / "events.jsonl"
    path.write_text(text)
    result = command("score", path)
    assert isinstance(result.exception, DataError) and said in str(result.exception)


def test_events_may_come_in_any_order_and_more_than_once(runs, tmp_path):
    shown, events = tmp_path / "shown.jsonl", tmp_path / "events.jsonl"
    command(*runs, "--out", shown, "-k", 5)
    lists = [json.loads(line) for line in shown.read_text().splitlines()]
    rng = random.Random(0)
    ids = ["", "ä\ud800", 7, "7", *range(100, 146)]
    rows = [
        {"event": event, "id": each["id"], "clicks": rng.sample(each["documents"], 2)}
        for event, each in zip(ids, lists, strict=True)
    ]
    expected = None
    for _ in range(5):
        again = [*rows, *rng.choices(rows, k=20)]
        rng.shuffle(again)
        events.write_text("\n".join(map(json.dumps, again)) + "\n\n")
        result = json.loads(command("score", events, "--shown", shown, "--json").output)
        assert result["n_events"] == 50 and result["n_repeated"] == 20
        assert expected is None or result["rows"] == expected
        expected = result["rows"]


def test_a_line_that_is_still_being_written_is_left_for_the_next_time(runs, tmp_path):
    """Wherever the writer is, also inside a character; in the middle of the file such a line is an error."""
    shown, events = tmp_path / "shown.jsonl", tmp_path / "events.jsonl"
    command(*runs, "--out", shown, "-k", 5)
    lists = [json.loads(line) for line in shown.read_text().splitlines()[:4]]
    rows = [{"event": f"ä{i}", "id": each["id"], "clicks": each["documents"][:1]} for i, each in enumerate(lists)]
    *lines, last = (json.dumps(row, ensure_ascii=False).encode() for row in rows)
    before = b"".join(line + b"\n" for line in lines)
    for cut in range(1, len(last)):
        events.write_bytes(before + last[:cut])
        with pytest.warns(PlackettWarning, match=r"events\.jsonl, line 4 is not complete yet"):
            assert score_events(events, shown).n_events == 3
    for end in (b"", b"\n"):
        events.write_bytes(before + last + end)
        assert score_events(events, shown).n_events == 4
    events.write_bytes(before + last[:20] + b"\n" + last)
    with pytest.raises(DataError, match="line 4: not a line of JSON"):
        score_events(events, shown)
    shown.write_bytes(shown.read_bytes()[:-10])
    events.write_bytes(before)
    with pytest.raises(DataError, match=r"shown\.jsonl, line \d+: not a line of JSON"):  # nobody appends to it
        score_events(events, shown)


NONSENSE = (None, True, -1, 1e400, 10**400, "", "x", [], [[]], {}, {"d1": 1e300}, {"d1": "x"}, [["a"]], "nan", 0.5)


@pytest.mark.parametrize("method", ["team-draft", "balanced", "probabilistic", "optimised"])
def test_garbled_events_are_refused_by_line_or_scored(runs, tmp_path, method):
    """Any field replaced by anything, lines cut and bytes changed: a `DataError` that names the line, or a score."""
    shown, events = tmp_path / "shown.jsonl", tmp_path / "events.jsonl"
    write_lists(dict(zip("AB", runs, strict=True)), shown, method=method, k=3)
    good = [json.loads(line) for line in shown.read_text().splitlines()]
    rng, said, scored = random.Random(0), [], []
    for trial in range(200):
        rows = [each | {"event": i, "clicks": each["documents"][:1]} for i, each in enumerate(good)]
        if trial % 2:
            rows[3][rng.choice(["id", "event", "rankers", "method", "documents", "credits", "clicks"])] = rng.choice(
                NONSENSE
            )
            lines = [json.dumps(row).encode() for row in rows]
        else:
            lines = [json.dumps(row).encode() for row in rows]
            cut = rng.randrange(len(lines[3]))
            lines[3] = lines[3][:cut] + rng.randbytes(rng.randrange(3)) + lines[3][cut + rng.randrange(3) :]
        events.write_bytes(b"\n".join(lines))
        try:
            scored.append(score_events(events))
        except DataError as error:
            said.append(str(error))
    assert all(str(events) in each and "line" in each for each in said)
    assert all(result.n_events <= 5 and 0 <= result.rows[0][-1] <= 1 for result in scored)
    assert len(said) > 60 and scored


def _shown(tmp_path, *lists):
    path = tmp_path / "shown.jsonl"
    common = {"rankers": ["A", "B"], "method": "team-draft", "documents": ["a", "b"], "credits": [[1, 0], [0, 1]]}
    path.write_text("\n".join(json.dumps(common | each) for each in lists))
    return path


def _events(tmp_path, *clicks):
    path = tmp_path / "events.jsonl"
    path.write_text("\n".join(json.dumps({"id": "q/0", "clicks": each}) for each in clicks))
    return path


def test_the_ranker_that_wins_more_pages_is_better_whatever_the_weights(tmp_path):
    events = _events(tmp_path, *[["a"]] * 80, *[{"b": 50}] * 20)
    result = score_events(events, _shown(tmp_path, {"id": "q/0"}))
    assert result.rows[0][2:4] == (80, 20) and result.credit["B"] > result.credit["A"]
    assert result.advice == "A is better."


def test_pages_with_clicks_are_counted_even_if_nobody_earns_credit(tmp_path):
    shown = _shown(tmp_path, {"id": "q/0", "credits": [[0, 0], [0, 0]]})
    assert score_events(_events(tmp_path, ["a"], [], ["a", "b"], {"a": 0}), shown).n_clicked == 2


def test_two_lists_with_one_id_are_refused(tmp_path):
    shown = _shown(tmp_path, {"id": "q/0"}, {"id": "q/0"}, {"id": "q/0", "credits": [[0, 1], [1, 0]]})
    with pytest.raises(DataError, match="line 3: another list has the id 'q/0'"):
        score_events(_events(tmp_path, ["a"]), shown)


def test_clicks_given_as_text_are_refused(tmp_path):
    with pytest.raises(DataError, match="line 2: clicks is the text 'ab'; give a list"):
        score_events(_events(tmp_path, ["a"], "ab"), _shown(tmp_path, {"id": "q/0"}))


def test_help_says_what_a_line_of_events_holds():
    (events,) = get_annotations(score, eval_str=True)["events"].__metadata__
    assert '"clicks", a list of documents' in events.help


def test_queries_that_a_run_does_not_have_are_named(runs, tmp_path):
    less, other, out = tmp_path / "less.run", tmp_path / "other.run", tmp_path / "out.jsonl"
    less.write_text("q0 Q0 d1 1 1 x\nq1 Q0 d1 1 1 x\n")
    other.write_text("0 Q0 d1 1 1 x\n")
    with pytest.warns(PlackettWarning, match="of 5 queries, less has no documents for 3, such as 'q2'"):
        assert write_lists({"A": runs[0], "less": less}, out) == 5
    with pytest.raises(
        DataError, match="no query has documents of all rankers. Of 6 queries, A has no documents for 1"
    ):
        write_lists({"A": runs[0], "other": other}, out)


@pytest.mark.parametrize(("m", "copies"), [(2, 4), (3, 6)])
@pytest.mark.parametrize("method", ["team-draft", "probabilistic", "optimised"])
def test_the_copies_of_a_query_are_fair_to_clicks_by_rank(tmp_path, method, m, copies):
    rng, out = np.random.default_rng(1), tmp_path / "shown.jsonl"
    runs = {}
    for name in range(m):
        runs[f"R{name}"] = tmp_path / f"{name}.run"
        runs[f"R{name}"].write_text("".join(f"q Q0 d{d} 0 {-i} x\n" for i, d in enumerate(rng.permutation(8))))
    write_lists(runs, out, method=method, k=4, copies=copies)
    credit = np.array([json.loads(line)["credits"] for line in out.read_text().splitlines()])  # copy, rank, ranker
    assert np.abs(credit).sum() > 0.1
    np.testing.assert_allclose(np.ptp(credit.mean(axis=0), axis=1), 0, atol=1e-12)
    if method == "team-draft":
        for ranks in ([0], [0, 1], [0, 2, 3]):  # who wins, too
            wins = credit[:, ranks].sum(axis=1)
            for i in range(m):
                for j in range(i):
                    assert (wins[:, i] > wins[:, j]).sum() == (wins[:, i] < wins[:, j]).sum()


def test_queries_of_several_words_come_in_tables(tmp_path):
    """What shops have: a query with blanks does not fit into a TREC file."""
    rows = [("grüne Jacke", f"SKU {i}", float(i)) for i in range(6)] + [("Tür", "SKU 9", 1.0)]
    paths = [tmp_path / name for name in ("A.csv", "B.parquet", "C.jsonl")]
    for sign, path in zip((1, -1, 1), paths, strict=True):
        write_run([(qid, docid, sign * score) for qid, docid, score in rows], path)
    out = tmp_path / "shown.jsonl"
    assert command(*paths, "--out", out, "-k", 3, "--copies", 6).exit_code == 0
    lists = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [each["qid"] for each in lists] == ["grüne Jacke"] * 6 + ["Tür"] * 6
    assert {"SKU 0", "SKU 5"} <= {document for each in lists for document in each["documents"]}
    events = tmp_path / "events.jsonl"
    events.write_text("\n".join(json.dumps({"id": each["id"], "clicks": each["documents"][:1]}) for each in lists))
    assert command("score", events, "--shown", out).exit_code == 0
