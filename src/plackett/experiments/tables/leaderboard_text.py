"""The leaderboard of an experiment as a table to print: what ``print(experiment(...))`` shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plackett.evaluation.tables import Table, TableCell
from plackett.experiments.doubts import doubts, left_out
from plackett.experiments.tables.failures import failed_cells
from plackett.experiments.verdict import verdict
from plackett.measures.language import parse

if TYPE_CHECKING:
    from plackett.experiments.tables.frames import Frames


def leaderboard_table(experiment: Frames, *, digits: int = 4) -> Table:
    """One row per dataset and ranker, one column per measure; notes say how to read it, and what failed."""
    several = len(experiment.datasets) > 1
    first = next(iter(experiment.measures))
    header = (
        *(("dataset",) if several else ()),
        "ranker",
        *experiment.measures,
        f"{first} over queries",
        "95 % interval",
        f"valid. {parse(experiment.select).name}",
        "train s",
    )
    board = experiment.leaderboard
    rows = []
    for dataset in experiment.datasets:
        part = board.filter(board["dataset"] == dataset)
        for ranker in part["ranker"].unique(maintain_order=True):
            of = {row["measure"]: row for row in part.filter(part["ranker"] == ranker).iter_rows(named=True)}
            row = of[first]
            figures = (
                TableCell(
                    _number(entry["mean_over_folds"], digits),
                    bool(entry["best"]),
                    "−" if entry["significantly_worse"] else "",
                )
                for entry in (of[name] for name in experiment.measures)
            )
            rows.append(
                (
                    *((dataset,) if several else ()),
                    TableCell(ranker, bool(row["chosen"])),
                    *figures,
                    _number(row["mean_over_queries"], digits),
                    f"[{_number(row['low'], digits)}, {_number(row['high'], digits)}]",
                    _number(row["validation"], digits),
                    f"{row['train_seconds']:.1f}",
                )
            )
    return Table.of(header, rows, notes=_notes(experiment, rows=len(rows)), n_names=2 if several else 1)


def _notes(experiment: Frames, rows: int) -> tuple[str, ...]:
    notes = [
        *_verdicts(experiment),
        "Means over folds (of each fold's mean over its test queries), and the first measure's mean over all "
        "queries with its interval.",
        "− marks rankers significantly worse than the best of the column (Fisher's randomisation test, Holm's "
        "correction, p ≤ 0.05). In bold: the best of a column, and the chosen ranker.",
        *_chosen(experiment),
        *left_out(experiment),
        *doubts(experiment),
    ]
    failed = [f"Failed: {entry}" for entry in failed_cells(experiment)]
    return (*(notes if rows else ["No ranker is finished in every fold of a dataset."]), *failed)


def _verdicts(experiment: Frames) -> list[str]:
    """The answer in a line for each dataset, where there are rankers to compare."""
    compared = [dataset for dataset in experiment.datasets if len(experiment.complete(dataset)) > 1]
    several = len(experiment.datasets) > 1
    return [f"{dataset}: " * several + f"{verdict(experiment, dataset)}." for dataset in compared]


def _chosen(experiment: Frames) -> list[str]:
    """Which ranker was chosen, if there are several: bold type does not show in a file."""
    several = len(experiment.datasets) > 1
    chosen = {
        dataset: experiment.chosen(dataset) for dataset in experiment.datasets if len(experiment.complete(dataset)) > 1
    }
    chosen_names = [f"{ranker} on {dataset}" if several else ranker for dataset, ranker in chosen.items() if ranker]
    return [f"Chosen by {experiment.select} on validation data: {', '.join(chosen_names)}."] if chosen_names else []


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None or np.isnan(value) else f"{value:.{digits}f}"
