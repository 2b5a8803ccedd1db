"""Systems with their confidence intervals."""

from __future__ import annotations

from typing import Any

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.evaluation.comparison import Comparison
from plackett.experiments.report.numbers import fixed
from plackett.experiments.report.plots import axis, bars_height, category_axis, layout, plain
from plackett.experiments.report.traces import mean_points
from plackett.measures.base import Measure
from plackett.plot._figure import figure

__all__ = ["comparison"]


def comparison(compared: Comparison, measure: str | Measure | None = None) -> Any:
    """Plot the mean of each system with its confidence interval, best first.

    Intervals of two systems may overlap although their difference is significant: the queries are the same, and the
    difference varies less than either mean. The hover texts say which systems are significantly worse.

    Parameters
    ----------
    compared
        The result of `plackett.compare`, `plackett.compare_runs` or `plackett.compare_evaluations`.
    measure
        Which of its measures; None means the first.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(20, n_features=2, random_state=0)
    >>> compared = pk.compare(data, {"first": data.X[:, 0], "second": data.X[:, 1]}, ["nDCG@10"])
    >>> len(pk.plot.comparison(compared).data[0].x)
    2
    """
    name = checked_measure(compared, measure)
    worth = compared.measures[name].worth
    rows = sorted(
        compared.table.filter(compared.table["measure"] == name).iter_rows(named=True),
        key=lambda row: -worth(row["mean"]),
    )
    share = f"{1 - compared.alpha:.0%}".replace("%", " %")
    hover = []
    for row in rows:
        text = f"{plain(row['system'])}<br>{plain(name)} {fixed(row['mean'])}<br>{share} interval "
        text += f"{fixed(row['low'])} to {fixed(row['high'])}"
        if row["better_than"]:
            text += f"<br>significantly better than {plain(', '.join(row['better_than']))}"
        hover.append(text)
    systems = [row["system"] for row in rows]
    means, lows, highs = ([row[key] for row in rows] for key in ("mean", "low", "high"))
    points = mean_points("systems", systems, means, lows, highs, hover, "--s0")
    labels = [plain(system) for system in systems]
    y = category_axis("", labels)
    x = axis(f"{name}, mean over {compared.qids.size} queries, with {share} interval")
    return figure([points], layout(x, y, height=bars_height(len(rows))))


def checked_measure(compared: Comparison, measure: str | Measure | None) -> str:
    """The name of a measure of a comparison."""
    if not isinstance(compared, Comparison):
        raise DataError(
            f"give the result of plackett.compare, or of comparison() of an experiment, not a {type(compared).__name__}"
        )
    name = next(iter(compared.measures)) if measure is None else str(measure)
    choice("measure", name, compared.measures)
    return name
