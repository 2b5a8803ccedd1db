"""The leaderboard: figures, intervals, significance, and what others have published."""

from __future__ import annotations

from typing import Any

from plackett.evaluation.tables import Table, TableCell
from plackett.experiments.published import other_rules, rows_with_published
from plackett.experiments.report.blocks import Block, Figure, Section, Tabular, Text
from plackett.experiments.report.numbers import fixed, signed
from plackett.experiments.report.plots import axis, bars_height, category_axis, layout, plain
from plackett.experiments.report.traces import mean_points
from plackett.experiments.report.view import View

#: Folds of the published figures.
_FOLDS = 5


def board(view: View) -> Section:
    """The leaderboard of each dataset."""
    known = rows_with_published(view.experiment)
    published = {(row["dataset"], row["ranker"], row["measure"]): row["published"] for row in known}

    def of(dataset: str, number: int) -> list[Block]:
        figure = _figure(view, dataset, published, f"leaderboard-{number}")
        return [Tabular(_table(view, dataset, published)), figure]

    blocks = view.by_dataset(of)
    if known:
        blocks += _published(view, known)
    return Section("leaderboard", "Leaderboard", tuple(blocks))


def _table(view: View, dataset: str, published: dict[Any, float]) -> Table:
    experiment = view.experiment
    by_measure = {name: view.rows(dataset, name) for name in experiment.measures}
    with_published = [
        name for name in experiment.measures if any((dataset, r, name) in published for r in by_measure[name])
    ]
    folds = len(experiment.folds[dataset])
    header = ["ranker"]
    for name in experiment.measures:
        header += [name, *([f"published {name}"] if name in with_published else [])]
    header += [f"{view.first} over queries"] if folds > 1 else []
    header += [f"95 % interval of {view.first}", f"validation {view.select}", "train s per fold"]
    rows = []
    for ranker, row in view.rows(dataset).items():
        cells: list[TableCell | str] = [TableCell(ranker, bool(row["chosen"]))]
        for name in experiment.measures:
            entry = by_measure[name][ranker]
            mark = "−" if entry["significantly_worse"] else ""
            cells.append(TableCell(fixed(entry["mean_over_folds"]), bool(entry["best"]), mark))
            if name in with_published:
                cells.append(fixed(published.get((dataset, ranker, name)), 3))
        cells += [fixed(row["mean_over_queries"])] if folds > 1 else []
        cells += [
            "–" if row["low"] is None else f"[{fixed(row['low'])}, {fixed(row['high'])}]",
            fixed(row["validation"]),
            f"{row['train_seconds'] / row['n_folds']:.3g}",
        ]
        rows.append(cells)
    queries = next(iter(view.rows(dataset).values()))["n_queries"]
    notes: tuple[str, ...] = (
        f"Means over folds of each fold's mean over its test queries ({folds} folds, {queries} queries), and the first "
        "measure's mean over all queries with its 95 % interval (Student's t)."
        if folds > 1
        else f"Means over {queries} test queries, with 95 % intervals (Student's t).",
        "− marks rankers significantly worse than the best of the column (Fisher's randomisation test, Holm's "
        "correction, p ≤ 0.05). Bold: the best of a column, and the ranker chosen by "
        f"{view.select} on validation data.",
    )
    rules = other_rules(dataset, experiment.preset) if with_published else None
    if rules is not None:
        notes += (
            f"Published figures follow the rules of {rules}; they are comparable with ours under the preset {rules}.",
        )
    return Table.of(header, rows, caption=f"Leaderboard of {dataset}", notes=notes)


def _figure(view: View, dataset: str, published: dict[Any, float], name: str) -> Figure:
    rows = {ranker: row for ranker, row in view.rows(dataset).items() if row["low"] is not None}
    if not rows:  # a measure without intervals
        rows = view.rows(dataset)
    traces = [
        _points(view, {ranker: row for ranker, row in rows.items() if row["chosen"] == chosen}, title, colour)
        for chosen, title, colour in ((True, "chosen on validation data", "--s1"), (False, "other rankers", "--s0"))
        if any(row["chosen"] == chosen for row in rows.values())
    ]
    theirs = {ranker: published.get((dataset, ranker, view.first)) for ranker in rows}
    if any(value is not None for value in theirs.values()):
        shown = [ranker for ranker, value in theirs.items() if value is not None]
        traces.append(
            {"type": "scatter", "mode": "markers", "name": "published", "x": [theirs[r] for r in shown]}
            | {"y": [plain(view.names[r]) for r in shown], "hoverinfo": "text"}
            | {"hovertext": [f"{plain(r)}<br>published {fixed(theirs[r], 3)}" for r in shown]}
            | {"marker": {"symbol": "diamond-open", "size": 11, "color": "--ink", "line": {"width": 2}}}
        )
    labels = [plain(view.names[ranker]) for ranker in rows]
    y = category_axis("", labels)
    figure = layout(
        axis(f"{view.first}, mean over queries, with 95 % interval"),
        y,
        height=bars_height(len(rows)) + 30,
        showlegend=True,
    )
    label = (
        f"{view.first} of each ranker on {dataset} with its 95 % interval, best first; the chosen ranker stands out."
    )
    return Figure(name, label, traces, figure)


def _points(view: View, rows: dict[str, dict[str, Any]], title: str, colour: str) -> dict[str, Any]:
    """Means with their intervals."""
    hover = [
        f"{plain(ranker)}<br>{view.first} {fixed(row['mean_over_queries'])}<br>95 % interval "
        f"{fixed(row['low'])} to {fixed(row['high'])}<br>validation {fixed(row['validation'])}"
        for ranker, row in rows.items()
    ]
    means, lows, highs = ([row[key] for row in rows.values()] for key in ("mean_over_queries", "low", "high"))
    return mean_points(title, [view.names[ranker] for ranker in rows], means, lows, highs, hover, colour)


def _published(view: View, known: list[dict[str, Any]]) -> list[Block]:
    rows = tuple(
        (
            *([row["dataset"]] if view.several else []),
            row["ranker"],
            row["method"],
            row["measure"],
            fixed(row["measured"]),
            fixed(row["published"], 3),
            signed(row["difference"]),
        )
        for row in known
    )
    names = ("dataset",) if view.several else ()
    table = Table.of(
        (*names, "ranker", "method", "measure", "measured", "published", "difference"),
        rows,
        caption="Published figures next to ours",
        notes=tuple(f"Source: {source}." for source in dict.fromkeys(row["source"] for row in known)),
        n_names=3 + len(names),
    )
    blocks: list[Block] = [Tabular(table, folded=True)]
    counted = {row["dataset"]: len(view.experiment.folds[row["dataset"]]) for row in known}
    few = {dataset: number for dataset, number in counted.items() if number != _FOLDS}
    if few:
        counts = ", ".join(f"{number} of {dataset}" for dataset, number in few.items())
        blocks.append(
            Text(
                f"The published figures are means over {_FOLDS} folds, but this experiment has {counts}. That alone "
                "makes the figures differ."
            )
        )
    return blocks
