"""Gauss–Seidel iteration for PageRank: a page's new value is used at once."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett.graph.links import LinkGraph


def gauss_seidel(
    graph: LinkGraph,
    damping: float,
    teleport: np.ndarray,
    lost: np.ndarray,
    start: np.ndarray,
    tol: float,
    max_iter: int,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, bool]:
    """Solve (I − αP) y = v in place, and for w where it differs from v; dangling pages decide how the two mix.

    With δ the mass on dangling pages, x = αδ y_w + (1 − α) y_v, and δ is the sum of x over them.
    """
    share = np.divide(damping, graph.out_weight, out=np.zeros(graph.n_nodes), where=~graph.dangling)
    into = graph.into
    weights = np.empty(0) if graph.unweighted else into.data
    control = (tol, max_iter)
    solution = start / (1.0 - damping)
    done = _sweeps(into.indptr, into.indices, weights, share, teleport, solution, *control)
    if graph.dangling.any():
        if np.array_equal(teleport, lost):
            return solution / solution.sum(), bool(done)
        leak = lost.copy()
        done &= _sweeps(into.indptr, into.indices, weights, share, lost, leak, *control)
        mass = (1.0 - damping) * solution[graph.dangling].sum() / (1.0 - damping * leak[graph.dangling].sum())
        solution = damping * mass * leak + (1.0 - damping) * solution
    return solution / solution.sum(), bool(done)


@kernel
def _sweeps(indptr, indices, weights, share, right, x, tol, max_iter):
    for _ in range(max_iter):
        moved = 0.0
        size = 0.0
        for i in range(x.size):
            total = right[i]
            own = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                flow = share[j] if weights.size == 0 else share[j] * weights[e]
                if j == i:
                    own = flow
                else:
                    total += flow * x[j]
            new = total / (1.0 - own)
            moved += abs(new - x[i])
            size += new
            x[i] = new
        if moved < tol * size:
            return True
    return False
