"""What features bring and what they cost."""

from __future__ import annotations

from typing import Any

from plackett._base.errors import DataError
from plackett.experiments.report.plots import axis, layout
from plackett.feature_selection.cost import FeatureFrontier
from plackett.plot._figure import colour, figure

__all__ = ["feature_frontier"]


def feature_frontier(frontier: FeatureFrontier) -> Any:
    """Plot the measure against the cost of the features; a diamond marks the chosen set.

    Parameters
    ----------
    frontier
        What `plackett.feature_frontier` returned.

    Examples
    --------
    >>> import plackett as pk
    >>> train, valid = (pk.datasets.make_ranking(20, 8, 3, random_state=seed) for seed in (0, 1))
    >>> frontier = pk.feature_frontier("LinearRegression", train, valid)
    >>> pk.plot.feature_frontier(frontier).layout.xaxis.title.text
    'cost of the features'
    """
    if not isinstance(frontier, FeatureFrontier):
        raise DataError(f"a {type(frontier).__name__} has no costs; give what plackett.feature_frontier returned")
    hover = [
        f"{n} features{f', the last is {name}' if name else ''}: cost {cost:g}, {value:.4f}"
        for n, name, cost, value in frontier.frame.select("n_features", "added", "cost", "value").rows()
    ]
    best = frontier.frame.filter(frontier.frame["frontier"]).sort("cost")
    chosen = frontier.frame["chosen"].to_list()
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": frontier.frame["cost"].to_list(),
        "y": frontier.frame["value"].to_list(),
        "marker": {
            "color": [colour(1) if each else colour(0) for each in chosen],
            "size": [12 if each else 6 for each in chosen],
            "symbol": ["diamond" if each else "circle" for each in chosen],
        },
        "hoverinfo": "text",
        "hovertext": hover,
    }
    line: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "x": best["cost"].to_list(),
        "y": best["value"].to_list(),
    }
    line |= {"line": {"color": colour(0)}, "hoverinfo": "skip"}
    return figure(
        [line, trace], layout(axis("cost of the features"), axis(frontier.measure), height=420, showlegend=False)
    )
