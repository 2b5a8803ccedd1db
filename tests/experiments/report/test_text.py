"""The report as Markdown and LaTeX: the same tables."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest


def test_markdown_has_the_tables(folder, finished):
    text = (folder / "report.md").read_text("utf-8")
    assert text.startswith("# Rankers on \\<i\\>one, two\n")
    for dataset in ("\\<i\\>one", "two"):
        assert f"**Leaderboard of {dataset}**" in text
    for row in finished.leaderboard.iter_rows(named=True):
        assert f"{row['mean_over_folds']:.4f}" in text
    assert "## In short" in text and "on validation data" in text and "## How it was made" in text
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) > 10
    for block in blocks:  # every row of a table has as many cells as its header
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1, block


def test_latex_is_balanced_and_has_the_tables(folder, finished):
    text = (folder / "report.tex").read_text("utf-8")
    begins = re.findall(r"\\begin\{(\w+)\}", text)
    assert sorted(begins) == sorted(re.findall(r"\\end\{(\w+)\}", text)) and begins.count("tabular") > 10
    assert text.count(r"\toprule") == begins.count("tabular") and r"\usepackage{booktabs}" in text
    for row in finished.leaderboard.iter_rows(named=True):
        assert f"{row['mean_over_folds']:.4f}" in text
    assert r"a\_b\%" in text and r"\textless{}b\textgreater{}\&" in text
    depth = 0
    for character in re.sub(r"\\[{}\\]", "", text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        assert depth >= 0
    assert depth == 0


def test_latex_compiles(folder, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("needs pdflatex")
    shutil.copy(folder / "report.tex", tmp_path)
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
        cwd=tmp_path,
        capture_output=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:].decode(errors="replace")


def test_what_would_change_for_users(folder, finished):
    import plackett as pk

    text = (folder / "report.md").read_text("utf-8")
    part = text.partition("## What would change for users")[2].partition("\n## ")[0]
    assert "results replaced" in part and "rank before" in part
    new = finished.chosen("two")
    old = next(ranker for ranker in finished.leaderboard.filter(dataset="two")["ranker"] if ranker != new)
    values = []
    for after, before in zip(finished.of("two", new), finished.of("two", old), strict=True):
        test = finished.folds["two"][after.fold].test
        values += pk.churn(before.scores, after.scores, test).per_query["replaced"].to_list()
    assert f"{sum(values) / len(values):.2f}" in part
