"""Scripts and notebooks in examples/ run."""

from __future__ import annotations

import ast
import importlib
import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
RECIPES = sorted((EXAMPLES / "recipes").glob("*.py"))
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


@pytest.mark.parametrize("recipe", [p for p in RECIPES if "__main__" in p.read_text("utf-8")], ids=lambda p: p.name)
def test_a_recipe_runs_without_arguments(recipe, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(recipe)])
    runpy.run_path(str(recipe), run_name="__main__")
    assert capsys.readouterr().out.strip()


JUDGED = "".join(f"what does animal{i} do\t{text}\n" for i in range(6) for text in (f"Animal{i} sings.\t1", "No.\t0"))


@pytest.mark.parametrize(
    ("recipe", "files", "more", "expected"),
    [
        ("definitions", {"t.txt": "A quark is a particle.\n\nHe ran\nhome.\n"}, (), "quark: A quark is a particle."),
        ("answers", {"j.tsv": JUDGED}, (), "6 queries"),
        ("why", {"j.tsv": JUDGED}, (), "6 queries"),
        ("quantities", {"s.txt": "It is 2 km long.\n2000 m\n"}, (), "2000 to 2000 m (merit 2.00, snippets 1, 2)"),
        ("summaries", {"j.tsv": JUDGED, "t.txt": "Cows moo. Animal3 sings. No."}, ("animal3",), "Animal3 sings."),
        ("subgroups", {"t.csv": "a,b\n" + "x,1\ny,0\n" * 20}, ("b",), "a = x: 100% of 20 rows (overall 50%)"),
        ("translation", {"p.tsv": "one two\tuno due\none\tuno\n"}, (), "uno: on"),
    ],
)  # fmt: skip
def test_a_recipe_takes_files(recipe, files, more, expected, tmp_path, monkeypatch, capsys):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    program = str(EXAMPLES / "recipes" / f"{recipe}.py")
    monkeypatch.setattr(sys, "argv", [program, *(str(tmp_path / name) for name in files), *more])
    runpy.run_path(program, run_name="__main__")
    assert expected in capsys.readouterr().out


def test_results_with_vectors_are_re_ranked(tmp_path, monkeypatch, capsys):
    np.savez(tmp_path / "results.npz", scores=np.arange(30.0), embeddings=np.eye(30)[:, :4])
    program = str(EXAMPLES / "recipes" / "visual.py")
    monkeypatch.setattr(sys, "argv", [program, str(tmp_path / "results.npz")])
    runpy.run_path(program, run_name="__main__")
    assert sorted(map(int, capsys.readouterr().out.split())) == list(range(30))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda p: p.name)
def test_recipes_import_what_is_public(recipe):
    """From plackett and its packages, as users do: nothing from modules inside them, and no private name."""
    for node in ast.walk(ast.parse(recipe.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("plackett.") for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "plackett":
            package = importlib.import_module(node.module)
            assert hasattr(package, "__path__"), f"{node.module} is no package"
            assert {alias.name for alias in node.names} <= set(dir(package))
            assert not any(part.startswith("_") for part in node.module.split("."))


def test_readme_lists_every_example():
    text = (EXAMPLES / "README.md").read_text("utf-8")
    missing = [p.name for p in EXAMPLES.iterdir() if p.suffix in (".py", ".ipynb") and f"]({p.name})" not in text]
    missing += [p.name for p in RECIPES if f"](recipes/{p.name})" not in text]
    assert not missing
