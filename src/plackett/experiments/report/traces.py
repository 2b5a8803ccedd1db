"""Plotly traces shared by the report and `plackett.plot`. Colours are names, as in the layouts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.experiments.report.numbers import tidy
from plackett.experiments.report.plots import plain

#: Points per learning curve.
_POINTS = 120


def mean_points(
    title: str,
    labels: Sequence[str],
    means: Sequence[float],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    hover: Sequence[str],
    colour: str,
) -> dict[str, Any]:
    """Means with their intervals, one row each; the texts may contain Plotly's tags."""
    errors = {
        "type": "data",
        "symmetric": False,
        "array": [0.0 if high is None else high - mean for high, mean in zip(highs, means, strict=True)],
        "arrayminus": [0.0 if low is None else mean - low for low, mean in zip(lows, means, strict=True)],
        "color": colour,
        "thickness": 2,
        "width": 5,
    }
    return {
        "type": "scatter",
        "mode": "markers",
        "name": title,
        "x": list(means),
        "y": [plain(label) for label in labels],
        "marker": {"size": 11, "color": colour},
        "error_x": errors,
        "hoverinfo": "text",
        "hovertext": list(hover),
    }


def learning_lines(
    name: str, ranker: str, fold: str, values: np.ndarray, best: int, colour: str, dash: str, legend: bool = True
) -> list[dict[str, Any]]:
    """The values of a measure after each round, and a ring around the best; ``fold`` is for hover texts."""
    title, shown = ranker + fold, _thinned(values.size, best)
    common = {"type": "scatter", "legendgroup": plain(ranker), "name": plain(name)}
    return [
        common
        | {"mode": "lines", "x": (shown + 1).tolist(), "y": tidy(values[shown]), "showlegend": legend}
        | {"line": {"color": colour, "width": 1.5, "dash": dash}}
        | {"hovertemplate": f"{plain(title)}<br>round %{{x}}: %{{y:.4f}}<extra></extra>"},
        common
        | {"mode": "markers", "x": [best + 1], "y": tidy(values[[best]]), "showlegend": False}
        | {"marker": {"symbol": "circle-open", "size": 10, "color": colour, "line": {"width": 2}}}
        | {"hovertemplate": f"{plain(title)}<br>best: round %{{x}}, %{{y:.4f}}<extra></extra>"},
    ]


def best_round(values: np.ndarray, ascending: bool) -> int:
    """The first round with the best value, or the first round if none has a value."""
    if not np.isfinite(values).any():
        return 0
    return int(np.nanargmax(values) if ascending else np.nanargmin(values))


def cutoff_line(
    name: str, title: str, measure: str, cuts: Sequence[int], values: np.ndarray, colour: str, symbol: str
) -> dict[str, Any]:
    """A measure at several cut-offs."""
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(name),
        "x": list(cuts),
        "y": tidy(values),
        "line": {"color": colour, "width": 2},
        "marker": {"symbol": symbol, "size": 6, "color": colour},
        "hovertemplate": f"{plain(title)}<br>{plain(measure)}@%{{x}} = %{{y:.4f}}<extra></extra>",
    }


def _thinned(size: int, best: int) -> np.ndarray:
    """At most `_POINTS` rounds, dense at the beginning where curves bend, including the best and the last."""
    if size <= _POINTS:
        return np.arange(size)
    return np.unique(np.r_[np.geomspace(1, size, _POINTS).round().astype(np.int64) - 1, best, size - 1])
