"""The page: it needs nothing from elsewhere, says what the experiment says, and shows names as they are."""

from __future__ import annotations

import itertools
import re
import sys

import numpy as np
import pytest

from plackett.experiments.report import write_report

NASTY = '<b>&"x'
SECTIONS = [
    "answer", "leaderboard", "ranks", "queries", "changes", "cutoffs", "learning", "selection", "cost", "features",
    "example", "data", "protocol",
]  # fmt: skip


# ---------------------------------------------------------------------------------------------------- self-contained


def test_nothing_is_fetched(page):
    """No element names an address, no style fetches, and the policy forbids what scripts might try."""
    for tag, attributes in page.elements:
        for name in ("src", "srcset", "data", "action", "poster", "formaction"):
            assert name not in attributes, (tag, attributes)
        assert tag not in ("link", "iframe", "object", "embed", "base")
        if "href" in attributes:
            assert attributes["href"].startswith("#")
        assert "url(" not in attributes.get("style", "")
    for tag, _, text in page.raw:
        if tag == "style":
            assert "url(" not in text and "@import" not in text
    policies = [a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1 and policies[0].startswith("default-src 'none'") and "http" not in policies[0]


def test_plotly_is_there_once_and_the_rest_is_small(page):
    from plotly.offline import get_plotlyjs

    scripts = [text for tag, _, text in page.raw if tag == "script"]
    assert sum(len(text) > 1_000_000 for text in scripts) == 1
    (plotly,) = [text for _, a, text in page.raw if a.get("id") == "plotly-source"]
    assert plotly.strip() == get_plotlyjs().strip()
    assert sum(map(len, scripts)) - len(plotly) < 400_000


def test_sections_links_and_ids(page):
    assert [a["id"] for tag, a in page.elements if tag == "section"] == SECTIONS
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))
    targets = [a["href"][1:] for tag, a in page.elements if tag == "a"]
    assert set(targets) <= set(ids) and set(SECTIONS) <= set(targets)
    assert all(a["aria-labelledby"] in ids for tag, a in page.elements if tag == "section")


def test_accessible(page):
    assert ("html", {"lang": "en"}) in page.elements
    assert all(table["caption"].strip() for table in page.tables)
    assert all(a.get("scope") in ("col", "row") for tag, a in page.elements if tag == "th")
    figures = [a for _, a in page.elements if a.get("role") == "img"]
    assert len(figures) == len(page.data["figures"]) + 1
    assert all(len(a["aria-label"]) > 20 for a in figures)
    assert {a["id"] for a in figures} == {*page.data["figures"], "pair-bars"}


# ------------------------------------------------------------------------------------------------- the same numbers


def test_leaderboard_has_the_figures_of_the_experiment(page, finished):
    for dataset in finished.datasets:
        header, rows = page.table(f"Leaderboard of {dataset}")
        board = finished.leaderboard.filter(dataset=dataset)
        assert [row[0] for row in rows] == board["ranker"].unique(maintain_order=True).to_list()
        for row in rows:
            for measure in finished.measures:
                entry = board.filter(ranker=row[0], measure=measure).row(0, named=True)
                text = row[header.index(measure)]
                assert text.rstrip("−") == f"{entry['mean_over_folds']:.4f}"
                assert text.endswith("−") == bool(entry["significantly_worse"])
            entry = board.filter(ranker=row[0], measure="nDCG@5").row(0, named=True)
            assert row[header.index("nDCG@5 over queries")] == f"{entry['mean_over_queries']:.4f}"
            assert row[header.index("95 % interval of nDCG@5")] == f"[{entry['low']:.4f}, {entry['high']:.4f}]"
            assert row[header.index("validation nDCG@5")] == f"{entry['validation']:.4f}"


def test_the_answer_names_the_chosen_ranker(page, finished):
    text = " ".join(page.words)
    for dataset in finished.datasets:
        best = finished.best(dataset)
        mean = finished.leaderboard.filter(dataset=dataset, ranker=best, measure="nDCG@5")["mean_over_queries"].item()
        assert f"{dataset}: {finished.headline(dataset)}." in text
        assert f"{dataset}: {best} is the best of 3 on validation data" in text
        assert f"its nDCG@5 is {mean:.4f}" in text


