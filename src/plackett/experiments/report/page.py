"""The report as one self-contained HTML page."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any

from plackett._names.optional import optional
from plackett.experiments.report.blocks import Browser, Figure, Section


def load_extra() -> tuple[Any, str]:
    """The module `jinja2`, and the source of plotly.js: the optional extra ``report``."""
    jinja2 = optional("jinja2", "reports need")
    return jinja2, optional("plotly.offline", "reports need").get_plotlyjs()


def to_html(title: str, sections: list[Section]) -> str:
    """The report as HTML: data, styles, scripts and plotly.js are inside."""
    jinja2, plotly = load_extra()
    here = files(__package__)
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    blocks = [block for section in sections for block in section.blocks]
    figures = {b.name: {"data": b.traces, "layout": b.layout} for b in blocks if isinstance(b, Figure)}
    browsers = [block.data for block in blocks if isinstance(block, Browser)]
    return environment.from_string(here.joinpath("page.html").read_text("utf-8")).render(
        title=title,
        sections=sections,
        style=here.joinpath("page.css").read_text("utf-8"),
        script=here.joinpath("page.js").read_text("utf-8"),
        plotly=plotly if figures or browsers else "",
        data=_json({"figures": figures, "browser": browsers[0] if browsers else None}),
    )


def _json(data: Any) -> str:
    """JSON that is safe inside a script element: no ``<`` can end it."""
    text = json.dumps(_finite(data), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _finite(value: Any) -> Any:
    """The same value with None for NaN and infinity, which JSON does not have."""
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
