"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from plackett._names.nearest import printable


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN becomes null, because JSON has no NaN."""
    json.dump(_plain(value), sys.stdout, indent=2, ensure_ascii=False)
    print()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None, numbers: Sequence[int] = ()
) -> None:
    """Print a table to the terminal; ``numbers`` are the columns to right-align."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(printable, row))  # names and cards may come from strangers
    # piped tables are not cut to the width of a terminal
    Console(width=None if sys.stdout.isatty() else 200, highlight=False, markup=False).print(table)
