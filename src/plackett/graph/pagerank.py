"""PageRank: the share of time that a random surfer spends on each page."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError, PlackettWarning
from plackett.graph.gauss_seidel import gauss_seidel
from plackett.graph.links import LinkGraph
from plackett.graph.power import power

__all__ = ["pagerank"]

#: How the stationary distribution is computed: functions (graph, damping, teleport, dangling, start, tol, max_iter,
#: n_jobs) that return it and whether it converged.
SOLVERS: dict[str, Callable[..., tuple[np.ndarray, bool]]] = {
    "power": power,
    "extrapolation": partial(power, extrapolate=True),
    "gauss-seidel": gauss_seidel,
}


def pagerank(
    graph: LinkGraph,
    *,
    damping: float = 0.85,
    teleport: Any = None,
    dangling: str = "uniform",
    solver: str = "power",
    start: Any = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
    n_jobs: int | None = None,
) -> np.ndarray:
    r"""PageRank, plain or personalised.

    .. math:: x = \alpha P x + \alpha \Big(\sum_{u\ \text{dangling}} x_u\Big) w + (1 - \alpha) v

    :math:`P_{uv}` is the share of page v's links that go to u, :math:`\alpha` the damping, v where the surfer goes when
    bored (the teleport distribution) and w where he goes from a page without links.

    Parameters
    ----------
    damping
        Probability α of following a link, from 0 to 1. With 1 there is no teleport, and the result is unique only if
        every page can be reached from every other one.
    teleport
        Weight of each page as a target of teleports: an array, or a mapping from names to weights. By default all are
        equal. The result is linear in the normalised weights.
    dangling
        Where a surfer goes from a page without links: ``"uniform"``: to any page; ``"teleport"``: to the teleport
        distribution; ``"remove"``: such pages, and those that become dangling as a result, are left out of the walk and
        get their rank from one last step along the links.
    solver
        ``"power"``: power iteration; the error shrinks by α per step. ``"extrapolation"``: power iteration with
        quadratic extrapolation. ``"gauss-seidel"``: updates in place, about half the passes, one thread.
    start
        Where to begin: the result for a similar graph, or of `blockrank`.
    tol, max_iter
        Stop when the distribution changes by less than ``tol`` in total.

    Returns
    -------
    numpy.ndarray
        A number per node; they sum to 1.

    Examples
    --------
    The textbook's seven pages, without teleport:

    >>> links = {1: [2, 3, 4, 5, 7], 2: [1], 3: [1, 2], 4: [2, 3, 5], 5: [1, 3, 4, 6], 6: [1, 5], 7: [5]}
    >>> graph = LinkGraph.from_edges([(u, v) for u in links for v in links[u]], names=links)
    >>> pagerank(graph, damping=1.0).round(4).tolist()
    [0.3035, 0.1661, 0.1406, 0.1054, 0.1789, 0.0447, 0.0607]

    References
    ----------
    Page, Brin, Motwani, Winograd: The PageRank citation ranking: bringing order to the web. 1998.
    Kamvar, Haveliwala, Manning, Golub: Extrapolation methods for accelerating PageRank computations. WWW 2003.
    Arasu, Novak, Tomkins, Tomlin: PageRank computation and the structure of the web. WWW 2002.
    """
    number("damping", damping, least=0, most=1)
    choice("solver", solver, SOLVERS)
    if solver != "power" and damping == 1:
        raise DataError(f"solver={solver!r} needs a damping below 1; use 'power'")
    n = graph.n_nodes
    if n == 0:
        return np.empty(0)
    target = distribution(teleport, graph, "teleport")
    if dangling == "remove":
        control = {"damping": damping, "solver": solver, "tol": tol, "max_iter": max_iter, "n_jobs": n_jobs}
        return _without_dangling(graph, target, control)
    if dangling not in ("uniform", "teleport"):
        raise DataError(f"dangling={dangling!r}; give 'uniform', 'teleport' or 'remove'")
    lost = target if dangling == "teleport" else np.full(n, 1.0 / n)
    begin = target if start is None else distribution(start, graph, "start")
    rank, converged = SOLVERS[solver](graph, damping, target, lost, begin, tol, max_iter, n_jobs)
    if not converged:
        advice = "a walk without teleport may be periodic" if damping == 1 else "raise max_iter"
        warnings.warn(f"PageRank still changed after {max_iter} steps; {advice}", PlackettWarning, stacklevel=2)
    return rank


def distribution(weights: Any, graph: LinkGraph, name: str) -> np.ndarray:
    """Probabilities per node from weights: none (all equal), an array, or a mapping from names to weights."""
    n = graph.n_nodes
    if weights is None:
        return np.full(n, 1.0 / n)
    if hasattr(weights, "items"):
        number = {node: i for i, node in enumerate(graph.names)}
        table = np.zeros(n)
        for node, weight in weights.items():
            if node not in number:
                raise DataError(f"{name}: {node!r} is not a node of the graph")
            table[number[node]] = weight
    else:
        table = np.asarray(weights, np.float64)
    if table.shape != (n,):
        raise DataError(f"{name} has shape {table.shape}; give a weight for each of the {n} nodes")
    total = table.sum()
    if not (np.isfinite(total) and total > 0 and (table >= 0).all()):
        raise DataError(f"{name}: weights must be 0 or more, and at least one above 0")
    return table / total


def _without_dangling(graph: LinkGraph, teleport: np.ndarray, control: dict[str, Any]) -> np.ndarray:
    """Remove dangling pages until there are none; then pass the rank on to them, the last removed first."""
    removed, alive = [], np.arange(graph.n_nodes)
    core = graph
    while core.n_nodes and core.dangling.any():
        removed.append(alive[core.dangling])
        alive = alive[~core.dangling]
        core = core.subgraph(np.flatnonzero(~core.dangling))
    out = np.zeros(graph.n_nodes)
    if not alive.size:
        return teleport
    core_teleport = teleport[alive]
    out[alive] = pagerank(core, teleport=core_teleport if core_teleport.sum() > 0 else None, **control)
    for nodes in reversed(removed):
        out[nodes] = graph.follow(out)[nodes]
    return out / out.sum()
