"""Least moves under difference constraints, exact: a dual active-set method on forests of tight pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from plackett._kernels.kernel import kernel

# Minimise ½ Σ w (z - h)² under z[u] - z[v] ≥ c for arcs (u, v). The tight arcs with a positive multiplier form a
# forest. A tree moves as one body and rests at its mean; the multiplier of an arc is the force that one side of it
# exerts on the other, a sum over a subtree. The method is Goldfarb and Idnani's, with walks over trees instead of
# matrices. It starts with a forest in balance and repeatedly adds the most violated arc. Two trees are drawn together
# until the arc is tight; arcs whose force falls to 0 on the way leave. For an arc inside a tree, force runs around the
# cycle until an arc leaves. The dual objective rises with each step, so the method ends.


class ArcForest(NamedTuple):
    """m arcs (winner, loser, bound), n nodes (weight, score, position), and the forest of tight arcs with their forces.

    ``head`` and ``following`` are lists of the ends of tight arcs at each node: end 2e of arc e is at its winner,
    2e + 1 at its loser. The rest is scratch: two walks over trees, and marks. Arrays may be longer than needed.
    """

    n: int
    m: int
    win: np.ndarray
    los: np.ndarray
    bound: np.ndarray
    w: np.ndarray
    h: np.ndarray
    z: np.ndarray
    force: np.ndarray
    tight: np.ndarray
    head: np.ndarray
    following: np.ndarray
    order: np.ndarray
    up: np.ndarray
    total: np.ndarray
    other_order: np.ndarray
    other_up: np.ndarray
    other_total: np.ndarray
    seen: np.ndarray


@kernel
def _link(f, e):  # type: ignore[no-untyped-def]
    f.tight[e] = True
    f.following[2 * e] = f.head[f.win[e]]
    f.head[f.win[e]] = 2 * e
    f.following[2 * e + 1] = f.head[f.los[e]]
    f.head[f.los[e]] = 2 * e + 1


@kernel
def _unlink(f, e):  # type: ignore[no-untyped-def]
    f.tight[e] = False
    f.force[e] = 0.0
    for end in (2 * e, 2 * e + 1):
        node = f.win[e] if end == 2 * e else f.los[e]
        if f.head[node] == end:
            f.head[node] = f.following[end]
        else:
            x = f.head[node]
            while f.following[x] != end:
                x = f.following[x]
            f.following[x] = f.following[end]


@kernel
def walk(f, root, order, up):  # type: ignore[no-untyped-def]
    """Nodes of a tree from the root outwards, each with the arc towards the root; how many."""
    order[0] = root
    up[root] = -1
    n = 1
    i = 0
    while i < n:
        node = order[i]
        i += 1
        x = f.head[node]
        while x >= 0:
            e = x >> 1
            if e != up[node]:
                next_node = f.los[e] if f.win[e] == node else f.win[e]
                up[next_node] = e
                order[n] = next_node
                n += 1
            x = f.following[x]
    return n


@kernel
def _subtrees(f, n, order, up, total):  # type: ignore[no-untyped-def]
    """Sums over subtrees, in place."""
    for i in range(n - 1, 0, -1):
        node = order[i]
        e = up[node]
        total[f.los[e] if f.win[e] == node else f.win[e]] += total[node]


@kernel
def _balance(f, root):  # type: ignore[no-untyped-def]
    """Bring the tree of a node to rest: positions and forces anew from bounds and scores; its number of nodes."""
    n = walk(f, root, f.order, f.up)
    weight, moment = f.w[root], f.w[root] * (f.h[root] - f.z[root])
    for i in range(1, n):
        node = f.order[i]
        e = f.up[node]
        f.z[node] = f.z[f.los[e]] + f.bound[e] if f.win[e] == node else f.z[f.win[e]] - f.bound[e]
        weight += f.w[node]
        moment += f.w[node] * (f.h[node] - f.z[node])
    move = moment / weight if weight > 0.0 else 0.0
    for i in range(n):
        node = f.order[i]
        f.z[node] += move
        f.total[node] = f.w[node] * (f.z[node] - f.h[node])
    _subtrees(f, n, f.order, f.up, f.total)
    for i in range(1, n):
        node = f.order[i]
        f.force[f.up[node]] = f.total[node] if f.win[f.up[node]] == node else -f.total[node]
    return n


@kernel
def _balance_all(f, tiny):  # type: ignore[no-untyped-def]
    """Balance the forest for the bounds as they are; arcs that would have to pull leave."""
    while True:
        for node in range(f.n):
            f.seen[node] = False
        for root in range(f.n):
            if not f.seen[root]:
                for i in range(_balance(f, root)):
                    f.seen[f.order[i]] = True
        changed = False
        for e in range(f.m):
            if f.tight[e] and f.force[e] < -tiny:
                changed = True
                _unlink(f, e)
            else:
                f.force[e] = max(f.force[e], 0.0)
        if not changed:
            return


@kernel
def _around(f, i, j):  # type: ignore[no-untyped-def]
    """Let force run around the cycle that the arc (i, j) closes: how much, and the arc that leaves, -1 for none."""
    leaving, least = np.int64(-1), np.inf
    node = j
    while node != i:
        e = f.up[node]
        if f.los[e] == node and f.force[e] < least:
            leaving, least = e, f.force[e]
        node = f.win[e] if f.los[e] == node else f.los[e]
    if leaving >= 0:
        node = j
        while node != i:
            e = f.up[node]
            f.force[e] += -least if f.los[e] == node else least
            node = f.win[e] if f.los[e] == node else f.los[e]
    return least, leaving


@kernel
def _together(f, i, j, gap, n):  # type: ignore[no-untyped-def]
    """Draw the trees of i (walked, n nodes) and j together by a gap: the force, and the arc that leaves first or -1."""
    m = walk(f, j, f.other_order, f.other_up)
    weight = other_weight = 0.0
    for k in range(n):
        f.total[f.order[k]] = f.w[f.order[k]]
        weight += f.w[f.order[k]]
    for k in range(m):
        f.other_total[f.other_order[k]] = f.w[f.other_order[k]]
        other_weight += f.w[f.other_order[k]]
    if weight == 0.0 or other_weight == 0.0:  # costs nothing to move
        for k in range(n if weight == 0.0 else 0):
            f.z[f.order[k]] += gap
        for k in range(m if weight > 0.0 else 0):
            f.z[f.other_order[k]] -= gap
        return 0.0, np.int64(-1)
    _subtrees(f, n, f.order, f.up, f.total)
    _subtrees(f, m, f.other_order, f.other_up, f.other_total)
    leaving, least = np.int64(-1), gap / (1.0 / weight + 1.0 / other_weight)
    for k in range(1, n):
        node = f.order[k]
        e = f.up[node]
        if f.los[e] == node and f.force[e] * weight < least * f.total[node]:
            leaving, least = e, f.force[e] * weight / f.total[node]
    for k in range(1, m):
        node = f.other_order[k]
        e = f.other_up[node]
        if f.win[e] == node and f.force[e] * other_weight < least * f.other_total[node]:
            leaving, least = e, f.force[e] * other_weight / f.other_total[node]
    for k in range(n):
        node = f.order[k]
        f.z[node] += least / weight
        if k > 0:
            change = least * f.total[node] / weight
            f.force[f.up[node]] += change if f.win[f.up[node]] == node else -change
    for k in range(m):
        node = f.other_order[k]
        f.z[node] -= least / other_weight
        if k > 0:
            change = least * f.other_total[node] / other_weight
            f.force[f.other_up[node]] += -change if f.win[f.other_up[node]] == node else change
    return least, leaving


@kernel
def _enter(f, q):  # type: ignore[no-untyped-def]
    """Make a violated arc tight; False if this is impossible because of a cycle of positive bounds."""
    i, j = f.win[q], f.los[q]
    while True:
        n = walk(f, i, f.order, f.up)
        inside = False
        for k in range(n):
            inside |= f.order[k] == j
        if inside:
            _, leaving = _around(f, i, j)
            if leaving < 0:
                return False
        else:
            _, leaving = _together(f, i, j, f.bound[q] - (f.z[i] - f.z[j]), n)
            if leaving < 0:
                break
        _unlink(f, leaving)
    _link(f, q)
    n = _balance(f, i)
    for k in range(1, n):
        f.force[f.up[f.order[k]]] = max(f.force[f.up[f.order[k]]], 0.0)  # below 0 by rounding only
    return True


@kernel
def least_moves(f):  # type: ignore[no-untyped-def]
    """Solve, starting from the current forest; False if the bounds contradict each other or it does not converge."""
    size = 0.0
    for e in range(f.m):
        size = max(size, abs(f.bound[e]))
    for i in range(f.n):
        size = max(size, abs(f.h[i]))
    tiny = 1e-13 * size
    _balance_all(f, tiny)
    for _ in range(100 * (f.n + f.m)):
        q, worst = np.int64(-1), 10.0 * tiny
        for e in range(f.m):
            gap = f.bound[e] - (f.z[f.win[e]] - f.z[f.los[e]])
            if gap > worst and not f.tight[e]:
                q, worst = np.int64(e), gap
        if q < 0:
            return True
        if not _enter(f, q):
            return False
    return False
