"""Learning curves: the selecting measure on validation data, round by round."""

from __future__ import annotations

from plackett.evaluation.tables import Table
from plackett.experiments.cells.cell import Cell
from plackett.experiments.report.blocks import Figure, Section, Text
from plackett.experiments.report.numbers import fixed
from plackett.experiments.report.plots import axis, layout, round_axis
from plackett.experiments.report.traces import best_round, learning_lines
from plackett.experiments.report.view import View
from plackett.measures.language import parse


def learning(view: View) -> Section | None:
    """A curve per ranker and fold; None if no ranker has rounds."""

    def of(dataset: str, number: int) -> list[Figure]:
        cells = [c for ranker in view.drawn(dataset) for c in view.experiment.of(dataset, ranker) if c.history.size > 1]
        return [_figure(view, dataset, cells, f"learning-{number}")] if cells else []

    blocks = view.by_dataset(of)
    if not blocks:
        return None
    text = (
        f"{view.select} on validation data after each round of training, for the chosen settings; a ring marks the "
        "best round, which was kept. If a curve still rises at its end, more rounds may help. A round is a tree, an "
        "iteration or an epoch, depending on the ranker, so rounds of different rankers are not comparable."
    )
    return Section("learning", "Learning curves", (Text(text), *blocks))


def _figure(view: View, dataset: str, cells: list[Cell], name: str) -> Figure:
    ascending = parse(view.experiment.select).ascending
    traces, rows, seen = [], [], set()
    for cell in cells:
        ranker, values = cell.ranker, cell.history
        best = best_round(values, ascending)
        fold = f", fold {cell.fold}" if len(view.experiment.folds[dataset]) > 1 else ""
        label, colour, dash = view.names[ranker], view.colour(ranker), view.dash(ranker)
        traces += learning_lines(label, ranker, fold, values, best, colour, dash, legend=ranker not in seen)
        seen.add(ranker)
        figures = (fixed(float(values[i])) for i in (0, best, -1))
        rows.append((ranker, str(cell.fold), str(values.size), str(best + 1), *figures))
    figure = layout(
        round_axis("round of training (logarithmic)", max(cell.history.size for cell in cells)),
        axis(f"{view.select} on validation data"),
        height=420,
        showlegend=True,
    )
    header = ("ranker", "fold", "rounds", "best round", "first", "best", "last")
    table = Table.of(header, rows, caption=f"Learning curves on {dataset}", n_names=2)
    label = f"{view.select} on validation data of {dataset} after each round, a line per ranker and fold."
    return Figure(name, label, traces, figure, table)
