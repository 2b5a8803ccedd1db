"""What a reader could not use: counts by reason, with the first examples."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from plackett._base.errors import PlackettWarning

if TYPE_CHECKING:
    import polars as pl

#: Examples kept per reason.
EXAMPLES = 3


@dataclass
class BadLines:
    """Lines (or records) of a log that were left out, by reason.

    Attributes
    ----------
    source
        The file.
    total
        Number of lines read.
    counts
        Number of lines left out, by reason.
    examples
        Line number and text of the first few, by reason.
    notes
        Number of lines that were used only in part, by reason.
    columns
        For tables: the column used for each role.
    unused
        For tables: the other columns.
    hint
        What to do about it, if there is something.
    unit
        What is numbered: ``"line"`` of a text, from 1, or ``"row"`` of a table without lines, from 0.

    Examples
    --------
    >>> bad = BadLines("log.tsv")
    >>> bad.add("no tab", 7, "xyz")
    >>> print(bad)
    log.tsv: 1 of 0 lines left out
      1 × no tab, such as line 7: 'xyz'
    """

    source: str
    total: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    hint: str = ""
    unit: str = "line"

    @property
    def first(self) -> int:
        """Number of the first row of a table: rows count from 0, lines from 2, below the names of the columns."""
        return 0 if self.unit == "row" else 2

    def add(self, reason: str, line: int, text: Any, times: int = 1) -> None:
        """Count a line that is left out."""
        self.counts[reason] = self.counts.get(reason, 0) + times
        self._keep(reason, line, text)

    def note(self, reason: str, line: int, text: Any, times: int = 1) -> None:
        """Count a line that is used in part."""
        self.notes[reason] = self.notes.get(reason, 0) + times
        self._keep(reason, line, text)

    def add_all(self, reason: str, rows: pl.DataFrame) -> None:
        """Count rows that are left out: a frame with their lines and what to show of them."""
        for line, text in rows.head(EXAMPLES).rows():
            self.add(reason, line, text, 0)
        if rows.height:
            self.counts[reason] += rows.height

    def note_all(self, reason: str, rows: pl.DataFrame) -> None:
        """Count rows that are used in part, as in `add_all`."""
        for line, text in rows.head(EXAMPLES).rows():
            self.note(reason, line, text, 0)
        if rows.height:
            self.notes[reason] += rows.height

    def _keep(self, reason: str, line: int, text: Any) -> None:
        kept = self.examples.setdefault(reason, [])
        if len(kept) < EXAMPLES:
            shown = str(text)
            kept.append((line, shown if len(shown) <= 80 else f"{shown[:80]}…"))

    @property
    def left_out(self) -> int:
        """Number of lines left out."""
        return sum(self.counts.values())

    def __str__(self) -> str:
        lines = [f"{self.source}: {self.left_out} of {self.total} {self.unit}s left out"]
        for times_by_reason in (self.counts, self.notes):
            for reason, times in times_by_reason.items():
                line, text = self.examples[reason][0]
                lines.append(f"  {times} × {reason}, such as {self.unit} {line}: {text!r}")
        if self.hint:
            lines.append(f"  {self.hint}")
        return "\n".join(lines)

    def warn(self) -> None:
        """Warn if lines were left out."""
        if self.counts:
            warnings.warn(str(self), PlackettWarning, stacklevel=3)
