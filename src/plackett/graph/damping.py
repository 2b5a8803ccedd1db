"""Effect of the damping on PageRank: its values along α, and the second eigenvalue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett.graph.links import LinkGraph
from plackett.graph.pagerank import distribution, pagerank
from plackett.graph.power import SurferStep

__all__ = ["pagerank_by_damping", "second_eigenvalue"]


def pagerank_by_damping(graph: LinkGraph, dampings: Sequence[float], **control: Any) -> np.ndarray:
    """PageRank as a function of the damping: a row per value. Each starts from the result of the previous one.

    Examples
    --------
    >>> graph = LinkGraph.from_edges([(0, 1), (1, 0), (2, 0)])
    >>> pagerank_by_damping(graph, [0.0, 0.5]).round(3).tolist()
    [[0.333, 0.333, 0.333], [0.444, 0.389, 0.167]]

    References
    ----------
    Boldi, Santini, Vigna: PageRank as a function of the damping factor. WWW 2005.
    """
    rows: list[np.ndarray] = []
    for alpha in dampings:
        rows.append(pagerank(graph, damping=alpha, start=rows[-1] if rows else None, **control))
    return np.array(rows)


def second_eigenvalue(
    graph: LinkGraph, damping: float = 0.85, *, max_iter: int = 200, random_state: int | None = 0
) -> float:
    """Modulus of the second largest eigenvalue of the surfer's transition matrix, which is at most the damping.

    It determines how fast power iteration converges. It is estimated by the growth of a vector that sums to 0 and so
    has no component along the leading eigenvector.

    Examples
    --------
    >>> round(second_eigenvalue(LinkGraph.from_edges([(0, 1), (1, 0), (2, 3), (3, 2)])), 6)  # two separate parts
    0.85

    References
    ----------
    Haveliwala, Kamvar: The second eigenvalue of the Google matrix. 2003.
    """
    n = graph.n_nodes
    if n < 2:
        return 0.0
    uniform = distribution(None, graph, "teleport")
    step = SurferStep(graph, damping, uniform, uniform, None)
    step.jump = np.zeros(n)  # teleports take a vector that sums to 0 to 0
    x = np.random.default_rng(random_state).standard_normal(n)
    x -= x.mean()
    x /= np.linalg.norm(x)
    growth = []
    for _ in range(max_iter):
        x = step(x)
        x -= x.mean()  # rounding would bring the leading eigenvector back
        size = float(np.linalg.norm(x))
        if size < 1e-300:
            return 0.0
        growth.append(np.log(size))
        x /= size
    return float(np.exp(np.mean(growth[max_iter // 2 :])))