def test_per_query_differences(page, finished):
    sets = page.data["browser"]["datasets"]
    assert [entry["name"] for entry in sets] == list(finished.datasets)
    for entry in sets:
        for m, measure in enumerate(("nDCG@5", "AP")):
            assert entry["measures"][m] == {"name": measure, "sign": 1}
            values = {}
            for r, ranker in enumerate(entry["rankers"]):
                frame = finished.per_query.filter(dataset=entry["name"], ranker=ranker)
                assert entry["qids"] == frame["qid"].to_list() and entry["folds"] == frame["fold"].to_list()
                np.testing.assert_allclose(entry["values"][m][r], frame[measure], rtol=1e-4)
                values[r] = frame[measure].to_numpy()
            for i, j in itertools.combinations(values, 2):
                (stored,) = [e for e in entry["pairs"][f"{i}-{j}"] if e["measure"] == measure]
                difference = values[i] - values[j]
                assert stored["difference"] == pytest.approx(difference.mean())
                counts = [(difference > 1e-9).sum(), (abs(difference) <= 1e-9).sum(), (difference < -1e-9).sum()]
                assert [stored["wins"], stored["ties"], stored["losses"]] == counts
                for query in {int(np.argmax(difference)), int(np.argmin(difference))}:  # ends are there as lists
                    assert str(query) in entry["lists"]


def test_the_same_two_rankers_have_the_same_verdict_everywhere(page, finished):
    """The leaderboard tests against the best ranker: the pair browser must not correct the same test otherwise."""
    compared = 0
    for entry in page.data["browser"]["datasets"]:
        board = finished.leaderboard.filter(dataset=entry["name"])
        for measure in ("nDCG@5", "AP"):
            rows = {row["ranker"]: row for row in board.filter(measure=measure).iter_rows(named=True)}
            (best,) = [ranker for ranker, row in rows.items() if row["best"] and row["p"] is None]
            for ranker, row in rows.items():
                if ranker == best:
                    continue
                i, j = sorted(entry["rankers"].index(name) for name in (best, ranker))
                (stored,) = [e for e in entry["pairs"][f"{i}-{j}"] if e["measure"] == measure]
                assert stored["significant"] == row["significantly_worse"]
                assert (stored["p"], stored["p_corrected"]) == (row["p"], row["p_corrected"])
                assert stored["family"] == "the 2 comparisons with the best ranker"
                compared += 1
    assert compared == 8


def test_lists_are_the_ranked_documents(page, finished):
    entry = page.data["browser"]["datasets"][1]
    cells = {ranker: finished.of("two", ranker) for ranker in entry["rankers"]}
    assert entry["lists"]
    for query, shown in entry["lists"].items():
        number = int(query)
        for part in range(3):
            size = cells["trees"][part].qids.size
            if number < size:
                break
            number -= size
        fold = cells["trees"][part].fold
        test = finished.folds["two"][fold].test
        a, b = test.offsets[number : number + 2]
        assert str(test.qids[number]) == entry["qids"][int(query)] and shown["n"] == b - a
        for r, ranker in enumerate(entry["rankers"]):
            scores = cells[ranker][part].scores[a:b]
            order = np.argsort(-scores, kind="stable")[:10]
            drawn = [(*shown["docs"][doc], score) for doc, score in shown["orders"][r]]
            assert [label for _, label, _ in drawn] == test.labels[a:b][order].tolist()
            np.testing.assert_allclose([score for *_, score in drawn], scores[order], rtol=1e-3)


def test_cutoff_curves_are_what_evaluate_says(page, finished):
    import plackett as pk

    figure = page.data["figures"]["cutoff-0-1"]
    for trace in figure["data"]:
        ranker = next(name for name in finished.rankers if name.startswith(trace["name"]) or "&" in trace["name"])
        for k in (1, 3):
            means = [
                pk.evaluate(finished.folds["two"][c.fold].test, c.scores, f"nDCG@{k}").mean[f"nDCG@{k}"]
                for c in finished.of("two", ranker)
            ]
            assert trace["y"][k - 1] == pytest.approx(np.mean(means), rel=1e-4)


