"""Building blocks of a report: sections of text, tables and figures, which each format renders in its own way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from plackett.evaluation.tables import Table


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text; ``lead`` marks the main statement."""

    text: str
    lead: bool = False
    kind: str = field(default="text", init=False)


@dataclass(frozen=True)
class Heading:
    """A heading inside a section, such as the name of a dataset."""

    text: str
    kind: str = field(default="heading", init=False)


@dataclass(frozen=True)
class Tabular:
    """A table; with ``folded``, the HTML page shows it on request."""

    table: Table
    folded: bool = False
    kind: str = field(default="table", init=False)


@dataclass(frozen=True)
class Figure:
    """A plot, as Plotly's traces and layout.

    Attributes
    ----------
    name
        Its id in the page.
    label
        What it shows, in one sentence, for readers who cannot see it.
    table
        The same as numbers: shown below the plot on request, and instead of it in Markdown and LaTeX.
    """

    name: str
    label: str
    traces: list[dict[str, Any]]
    layout: dict[str, Any]
    table: Table | None = None
    kind: str = field(default="figure", init=False)


@dataclass(frozen=True)
class Browser:
    """Differences between two rankers per query; the reader chooses the two on the page."""

    data: dict[str, Any]
    label: str
    table: Table
    kind: str = field(default="browser", init=False)


Block = Text | Heading | Tabular | Figure | Browser


@dataclass(frozen=True)
class Section:
    """A section with its id in the page, its title and what is in it."""

    name: str
    title: str
    blocks: tuple[Block, ...]
