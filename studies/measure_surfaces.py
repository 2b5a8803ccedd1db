"""The surface of nDCG over two weights, and of its smooth forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.approx_ndcg import ApproxNDCGLoss
from plackett.losses.listwise.softrank import SoftNDCG
from studies._tilted import tilted_queries
from studies.base import Study, per_query


def measure_surfaces(
    *,
    alphas: Sequence[float] = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    sigmas: Sequence[float] = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01),
    n_lines: int = 15,
    random_state: int = 0,
) -> Study:
    r"""How close are ApproxNDCG and SoftNDCG to nDCG, and what does closeness cost?

    The data are six noisy lists of 12 documents with two features. The study computes the largest and the mean distance
    to nDCG over a grid of weights :math:`w = c (\cos t, \sin t)`. nDCG does not change with the length c; the smooth
    forms do, since c acts like α or 1/σ. Two figures then show how hard the surface is to climb: the number of local
    maxima along random lines, and the share of the circle c = 1 from which going uphill leads to its highest point (a
    flat piece leads nowhere), together with nDCG at that point. The closer the smooth form, the more maxima it has and
    the more starts it needs: this is the trade-off between a loss that is right and one that can be minimised.

    Parameters
    ----------
    alphas, sigmas
        Steepness of ApproxNDCG, and noise of SoftNDCG.
    n_lines
        Number of random lines.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 4.5 and section 5.4.2.
    """
    import polars as pl

    data = tilted_queries(6, 12, 0.6, random_state, noise=1.0)
    rng = np.random.default_rng(random_state)
    lines = [(3 * rng.standard_normal(2), _unit(rng)) for _ in range(n_lines)]
    circle = _circle(720)
    grid = (np.array([0.5, 1.0, 2.0])[:, None, None] * _circle(48)).reshape(-1, 2)
    exact = np.array([per_query(data, data.X @ w, "nDCG").mean() for w in grid])
    losses = [("ApproxNDCG", "α", a, ApproxNDCGLoss(alpha=a)) for a in alphas]
    losses += [("SoftNDCG", "σ", s, SoftNDCG(sigma=s)) for s in sigmas]  # type: ignore[misc]
    rows = []
    for name, letter, value, loss in losses:
        surface = _surface(loss, data)
        distance = np.abs([surface(w) for w in grid] - exact)
        maxima = [count_maxima([surface(a + t * d) for t in np.linspace(-8, 8, 401)]) for a, d in lines]
        heights = np.array([surface(w) for w in circle])
        top = circle[int(heights.argmax())]
        rows.append(
            {
                "surface": name,
                "parameter": f"{letter} = {value:g}",
                "largest distance": float(distance.max()),
                "mean distance": float(distance.mean()),
                "maxima per line": float(np.mean(maxima)),
                "uphill to the top": uphill_to_top(heights),
                "nDCG at the top": float(per_query(data, data.X @ top, "nDCG").mean()),
            }
        )
    return Study(pl.DataFrame(rows), "Smooth forms of nDCG over two weights")


def count_maxima(values: Any) -> int:
    """Number of local maxima of a curve; a flat top counts once, the ends do not count.

    >>> count_maxima([0, 1, 1, 0, 2, 1])
    2
    """
    values = np.asarray(values, np.float64)
    steps = np.diff(values)
    signs = np.sign(steps[np.abs(steps) > 1e-9])
    return int(((signs[:-1] > 0) & (signs[1:] < 0)).sum())


def uphill_to_top(heights: np.ndarray) -> float:
    """Share of the points of a closed curve from which going uphill leads to the highest one.

    The climb ends at a point whose neighbours are no higher, and at every point of a flat piece.

    >>> uphill_to_top(np.array([3.0, 2.0, 0.0, 1.0, 0.5, 2.0])) == 5 / 6  # all but the one of height 1
    True
    """
    n = heights.size
    left, right = np.roll(heights, 1), np.roll(heights, -1)
    step = np.where(left > right, -1, 1)
    step[np.maximum(left, right) <= heights + 1e-12] = 0
    position = np.arange(n)
    for _ in range(n):
        position = (position + step[position]) % n
    return float(np.mean(position == int(heights.argmax())))


def _surface(loss: Any, data: RankingDataset) -> Callable[[np.ndarray], float]:
    """The smooth nDCG of weights."""
    bound, X = loss.bind(data, n_jobs=1), np.asarray(data.X, np.float64)
    return lambda w: 1 - float(bound.evaluate(X @ w)[0].mean())


def _circle(n: int) -> np.ndarray:
    angles = np.linspace(0, 2 * np.pi, n, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _unit(rng: np.random.Generator) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])
