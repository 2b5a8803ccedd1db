"""Results as text: terminal, Markdown, LaTeX, HTML, CSV, JSON. One function per format, in `FORMATS`."""

from __future__ import annotations

import html
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plackett._files.atomic import replacing
from plackett._files.spreadsheet import harmless

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console, ConsoleOptions, RenderableType


@dataclass(frozen=True)
class TableCell:
    """One cell of a table: its text, whether it is the best of its column, and its superscript marks."""

    text: str
    best: bool = False
    marks: str = ""


@dataclass(frozen=True)
class Table:
    """A table for the formats to render: the first ``n_names`` columns are names, the others numbers."""

    header: tuple[str, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    n_names: int = 1

    @classmethod
    def of(
        cls,
        header: Iterable[str],
        rows: Iterable[Iterable[TableCell | str]],
        *,
        caption: str = "",
        notes: Iterable[str] = (),
        n_names: int = 1,
    ) -> Table:
        """A table from texts, and cells where there is more to say.

        >>> Table.of(["ranker", "AP"], [["A", TableCell("0.5", best=True)]]).rows[0][1].best
        True
        """
        cells = tuple(tuple(TableCell(cell) if isinstance(cell, str) else cell for cell in row) for row in rows)
        return cls(tuple(header), cells, caption, tuple(notes), n_names)

    @property
    def sides(self) -> list[str]:
        """Alignment of each column."""
        return ["left" if i < self.n_names else "right" for i in range(len(self.header))]


class Renderable:
    """Base class of results: subclasses define their table, frame and record; the formats are here."""

    def _layout(self, **options: Any) -> Table:
        raise NotImplementedError

    def _frame(self) -> pl.DataFrame:
        raise NotImplementedError

    def _record(self) -> dict[str, Any]:
        raise NotImplementedError

    def to_terminal(self, **options: Any) -> str:
        """The table as text, in bold where standard output is a terminal; ``print(result)`` shows the same."""
        return FORMATS["terminal"](self._layout(**options))

    def to_markdown(self, **options: Any) -> str:
        """The table in Markdown."""
        return FORMATS["markdown"](self._layout(**options))

    def to_latex(self, **options: Any) -> str:
        r"""The table in LaTeX, for the package ``booktabs``; marks are superscripts."""
        return FORMATS["latex"](self._layout(**options))

    def to_html(self, **options: Any) -> str:
        """The table in HTML; notebooks display it automatically."""
        return FORMATS["html"](self._layout(**options))

    def to_csv(self, path: str | Path | None = None) -> str:
        """All figures in full precision as CSV; written to ``path`` if given.

        Text that a spreadsheet would run as a formula (``=…``) is prefixed with an apostrophe.
        """
        return _written(harmless(self._frame()).write_csv(), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """All figures in full precision, and how they were computed, as JSON; written to ``path`` if given."""
        return _written(json.dumps(_plain(self._record()), ensure_ascii=False, indent=1), path)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich__(self) -> RenderableType:
        return rich_table(self._layout())

    def __str__(self) -> str:
        return self.to_terminal()


# ---------------------------------------------------------------------------------------------------------- formats


def rich_table(table: Table) -> RenderableType:
    """The table as an object that rich prints; a table that is too wide is split into several parts."""
    return _RichTable(table)


class _RichTable:
    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement
        from rich.text import Text

        unbounded = options.update(width=10_000)
        names, columns = list(range(self.table.n_names)), list(range(self.table.n_names, len(self.table.header)))
        first = True
        while columns or first:
            shown = columns[:1]
            for column in columns[1:]:
                wider = self._drawn([*names, *shown, column], first)
                if Measurement.get(console, unbounded, wider).maximum > options.max_width:
                    break
                shown.append(column)
            columns = columns[len(shown) :]
            yield self._drawn([*names, *shown], first)
            first = False
        yield from map(Text, self.table.notes)

    def _drawn(self, columns: list[int], first: bool) -> RenderableType:
        """Some columns of the table; figures and their marks are never cut, names are folded."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = self.table
        title = Text(table.caption) if table.caption and first else None
        drawn = RichTable(box=box.SIMPLE_HEAD, title=title, title_justify="left")
        for i in columns:
            name = i < table.n_names
            drawn.add_column(Text(table.header[i]), justify=table.sides[i], no_wrap=not name, overflow="fold")  # type: ignore[arg-type]
        marks = {i: max((len(row[i].marks) for row in table.rows), default=0) for i in columns}
        for row in table.rows:  # pad marks so that the digits line up
            cells = [row[i] for i in columns]
            widths = marks.values()
            drawn.add_row(
                *(
                    Text(cell.text, "bold" if cell.best else "").append(_superscript(cell.marks).ljust(width))
                    for cell, width in zip(cells, widths, strict=True)
                )
            )
        return drawn


def terminal(table: Table) -> str:
    """The table as text."""
    from rich.console import Console

    out = io.StringIO()
    terminal_here = sys.stdout.isatty()
    # Without a terminal there is no width to keep to: lines must not be cut in a file.
    Console(file=out, force_terminal=terminal_here, width=None if terminal_here else 1_000).print(rich_table(table))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines() if line.strip())


def markdown(table: Table) -> str:
    """The table in Markdown; marks are ``<sup>``."""

    def cell(c: TableCell) -> str:
        text = _markdown_text(c.text)
        return (f"**{text}**" if c.best else text) + (f"<sup>{html.escape(c.marks)}</sup>" if c.marks else "")

    rows = [[cell(TableCell(name)) for name in table.header]] + [[cell(c) for c in row] for row in table.rows]
    widths = [max(3, *(len(row[i]) for row in rows)) for i in range(len(table.header))]

    def line(row: list[str]) -> str:
        padded = (
            text.ljust(width) if side == "left" else text.rjust(width)
            for text, width, side in zip(row, widths, table.sides, strict=True)
        )
        return "| " + " | ".join(padded) + " |"

    rule = [
        "-" * width if side == "left" else "-" * (width - 1) + ":"
        for width, side in zip(widths, table.sides, strict=True)
    ]
    lines = [line(rows[0]), line(rule), *map(line, rows[1:])]
    if table.caption:
        lines = [f"**{_markdown_text(table.caption)}**", "", *lines]
    for note in table.notes:
        lines += ["", _markdown_text(note)]
    return "\n".join(lines)


def latex(table: Table) -> str:
    """The table in LaTeX with booktabs' rules."""

    def cell(c: TableCell) -> str:
        text = latex_text(c.text)
        return (rf"\textbf{{{text}}}" if c.best else text) + (f"$^{{{latex_text(c.marks)}}}$" if c.marks else "")

    lines = [r"\begin{table}", r"\centering"]
    if table.caption or table.notes:
        lines.append(rf"\caption{{{latex_text(' '.join((table.caption, *table.notes)).strip())}}}")
    lines += [rf"\begin{{tabular}}{{{'l' * len(table.header)}}}", r"\toprule"]
    lines += [" & ".join(latex_text(name) for name in table.header) + r" \\", r"\midrule"]
    lines += [" & ".join(cell(c) for c in row) + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"])


def html_table(table: Table) -> str:
    """The table in HTML, without styles except text alignment."""

    def cell(c: TableCell, tag: str, side: str) -> str:
        text = html.escape(c.text)
        text = f"<b>{text}</b>" if c.best else text
        marks = f"<sup>{html.escape(c.marks)}</sup>" if c.marks else ""
        return f'<{tag} style="text-align:{side}">{text}{marks}</{tag}>'

    def line(cells: tuple[TableCell, ...], tag: str) -> str:
        return "<tr>" + "".join(cell(c, tag, s) for c, s in zip(cells, table.sides, strict=True)) + "</tr>"

    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    head = line(tuple(TableCell(name) for name in table.header), "th")
    body = "\n".join(line(row, "td") for row in table.rows)
    notes = "".join(f"<p><small>{html.escape(note)}</small></p>" for note in table.notes)
    return f"<table>{caption}\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table>{notes}"


#: Formats of a table by name.
FORMATS: dict[str, Callable[[Table], str]] = {
    "terminal": terminal,
    "markdown": markdown,
    "latex": latex,
    "html": html_table,
}

_SUPERSCRIPTS = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹")
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "≤": r"\ensuremath{\le}",
    "±": r"\ensuremath{\pm}",
    "×": r"\ensuremath{\times}",
    "−": r"\ensuremath{-}",
    "µ": r"\ensuremath{\mu}",
} | {character: "\\" + character for character in "&%$#_{}"}


def _markdown_text(text: str) -> str:
    return re.sub(r"([|*_<>\\`])", r"\\\1", text)


def _superscript(marks: str) -> str:
    """Marks as superscript letters; q has none in Unicode and stays."""
    return marks.translate(_SUPERSCRIPTS)


def latex_text(text: str) -> str:
    """Escape the special characters of LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def _plain(value: Any) -> Any:
    """Convert to values that JSON supports: NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _written(text: str, path: str | Path | None) -> str:
    if path is not None:
        with replacing(path) as file:
            file.write(text.encode())
    return text
