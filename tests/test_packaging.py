"""What the package says of the libraries that it needs is the same everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

import plackett as pk
from plackett._names.optional import LIBRARIES, optional

ROOT = Path(__file__).resolve().parents[1]
_DEVELOPMENT = ("test", "docs", "dist", "bench")  # for those who work on the package
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = {name: needs for name, needs in PROJECT["optional-dependencies"].items() if name not in _DEVELOPMENT}


def _minimums(requirements):
    return dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", each).groups() for each in requirements)


def test_minimum_versions_are_those_that_are_tested():
    text = (ROOT / "constraints-minimum.txt").read_text("utf-8")
    tested = dict(re.findall(r"(?m)^([\w-]+)==([\d.]+)$", text))
    core = _minimums(PROJECT["dependencies"])
    declared = core | _minimums([each for needs in PROJECT["optional-dependencies"].values() for each in needs])
    assert core.items() <= tested.items()
    assert tested == {name: declared[name] for name in tested}


def test_extras_are_those_of_the_readme_and_of_the_error_messages():
    rows = re.findall(r"(?m)^\| `(\w+)` \| ", (ROOT / "README.md").read_text("utf-8").partition("## Install")[2])
    assert set(rows) == set(EXTRAS) == {library.extra for library in LIBRARIES.values()}
    for module, library in LIBRARIES.items():
        needs = _minimums(EXTRAS[library.extra])
        assert {"mlflow": "mlflow-skinny", "Stemmer": "PyStemmer", "yaml": "pyyaml"}.get(module, module) in needs


def test_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert re.search(r"(?m)^version: (.+)$", citation)[1] == PROJECT["version"] == pk.__version__


def test_changelog_has_the_version_or_work_that_is_not_released():
    headings = re.findall(r"(?m)^## \[(.+?)\]( - \d{4}-\d\d-\d\d)?$", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert headings[0] == ("Unreleased", "")
    assert all(date for _, date in headings[1:])
    sections = re.findall(r"(?m)^### (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    assert sections and set(sections) <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_pre_commit_runs_the_ruff_of_the_constraints():
    pinned = re.search(r"(?m)^ruff==(.+)$", (ROOT / "constraints.txt").read_text("utf-8"))[1]
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert re.search(r"ruff-pre-commit\n +rev: v(.+)\n", hooks)[1] == pinned


def test_workflows_run_make_targets_that_exist():
    targets = set(re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text("utf-8")))
    runs = [run for path in (ROOT / ".github" / "workflows").glob("*.yml") for run in _runs(path)]
    assert {"make test", "make lint", "make site", "make dist"} <= set(runs)
    assert {run.split()[1] for run in runs} <= targets


def _runs(workflow):
    return re.findall(r"(?m)^ +- run: (.+)$", workflow.read_text("utf-8"))


@pytest.mark.parametrize("module", LIBRARIES)
def test_missing_library_names_its_extra(module, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        pk.MissingExtraError, match=rf"this needs .*: pip install 'plackett\[{LIBRARIES[module].extra}\]'"
    ):
        optional(module, "this needs")


def test_library_that_is_there_but_broken_is_not_called_missing(monkeypatch, tmp_path):
    (tmp_path / "torch.py").write_text("import no_such_module_at_all\n")
    monkeypatch.syspath_prepend(tmp_path)
    import sys

    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with pytest.raises(ModuleNotFoundError, match="no_such_module_at_all"):
        optional("torch", "this needs")
