"""A line chart as SVG without any library, shown by studies and plans next to their tables."""

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
    kept = {
        name: [
            (float(x), float(y))
            for x, y in zip(xs, ys, strict=True)
            if isfinite(x) and isfinite(y) and (x > 0 or not log_x) and (y > 0 or not log_y)
        ]
        for name, (xs, ys) in series.items()
    }
    bars = {
        name: [
            (float(x), float(y) - half, float(y) + half)
            for x, y, half in zip(*series[name], halves, strict=True)
            if half is not None and isfinite(x) and isfinite(y) and (x > 0 or not log_x) and (y > half or not log_y)
        ]
        for name, halves in (half_widths or {}).items()
    }
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
    ]
    for value in across.ticks:
        x = across.position(value)
        parts.append(f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_HEIGHT - _BOTTOM}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{value:g}</text>')
    for value in up.ticks:
        y = up.position(value)
        parts.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{edge}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    middle, centre = (_LEFT + edge) / 2, (_TOP + _HEIGHT - _BOTTOM) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>')
    parts.append(
        f'<text x="18" y="{centre}" text-anchor="middle" transform="rotate(-90 18 {centre})">{escape(y_label)}</text>'
    )
    for i, (name, line) in enumerate(kept.items()):
        colour, dash = _COLOURS[i % len(_COLOURS)], _DASHES[i // len(_COLOURS) % len(_DASHES)]
        path = " ".join(f"{across.position(x):.1f},{up.position(y):.1f}" for x, y in line)
        style = f'fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
        parts.append(f'<polyline points="{path}" {style}/>')
        if len(line) <= 40:
            parts += [
                f'<circle cx="{across.position(x):.1f}" cy="{up.position(y):.1f}" r="3" fill="{colour}"/>'
                for x, y in line
            ]
        for x, low, high in bars.get(name, ()):  # side by side, not on top of each other
            at = across.position(x) + 2.5 * (i - (len(kept) - 1) / 2)
            parts.append(
                f'<line x1="{at:.1f}" y1="{up.position(low):.1f}" x2="{at:.1f}" y2="{up.position(high):.1f}" '
                f'stroke="{colour}" stroke-opacity=".6"/>'
            )
        y_legend = _TOP + 10 + 18 * i
        parts.append(f'<line x1="{edge + 12}" y1="{y_legend}" x2="{edge + 34}" y2="{y_legend}" {style}/>')
        parts.append(f'<text x="{edge + 40}" y="{y_legend + 4}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"])


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
