"""Line searches: how far to go from some scores in a direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import DataError
from plackett.data.mapped import row_blocks
from plackett.solvers.measure_objective import MeasureObjective
from plackett.solvers.search.crossings import Crossings, n_pairs
from plackett.solvers.search.forms import NeighbourForm, neighbour_form

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
    choice("line_search", name, ("auto", *LINES))
    form = neighbour_form(lists)
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

    sweep = Crossings(lists, form)

    def line(scores: np.ndarray, slope: np.ndarray) -> tuple[float, float]:
        points, changes = sweep(scores, slope)
        return _best(lists, scores, slope, _middles(points, changes, _unit(scores, slope)))

    return line


def _middles(points: np.ndarray, changes: np.ndarray, unit: float) -> np.ndarray:
    """Middles of the widest intervals with the best value, as angles, so that the ends of the line are finite too.

    Values are relative to the one left of the first point. Sums of changes are compared up to rounding. The arrays are
    overwritten.
    """
    total = 0.0
    for rows in row_blocks(points.size):
        points[rows] = np.arctan(points[rows] / unit)
        changes[rows] = np.cumsum(np.append(total, changes[rows]))[1:]
        total = changes[rows.stop - 1]
    highest = max(value[width > 0.0].max(initial=-np.inf) for value, _, width in _intervals(points, changes))
    left, wide = np.empty(0), np.empty(0)
    for value, angle, width in _intervals(points, changes):
        best = np.flatnonzero((value >= highest - _ROUNDING) & (width > 0.0))
        left, wide = np.append(left, angle[best]), np.append(wide, width[best])
        widest = np.argsort(-wide, kind="stable")[:_N_INTERVALS]
        left, wide = left[widest], wide[widest]
    return unit * np.tan(left + 0.5 * wide)


def _intervals(angles: np.ndarray, values: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Value, left end and width of the intervals between the angles and before and after them, in blocks."""
    for rows in row_blocks(angles.size + 1):
        first, last = rows.start == 0, rows.stop == angles.size + 1
        ends = angles[max(rows.start - 1, 0) : rows.stop]
        ends = np.concatenate(([-np.pi / 2] * first, ends, [np.pi / 2] * last))
        value = values[max(rows.start - 1, 0) : rows.stop - 1]
        yield np.concatenate(([0.0] * first, value)), ends[:-1], np.diff(ends)


def _unit(scores: np.ndarray, slope: np.ndarray) -> float:
    """The t at which both parts of the scores count equally, however often a list occurs in the data."""
    above, below = (max(values.max(initial=0.0), -values.min(initial=0.0)) for values in (scores, slope))
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
    values = lists.along(scores, slope, points)
    best = int(np.argmax(values))
    if values[best] <= values[0] + _ROUNDING:
        best = 0
    return float(points[best]), float(values[best])
