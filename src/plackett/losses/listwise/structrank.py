"""StructRank: likelihood of the preferences under a cumulative distribution network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import LossError
from plackett._kernels.kernel import PAIR_ROWS_PER_THREAD, REASSOC, kernel
from plackett._kernels.randomness import below as draw_below
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import lanes, most
from plackett._kernels.vector_math import log
from plackett.losses.base import Loss, LossOnData
from plackett.losses.pairwise.base import label_order

__all__ = ["StructRankLoss"]

#: Up to this margin of a lower document e^(θΔ) does not overflow.
_FAR = 600.0


#: Codes of the structures in the kernel.
_STRUCTURES = {"edges": 0, "document": 1, "edge": 2, "all": 3}


@kernel
def _sigmoid_of_two(x, y):
    """The log of 1 + e^x + e^y and its two slopes."""
    top = max(0.0, x, y)
    one = np.exp(-top)
    ex = np.exp(x - top)
    ey = np.exp(y - top)
    total = one + ex + ey
    return top + np.log(total), ex / total, ey / total


@kernel(fastmath=REASSOC)
def _with_all(power, weight, powers, weights, slopes):
    """One edge with each edge of the same winner, from e^(−θΔ) of each."""
    loss = 0.0
    push = 0.0
    for z in range(powers.size):
        total = 1.0 + power + powers[z]
        share = weight * weights[z]
        loss += share * log(total)
        slope = share / total
        slopes[z] += slope * powers[z]
        push += slope
    return loss, push * power


@kernel
def _pairs(u, s, w, thetas, scale, starts, count, lanes, g):
    """Pairs of edges from a winner of score u to the documents s, whose weights are w and gradients g.

    The first edge of a pair is one of ``count`` from the first start on, the second from the second start on, both
    round the end. Returns the loss and what to subtract for the winner.
    """
    powers, weights, slopes = lanes[0][:count], lanes[1][:count], lanes[2][:count]
    near = max(thetas[0], thetas[1]) * (s.max() - u) < _FAR
    for i in range(count):
        z = (starts[1] + i) % s.size
        powers[i] = np.exp(min(thetas[1] * (s[z] - u), _FAR))
        weights[i] = w[z]
        slopes[i] = 0.0
    loss = 0.0
    pull = 0.0
    for i in range(count):
        v = (starts[0] + i) % s.size
        if w[v] == 0.0:
            continue
        x = thetas[0] * (s[v] - u)
        if near:
            part, push = _with_all(np.exp(x), scale * w[v], powers, weights, slopes)
        else:
            part, push = 0.0, 0.0
            for j in range(count):
                term, slope_v, slope_z = _sigmoid_of_two(x, thetas[1] * (s[(starts[1] + j) % s.size] - u))
                part += scale * w[v] * weights[j] * term
                push += scale * w[v] * weights[j] * slope_v
                slopes[j] += scale * w[v] * weights[j] * slope_z
        loss += part
        g[v] += thetas[0] * push
        pull += thetas[0] * push
    for i in range(count):
        g[(starts[1] + i) % s.size] += thetas[1] * slopes[i]
        pull += thetas[1] * slopes[i]
    return loss, pull


@kernel
def _edges(u, first, n, s, w, thetas, normalize, max_edges, state, lanes, g):
    edges = n - first
    count = min(edges, max_edges)
    starts = (0, 0)
    if count < edges:  # any two edges meet with the same chance
        starts = (draw_below(state, edges), draw_below(state >> np.uint64(32), edges))
    scale = w[u] * (1.0 if normalize else np.float64(edges) * edges) / (count * count)
    r = slice(first, n)
    loss, pull = _pairs(s[u], s[r], w[r], thetas, scale, starts, count, lanes, g[r])
    g[u] -= pull
    return loss


@kernel
def _run(start, count, edges, below, n, ends):
    """Winner and loser of ``count`` edges from number ``start`` on, round the end."""
    u = 0
    skip = start
    while skip >= n - below[u]:
        skip -= n - below[u]
        u += 1
    for i in range(count):
        ends[0, i], ends[1, i] = u, below[u] + skip
        skip += 1
        while skip >= n - below[u]:
            skip = 0
            u = u + 1 if u + 1 < n else 0


@kernel
def _all(n, s, w, below, thetas, normalize, max_edges, state, ends, g):
    edges = 0
    for u in range(n):
        edges += n - below[u]
    if edges == 0:
        return 0.0
    count = min(edges, max_edges)
    starts = (0, 0)
    if count < edges:
        starts = (draw_below(state, edges), draw_below(state >> np.uint64(32), edges))
    scale = (1.0 if normalize else np.float64(edges) * edges) / (np.float64(count) * count)
    _run(starts[0], count, edges, below, n, ends[0])
    _run(starts[1], count, edges, below, n, ends[1])
    loss = 0.0
    for i in range(count):
        u, v = ends[0, 0, i], ends[0, 1, i]
        own = scale * w[u] * w[v]
        if own == 0.0:
            continue
        x = thetas[0] * (s[v] - s[u])
        push = 0.0
        for j in range(count):
            other, lower = ends[1, 0, j], ends[1, 1, j]
            share = own * w[other] * w[lower]
            term, slope, slope_other = _sigmoid_of_two(x, thetas[1] * (s[lower] - s[other]))
            loss += share * term
            push += share * slope
            pull = thetas[1] * share * slope_other
            g[lower] += pull
            g[other] -= pull
        g[v] += thetas[0] * push
        g[u] -= thetas[0] * push
    return loss


@kernel
def _document(u, first, n, s, w, theta, g):
    top = 0.0
    for v in range(first, n):
        top = max(top, theta * (s[v] - s[u]))
    total = np.exp(-top)
    for v in range(first, n):
        total += np.exp(theta * (s[v] - s[u]) - top)
    pull = 0.0
    for v in range(first, n):
        slope = w[u] * theta * np.exp(theta * (s[v] - s[u]) - top) / total
        g[v] += slope
        pull += slope
    g[u] -= pull
    return w[u] * (top + np.log(total))


@kernel
def _edge(u, first, n, s, w, theta, normalize, g):
    loss = 0.0
    for v in range(first, n):
        x = theta * (s[v] - s[u])
        weight = w[u] * w[v] / (n - first if normalize else 1)
        top = max(0.0, x)
        total = np.exp(-top) + np.exp(x - top)
        loss += weight * (top + np.log(total))
        slope = weight * theta * np.exp(x - top) / total
        g[v] += slope
        g[u] -= slope
    return loss


@kernel
def _structrank(
    lo,
    hi,
    offsets,
    scores,
    order,
    below,
    judged,
    weight,
    query_weight,
    structure,
    theta_1,
    theta_2,
    normalize,
    max_edges,
    seed,
    value,
    gradient,
):
    n_max = most(lo, hi, judged)
    lane = lanes(6, n_max)
    s, w, g, powers, weights, slopes = lane[0], lane[1], lane[2], lane[3], lane[4], lane[5]
    parts = (powers, weights, slopes)
    ends = np.empty((2, 2, min(max_edges, n_max * n_max) if structure == 3 else 0), np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = judged[q]
        for i in range(n):
            s[i] = scores[order[a + i]]
            w[i] = weight[order[a + i]]
            g[i] = 0.0
        loss = 0.0
        if structure == 3:
            state = mix(seed ^ np.uint64(n))
            loss = _all(n, s, w, below[a : a + n], (theta_1, theta_2), normalize, max_edges, state, ends, g)
        for u in range(n if structure < 3 else 0):
            first = below[a + u]
            if first == n or w[u] == 0.0:
                continue
            if structure == 0:
                state = mix(mix(seed ^ np.uint64(n)) ^ np.uint64(u))
                loss += _edges(u, first, n, s, w, (theta_1, theta_2), normalize, max_edges, state, parts, g)
            elif structure == 1:
                loss += _document(u, first, n, s, w, theta_1, g)
            else:
                loss += _edge(u, first, n, s, w, theta_1, normalize, g)
        value[q] = query_weight[q] * loss
        for i in range(n):
            gradient[order[a + i]] = query_weight[q] * g[i]


@dataclass(frozen=True, kw_only=True, repr=False)
class StructRankLoss(Loss):
    r"""Negative log-likelihood of all preferences of a query under a cumulative distribution network.

    A preference of u over v is an edge with margin :math:`\Delta_{uv} = s_u - s_v`; the joint cumulative distribution
    of the margins is a product of multivariate sigmoids :math:`1 / (1 + \sum_e e^{-\Delta_e})`. Which edges share a
    sigmoid is the structure:

    - ``"edges"``: every two edges of the same winner,
      :math:`L = \sum_u \sum_{v, v' < u} \log(1 + e^{-\theta_1 \Delta_{uv}} + e^{-\theta_2 \Delta_{uv'}})`;
    - ``"all"``: every two edges of the query, whatever their winners,
      :math:`L = \sum_e \sum_{e'} \log(1 + e^{-\theta_1 \Delta_e} + e^{-\theta_2 \Delta_{e'}})`;
    - ``"document"``: all edges of a winner, :math:`\sum_u \log(1 + \sum_{v < u} e^{-\theta_1 \Delta_{uv}})`, which is
      ListMLE for labels without ties and θ = 1;
    - ``"edge"``: each edge alone, which is RankNet.

    Here v < u means that v has a lower label. A term weighs the product of the weights of its documents (under
    ``"all"`` of its two edges). With ``normalize`` the terms of a winner, or of the query under ``"all"``, are
    averaged. All structures are convex.

    Cost: ``"edges"`` takes :math:`n^2` steps for a winner of n others. If a winner has more than ``max_edges`` edges,
    only two runs of ``max_edges`` edges are paired, each starting at a random edge: an unbiased estimate. Under
    ``"all"`` the same is done with the edges of the query. The draw depends on the position of rows in their query
    (rankers sort rows by content first).

    Parameters
    ----------
    structure
        ``"edges"``, ``"all"``, ``"document"`` or ``"edge"``.
    theta
        Weights :math:`\theta_1, \theta_2` of the margins.
    normalize
        Average the terms of a winner instead of summing them.
    max_edges, random_state
        Largest number of edges of a winner (of a query, under ``"all"``) that are all paired, and the seed for more.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.RankingDataset.from_arrays(None, [1, 0])
    >>> round(StructRankLoss()(np.zeros(2), data), 4)  # log(1 + 1 + 1)
    1.0986

    References
    ----------
    Huang, Frey: Structured ranking learning using cumulative distribution networks. NIPS 2008.
    """

    name: ClassVar[str] = "StructRank"
    convex: ClassVar[bool] = True
    curvature: ClassVar[str] = "none"
    _test_variants = (
        {"structure": "document", "theta": (2.0, 1.0)},
        {"structure": "edge", "normalize": False},
        {"theta": (1.0, 3.0), "normalize": False},
        {"structure": "all", "theta": (1.0, 2.0), "max_edges": 1500},
        {"structure": "all", "normalize": False, "max_edges": 1500},
    )
    kernel = staticmethod(_structrank)
    rows_per_thread = PAIR_ROWS_PER_THREAD // 4

    structure: str = "edges"
    theta: tuple[float, float] = (1.0, 1.0)
    normalize: bool = True
    max_edges: int = 48
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.structure not in _STRUCTURES:
            known = ", ".join(_STRUCTURES)
            raise LossError(f"{self.name}: structure={self.structure!r}; the structures are {known}")
        object.__setattr__(self, "theta", tuple(float(t) for t in self.theta))
        if len(self.theta) != 2 or not min(self.theta) > 0:
            raise LossError(f"{self.name}: theta={self.theta}; give two positive numbers")
        whole(f"{self.name}: max_edges", self.max_edges, least=1, error=LossError)

    def constants(self, bound: LossOnData) -> tuple[Any, ...]:
        """The order of the labels, the weights and the parameters."""
        if bound.data.y is None:
            raise LossError(f"{self.name} needs labels, but the dataset has none")
        documents = *label_order(bound.data, bound.n_jobs), bound.sample_weight, bound.query_weight
        form = _STRUCTURES[self.structure], *self.theta, self.normalize, self.max_edges
        return *documents, *form, np.uint64(self.random_state)
