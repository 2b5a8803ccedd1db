"""Power iteration for PageRank, plain and with quadratic extrapolation."""

from __future__ import annotations

import numpy as np

from plackett.graph.links import LinkGraph

#: Steps between two extrapolations.
_EVERY = 10


def power(
    graph: LinkGraph,
    damping: float,
    teleport: np.ndarray,
    lost: np.ndarray,
    start: np.ndarray,
    tol: float,
    max_iter: int,
    n_jobs: int | None = None,
    *,
    extrapolate: bool = False,
) -> tuple[np.ndarray, bool]:
    """The distribution after repeated steps, and whether it converged.

    With ``extrapolate``, the second and third eigenvectors are periodically removed from the estimate.
    """
    step = SurferStep(graph, damping, teleport, lost, n_jobs)
    now = start
    recent: list[np.ndarray] = []
    for t in range(1, max_iter + 1):
        new = step(now)
        moved = float(np.abs(new - now).sum())
        if moved < tol:
            return new, True
        if extrapolate:
            recent = [*recent[-2:], now]
            if t % _EVERY == 0 and len(recent) == 3:
                new = _quadratic(recent[0], recent[1], recent[2], new)
                recent = []
        now = new
    return now, False


class SurferStep:
    """One step of the surfer. Shares of links are divided once, not per step and link."""

    def __init__(
        self, graph: LinkGraph, damping: float, teleport: np.ndarray, lost: np.ndarray, n_jobs: int | None
    ) -> None:
        self.graph, self.n_jobs = graph, n_jobs
        self.share = np.divide(damping, graph.out_weight, out=np.zeros(graph.n_nodes), where=~graph.dangling)
        self.jump = (1.0 - damping) * teleport
        self.lost = damping * lost
        self.dangling = np.flatnonzero(graph.dangling)

    def __call__(self, now: np.ndarray) -> np.ndarray:
        """The probability of each page one step later."""
        new = self.graph.collect(now * self.share, self.n_jobs)
        new += self.jump
        if self.dangling.size:
            new += now[self.dangling].sum() * self.lost
        return new


def _quadratic(x0: np.ndarray, x1: np.ndarray, x2: np.ndarray, x3: np.ndarray) -> np.ndarray:
    """The combination of three iterates without the next two eigenvectors, as far as four iterates show them."""
    basis = np.column_stack([x1 - x0, x2 - x0])
    weights, *_ = np.linalg.lstsq(basis, -(x3 - x0), rcond=None)
    g1, g2 = float(weights[0]), float(weights[1])
    combined = (g1 + g2 + 1.0) * x1 + (g2 + 1.0) * x2 + x3
    total = combined.sum()
    if not np.isfinite(total) or abs(total) < 1e-300:
        return x3
    combined = np.maximum(combined / total, 0.0)
    return combined / combined.sum()
