"""One query explained: why the best ranker orders its documents as it does."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.evaluation.tables import Table
from plackett.experiments.cells.cell import Cell
from plackett.experiments.report.blocks import Block, Figure, Section, Tabular, Text
from plackett.experiments.report.numbers import fixed, short, signed, tidy
from plackett.experiments.report.plots import axis, bars_height, layout, plain
from plackett.experiments.report.view import View
from plackett.explanations.explain import explain
from plackett.explanations.explanation import Explanation

#: Numbers of documents and features shown, and the longest list that is explained.
_DOCUMENTS = 5
_FEATURES = 7
_LONGEST = 300
_METHODS = {
    "linear": "exact for this linear model",
    "additive": "exact for this sum of functions of single features",
    "trees": "exact for these trees (TreeSHAP)",
    "sampling": "estimated by sampling",
}

_LIST = "the list's other documents"
_AGAINST = {"linear": _LIST, "additive": _LIST, "trees": "the documents it was trained on", "sampling": _LIST}


def example(view: View) -> Section | None:
    """An explanation per dataset; None if no ranker can be explained."""

    def of(dataset: str, number: int) -> list[Block]:
        picked = _pick(view, dataset)
        if picked is None:
            return []
        ranker, cell, query = picked
        test = view.experiment.folds[dataset][cell.fold].test
        explanation = explain(cell.model(), test.select([query]), random_state=view.seed)
        labels = test.labels[test.offsets[query] : test.offsets[query + 1]]
        return _query(view, ranker, cell, explanation, labels, number)

    blocks = view.by_dataset(of)
    return Section("example", "One query explained", tuple(blocks)) if blocks else None


def _pick(view: View, dataset: str) -> tuple[str, Cell, int] | None:
    """The chosen ranker (or the first that has a model), and a query on which it does moderately well."""
    for ranker in dict.fromkeys([view.chosen(dataset), *view.rows(dataset)]):
        cell = None if ranker is None else view.experiment.of(dataset, ranker)[0]
        if ranker is None or cell is None or cell.model_path is None:
            continue
        test = view.experiment.folds[dataset][cell.fold].test
        if not test.n_features:
            return None
        top = np.maximum.reduceat(test.labels, test.offsets[:-1])
        low = np.minimum.reduceat(test.labels, test.offsets[:-1])
        fit = np.flatnonzero((top > low) & (test.group >= 3) & (test.group <= _LONGEST))
        values = cell.values[view.first][fit]
        fit, values = fit[np.isfinite(values)], values[np.isfinite(values)]
        if fit.size:
            return ranker, cell, int(fit[np.argsort(values, kind="stable")[fit.size // 2]])
    return None


def _query(
    view: View, ranker: str, cell: Cell, explanation: Explanation, labels: np.ndarray, number: int
) -> list[Block]:
    order = np.argsort(-explanation.scores, kind="stable")
    top = order[:_DOCUMENTS].tolist()
    names = [_name(explanation, i) for i in top]
    value = float(cell.values[view.first][np.flatnonzero(cell.qids == explanation.qid)[0]])
    text = (
        f"Query {explanation.qid} of fold {cell.fold}, as {ranker} orders it ({view.first} {fixed(value)}, "
        f"{len(labels)} documents). A contribution says what a feature adds to a document's score, compared with "
        f"{_AGAINST[explanation.method]}; contributions are {_METHODS[explanation.method]}."
    )
    return [
        Text(text),
        Tabular(_table(explanation, top, names, labels)),
        _contributions(explanation, top, names, f"example-documents-{number}"),
        _pair(explanation, top, names, f"example-pair-{number}"),
        *_passing(explanation, top, names),
    ]


def _name(explanation: Explanation, i: int) -> str:
    document = explanation.documents[i]
    return f"document {document + 1}" if isinstance(document, int) else str(document)


def _table(explanation: Explanation, top: list[int], names: list[str], labels: np.ndarray) -> Table:
    rows = []
    for position, (i, name) in enumerate(zip(top, names, strict=True), 1):
        most = np.argsort(-np.abs(explanation.contributions[i]), kind="stable")[:3]
        reasons = ", ".join(
            f"{explanation.feature_names[j]} {signed(explanation.contributions[i, j], 3)}" for j in most
        )
        rows.append((str(position), name, reasons, f"{labels[i]:g}", short(float(explanation.scores[i]))))
    caption = f"The first {len(top)} documents of query {explanation.qid}, and the features that count most for each"
    return Table.of(
        ("position", "document", "features that count most", "label", "score"), tuple(rows), caption=caption, n_names=3
    )


def _contributions(explanation: Explanation, top: list[int], names: list[str], name: str) -> Figure:
    parts = explanation.contributions[top]
    most = np.argsort(-np.abs(parts).max(axis=0), kind="stable")[:_FEATURES]
    rest = parts.sum(axis=1) - parts[:, most].sum(axis=1)
    columns: list[tuple[str, np.ndarray, str]] = [
        (f"feature {explanation.feature_names[j]}", parts[:, j], f"--s{k}") for k, j in enumerate(most.tolist())
    ]
    if len(most) < parts.shape[1]:
        columns.append(("all others", rest, "--muted"))
    labels = [plain(f"{k}. {text}") for k, text in enumerate(names, 1)]
    traces = [
        {"type": "bar", "orientation": "h", "name": plain(title), "x": tidy(values), "y": labels}
        | {"marker": {"color": colour}, "hovertemplate": f"{plain(title)}: %{{x:+.4f}}<extra>%{{y}}</extra>"}
        for title, values, colour in columns
    ]
    figure = layout(
        axis("contribution to the score"),
        axis("", type="category", autorange="reversed"),
        height=bars_height(len(top)) + 110,
        barmode="relative",
        showlegend=True,
    )
    which = f"the first {len(top)} documents of query {explanation.qid}"
    label = f"Contributions of features to the scores of {which}, stacked."
    rows = tuple((title, *(signed(float(v)) for v in values)) for title, values, _ in columns)
    caption = f"Contributions to the scores of query {explanation.qid}"
    table = Table.of(("", *names), rows, caption=caption, notes=("A column and the base add up to the score.",))
    return Figure(name, label, traces, figure, table)


def _pair(explanation: Explanation, top: list[int], names: list[str], name: str) -> Figure:
    frame = explanation.pair(explanation.documents[top[0]], explanation.documents[top[1]])
    head = frame.head(10)
    values = head["contribution"].to_numpy()
    rest = float(frame["contribution"].to_numpy().sum() - values.sum())
    labels = [plain(f) for f in head["feature"]] + (["all others"] if frame.height > head.height else [])
    values = np.r_[values, rest] if frame.height > head.height else values
    texts = [
        f"feature {plain(row['feature'])}: {signed(row['contribution'])}<br>{_of(row, 'above')} in the first, "
        f"{_of(row, 'below')} in the second"
        for row in head.iter_rows(named=True)
    ] + (["all other features"] if frame.height > head.height else [])
    trace: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": tidy(values),
        "y": labels,
        "marker": {"color": ["--s0" if value >= 0 else "--s1" for value in values]},
        "hovertext": texts,
        "hoverinfo": "text",
    }
    figure = layout(
        axis("contribution to the difference of the scores (first − second)"),
        axis("feature", type="category", autorange="reversed"),
        height=bars_height(len(labels)),
    )
    rows = tuple(
        (r["feature"], _of(r, "above"), _of(r, "below"), signed(r["contribution"])) for r in head.iter_rows(named=True)
    )
    caption = f"Why {names[0]} is above {names[1]}: the scores differ by {short(float(np.sum(values)))}"
    table = Table.of(("feature", "in the first", "in the second", "adds"), rows, caption=caption)
    return Figure(name, caption + ".", [trace], figure, table)


def _of(row: dict[str, Any], name: str) -> str:
    """A value of a feature: a category as text, if it is one."""
    return row.get(f"{name}_category") or short(float(row[name]))


def _passing(explanation: Explanation, top: list[int], names: list[str]) -> list[Block]:
    """What would have to change for the second to pass the first."""
    ways = explanation.to_pass(explanation.documents[top[1]], explanation.documents[top[0]]).head(5)
    if not ways.height:
        return [
            Text(
                f"No change of one or a few features to values seen in the data would lift {names[1]} above {names[0]}."
            )
        ]
    shown = ways.select("feature", "from", "to", "deviations", "score")
    rows = tuple(
        tuple(row[name] if name == "feature" else _of(row, name) for name in shown.columns)
        for row in ways.iter_rows(named=True)
    )
    how = "these changes together" if bool(ways["together"][0]) else "one of these changes would be enough"
    caption = f"For {names[1]} to pass {names[0]}, {how}"
    titles = {"deviations": "standard deviations", "score": "score then"}
    header = tuple(titles.get(name, name) for name in shown.columns)
    return [Tabular(Table.of(header, rows, caption=caption))]
