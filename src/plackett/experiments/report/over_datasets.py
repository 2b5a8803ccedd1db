"""Several datasets: mean ranks with the critical difference, and winning numbers."""

from __future__ import annotations

from plackett.evaluation.friedman import Nemenyi, friedman_permuted, nemenyi
from plackett.evaluation.tables import Table
from plackett.evaluation.winning_number import winning_number
from plackett.experiments.report.blocks import Figure, Section, Tabular, Text
from plackett.experiments.report.numbers import fixed, p_value
from plackett.experiments.report.plots import axis, bars_height, category_axis, layout, plain
from plackett.experiments.report.view import View


def over_datasets(view: View) -> Section | None:
    """Ranks over datasets; None for one dataset, or if fewer than two rankers are finished on all of them."""
    results = view.experiment.results(view.first)
    rankers = [ranker for ranker in view.experiment.rankers if all(ranker in row for row in results.values())]
    if len(results) < 2 or len(rankers) < 2:
        return None
    both = {dataset: {ranker: row[ranker] for ranker in rankers} for dataset, row in results.items()}
    ascending = view.experiment.measures[view.first].ascending
    ranking = nemenyi(both, ascending=ascending)
    p = friedman_permuted(both, ascending=ascending, random_state=view.seed)
    wins = winning_number(both, ascending=ascending)
    order = sorted(rankers, key=lambda ranker: (ranking.mean_ranks[ranker], -wins[ranker]))
    rows = tuple(
        (
            ranker,
            fixed(ranking.mean_ranks[ranker], 2),
            str(wins[ranker]),
            *(fixed(row[ranker]) for row in both.values()),
        )
        for ranker in order
    )
    verdict = "differ" if p <= 0.05 else "do not differ significantly"
    text = (
        f"By {view.first}, means over folds. Over {len(both)} datasets the rankers {verdict} (Friedman's test by "
        f"permutations, {p_value(p)}). Two rankers differ if their mean ranks are more than "
        f"{ranking.critical_difference:.2f} apart (Nemenyi's critical difference at 0.05). With few datasets it is "
        "large, and the test detects hardly anything."
    )
    table = Table.of(
        ("ranker", "mean rank", "winning number", *both),
        rows,
        caption=f"Ranks over {len(both)} datasets by {view.first}",
        notes=("Winning number: how many other rankers a ranker beats, summed over datasets.",),
    )
    return Section("ranks", "Over all datasets", (Text(text), _figure(view, ranking, order), Tabular(table)))


def cliques(ranks: list[float], critical: float) -> list[tuple[int, int]]:
    """Maximal runs of sorted ranks whose ends are no further apart than the critical difference.

    >>> cliques([1.0, 1.5, 3.0, 3.2], 1.6)
    [(0, 1), (1, 2), (2, 3)]
    """
    runs: list[tuple[int, int]] = []
    for i, first in enumerate(ranks):
        j = max(k for k, rank in enumerate(ranks) if rank - first <= critical)
        if j > i and not (runs and runs[-1][1] >= j):
            runs.append((i, j))
    return runs


def _figure(view: View, ranking: Nemenyi, order: list[str]) -> Figure:
    ranks = [ranking.mean_ranks[ranker] for ranker in order]
    labels = [plain(view.names[ranker]) for ranker in order]
    best = {"type": "rect", "xref": "x", "yref": "paper", "y0": 0, "y1": 1, "layer": "below", "line": {"width": 0}}
    band = best | {"x0": ranks[0], "x1": min(ranks[0] + ranking.critical_difference, len(order)), "fillcolor": "--band"}
    bars = [
        {"type": "scatter", "mode": "lines", "x": [len(order) + 0.12 * (k + 1)] * (j - i + 1), "y": labels[i : j + 1]}
        | {"line": {"color": "--ink", "width": 5}, "hoverinfo": "text", "cliponaxis": False}
        | {"hovertext": f"no significant difference between {labels[i]} and {labels[j]}"}
        for k, (i, j) in enumerate(cliques(ranks, ranking.critical_difference))
    ]
    points = {
        "type": "scatter",
        "mode": "markers+text",
        "x": ranks,
        "y": labels,
        "text": [f"{rank:.2f}" for rank in ranks],
        "textposition": "top center",
        "marker": {"size": 11, "color": "--s0"},
        "hovertext": [f"{label}: mean rank {rank:.2f}" for label, rank in zip(labels, ranks, strict=True)],
        "hoverinfo": "text",
        "cliponaxis": False,
    }
    figure = layout(
        axis(
            "mean rank (1 is best); shaded: not significantly worse than the best",
            range=[0.8, len(order) + 0.6],
            dtick=1,
        ),
        category_axis("", labels),
        height=bars_height(len(order)) + 60,
        shapes=[band],
    )
    label = (
        "Mean ranks of the rankers over all datasets; a bar on the right joins rankers that are less than the critical "
        f"difference of {ranking.critical_difference:.2f} apart."
    )
    return Figure("ranks-figure", label, [points, *bars], figure)
