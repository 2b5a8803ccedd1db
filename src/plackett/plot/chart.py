"""A line chart as SVG without any library, shown by studies and plans next to their tables.

By hand, as commands write it without an extra: Plotly, which draws reports and `plackett.plot`, makes SVG only with a
browser, and Matplotlib, which `plackett.plot.save` takes, needs .4 s to be imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import floor, isfinite, log10

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
_DASHES = ("", "6 3", "2 2", "8 3 2 3")
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 640, 400, 70, 40, 170, 50


def line_chart(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_x: bool = False,
    log_y: bool = False,
    half_widths: Mapping[str, Sequence[float | None]] | None = None,
) -> str:
    """An SVG with a line for each series of x and y; points that are not numbers (or not positive on a log scale) are
    left out. ``half_widths`` of a series are drawn as bars around its points, None for no bar.

    >>> line_chart({"a": ([1, 2], [3, 4])}, title="t", x_label="x", y_label="y").startswith("<svg")
    True
    """
    kept, bars = _drawable(series, half_widths or {}, log_x, log_y)
    edge = _WIDTH - _RIGHT
    width = edge + max(_RIGHT, 50 + 7 * max(map(len, kept), default=0))  # room for the longest name
    points = [point for line in kept.values() for point in line] or [(0.0, 0.0)]
    points += [(x, end) for ends in bars.values() for x, *pair in ends for end in pair]
    across = _Axis([x for x, _ in points], _LEFT, edge, log_x)
    up = _Axis([y for _, y in points], _HEIGHT - _BOTTOM, _TOP, log_y)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="{_TOP - 18}" font-size="14">{escape(title)}</text>',
        *_grid(across, up, x_label, y_label),
    ]
    for i, (name, line) in enumerate(kept.items()):
        shift = 2.5 * (i - (len(kept) - 1) / 2)  # bars side by side, not on top of each other
        parts += _line(i, name, line, bars.get(name, []), shift, across, up)
    return "\n".join([*parts, "</svg>"])


def _drawable(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    half_widths: Mapping[str, Sequence[float | None]],
    log_x: bool,
    log_y: bool,
) -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[tuple[float, float, float]]]]:
    """The points of each line, and the place and both ends of its bars, that the axes can show."""

    def has_place(x: float, y: float, low: float) -> bool:
        return isfinite(x) and isfinite(y) and (x > 0 or not log_x) and (low > 0 or not log_y)

    lines = {
        name: [(float(x), float(y)) for x, y in zip(xs, ys, strict=True) if has_place(x, y, y)]
        for name, (xs, ys) in series.items()
    }
    bars = {
        name: [
            (float(x), float(y) - half, float(y) + half)
            for x, y, half in zip(*series[name], halves, strict=True)
            if half is not None and has_place(x, y, y - half)
        ]
        for name, halves in half_widths.items()
    }
    return lines, bars


def _grid(across: _Axis, up: _Axis, x_label: str, y_label: str) -> list[str]:
    """Lines at the ticks, their values, and what the axes show."""
    parts = []
    for value in across.ticks:
        x = across.position(value)
        parts.append(f'<line x1="{x:.1f}" y1="{up.end}" x2="{x:.1f}" y2="{up.start}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{up.start + 16}" text-anchor="middle">{value:g}</text>')
    for value in up.ticks:
        y = up.position(value)
        parts.append(f'<line x1="{across.start}" y1="{y:.1f}" x2="{across.end}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{across.start - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    middle, centre = (across.start + across.end) / 2, (up.start + up.end) / 2
    return [
        *parts,
        f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text x="18" y="{centre}" text-anchor="middle" transform="rotate(-90 18 {centre})">{escape(y_label)}</text>',
    ]


def _line(
    i: int,
    name: str,
    line: list[tuple[float, float]],
    bars: list[tuple[float, float, float]],
    shift: float,
    across: _Axis,
    up: _Axis,
) -> list[str]:
    """The i-th line with its points, bars and name."""
    colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[i // len(_COLOURS) % len(_DASHES)]
    places = [(f"{across.position(x):.1f}", f"{up.position(y):.1f}") for x, y in line]
    style = f'fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
    parts = [f'<polyline points="{" ".join(map(",".join, places))}" {style}/>']
    if len(line) <= 40:
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places]
    for x, low, high in bars:
        at = across.position(x) + shift
        parts.append(
            f'<line x1="{at:.1f}" y1="{up.position(low):.1f}" x2="{at:.1f}" y2="{up.position(high):.1f}" '
            f'stroke="{colour}" stroke-opacity=".6"/>'
        )
    right, height = across.end, _TOP + 10 + 18 * i
    return [
        *parts,
        f'<line x1="{right + 12}" y1="{height}" x2="{right + 34}" y2="{height}" {style}/>',
        f'<text x="{right + 40}" y="{height + 4}">{escape(name)}</text>',
    ]


class _Axis:
    """Positions of values on the page, and the values to mark."""

    def __init__(self, values: Sequence[float], start: float, end: float, log: bool) -> None:
        self.log = log
        self.start, self.end = start, end
        low, high = min(values), max(values)
        if log:
            low, high = log10(low), log10(high)
        pad = 0.04 * (high - low) or 0.5
        self.low, self.high = low - pad, high + pad
        self.ticks = self._powers() if log else self._steps()

    def position(self, value: float) -> float:
        """Where a value is on the page."""
        at = log10(value) if self.log else value
        return self.start + (at - self.low) / (self.high - self.low) * (self.end - self.start)

    def _powers(self) -> list[float]:
        every = [m * 10.0**e for e in range(floor(self.low), floor(self.high) + 1) for m in (1, 2, 5)]
        inside = [v for v in every if self.low <= log10(v) <= self.high]
        return inside if len(inside) <= 9 else [v for v in inside if f"{v:e}"[0] == "1"]

    def _steps(self) -> list[float]:
        rough = (self.high - self.low) / 5
        unit = 10.0 ** floor(log10(rough))
        step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough)
        first = floor(self.low / step) + 1
        return [round(i * step, 12) for i in range(first, floor(self.high / step) + 1)]
