"""The progress of an experiment on standard error, as a live table."""

from __future__ import annotations

import time
from typing import Any

#: States of a cell and their signs.
SIGNS = {"waiting": "·", "running": "▶", "done": "✓", "kept": "○", "failed": "✗"}
#: Rows shown at once; running rankers come first.
ROWS = 25


class Board:
    """Shows every ranker of every dataset: one sign per fold, the best validation value so far, the time spent.

    On a terminal this is a live table; elsewhere one line is written for every finished cell. Used as a context
    manager, it starts and ends the display; without ``verbose`` nothing is shown.
    """

    def __init__(self, cells: list[tuple[str, Any, str]], select: str, *, verbose: bool) -> None:
        self.select = select
        self.verbose = verbose
        self.state: dict[tuple[str, Any, str], str] = dict.fromkeys(cells, "waiting")
        self.trials: dict[tuple[str, Any, str], int] = {}
        self.best: dict[tuple[str, Any, str], float | None] = {}
        self.began: dict[tuple[str, Any, str], float] = {}
        self.seconds: dict[tuple[str, Any, str], float] = {}
        self._live: Any = None
        self._console: Any = None

    def __enter__(self) -> Board:
        if self.verbose:
            from rich.console import Console
            from rich.live import Live

            self._console = Console(stderr=True)
            if self._console.is_terminal:
                self._live = Live(get_renderable=self._table, console=self._console, refresh_per_second=4)
                self._live.start()
        return self

    def __exit__(self, *ended: object) -> None:
        if self._live is not None:
            self._live.stop()

    def note(
        self, cell: tuple[str, Any, str], state: str, best: float | None = None, trials: int | None = None
    ) -> None:
        """Note what happened to a cell."""
        self.state[cell] = state
        if trials is not None:
            self.trials[cell] = trials
        if best is not None:
            self.best[cell] = best
        if state == "running":
            self.began.setdefault(cell, time.perf_counter())
        elif cell in self.began:
            self.seconds[cell] = time.perf_counter() - self.began[cell]
        if state in ("done", "kept", "failed") and self._console is not None and self._live is None:
            self._console.print(self._line(cell), markup=False, highlight=False, soft_wrap=True)

    def _line(self, cell: tuple[str, Any, str]) -> str:
        dataset, fold, ranker = cell
        finished = sum(state not in ("waiting", "running") for state in self.state.values())
        value = "" if self.best.get(cell) is None else f", {self.select} {self.best[cell]:.4f} on validation"
        spent = f", {self.seconds[cell]:.1f} s" if cell in self.seconds else ""
        return f"[{finished}/{len(self.state)}] {dataset} fold {fold} {ranker}: {self.state[cell]}{value}{spent}"

    def _table(self) -> Any:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD)
        for name, justify in (("dataset", "left"), ("ranker", "left"), ("folds", "left"), ("trials", "right"),
                              (f"best {self.select}", "right"), ("seconds", "right")):  # fmt: skip
            table.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        rows: dict[tuple[str, str], list[tuple[str, Any, str]]] = {}
        for cell in self.state:
            rows.setdefault((cell[0], cell[2]), []).append(cell)
        shown = sorted(rows, key=lambda row: not any(self.state[cell] == "running" for cell in rows[row]))[:ROWS]
        for dataset, ranker in (row for row in rows if row in shown):
            cells = rows[dataset, ranker]
            values = [value for cell in cells if (value := self.best.get(cell)) is not None]
            table.add_row(
                dataset,
                ranker,
                " ".join(SIGNS[self.state[cell]] for cell in cells),
                str(sum(self.trials.get(cell, 0) for cell in cells) or ""),
                f"{sum(values) / len(values):.4f}" if values else "",
                f"{sum(map(self._spent, cells)):.1f}",
            )
        finished = sum(state not in ("waiting", "running") for state in self.state.values())
        table.caption = f"{finished} of {len(self.state)} cells; " + ", ".join(f"{s} {n}" for n, s in SIGNS.items())
        return table

    def _spent(self, cell: tuple[str, Any, str]) -> float:
        if cell in self.seconds:
            return self.seconds[cell]
        return time.perf_counter() - self.began[cell] if cell in self.began else 0.0
