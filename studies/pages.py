"""Compare the tables in docs/studies with the current results of the studies, and refresh them.

``python -m studies.pages convex-losses``, in the root of the checkout, runs a study and writes its tables into its
page; without names, all studies whose page has a command without ``--data``. The text around the tables is not
changed: check it by hand.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from studies.base import find_study, studies

_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
#: Studies whose figures are times, which differ between runs.
_TIMES = {"training-time"}


def repeatable(folder: Path) -> list[str]:
    """The studies whose page shows the output of the plain command, on data that the study generates."""
    plain = re.compile(r"^python studies/run.py ([a-z-]+)$", re.MULTILINE)
    pages = {name: (folder / f"{name}.md").read_text("utf-8") for name in studies() if name not in _TIMES}
    return [name for name, text in pages.items() if name in plain.findall(text)]


def refreshed(page: str, tables: str) -> str:
    r"""The page with these tables in place of those with the same header (if several, the most similar one).

    >>> print(refreshed("Words.\n\n| a |\n| - |\n| 1 |\n\nMore.\n", "| a |\n| - |\n| 2 |\n"))
    Words.
    <BLANKLINE>
    | a |
    | - |
    | 2 |
    <BLANKLINE>
    More.
    <BLANKLINE>
    """
    for table in _TABLE.findall(tables + "\n"):
        new = rows_of(table)
        blocks = [block for block in _TABLE.findall(page) if rows_of(block)[0] == new[0]]
        if not blocks:
            raise ValueError(f"the page has no table with the columns {new[0]}")
        page = page.replace(max(blocks, key=lambda block: len(set(rows_of(block)) & set(new))), table, 1)
    return page


def rows_of(table: str) -> list[str]:
    """The rows of a table, header first, without separators and padding."""
    rows = [re.sub(r"\s+", " ", line).strip() for line in table.splitlines() if line.startswith("|")]
    return [row for row in rows if not re.fullmatch(r"[|:\- ]+", row)]


def refresh(folder: Path, names: list[str]) -> list[str]:
    """Run studies and rewrite their pages; returns those that changed."""
    changed = []
    for name in names:
        path = folder / f"{name}.md"
        page = path.read_text("utf-8")
        new = refreshed(page, find_study(name)().to_markdown())
        if new != page:
            path.write_text(new, "utf-8")
            changed.append(name)
    return changed


if __name__ == "__main__":
    docs = Path(__file__).resolve().parents[1] / "docs" / "studies"
    print("changed:", ", ".join(refresh(docs, sys.argv[1:] or repeatable(docs))) or "nothing")
