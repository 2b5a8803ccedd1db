"""The tutorial from documents to a deployed ranker: every step runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from asgi_client import post

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "workbench.md"
STEP = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.full
def test_every_step_of_the_tutorial_runs(tmp_path, monkeypatch):
    pytest.importorskip("yaml", reason="needs the extra text")
    from plackett.cli.app import app

    monkeypatch.chdir(tmp_path)
    opened = []
    # servers are asked instead of left running
    monkeypatch.setattr("plackett.workbench.server.serve", lambda bench, **_: opened.append(bench))
    monkeypatch.setattr("plackett.serve.server.serve", lambda app, **_: opened.append(app))
    namespace: dict[str, object] = {}
    commands = 0
    for kind, text in STEP.findall(PAGE.read_text("utf-8")):
        if kind == "python":
            exec(compile(text, str(PAGE), "exec"), namespace)
            continue
        for line in text.splitlines():
            result = CliRunner().invoke(app, shlex.split(line.removeprefix("$ plackett ")))
            assert result.exit_code == 0, (line, result.output, result.exception)
            commands += 1
    assert commands == 11
    first, second, service = opened
    assert list(first.source.columns) == ["BM25", "RM3"] and len(first.source.queries) == 40
    assert list(second.source.columns) == ["BM25", "engine"] and len(second.given) == 40
    service.refresh()
    assert post(service, "/search", {"query": "count how often items occur", "k": 3}).json["items"]
    from plackett.text import SearchPipeline

    assert SearchPipeline.load("engine").search("count how often items occur", k=3)
