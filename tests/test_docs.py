"""The code in README and docs runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text("utf-8"))], ids=lambda p: p.name)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    """All blocks of a page, one after another, as a reader would type them."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for match in BLOCK.finditer(page.read_text("utf-8")):
        line = page.read_text("utf-8")[: match.start(1)].count("\n")
        code = compile("\n" * line + match[1], str(page), "exec")
        exec(code, namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
