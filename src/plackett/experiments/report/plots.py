"""Plotly settings shared by the figures. Colours are names that the page resolves for light and dark mode."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from plackett.experiments.report.numbers import seconds


def plain(text: Any) -> str:
    """Escape text so that Plotly shows it literally, not as formatting tags."""
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


def category_axis(title: str, labels: Sequence[str]) -> dict[str, Any]:
    """An axis with a place for each text, the first one on top."""
    return axis(title, type="category", categoryorder="array", categoryarray=list(labels), autorange="reversed")


def layout(x: dict[str, Any], y: dict[str, Any], *, height: int = 380, **more: Any) -> dict[str, Any]:
    """The layout of a figure, without a legend, since lines and points are labelled."""
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
    """Text next to a point, without an arrow."""
    return {"text": plain(text), "x": x, "y": y, "showarrow": False, "xanchor": "left", "font": {"size": 12}} | more


def end_labels(
    figure: dict[str, Any], names: list[str], values: list[float], colours: list[str], low: float, high: float
) -> None:
    """Write each name at the right end of its line, moved up or down so that names do not overlap.

    In narrow figures, the page replaces them with a legend.
    """
    span = (high - low) or 1.0
    gap = span * 17 / max(figure["height"] - 90, 100)
    order = np.argsort(values)
    heights = np.array(values, float)[order]
    for _ in range(200):
        close = heights[1:] - heights[:-1] < gap * 0.999
        if not close.any():
            break
        push = (gap - (heights[1:] - heights[:-1]))[close] / 2
        heights[:-1][close] -= push
        heights[1:][close] += push
    figure["margin"] = figure["margin"] | {"r": 16 + int(7.2 * max(map(len, names)))}
    figure.setdefault("annotations", []).extend(
        annotation(names[i], 1.01, float(y), xref="paper", font={"size": 12, "color": colours[i]}, name="end")
        for i, y in zip(order.tolist(), heights.tolist(), strict=True)
    )


def bars_height(number: int) -> int:
    """Height of a figure with this many horizontal bars or rows."""
    return 90 + 26 * max(number, 2)


def place_names(
    x: list[float], y: list[float], names: list[str], first: Mapping[int, tuple[str, ...]] | None = None
) -> tuple[list[str], list[str]]:
    """Texts and positions of the names of points; names without room are left out.

    Parameters
    ----------
    x, y
        The points, in the units of the axes (logarithms on a logarithmic axis).
    first
        Points whose names are placed first, with their preferred positions.
    """
    wanted = dict(first or {})
    across, up = (np.asarray(v, float) - min(v) for v in (x, y))
    across *= _AREA[0] / (across.max() or 1.0)
    up *= _AREA[1] / (up.max() or 1.0)
    taken = [(a - 7, u - 7, a + 7, u + 7) for a, u in zip(across, up, strict=True)]
    texts, positions = [""] * len(names), ["top center"] * len(names)
    for i in [*wanted, *(i for i in range(len(names)) if i not in wanted)]:
        for position in (*wanted.get(i, ()), *_POSITIONS):
            box = _name_box(across[i], up[i], 7.0 * len(names[i]), position)
            inside = box[0] > -40 and box[2] < _AREA[0] + 50
            if inside and not any(_overlap(box, other) for k, other in enumerate(taken) if k != i):
                taken.append(box)
                texts[i], positions[i] = plain(names[i]), position
                break
    return texts, positions


#: Screen distance between the outermost points of a figure, and where a name can be placed.
_AREA = (720.0, 250.0)
_POSITIONS = (
    "top center",
    "bottom center",
    "middle right",
    "middle left",
    "top right",
    "top left",
    "bottom right",
    "bottom left",
)


def _name_box(x: float, y: float, width: float, position: str) -> tuple[float, float, float, float]:
    """Left, lower, right and upper edge of a name."""
    vertical, horizontal = position.split()
    low = y + {"top": 5.0, "middle": -8.0, "bottom": -21.0}[vertical]
    left = x + {"center": -width / 2, "right": 9.0, "left": -width - 9.0}[horizontal]
    return left, low, left + width, low + 16.0


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def time_axis(title: str, times: list[float]) -> dict[str, Any]:
    """A logarithmic axis of seconds with units on its ticks."""
    low, high = math.log10(min(times)), math.log10(max(times))
    margin = max(0.08 * (high - low), 0.1)
    ticks = _log_ticks(low - margin, high + margin)
    options = {
        "type": "log",
        "range": [low - margin, high + margin],
        "tickvals": ticks,
        "ticktext": list(map(seconds, ticks)),
    }
    return axis(title, **options)


def round_axis(title: str, rounds: int) -> dict[str, Any]:
    """A logarithmic axis from 1 to a number of rounds."""
    high = math.log10(max(rounds, 2)) + 0.03
    ticks = _log_ticks(-0.01, high)
    options = {"type": "log", "range": [-0.03, high], "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
    return axis(title, **options)


def _log_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5, 10, …, or only powers of 10 if the axis is long."""
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10.0**power for power in range(math.floor(low), math.ceil(high) + 1) for step in steps]
    return [tick for tick in ticks if low <= math.log10(tick) <= high]
