"""The code in README and docs runs."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest
import sklearn

ROOT = Path(__file__).resolve().parents[1]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "examples" / "README.md", *DOCS]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text("utf-8"))], ids=lambda p: p.name)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    """All blocks of a page, one after another, as a reader would type them; those with prompts show what comes out."""
    monkeypatch.chdir(tmp_path)
    text = page.read_text("utf-8")
    namespace: dict[str, object] = {}
    with sklearn.config_context():  # a page may change scikit-learn's settings
        for match in BLOCK.finditer(text):
            line = text[: match.start(1)].count("\n")
            if match[1].startswith(">>>"):
                example = doctest.DocTestParser().get_doctest(match[1], namespace, page.name, str(page), line)
                example.globs = namespace
                assert doctest.DocTestRunner(optionflags=FLAGS).run(example, clear_globs=False).failed == 0
            else:
                exec(compile("\n" * line + match[1], str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", DOCS, ids=lambda p: p.name)
def test_every_page_is_on_the_site_and_in_the_readme(page):
    """Studies are found by the site itself, and by readers through their overview."""
    name = page.relative_to(ROOT / "docs").as_posix()
    if not name.startswith("studies/"):
        assert re.search(rf"(?m): {re.escape(name)}$", (ROOT / "mkdocs.yml").read_text("utf-8")), name
        assert f"](docs/{name})" in (ROOT / "README.md").read_text("utf-8"), name
