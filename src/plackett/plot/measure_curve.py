"""A measure against the cut-off."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.estimators import predict
from plackett.experiments.report.plots import axis, end_labels, layout
from plackett.experiments.report.traces import cutoff_line
from plackett.measures.base import Measure
from plackett.measures.curves import measure_curve as curve_of
from plackett.measures.language import parse
from plackett.plot._figure import by_name, colour, figure, symbol

__all__ = ["measure_curve"]


def measure_curve(
    data: RankingDataset, rankers: Any, measure: str | Measure = "nDCG", ks: Iterable[int] = range(1, 21)
) -> Any:
    """Plot the mean of a measure over the queries at each cut-off, one line per ranker.

    Parameters
    ----------
    data
        Documents with labels.
    rankers
        Fitted rankers or arrays of scores (in the dataset's order): a dict by name, a list, or one.
    measure, ks
        A measure with a cut-off, and the cut-offs.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0, 1])
    >>> pk.plot.measure_curve(data, {"best": [2, 0, 1]}, "P", [1, 2, 3]).data[0].y
    (1.0, 1.0, 0.66667)
    """
    cuts = list(ks)
    if isinstance(rankers, np.ndarray):
        rankers = {"scores": rankers}
    curves = {}
    for name, given in by_name(rankers, "rankers or scores").items():
        scores = predict(given, data) if hasattr(given, "predict") else np.asarray(given, np.float64)
        curves[name] = curve_of(data, scores, measure, cuts)
    title = parse(measure).name
    traces = [
        cutoff_line(name, name, title, cuts, values, colour(i), symbol(i))
        for i, (name, values) in enumerate(curves.items())
    ]
    x = axis("cut-off k (documents)", range=[cuts[0] - 0.5, cuts[-1] + 0.5])
    look = layout(x, axis(f"{title}@k"))
    finite = np.nan_to_num(np.array(list(curves.values())))
    if len(curves) > 1:
        colours = [colour(i) for i in range(len(curves))]
        end_labels(look, list(curves), finite[:, -1].tolist(), colours, float(finite.min()), float(finite.max()))
    return figure(traces, look)
