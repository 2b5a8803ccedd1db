"""The result of a comparison of systems, as frames and as tables to print."""

from __future__ import annotations

from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._names.nearest import plural
from plackett.evaluation.significance.corrections import CORRECTIONS
from plackett.evaluation.tables import Renderable, Table, TableCell
from plackett.measures.base import Measure

if TYPE_CHECKING:
    import polars as pl

#: Names of the tests in a caption.
TITLES = {
    "fisher": "Fisher's randomisation test",
    "student": "Student's paired t test",
    "t": "Student's paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "bootstrap": "bootstrap test",
    "tukey": "randomised Tukey test",
}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Renderable):
    """Result of `compare`: frames to work with, and renderings (`to_markdown`, `to_latex`, `to_terminal`, …).

    A superscript letter on a figure names a system that is significantly worse on that measure; the best figure is
    bold.

    Attributes
    ----------
    systems
        Names of the systems in the order given.
    measures
        The measures by name.
    qids
        The queries, sorted, so that random draws do not depend on the order in which they were given.
    values
        For each measure a matrix queries × systems; NaN is a query that the measure skipped.
    table
        One row per measure and system: ``mean`` with its confidence interval ``low``, ``high``, whether it is ``best``,
        the systems it is significantly ``better_than``, and ``geo_risk``.
    pairs
        One row per measure and pair: ``difference`` of the means (a − b) with its interval, ``p`` and ``p_corrected``,
        the ``significant``-ly ``better`` one, effect sizes, ``wins``, ``ties`` and ``losses`` of a, and reward, risk,
        ``urisk`` and ``trisk`` of a against b.
    test, correction, baseline, alpha, interval
        The settings used.
    doubts
        By measure: why it does not distinguish the systems; empty for measures that do.
    """

    systems: tuple[str, ...]
    measures: dict[str, Measure]
    qids: np.ndarray
    values: dict[str, np.ndarray]
    table: pl.DataFrame
    pairs: pl.DataFrame
    test: str
    correction: str
    baseline: str | None
    alpha: float
    interval: str
    doubts: dict[str, str] = field(default_factory=dict)

    @cached_property
    def means(self) -> pl.DataFrame:
        """One row per system, one column per measure."""
        import polars as pl

        columns = {name: self._of(name)["mean"] for name in self.measures}
        return pl.DataFrame({"system": list(self.systems)} | columns)

    @property
    def letters(self) -> dict[str, str]:
        """The letter that stands for each system in marks: a to z, then aa, ab, …"""
        return {system: _letters(number) for number, system in enumerate(self.systems)}

    def __repr__(self) -> str:
        queries = plural(self.qids.size, "query", "queries", form="")
        return f"Comparison({len(self.systems)} systems, {queries}: {', '.join(self.measures)})"

    def _of(self, measure: str) -> pl.DataFrame:
        return self.table.filter(self.table["measure"] == measure)

    # ------------------------------------------------------------------------------------------------------- render

    def _layout(self, *, digits: int = 4, intervals: bool = False) -> Table:  # type: ignore[override]
        letters = self.letters
        columns = []
        for name in self.measures:
            cells = []
            for row in self._of(name).iter_rows(named=True):
                text = f"{row['mean']:.{digits}f}"
                if intervals:
                    text += f" [{row['low']:.{digits}f}, {row['high']:.{digits}f}]"
                marks = [letters[worse] for worse in row["better_than"]]
                cells.append(TableCell(text, row["best"], (", " if len(self.systems) > 26 else "").join(marks)))
            columns.append(cells)
        names = [(letters[system], system) for system in self.systems]
        rows = tuple((*name, *row) for name, row in zip(names, zip(*columns, strict=True), strict=True))
        return Table.of(("", "system", *self.measures), rows, notes=self._notes(intervals), n_names=2)

    def differences(self, *, digits: int = 4) -> Table:
        """Each pair of systems, by their letters, as a table for `plackett.evaluation.tables.FORMATS`.

        Difference of the means with its interval, corrected p-value, and on how many queries the first system wins,
        ties and loses.
        """
        letters = self.letters
        rows = tuple(
            (
                row["measure"],
                f"{letters[row['a']]} − {letters[row['b']]}",
                TableCell(f"{row['difference']:+.{digits}f}", row["significant"]),
                f"[{row['low']:+.{digits}f}, {row['high']:+.{digits}f}]",
                "<0.0001" if row["p_corrected"] < 5e-5 else f"{row['p_corrected']:.4f}",
                f"{row['wins']}/{row['ties']}/{row['losses']}",
            )
            for row in self.pairs.iter_rows(named=True)
        )
        header = ("measure", "pair", "difference", f"{1 - self.alpha:.0%} interval", "p", "win/tie/loss")
        return Table.of(header, rows, notes=(f"p: {self.test_name()}.",), n_names=2)

    def test_name(self) -> str:
        """How the p-values were computed."""
        n_pairs = self.pairs.height // len(self.measures)
        corrected = self.correction != "none" and n_pairs > 1
        correction = f", {_title(self.correction)}'s correction for {n_pairs} pairs" if corrected else ""
        return f"{TITLES.get(self.test, self.test)}{correction}"

    def _notes(self, intervals: bool) -> tuple[str, ...]:
        against = "" if self.baseline is None else f" Compared with {self.baseline} only."
        notes = [
            f"{plural(self.qids.size, 'query', 'queries')}. A figure with a letter is significantly better than that "
            f"system (p ≤ {self.alpha:g}, {self.test_name()}).{against}"
        ]
        if intervals:
            notes.append(f"In brackets: {1 - self.alpha:.0%} confidence interval ({self.interval}).")
        return (*notes, *(f"Beware: {doubt}" for doubt in self.doubts.values()))

    def _frame(self) -> pl.DataFrame:
        import polars as pl

        return self.table.with_columns(pl.col("better_than").list.join("; "))  # CSV has no lists

    def _record(self) -> dict[str, Any]:
        return {
            "n_queries": self.qids.size,
            "systems": self.systems,
            "measures": list(self.measures),
            "test": self.test,
            "correction": self.correction,
            "baseline": self.baseline,
            "alpha": self.alpha,
            "interval": self.interval,
            "doubts": self.doubts,
            "table": self.table.to_dicts(),
            "pairs": self.pairs.to_dicts(),
        }


def _title(correction: str) -> str:
    """A correction by the names of its authors."""
    return CORRECTIONS[correction].__name__.replace("_", " and ").title().replace("And", "and")


def _letters(number: int) -> str:
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = ascii_lowercase[rest] + text
    return text
