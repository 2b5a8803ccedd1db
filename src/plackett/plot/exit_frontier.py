"""What early exits save and lose."""

from __future__ import annotations

from typing import Any

from plackett._base.errors import DataError
from plackett.experiments.report.plots import axis, layout
from plackett.plot._figure import colour, figure
from plackett.rankers.early_exit import EarlyExit

__all__ = ["exit_frontier"]


def exit_frontier(exits: EarlyExit) -> Any:
    """Plot the measure against the work of every exit that was tried; a line joins those that nothing beats.

    Parameters
    ----------
    exits
        What `plackett.early_exit` returned.

    Examples
    --------
    >>> import plackett as pk
    >>> train, valid = (pk.datasets.make_ranking(30, n_features=4, random_state=seed) for seed in (0, 1))
    >>> exits = pk.early_exit(pk.LambdaMART(n_estimators=10).fit(train), valid, keep=(3, 6), trees=(2, 5))
    >>> pk.plot.exit_frontier(exits).layout.xaxis.title.text
    'share of the work'
    """
    if not isinstance(exits, EarlyExit):
        raise DataError(f"a {type(exits).__name__} has no exits; give what plackett.early_exit returned")
    traces = []
    for number, (name, frame, mode) in enumerate(
        (("other exits", exits.frame.filter(~exits.frame["frontier"]), "markers"),
         ("frontier", exits.frame.filter(exits.frame["frontier"]), "lines+markers"))
    ):  # fmt: skip
        labels = [
            f"after {trees} trees, k = {keep}: {work:.0%} of the work, {value:.4f}"
            for trees, keep, work, value in frame.select("trees", "keep", "work", "value").rows()
        ]
        traces.append(
            {
                "type": "scatter",
                "mode": mode,
                "name": name,
                "x": frame["work"].to_list(),
                "y": frame["value"].to_list(),
                "marker": {"color": colour(number)},
                "line": {"color": colour(number)},
                "hoverinfo": "text",
                "hovertext": labels,
            }
        )
    return figure(traces, layout(axis("share of the work"), axis(exits.measure), height=420, showlegend=True))
