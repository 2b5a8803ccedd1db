"""Plots of what rankers learned and how good they are, as Plotly figures; needs the extra ``report``.

Each function returns a `plotly.graph_objects.Figure`: notebooks show it, ``figure.show()`` opens it in a browser, and
`save` writes it as SVG, PDF or PNG.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._names.lazy import open_package

if TYPE_CHECKING:
    from plackett.plot.comparison import comparison
    from plackett.plot.differences import differences
    from plackett.plot.exit_frontier import exit_frontier
    from plackett.plot.feature_frontier import feature_frontier
    from plackett.plot.importances import importances
    from plackett.plot.learning_curve import learning_curve
    from plackett.plot.measure_curve import measure_curve
    from plackett.plot.save import save

__all__ = [
    "comparison",
    "differences",
    "exit_frontier",
    "feature_frontier",
    "importances",
    "learning_curve",
    "measure_curve",
    "save",
]

open_package(__name__, named={name: name for name in __all__})
