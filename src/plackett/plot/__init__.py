"""Plots of what rankers learned and how good they are, as Plotly figures; needs the extra ``report``.

Each function returns a `plotly.graph_objects.Figure`: notebooks show it, ``figure.show()`` opens it in a browser, and
`save` writes it as SVG, PDF or PNG.
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
