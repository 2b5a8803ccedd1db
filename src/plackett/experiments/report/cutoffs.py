"""Measures against the cut-off: who is good at the top of the list."""

from __future__ import annotations

import numpy as np

from plackett.evaluation.evaluate import measure_scored
from plackett.evaluation.tables import Table
from plackett.experiments.report.blocks import Figure, Section, Text
from plackett.experiments.report.numbers import fixed
from plackett.experiments.report.plots import axis, end_labels, layout
from plackett.experiments.report.traces import cutoff_line
from plackett.experiments.report.view import View
from plackett.measures.language import parse_all
from plackett.measures.ranking import Scored

_DEEPEST = 20
_MEASURES = ("nDCG", "P")
_IN_TABLE = (1, 2, 3, 5, 10, 15, 20)


def cutoffs(view: View) -> Section:
    """nDCG@k and P@k for k up to 20."""
    text = "How many documents will users look at? Means over folds on the test data."
    if view.experiment.preset:
        text += (
            f" The rules of {view.experiment.preset} apply, also to lists shorter than the cut-off; if the rules give "
            "these 0, curves drop at common list lengths."
        )

    def of(dataset: str, number: int) -> list[Figure]:
        depth = _depth(view, dataset)
        curves = {ranker: _curves(view, dataset, ranker, depth) for ranker in view.drawn(dataset)}
        return [
            _figure(view, dataset, m, {ranker: curve[m] for ranker, curve in curves.items()}, f"cutoff-{m}-{number}")
            for m in range(len(_MEASURES))
        ]

    first = Text(text + view.left_out(view.datasets[0]))
    return Section("cutoffs", "Measure against cut-off", (first, *view.by_dataset(of)))


def _depth(view: View, dataset: str) -> int:
    folds = view.experiment.folds[dataset].values()
    return min(_DEEPEST, max(int(fold.test.group.max(initial=1)) for fold in folds))


def _curves(view: View, dataset: str, ranker: str, depth: int) -> np.ndarray:
    """Measures × cut-offs: the mean over folds."""
    experiment, names = view.experiment, [f"{name}@{k}" for name in _MEASURES for k in range(1, depth + 1)]
    per_fold = []
    for cell in experiment.of(dataset, ranker):
        scored = Scored(experiment.folds[dataset][cell.fold].test, cell.scores, random_state=view.seed)
        mean = measure_scored(scored, parse_all(names), experiment.preset).mean
        per_fold.append([mean[name] for name in names])
    return np.mean(per_fold, axis=0).reshape(len(_MEASURES), depth)


def _figure(view: View, dataset: str, m: int, curves: dict[str, np.ndarray], name: str) -> Figure:
    measure = _MEASURES[m]
    depth = next(iter(curves.values())).size
    cuts = list(range(1, depth + 1))
    traces = [
        cutoff_line(view.names[ranker], ranker, measure, cuts, values, view.colour(ranker), view.symbol(ranker))
        for ranker, values in curves.items()
    ]
    figure = layout(
        axis("cut-off k (documents)", dtick=1 if depth <= 10 else 2, range=[0.5, depth + 0.5]), axis(f"{measure}@k")
    )
    finite = np.nan_to_num(np.array(list(curves.values())))
    end_labels(
        figure,
        [view.names[ranker] for ranker in curves],
        finite[:, -1].tolist(),
        [view.colour(ranker) for ranker in curves],
        float(finite.min()),
        float(finite.max()),
    )
    shown = [k for k in _IN_TABLE if k <= depth]
    rows = tuple((ranker, *(fixed(values[k - 1]) for k in shown)) for ranker, values in curves.items())
    table = Table.of(("ranker", *(f"{measure}@{k}" for k in shown)), rows, caption=f"{measure} by cut-off on {dataset}")
    return Figure(name, f"{measure} at cut-offs 1 to {depth} on {dataset}, a line per ranker.", traces, figure, table)
