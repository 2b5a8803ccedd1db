"""Scripts and notebooks in examples/ run."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
LONG = {"demo.py", "advertising.py"}  # `make demo`
SCRIPTS = [pytest.param(p, marks=[pytest.mark.full] * (p.name in LONG)) for p in sorted(EXAMPLES.glob("*.py"))]
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_script_runs(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)
def test_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    notebook = json.loads(path.read_text("utf-8"))
    assert notebook["nbformat"] == 4
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], f"cell {number}: clear the outputs before committing"
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), namespace)


def test_readme_lists_every_example():
    text = (EXAMPLES / "README.md").read_text("utf-8")
    missing = [p.name for p in EXAMPLES.iterdir() if p.suffix in (".py", ".ipynb") and f"]({p.name})" not in text]
    assert not missing