def test_ranks_over_datasets(page, finished):
    header, rows = page.table("Ranks over 2 datasets by nDCG@5")
    for row in rows:
        assert row[header.index("mean rank")] == f"{finished.mean_ranks()[row[0]]:.2f}"
        assert row[header.index("winning number")] == str(finished.winning_numbers()[row[0]])


def test_profile_and_list_lengths(page, finished):
    fold = finished.folds["two"][1]
    header, rows = page.table("Profile of two, fold 1")
    facts = {row[0]: row[1:] for row in rows}
    parts = (fold.train, fold.valid, fold.test)
    assert header[1:] == ["training", "validation", "test"]
    assert facts["queries"] == [str(part.n_queries) for part in parts]
    assert facts["documents of label 0"] == [str(int((part.y == 0).sum())) for part in parts]
    _, rows = page.table("Queries of two by the length of their lists")
    assert rows == [["6", *(str(part.n_queries) for part in parts)]]  # every list has 6 documents


def test_contributions_add_up(page):
    """What sets the first document above the second is the difference of their columns."""
    pairs = [table for table in page.tables if table["caption"].startswith("Contributions to the scores")]
    why = [table["caption"] for table in page.tables if table["caption"].startswith("Why ")]
    assert len(pairs) == len(why) == 2
    for table, caption in zip(pairs, why, strict=True):
        first, second = (sum(float(row[i].replace("−", "-")) for row in table["rows"][1:]) for i in (1, 2))
        assert first - second == pytest.approx(float(caption.rpartition(" ")[2]), abs=1e-3)


def test_fingerprints_and_settings(page, finished):
    _, rows = page.table("Fingerprints of the data")
    assert ["two", "2", "valid", finished.folds["two"][2].valid.fingerprint()] in [row[:4] for row in rows]
    _, rows = page.table("Settings chosen in each fold")
    assert len(rows) == len(finished.cells)


# --------------------------------------------------------------------------------------------------- names and plots


def test_names_are_shown_as_they_are(page, folder):
    """No name becomes an element: what a parser reads back are the names themselves."""
    assert any(NASTY in row for table in page.tables for row in table["rows"])
    assert page.data["browser"]["datasets"][0]["rankers"].count(NASTY) == 1
    assert not any(tag == "i" for tag, _ in page.elements)
    text = (folder / "report.html").read_text("utf-8")
    assert "<i>one" not in text and NASTY not in text
    names = [trace.get("name", "") for figure in page.data["figures"].values() for trace in figure["data"]]
    assert '&lt;b&gt;&amp;"x' in names and not any("<" in name for name in names)


def test_script_cannot_be_ended_by_data(page):
    (text,) = [text for _, a, text in page.raw if a.get("id") == "report-data"]
    assert "<" not in text


def test_figures_are_valid_plotly(page):
    """Plotly's own checks of attributes and values, once colours have been put in."""
    import plotly.graph_objects as go

    def coloured(value, key=""):
        if isinstance(value, list):
            return [coloured(entry, key) for entry in value]
        if isinstance(value, dict):
            return {name: coloured(entry, name) for name, entry in value.items()}
        return "#123456" if isinstance(value, str) and value.startswith("--") and key.endswith("color") else value

    style = next(text for tag, _, text in page.raw if tag == "style")
    for name, figure in page.data["figures"].items():
        go.Figure(coloured(figure["data"]), coloured(figure["layout"]))
        for token in re.findall(r'"(--\w+)"', str(figure).replace("'", '"')):
            assert style.count(f"{token}:") == 2, (name, token)  # light and dark
        for axis in ("xaxis", "yaxis"):
            assert figure["layout"][axis]["title"]["text"] or figure["layout"][axis].get("type") == "category"
    points = sum(len(t.get("x", [])) for figure in page.data["figures"].values() for t in figure["data"])
    assert points < 5_000


# ------------------------------------------------------------------------------------------------------------ writing


@pytest.mark.parametrize("module", ["plotly.offline", "jinja2"])
def test_missing_extra(finished, tmp_path, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'plackett\[report\]'"):
        write_report(finished, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_report_method_and_title(finished, tmp_path, read_page):
    path = finished.report(tmp_path / "new" / "folder", title="A & B")
    assert sorted(p.name for p in path.parent.iterdir()) == ["report.html", "report.md", "report.tex"]
    assert "<title>A &amp; B</title>" in path.read_text("utf-8")
