"""Turn traces and a layout in the report's notation into a Plotly figure."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from plackett._base.errors import DataError
from plackett._names.optional import optional
from plackett.experiments.report.view import DASHES, MAX_DRAWN, SYMBOLS

_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'


def figure(traces: list[dict[str, Any]], layout: dict[str, Any]) -> Any:
    """The figure, in the report's light colours."""
    make = optional("plotly.graph_objects", "plots need").Figure
    look = {
        "template": "none",
        "margin": layout["margin"] | {"t": 40},  # room for Plotly's buttons
        "paper_bgcolor": "--bg",
        "plot_bgcolor": "--bg",
        "font": {"family": _FONT, "size": 13, "color": "--ink"},
        "hoverlabel": {"bgcolor": "--panel", "bordercolor": "--line", "font": {"color": "--ink"}, "align": "left"},
    }
    return make(data=_resolved(traces, ""), layout=_resolved(layout | look, ""))


def colour(number: int) -> str:
    """The colour of the n-th line."""
    return f"--s{number % MAX_DRAWN}"


def symbol(number: int) -> str:
    """The marker of the n-th line."""
    return SYMBOLS[number % len(SYMBOLS)]


def dash(number: int) -> str:
    """How the n-th line is drawn."""
    return DASHES[number % len(DASHES)]


def by_name(given: Any, what: str) -> dict[str, Any]:
    """One thing, a list of them or a dict, by name: those of a list are called after their classes."""
    if isinstance(given, dict):
        named = {str(name): value for name, value in given.items()}
    else:
        several = list(given) if isinstance(given, (list, tuple)) else [given]
        bare = [type(value).__name__ for value in several]
        named = {
            name if bare.count(name) == 1 else f"{name} {bare[: i + 1].count(name)}": value
            for i, (name, value) in enumerate(zip(bare, several, strict=True))
        }
    if not named:
        raise DataError(f"there is nothing to plot; give {what}")
    return named


def _resolved(value: Any, key: str) -> Any:
    """A copy in which names of colours (``--s0``) have become the colours."""
    if isinstance(value, dict):
        return {name: _resolved(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [_resolved(entry, key) for entry in value]
    is_name = isinstance(value, str) and value.startswith("--") and key.endswith("color")
    return _palette()[value] if is_name else value


@cache
def _palette() -> dict[str, str]:
    """The colours of the report's light theme, from its style sheet."""
    style = files("plackett.experiments.report").joinpath("page.css").read_text("utf-8")
    light = style[style.index(":root {") : style.index("}", style.index(":root {"))]
    return dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", light))
