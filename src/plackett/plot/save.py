"""Figures as files for print, drawn without a browser."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._names.optional import optional

__all__ = ["save"]

#: Pixels of the screen, and points of print, per inch.
_PIXELS, _POINTS = 96.0, 72.0
#: Matplotlib's names of the markers and the lines.
_MARKERS = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "cross": "P",
    "x": "X",
    "triangle-down": "v",
    "star": "*",
}
_LINES = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}
#: What would make a file differ each time it is written.
_DATES: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}


def save(figure: Any, path: str | os.PathLike[str], *, width: float | None = None, height: float | None = None) -> None:
    """Write a figure of `plackett.plot` to a file: SVG, PDF or PNG, by the ending of its name; no browser is needed.

    Matplotlib draws it (extra ``static``), in the fonts and sizes of its settings (``matplotlib.rcParams``), so that
    the figure fits the document it goes into. The same figure gives the same file.

    Parameters
    ----------
    figure
        What a function of `plackett.plot` returned: bars, lines and points.
    path
        The file. Plotly itself writes ``.html``.
    width, height
        Size in inches; None is that on screen, with 96 pixels to the inch.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 1])
    >>> curve = pk.plot.measure_curve(data, {"best": [2, 0, 1]}, "P", [1, 2, 3])
    >>> pk.plot.save(curve, tempfile.mkdtemp() + "/curve.svg", width=4)  # doctest: +SKIP
    """
    if not (hasattr(figure, "data") and hasattr(figure, "layout")):
        raise DataError(f"a {type(figure).__name__} is not a figure; give what a function of plackett.plot returned")
    kind = Path(path).suffix.removeprefix(".").lower()
    if kind == "html":
        figure.write_html(path)
        return
    if kind not in ("svg", "pdf", "png"):
        raise DataError(f"{path}: the name of the file must end in .svg, .pdf, .png or .html")
    matplotlib = optional("matplotlib", "figures without a browser need")
    look = figure.layout
    size = (width or (look.width or 700) / _PIXELS, height or (look.height or 450) / _PIXELS)
    if not (min(size) > 0 and max(size) < 100):
        raise DataError(f"width={width}, height={height}; give inches, up to 100")
    with matplotlib.rc_context({"svg.hashsalt": "plackett"}):
        page = optional("matplotlib.figure", "figures without a browser need").Figure(size, layout="constrained")
        _draw(figure, page.subplots())
        page.savefig(path, format=kind, dpi=200, metadata=_DATES.get(kind))


def _draw(figure: Any, axes: Any) -> None:
    """All of the figure."""
    look = figure.layout
    named = look.showlegend or (look.showlegend is None and len(figure.data) > 1)
    across, up = (_Axis(look[f"{way}axis"], [trace[way] for trace in figure.data]) for way in "xy")
    for trace in figure.data:
        x, y = across.places(trace.x), up.places(trace.y)
        label = _text(trace.name) if named and trace.name and trace.showlegend is not False else "_"
        if trace.type == "bar":
            _bars(axes, trace, x, y, 1.0 - (look.bargap or 0.0), label)
        elif trace.type == "scatter":
            _line_and_points(axes, trace, x, y, label)
        else:
            raise DataError(
                f"a trace of type {trace.type!r} cannot be drawn; use figure.write_image, which needs kaleido"
            )
        _error_bars(axes, trace, x, y)
    across.set(axes.xaxis, axes.set_xscale, axes.set_xlim, axes.axvline)
    up.set(axes.yaxis, axes.set_yscale, axes.set_ylim, axes.axhline)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for note in look.annotations:
        _annotation(axes, note)
    if named:
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, frameon=False)


class _Axis:
    """Where values are on an axis: categories are numbered in their order."""

    def __init__(self, look: Any, values: Sequence[Any]) -> None:
        self.look = look
        every = [entry for column in values if column is not None for entry in column]
        self.categories: list[str] = []
        if look.type == "category" or any(isinstance(entry, str) for entry in every):
            given = every if look.categoryarray is None else look.categoryarray
            self.categories = list(dict.fromkeys(map(str, given)))

    def places(self, values: Any) -> np.ndarray:
        """Positions of the values."""
        if self.categories:
            return np.array([self.categories.index(str(value)) for value in values], np.float64)
        return np.asarray(values, np.float64)

    def set(self, axis: Any, scale: Any, limits: Any, line: Any) -> None:
        """Title, ticks, grid, range and direction."""
        look = self.look
        axis.set_label_text(_text(look.title.text or ""))
        if look.type == "log":
            scale("log")
        if self.categories:
            limits(-0.5, len(self.categories) - 0.5)
        elif look.range is not None:
            limits(*(10.0**end if look.type == "log" else end for end in look.range))
        ticks = range(len(self.categories)) if self.categories else look.tickvals
        if ticks is not None:
            axis.set_ticks(ticks, labels=map(_text, self.categories or look.ticktext or ticks))
            axis.set_ticks([], minor=True)
        low, high = axis.get_view_interval()
        if look.autorange == "reversed":
            axis.set_inverted(True)
        if not self.categories:
            axis.grid(color=look.gridcolor)
            if low < 0.0 < high:
                line(0.0, color=look.zerolinecolor, linewidth=0.8)


def _bars(axes: Any, trace: Any, x: np.ndarray, y: np.ndarray, width: float, label: str) -> None:
    colour = trace.marker.color
    if trace.orientation == "h":
        axes.barh(y, x, height=width, color=colour, label=label)
    else:
        axes.bar(x, y, width=width, color=colour, label=label)


def _line_and_points(axes: Any, trace: Any, x: np.ndarray, y: np.ndarray, label: str) -> None:
    mode = trace.mode or "lines"
    if "lines" in mode:
        style = {"color": trace.line.color, "linewidth": _points(trace.line.width or 2.0)}
        axes.plot(x, y, linestyle=_LINES[trace.line.dash or "solid"], label=label, **style)
        label = "_"
    if "markers" in mode:
        marker = trace.marker
        symbols, sizes = _each(marker.symbol or "circle", x.size), _each(marker.size or 6, x.size)
        colours = _each(marker.color, x.size)
        for symbol in dict.fromkeys(symbols):
            some = [i for i, each in enumerate(symbols) if each == symbol]
            colour = [colours[i] for i in some]
            face = "none" if symbol.endswith("-open") else colour
            axes.scatter(
                x[some],
                y[some],
                [_points(sizes[i]) ** 2 for i in some],
                marker=_MARKERS[symbol.removesuffix("-open")],
                facecolors=face,
                edgecolors=colour,
                label=label,
                zorder=3,
            )
            label = "_"


def _error_bars(axes: Any, trace: Any, x: np.ndarray, y: np.ndarray) -> None:
    for name in ("error_x", "error_y"):
        bars = trace[name]
        if bars.array is not None:
            less = bars.array if bars.arrayminus is None else bars.arrayminus
            spread = {name[-1] + "err": np.array([less, bars.array], np.float64)}
            thickness = {"elinewidth": _points(bars.thickness or 2.0), "capsize": _points(bars.width or 4.0)}
            axes.errorbar(x, y, fmt="none", ecolor=bars.color, **thickness, **spread)


def _annotation(axes: Any, note: Any) -> None:
    """Text at a place of the data, or of the page ("paper")."""
    transforms = optional("matplotlib.transforms", "figures without a browser need")
    x, y = (axes.transAxes if ref == "paper" else axes.transData for ref in (note.xref, note.yref))
    vertical = "center"
    if note.yref == "paper":
        vertical = "top" if note.y > 2 / 3 else "bottom" if note.y < 1 / 3 else "center"
    axes.text(
        note.x,
        note.y,
        _text(note.text),
        transform=transforms.blended_transform_factory(x, y),
        ha="center" if note.xanchor in (None, "auto") else note.xanchor,
        va=vertical,
        color=note.font.color,
    )


def _each(value: Any, n: int) -> list[Any]:
    """The value of each point, from one for all or one for each."""
    return [value] * n if value is None or np.ndim(value) == 0 else list(value)


def _points(pixels: float) -> float:
    return pixels * _POINTS / _PIXELS


def _text(plotly: Any) -> str:
    """Text as it is: without Plotly's escapes, and no formula of Matplotlib."""
    return html.unescape(str(plotly)).replace("$", r"\$")
