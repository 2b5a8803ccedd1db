"""Two systems, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.evaluation.comparison import Comparison
from plackett.evaluation.significance.effects import win_tie_loss
from plackett.experiments.report.numbers import fixed, signed, tidy
from plackett.experiments.report.plots import annotation, axis, layout, plain
from plackett.measures.base import Measure
from plackett.plot._figure import figure
from plackett.plot.comparison import checked_measure

__all__ = ["differences"]


def differences(
    compared: Comparison, a: str | None = None, b: str | None = None, measure: str | Measure | None = None
) -> Any:
    """Plot the difference of two systems on each query, sorted: bars above zero are queries that ``a`` wins.

    Parameters
    ----------
    compared
        The result of `plackett.compare`, `plackett.compare_runs` or `plackett.compare_evaluations`.
    a, b
        The two systems; None means the first two. The sign is flipped if small values are better.
    measure
        Which of its measures; None means the first.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 0, 1], qid=[1, 1, 2, 2])
    >>> compared = pk.compare(data, {"one": [2, 1, 1, 2], "other": [1, 2, 1, 2]}, ["RR"])
    >>> pk.plot.differences(compared).data[0].y
    (0.5, 0.0)
    """
    name = checked_measure(compared, measure)
    for given in (a, b):
        if given is not None and given not in compared.systems:
            raise DataError(f"unknown system {given!r}; the systems are {', '.join(compared.systems)}")
    first = a if a is not None else next(s for s in compared.systems if s != b)
    second = b if b is not None else next((s for s in compared.systems if s != first), None)
    if second is None or first == second:
        raise DataError("give two different systems")
    values = compared.values[name]
    ours, theirs = (values[:, compared.systems.index(system)] for system in (first, second))
    sign = 1 if compared.measures[name].ascending else -1
    difference = sign * (ours - theirs)
    order = np.argsort(-difference, kind="stable")
    order = order[np.isfinite(difference[order])]  # without queries that the measure skipped
    qids = compared.qids.tolist()
    bars = {
        "type": "bar",
        "x": list(range(1, order.size + 1)),
        "y": tidy(difference[order]),
        "marker": {"color": ["--gain" if difference[i] >= 0 else "--loss" for i in order], "line": {"width": 0}},
        "hoverinfo": "text",
        "hovertext": [
            f"query {plain(qids[i])}<br>{plain(first)} {fixed(ours[i])}, {plain(second)} {fixed(theirs[i])}"
            f"<br>difference {signed(difference[i])}"
            for i in order
        ],
    }
    turned = "" if sign > 0 else " (sign flipped: small is good)"
    look = layout(
        axis("query, sorted by difference"),
        axis(f"{name}, {first} − {second}{turned}", zerolinecolor="--ink"),
        height=340,
        bargap=0 if order.size > 300 else 0.1,
    )
    wins, _, losses = win_tie_loss(difference[order], np.zeros(order.size))
    paper = {"xref": "paper", "yref": "paper"}
    look["annotations"] = [
        annotation(f"{first} is better on {wins}", 1, 0.98, xanchor="right", font={"color": "--gain"}, **paper),
        annotation(f"{second} is better on {losses}", 0, 0.03, font={"color": "--loss"}, **paper),
    ]
    return figure([bars], look)
