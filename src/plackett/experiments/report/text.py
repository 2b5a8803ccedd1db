"""The report as Markdown and as LaTeX: the same words and tables; figures are tables where they have one."""

from __future__ import annotations

import re
from collections.abc import Callable

from plackett.experiments.render import FORMATS, Table, latex_text
from plackett.experiments.report.blocks import Block, Heading, Section, Tabular, Text

__all__ = ["to_latex", "to_markdown"]


def to_markdown(title: str, sections: list[Section]) -> str:
    """The report in Markdown."""
    lines = [f"# {_markdown(title)}"]
    for section in sections:
        lines += ["", f"## {section.title}"]
        for block in section.blocks:
            words = _words(block, "### {}", _markdown, FORMATS["markdown"])
            lines += ["", words] if words else []
    return "\n".join(lines) + "\n"


def to_latex(title: str, sections: list[Section]) -> str:
    """The report as a LaTeX document; the tables are for the package ``booktabs``."""
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
            words = _words(block, r"\subsection{{{}}}", latex_text, FORMATS["latex"])
            lines += ["", words] if words else []
        lines.append(r"\clearpage")
    return "\n".join([*lines, r"\end{document}", ""])


def _words(block: Block, heading: str, escape: Callable[[str], str], table: Callable[[Table], str]) -> str | None:
    if isinstance(block, Text):
        return escape(block.text)
    if isinstance(block, Heading):
        return heading.format(escape(block.text))
    if isinstance(block, Tabular):
        return table(block.table)
    return None if block.table is None else table(block.table)


def _markdown(text: str) -> str:
    return re.sub(r"([|*_<>\\`\[\]#&])", r"\\\1", text)
