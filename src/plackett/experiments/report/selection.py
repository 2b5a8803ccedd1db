"""Validation against test: can the choice be trusted?"""

from __future__ import annotations

import numpy as np

from plackett.evaluation.tables import Table
from plackett.experiments.report.blocks import Block, Figure, Section, Tabular, Text
from plackett.experiments.report.numbers import fixed, signed, tidy
from plackett.experiments.report.plots import axis, layout, place_names, plain
from plackett.experiments.report.view import View


def selection(view: View) -> Section | None:
    """The selecting measure on all three parts; None without validation data."""

    def of(dataset: str, number: int) -> list[Block]:
        cells = [cell for ranker in view.rows(dataset) for cell in view.experiment.of(dataset, ranker)]
        if not all(np.isfinite(_number(cell.chosen_by[part])) for cell in cells for part in ("valid", "test")):
            return []
        return [_figure(view, dataset, f"selection-{number}"), Tabular(_table(view, dataset))]

    blocks = view.by_dataset(of)
    if not blocks:
        return None
    text = (
        f"{view.select} of the chosen settings. Points below the dashed line (if it is in view) did worse on test data "
        "than on validation data; if all of them did, the test queries may simply be harder. A training figure far "
        "above both means overfitting to the documents, a validation figure far above the test figure means "
        "overfitting by the search."
    )
    return Section("selection", "Validation against test", (Text(text), *blocks))


def _figure(view: View, dataset: str, name: str) -> Figure:
    measure = view.select
    several = len(view.experiment.folds[dataset]) > 1
    points = {
        ranker: np.array(
            [[_number(c.chosen_by["valid"]), _number(c.chosen_by["test"])] for c in view.experiment.of(dataset, ranker)]
        )
        for ranker in view.drawn(dataset)
    }
    firsts = np.array([pairs[0] for pairs in points.values()])
    texts_and_positions = place_names(
        firsts[:, 0].tolist(), firsts[:, 1].tolist(), [view.names[ranker] for ranker in points]
    )
    traces = []
    for (ranker, pairs), text, position in zip(points.items(), *texts_and_positions, strict=True):
        texts = [
            f"{plain(ranker)}<br>fold {plain(cell.fold)}<br>validation {fixed(a)}, test {fixed(b)}<br>"
            + plain(", ".join(f"{key}={value}" for key, value in cell.setting.items()) or "parameters as given")
            for cell, (a, b) in zip(view.experiment.of(dataset, ranker), pairs.tolist(), strict=True)
        ]
        traces.append(
            {"type": "scatter", "name": plain(view.names[ranker]), "x": tidy(pairs[:, 0]), "y": tidy(pairs[:, 1])}
            | {"mode": "markers" if several else "markers+text", "hovertext": texts, "hoverinfo": "text"}
            | {"text": [] if several else [text], "textposition": position}
            | {"marker": {"symbol": view.symbol(ranker), "size": 10, "color": view.colour(ranker)}}
            | {"cliponaxis": False}
        )
    every = np.concatenate(list(points.values()))
    low, high = np.nanmin(every, axis=0), np.nanmax(every, axis=0)
    margin = np.maximum(0.12 * (high - low), 0.002)
    ends = {"x0": min(low - margin), "y0": min(low - margin), "x1": max(high + margin), "y1": max(high + margin)}
    figure = layout(
        axis(f"{measure} on validation data", range=[low[0] - margin[0], high[0] + margin[0]]),
        axis(f"{measure} on test data", range=[low[1] - margin[1], high[1] + margin[1]]),
        height=420,
        showlegend=several,
        shapes=[{"type": "line", "layer": "below", "line": {"color": "--muted", "dash": "dash", "width": 1}} | ends],
    )
    label = f"{measure} on validation and on test data of {dataset}, a point per ranker and fold."
    return Figure(name, label, traces, figure)


def _number(value: float | None) -> float:
    return np.nan if value is None else float(value)


def _table(view: View, dataset: str) -> Table:
    rows = []
    for ranker in view.rows(dataset):
        parts = [
            float(np.mean([_number(cell.chosen_by[part]) for cell in view.experiment.of(dataset, ranker)]))
            for part in ("train", "valid", "test")
        ]
        rows.append((ranker, *(fixed(v) for v in parts), signed(parts[2] - parts[1])))
    header = ("ranker", "training", "validation", "test", "test − validation")
    caption = f"{view.select} on the parts of {dataset}, means over folds"
    return Table.of(header, rows, caption=caption)
