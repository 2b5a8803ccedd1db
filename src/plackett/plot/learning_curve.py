"""The validation measure, round by round."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.experiments.report.plots import axis, layout, round_axis
from plackett.experiments.report.traces import best_round, learning_lines
from plackett.measures.language import parse
from plackett.plot._figure import by_name, colour, dash, figure

__all__ = ["learning_curve"]


def learning_curve(rankers: Any) -> Any:
    """Plot the measure on validation data after each training round; a ring marks the round that was kept.

    Parameters
    ----------
    rankers
        A fitted ranker, a list of them, or a dict by name. They need validation data in ``fit`` (``eval_set`` or
        ``validation_fraction``), and the same measure.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(20, n_features=4, random_state=0)
    >>> ranker = pk.ListNet(validation_fraction=0.3).fit(data)
    >>> pk.plot.learning_curve(ranker).layout.yaxis.title.text
    'nDCG@10 on validation data'
    """
    named = by_name(rankers, "fitted rankers")
    results = {name: _result(name, ranker) for name, ranker in named.items()}
    measures = {measure for measure, _ in results.values()}
    if len(measures) > 1:
        raise DataError(
            f"the rankers were monitored with different measures ({', '.join(sorted(measures))}); plot them separately"
        )
    measure = measures.pop()
    ascending = parse(measure).ascending
    traces = []
    for number, (name, (_, values)) in enumerate(results.items()):
        best = best_round(values, ascending)
        traces += learning_lines(name, name, "", values, best, colour(number), dash(number))
    most = max(values.size for _, values in results.values())
    x = round_axis("round of training (logarithmic)", most)
    y = axis(f"{measure} on validation data")
    return figure(traces, layout(x, y, height=420, showlegend=len(results) > 1))


def _result(name: str, ranker: Any) -> tuple[str, np.ndarray]:
    by_dataset = getattr(ranker, "evals_result_", None)
    if not by_dataset:
        raise DataError(
            f"{name} has no values on validation data; give fit an eval_set, or the ranker a validation_fraction"
        )
    measure, values = next(iter(next(iter(by_dataset.values())).items()))
    return str(measure), np.asarray(values, np.float64)
