"""Line searches: how far to go from some scores in a direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from plackett._errors import DataError
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.search.crossings import crossings, n_pairs
from plackett.solvers.search.forms import NeighbourForm, neighbour_form

__all__ = ["LINES", "make_line"]

#: ``line(scores, slope) -> (t, value)``: a step and the value of the measure after it, never worse than t = 0.
Line = Callable[[np.ndarray, np.ndarray], tuple[float, float]]

#: Beyond this many pairs of documents ``"auto"`` takes steps: a sweep needs 16 bytes for each, and sorts them.
_MOST_PAIRS = 20_000_000
#: Steps to each side: this one, then repeatedly doubled.
_FIRST_STEP, _N_STEPS = 0.001, 20
#: Smallest difference that counts as an improvement.
_ROUNDING = 1e-12
#: Of the intervals with the best value, this many of the widest are tried.
_N_INTERVALS = 4


def make_line(name: str, lists: MeasureObjective) -> Line:
    """The line search of a name: ``"exact"``, ``"steps"``, or ``"auto"`` for the first of them that is possible."""
    if name not in ("auto", *LINES):
        raise DataError(f"line_search={name!r}; give auto, {' or '.join(LINES)}")
    form = neighbour_form(lists.measure, lists.lists)
    if name == "auto":
        name = "exact" if form is not None and n_pairs(lists.lists.offsets) <= _MOST_PAIRS else "steps"
    if name == "exact" and form is None:
        raise DataError(
            f"line_search='exact' needs a measure that knows the change from exchanging two neighbours, and "
            f"{lists.measure} does not; use line_search='steps'"
        )
    return LINES[name](lists, form)


def _exact(lists: MeasureObjective, form: NeighbourForm | None) -> Line:
    assert form is not None

    def line(scores: np.ndarray, slope: np.ndarray) -> tuple[float, float]:
        points, changes = crossings(lists, form, scores, slope)
        return _best(lists, scores, slope, _middles(points, changes, _unit(scores, slope)))

    return line


def _middles(points: np.ndarray, changes: np.ndarray, unit: float) -> np.ndarray:
    """Middles of the widest intervals with the best value, as angles, so that the ends of the line are finite too.

    Values are relative to the one left of the first point. Sums of changes are compared up to rounding.
    """
    angles = np.concatenate(([-np.pi / 2], np.arctan(points / unit), [np.pi / 2]))
    width = np.diff(angles)
    value = np.concatenate(([0.0], np.cumsum(changes)))
    value[width <= 0.0] = -np.inf
    best = np.flatnonzero(value >= value.max() - _ROUNDING)
    best = best[np.argsort(-width[best], kind="stable")[:_N_INTERVALS]]
    return unit * np.tan(angles[best] + 0.5 * width[best])


def _unit(scores: np.ndarray, slope: np.ndarray) -> float:
    """The t at which both parts of the scores count equally, however often a list occurs in the data."""
    above, below = np.abs(scores).max(initial=0.0), np.abs(slope).max(initial=0.0)
    return float(above / below) if above > 0.0 and below > 0.0 else 1.0


def _steps(lists: MeasureObjective, form: NeighbourForm | None) -> Line:
    side = _FIRST_STEP * 2.0 ** np.arange(_N_STEPS)

    def line(scores: np.ndarray, slope: np.ndarray) -> tuple[float, float]:
        return _best(lists, scores, slope, _unit(scores, slope) * np.concatenate([-side, side]))

    return line


#: Line searches by name.
LINES: dict[str, Callable[[MeasureObjective, NeighbourForm | None], Line]] = {"exact": _exact, "steps": _steps}


def _best(lists: MeasureObjective, scores: np.ndarray, slope: np.ndarray, points: np.ndarray) -> tuple[float, float]:
    """The best of some points and 0, by the measure itself; of equal ones 0, then the first."""
    points = np.concatenate(([0.0], points))
    values = lists.values(scores + points[:, None] * slope)
    best = int(np.argmax(values))
    if values[best] <= values[0] + _ROUNDING:
        best = 0
    return float(points[best]), float(values[best])
