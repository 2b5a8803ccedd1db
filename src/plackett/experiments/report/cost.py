"""Time against quality: which rankers no other beats in both."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from plackett.evaluation.tables import Table, TableCell
from plackett.experiments.report.blocks import Block, Figure, Section, Tabular, Text
from plackett.experiments.report.numbers import fixed, seconds
from plackett.experiments.report.plots import axis, layout, place_names, plain, time_axis
from plackett.experiments.report.view import View


def cost(view: View) -> Section:
    """Training and scoring time against the first measure."""
    text = (
        "The line joins the rankers on the Pareto front: no other is both faster and better. Training time is that of "
        "the chosen setting, without the search. Times of short runs on a busy machine are rough."
    )
    return Section("cost", "Time against quality", (Text(text), *view.by_dataset(partial(_dataset, view))))


def _dataset(view: View, dataset: str, number: int) -> list[Block]:
    times = _times(view, dataset)
    fronts = {kind: pareto_front(_points(view, dataset, times[kind])) for kind in times}
    titles = {"train": "training time per fold (logarithmic)", "score": "time to score 1,000 documents (logarithmic)"}
    figures = [_figure(view, dataset, times[k], fronts[k], titles[k], f"cost-{k}-{number}") for k in times]
    return [*figures, Tabular(_table(view, dataset, times, fronts))]


def pareto_front(points: dict[str, tuple[float, float]]) -> list[str]:
    """The names on the Pareto front of (time, quality), the fastest first.

    >>> pareto_front({"a": (1.0, 0.3), "b": (2.0, 0.5), "c": (3.0, 0.4)})
    ['a', 'b']
    """
    front: list[str] = []
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1])):
        if not front or points[name][1] > points[front[-1]][1] or points[name] == points[front[-1]]:
            front.append(name)
    return front


def _times(view: View, dataset: str) -> dict[str, dict[str, float]]:
    """Seconds to train in a fold and to score 1,000 documents, by ranker; not 0, for a logarithmic axis."""
    rows = view.rows(dataset)
    documents = sum(cell.scores.size for cell in view.experiment.of(dataset, next(iter(rows))))
    return {
        "train": {ranker: max(row["train_seconds"] / row["n_folds"], 1e-6) for ranker, row in rows.items()},
        "score": {ranker: max(1000 * row["score_seconds"] / max(documents, 1), 1e-9) for ranker, row in rows.items()},
    }


def _points(view: View, dataset: str, times: dict[str, float]) -> dict[str, tuple[float, float]]:
    worth = view.experiment.measures[view.first].worth
    rows = view.rows(dataset)
    return {ranker: (time, worth(rows[ranker]["mean_over_folds"])) for ranker, time in times.items()}


def _figure(view: View, dataset: str, times: dict[str, float], front: list[str], title: str, name: str) -> Figure:
    rows = view.rows(dataset)
    value = {ranker: rows[ranker]["mean_over_folds"] for ranker in times}
    order = list(times)
    # the line rises to the right: names on the front go above it
    best = {order.index(ranker): ("top left", "top right") for ranker in front}
    texts, positions = place_names(
        [math.log10(time) for time in times.values()], list(value.values()), [view.names[r] for r in order], best
    )
    line: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "x": [times[r] for r in front],
        "y": [value[r] for r in front],
        "line": {"color": "--muted", "width": 2, "shape": "hv"},
        "hoverinfo": "skip",
    }
    points: dict[str, Any] = {
        "type": "scatter",
        "mode": "markers+text",
        "x": list(times.values()),
        "y": list(value.values()),
        "text": texts,
        "textposition": positions,
        "textfont": {"color": "--ink"},
        "cliponaxis": False,
        "marker": {
            "size": 11,
            "color": ["--s1" if r in front else "--s0" for r in times],
            "symbol": ["diamond" if r in front else "circle" for r in times],
        },
        "hovertext": [f"{plain(r)}<br>{seconds(times[r])}<br>{view.first} {fixed(value[r])}" for r in times],
        "hoverinfo": "text",
    }
    label = f"{title} against {view.first} of each ranker on {dataset}; rankers on the Pareto front are joined."
    figure = layout(time_axis(title, list(times.values())), axis(view.first), height=400)
    figure["margin"] = figure["margin"] | {"r": 50, "t": 30}
    return Figure(name, label[0].upper() + label[1:], [line, points], figure)


def _table(view: View, dataset: str, times: dict[str, dict[str, float]], fronts: dict[str, list[str]]) -> Table:
    rows = view.rows(dataset)
    body = tuple(
        (
            ranker,
            fixed(row["mean_over_folds"]),
            TableCell(f"{times['train'][ranker]:.3g}", marks="f" if ranker in fronts["train"] else ""),
            TableCell(f"{1000 * times['score'][ranker]:.3g}", marks="f" if ranker in fronts["score"] else ""),
            f"{row['search_seconds'] / row['n_folds']:.3g}",
        )
        for ranker, row in rows.items()
    )
    header = ("ranker", view.first, "train s per fold", "score ms per 1,000", "search s per fold")
    notes = ("f: on the Pareto front of this time and quality.",)
    return Table.of(header, body, caption=f"Times on {dataset}", notes=notes)
