"""Plots of what rankers learned and how good they are, as Plotly figures; needs the extra ``report``.

Each function returns a `plotly.graph_objects.Figure`: notebooks show it, ``figure.show()`` opens it in a browser, and
``figure.write_html(path)`` or ``figure.write_image(path)`` save it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._lazy import open_package

if TYPE_CHECKING:
    from plackett.plot.comparison import comparison
    from plackett.plot.differences import differences
    from plackett.plot.exit_frontier import exit_frontier
    from plackett.plot.feature_frontier import feature_frontier
    from plackett.plot.importances import importances
    from plackett.plot.learning_curve import learning_curve
    from plackett.plot.measure_curve import measure_curve

__all__ = [
    "comparison",
    "differences",
    "exit_frontier",
    "feature_frontier",
    "importances",
    "learning_curve",
    "measure_curve",
]

open_package(__name__, named={name: name for name in __all__})
