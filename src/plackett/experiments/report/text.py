"""The report as Markdown and LaTeX: the same text and tables; figures are replaced by their tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from plackett.evaluation.tables import FORMATS, Table, TableCell, latex_text
from plackett.experiments.report.blocks import Block, Heading, Section, Tabular, Text

#: Limits of a LaTeX page: rows of a table, characters of a cell.
_PAGE_ROWS = 28
_LONGEST = 70


def to_markdown(title: str, sections: list[Section]) -> str:
    """The report in Markdown."""
    lines = [f"# {_markdown(title)}"]
    for section in sections:
        lines += ["", f"## {section.title}"]
        for block in section.blocks:
            rendered = _rendered(block, "### {}", _markdown, FORMATS["markdown"])
            lines += ["", rendered] if rendered else []
    return "\n".join(lines) + "\n"


def to_latex(title: str, sections: list[Section]) -> str:
    """The report as a LaTeX document; the tables use the package ``booktabs``."""
    lines = [
        r"\documentclass[10pt]{article}",
        r"\usepackage[T1]{fontenc}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage[a4paper,landscape,margin=2cm]{geometry}",
        r"\usepackage{booktabs}",
        rf"\title{{{latex_text(title)}}}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        r"\small",
    ]
    for section in sections:
        lines += ["", rf"\section{{{latex_text(section.title)}}}"]
        for block in section.blocks:
            rendered = _rendered(block, r"\subsection{{{}}}", latex_text, _latex_table)
            lines += ["", rendered] if rendered else []
        lines.append(r"\clearpage")
    return "\n".join([*lines, r"\end{document}", ""])


def _latex_table(table: Table) -> str:
    """The table, split into parts that fit a page, with long texts cut."""
    starts = range(0, max(len(table.rows), 1), _PAGE_ROWS)
    parts = []
    for start in starts:
        rows = tuple(tuple(_cut(cell) for cell in row) for row in table.rows[start : start + _PAGE_ROWS])
        caption = table.caption + (f" (part {start // _PAGE_ROWS + 1})" if len(starts) > 1 else "")
        notes = table.notes if start == starts[-1] else ()
        text = FORMATS["latex"](replace(table, rows=rows, caption=caption + ("." if notes else ""), notes=notes))
        parts.append(text.replace(r"\begin{table}", r"\begin{table}[!htbp]", 1))
    return "\n\n".join(parts)


def _cut(cell: TableCell) -> TableCell:
    return cell if len(cell.text) <= _LONGEST else replace(cell, text=cell.text[: _LONGEST - 1] + "…")


def _rendered(block: Block, heading: str, escape: Callable[[str], str], table: Callable[[Table], str]) -> str | None:
    if isinstance(block, Text):
        return escape(block.text)
    if isinstance(block, Heading):
        return heading.format(escape(block.text))
    if isinstance(block, Tabular):
        return table(block.table)
    return None if block.table is None else table(block.table)


def _markdown(text: str) -> str:
    return re.sub(r"([|*_<>\\`\[\]#&])", r"\\\1", text)
