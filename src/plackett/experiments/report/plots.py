"""Plotly's words for what the figures have in common. Colours are names that the page resolves: light and dark."""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np

from plackett.experiments.report.numbers import seconds

__all__ = [
    "annotation",
    "axis",
    "bars_height",
    "end_labels",
    "layout",
    "name_sides",
    "plain",
    "round_axis",
    "time_axis",
]


def plain(text: Any) -> str:
    """Text that Plotly shows as it is: it would take some tags for formatting."""
    return html.escape(str(text), quote=False)


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with its title."""
    return {
        "title": {"text": plain(title), "standoff": 8},
        "automargin": True,
        "gridcolor": "--grid",
        "linecolor": "--line",
        "zerolinecolor": "--line",
        "tickcolor": "--line",
    } | more


def layout(x: dict[str, Any], y: dict[str, Any], *, height: int = 380, **more: Any) -> dict[str, Any]:
    """The layout of a figure; without legend, since lines and points carry their names."""
    return {
        "height": height,
        "xaxis": x,
        "yaxis": y,
        "showlegend": False,
        "hovermode": "closest",
        "margin": {"l": 60, "r": 20, "t": 16, "b": 50},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    } | more


def annotation(text: str, x: Any, y: Any, **more: Any) -> dict[str, Any]:
    """Text beside a point, without arrow."""
    return {"text": plain(text), "x": x, "y": y, "showarrow": False, "xanchor": "left", "font": {"size": 12}} | more


def end_labels(
    figure: dict[str, Any], names: list[str], values: list[float], colours: list[str], low: float, high: float
) -> None:
    """Write each name at the right end of its line, moved up or down where names would lie on each other.

    The page leaves them out for a legend where the figure is narrow.
    """
    span = (high - low) or 1.0
    gap = span * 17 / max(figure["height"] - 90, 100)
    order = np.argsort(values)
    places = np.array(values, float)[order]
    for _ in range(200):
        close = places[1:] - places[:-1] < gap * 0.999
        if not close.any():
            break
        push = (gap - (places[1:] - places[:-1]))[close] / 2
        places[:-1][close] -= push
        places[1:][close] += push
    figure["margin"] = figure["margin"] | {"r": 16 + int(7.2 * max(map(len, names)))}
    figure.setdefault("annotations", []).extend(
        annotation(names[i], 1.01, float(y), xref="paper", font={"size": 12, "color": colours[i]}, name="end")
        for i, y in zip(order.tolist(), places.tolist(), strict=True)
    )


def bars_height(number: int) -> int:
    """Height of a figure with so many horizontal bars or rows."""
    return 90 + 26 * max(number, 2)


def name_sides(points: list[list[float]]) -> list[str]:
    """On which side of its point a name stands: inwards at the edges of the figure, above and below in turn between."""
    by_x = sorted(range(len(points)), key=lambda i: points[i])
    by_y = {i: place for place, i in enumerate(sorted(range(len(points)), key=lambda i: points[i][::-1]))}
    edges = {by_x[0]: " right", by_x[-1]: " left"} if len(points) > 1 else {}
    return [("top" if by_y[i] % 2 else "bottom") + edges.get(i, " center") for i in range(len(points))]


def time_axis(title: str, times: list[float]) -> dict[str, Any]:
    """A logarithmic axis of seconds, whose ticks have units."""
    low, high = math.log10(min(times)), math.log10(max(times))
    margin = max(0.08 * (high - low), 0.1)
    ticks = _log_ticks(low - margin, high + margin)
    words = {
        "type": "log",
        "range": [low - margin, high + margin],
        "tickvals": ticks,
        "ticktext": list(map(seconds, ticks)),
    }
    return axis(title, **words)


def round_axis(title: str, rounds: int) -> dict[str, Any]:
    """A logarithmic axis from 1 to a number of rounds."""
    high = math.log10(max(rounds, 2)) + 0.03
    ticks = _log_ticks(-0.01, high)
    words = {"type": "log", "range": [-0.03, high], "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
    return axis(title, **words)


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, …: or powers of 10 only, where the axis is long."""
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [tick for tick in ticks if low <= math.log10(tick) <= high]
