"""Isotonic updates for any preferences, exact: a dual active-set method on forests of tight pairs."""

from __future__ import annotations

import numpy as np

from plackett._kernel import kernel

__all__ = ["graph_updates"]

# Minimise ½ Σ w (z - h)² under z[u] - z[v] ≥ c for arcs (u, v). Tight arcs with a positive multiplier form a forest at
# most: a tree moves as one body and rests at its mean, and the multiplier of an arc is the force that one side of it
# exerts on the other, a sum over a subtree. The method (Goldfarb and Idnani's, in which everything that is usually a
# matrix is a walk over a tree) begins with a forest in balance and brings in the most violated arc again and again. Two
# trees are drawn together until the arc is tight; arcs whose force falls to 0 on the way leave. An arc inside a tree
# lets its force run around the cycle until one leaves. The dual objective rises with each step, so it ends.
#
# An arc's bound is c = m·t - s·r: its margin, of which 1 - t is given up, and the room r that tied documents have.


@kernel
def _link(e, win, los, head, following):  # type: ignore[no-untyped-def]
    following[2 * e] = head[win[e]]
    head[win[e]] = 2 * e
    following[2 * e + 1] = head[los[e]]
    head[los[e]] = 2 * e + 1


@kernel
def _unlink_at(node, end, head, following):  # type: ignore[no-untyped-def]
    if head[node] == end:
        head[node] = following[end]
        return
    x = head[node]
    while following[x] != end:
        x = following[x]
    following[x] = following[end]


@kernel
def _unlink(e, win, los, head, following):  # type: ignore[no-untyped-def]
    _unlink_at(win[e], 2 * e, head, following)
    _unlink_at(los[e], 2 * e + 1, head, following)


@kernel
def _walk(root, win, los, head, following, order, up):  # type: ignore[no-untyped-def]
    """Nodes of a tree from the root outwards, each with the arc towards the root; how many."""
    order[0] = root
    up[root] = -1
    n = 1
    i = 0
    while i < n:
        node = order[i]
        i += 1
        x = head[node]
        while x >= 0:
            e = x >> 1
            if e != up[node]:
                other = los[e] if win[e] == node else win[e]
                up[other] = e
                order[n] = other
                n += 1
            x = following[x]
    return n


@kernel
def _subtrees(n, order, up, win, los, total):  # type: ignore[no-untyped-def]
    """Sums over subtrees, in place."""
    for i in range(n - 1, 0, -1):
        node = order[i]
        e = up[node]
        total[los[e] if win[e] == node else win[e]] += total[node]


@kernel
def _balance(root, win, los, c, w, h, z, mu, head, following, order, up, total):  # type: ignore[no-untyped-def]
    """Bring the tree of a node to rest: positions and forces anew from bounds and scores."""
    n = _walk(root, win, los, head, following, order, up)
    weight, moment = w[root], 0.0
    for i in range(1, n):
        node = order[i]
        e = up[node]
        z[node] = z[los[e]] + c[e] if win[e] == node else z[win[e]] - c[e]
        weight += w[node]
    for i in range(n):
        moment += w[order[i]] * (h[order[i]] - z[order[i]])
    move = moment / weight if weight > 0.0 else 0.0
    for i in range(n):
        node = order[i]
        z[node] += move
        total[node] = w[node] * (z[node] - h[node])
    _subtrees(n, order, up, win, los, total)
    for i in range(1, n):
        node = order[i]
        mu[up[node]] = total[node] if win[up[node]] == node else -total[node]
    return n


@kernel
def _restart(nodes, arcs, win, los, c, w, h, z, mu, used, head, following, order, up, total, seen, tiny):  # type: ignore[no-untyped-def]
    """Balance the forest for new bounds; arcs that would have to pull leave."""
    while True:
        seen[:nodes] = False
        for node in range(nodes):
            if not seen[node]:
                n = _balance(node, win, los, c, w, h, z, mu, head, following, order, up, total)
                for i in range(n):
                    seen[order[i]] = True
        changed = False
        for e in range(arcs):
            if used[e] and mu[e] < 0.0:
                if mu[e] < -tiny:
                    changed = True
                    used[e] = False
                    _unlink(e, win, los, head, following)
                mu[e] = 0.0
        if not changed:
            return


@kernel
def _enter(  # type: ignore[no-untyped-def]
    q, win, los, c, w, h, z, mu, used, head, following, order, up, total, order_b, up_b, total_b
):
    """Make the violated arc q tight; False where no scores can (a cycle of positive margins)."""
    i, j = win[q], los[q]
    force = 0.0
    while True:
        n = _walk(i, win, los, head, following, order, up)
        inside = False
        weight = 0.0
        for k in range(n):
            inside |= order[k] == j
            total[order[k]] = w[order[k]]
            weight += w[order[k]]
        if inside:
            leaving, least = -1, np.inf
            node = j
            while node != i:
                e = up[node]
                if los[e] == node and mu[e] < least:
                    leaving, least = e, mu[e]
                node = win[e] if los[e] == node else los[e]
            if leaving < 0:
                return False
            node = j
            while node != i:
                e = up[node]
                mu[e] += -least if los[e] == node else least
                node = win[e] if los[e] == node else los[e]
            force += least
        else:
            n_b = _walk(j, win, los, head, following, order_b, up_b)
            weight_b = 0.0
            for k in range(n_b):
                total_b[order_b[k]] = w[order_b[k]]
                weight_b += w[order_b[k]]
            gap = c[q] - (z[i] - z[j])
            leaving, least = -1, 0.0
            if weight == 0.0:  # costs nothing to move
                for k in range(n):
                    z[order[k]] += gap
            elif weight_b == 0.0:
                for k in range(n_b):
                    z[order_b[k]] -= gap
            else:
                _subtrees(n, order, up, win, los, total)
                _subtrees(n_b, order_b, up_b, win, los, total_b)
                least = gap / (1.0 / weight + 1.0 / weight_b)
                for k in range(1, n):
                    node = order[k]
                    e = up[node]
                    if los[e] == node and mu[e] * weight < least * total[node]:
                        leaving, least = e, mu[e] * weight / total[node]
                for k in range(1, n_b):
                    node = order_b[k]
                    e = up_b[node]
                    if win[e] == node and mu[e] * weight_b < least * total_b[node]:
                        leaving, least = e, mu[e] * weight_b / total_b[node]
            if leaving < 0:
                used[q] = True
                mu[q] = force + least
                _link(q, win, los, head, following)
                n = _balance(i, win, los, c, w, h, z, mu, head, following, order, up, total)
                for k in range(1, n):
                    mu[up[order[k]]] = max(mu[up[order[k]]], 0.0)  # less than 0 by rounding only
                return True
            for k in range(n):
                node = order[k]
                z[node] += least / weight
                if k > 0:
                    change = least * total[node] / weight
                    mu[up[node]] = max(mu[up[node]] + (change if win[up[node]] == node else -change), 0.0)
            for k in range(n_b):
                node = order_b[k]
                z[node] -= least / weight_b
                if k > 0:
                    change = least * total_b[node] / weight_b
                    mu[up_b[node]] = max(mu[up_b[node]] + (-change if win[up_b[node]] == node else change), 0.0)
            force += least
        mu[leaving] = 0.0
        used[leaving] = False
        _unlink(leaving, win, los, head, following)


@kernel
def _solve(  # type: ignore[no-untyped-def]
    t, r, nodes, arcs, win, los, m, s, w, h, z, mu, c, used, head, following, order, up, total, order_b, up_b, total_b,
    seen, out,
):  # fmt: skip
    """Best positions for margins t and room r, from the forest at hand; False where there are none or no end is found.

    ``out`` gets the first derivatives of half the cost for t and r, and the second ones tt, tr, rr.
    """
    size = 0.0
    for e in range(arcs):
        c[e] = m[e] * t - s[e] * r
        size = max(size, abs(c[e]))
    for i in range(nodes):
        size = max(size, abs(h[i]))
    tiny = 1e-13 * size
    _restart(nodes, arcs, win, los, c, w, h, z, mu, used, head, following, order, up, total, seen, tiny)
    ended = False
    for _ in range(100 * (nodes + arcs)):
        q, worst = -1, 10.0 * tiny
        for e in range(arcs):
            if not used[e] and c[e] - (z[win[e]] - z[los[e]]) > worst:
                q, worst = e, c[e] - (z[win[e]] - z[los[e]])
        if q < 0:
            ended = True
            break
        if not _enter(q, win, los, c, w, h, z, mu, used, head, following, order, up, total, order_b, up_b, total_b):
            return False
    out[:] = 0.0
    for e in range(arcs):
        if used[e]:
            out[0] += mu[e] * m[e]
            out[1] -= mu[e] * s[e]
    seen[:nodes] = False
    for root in range(nodes):
        if seen[root]:
            continue
        n = _walk(root, win, los, head, following, order, up)
        weight = mean_m = mean_s = 0.0
        total[root] = total_b[root] = 0.0  # how positions in the tree follow t and r
        for i in range(n):
            node = order[i]
            seen[node] = True
            if i > 0:
                e = up[node]
                below = win[e] == node
                other = los[e] if below else win[e]
                total[node] = total[other] + (m[e] if below else -m[e])
                total_b[node] = total_b[other] - (s[e] if below else -s[e])
            weight += w[node]
            mean_m += w[node] * total[node]
            mean_s += w[node] * total_b[node]
        if weight > 0.0:
            mean_m /= weight
            mean_s /= weight
            for i in range(n):
                node = order[i]
                a, b = total[node] - mean_m, total_b[node] - mean_s
                out[2] += w[node] * a * a
                out[3] += w[node] * a * b
                out[4] += w[node] * b * b
    return ended


@kernel
def _between(low, high, x, value, slope):  # type: ignore[no-untyped-def]
    """Next trial for the root of a rising piecewise linear function: Newton's step if it stays inside the bracket.

    A bracket that begins at 0 is cut near 0: a root at 0 itself, where the function may jump, is then found soon.
    """
    proposed = x - value / slope if slope > 0.0 else low
    if low < proposed < high:
        return proposed
    return high / 16.0 if low == 0.0 else 0.5 * (low + high)


@kernel
def _best_margin(  # type: ignore[no-untyped-def]
    price, r, nodes, arcs, win, los, m, s, w, h, z, mu, c, used, head, following, order, up, total, order_b, up_b,
    total_b, seen, out,
):  # fmt: skip
    """The best t for a room r, -1 where there is none; positions and derivatives are left at it."""
    t = 0.0 if price == 0.0 else 1.0
    low, high = 0.0, 1.0
    for trial in range(200):
        if not _solve(
            t, r, nodes, arcs, win, los, m, s, w, h, z, mu, c, used, head, following, order, up, total, order_b, up_b,
            total_b, seen, out,
        ):  # fmt: skip
            return -1.0
        if price == 0.0 or price == np.inf:
            return t
        excess = out[0] - price * (1.0 - t)
        if abs(excess) <= 1e-14 * (price + out[0]) or (t == 0.0 and excess > 0.0) or high - low <= 1e-15:
            return t
        if excess > 0.0:
            high = t
        else:
            low = t
        if trial == 0:
            t = 0.0
            continue
        t = _between(low, high, t, excess, out[2] + price)
    return t


@kernel
def graph_updates(  # type: ignore[no-untyped-def]
    lo, hi, offsets, scores, weight, arc_offsets, winner, loser, margin, tie, slack, ties, moved, zeta, room, failed
):
    """Least moves that satisfy the arcs of each query: new positions of the nodes into ``moved``.

    ``zeta`` is the share of the margins that is given up at the price ``slack``, ``room`` the distance left to tied
    documents at the price ``ties``. Nodes of weight 0 are free: they stand for the bounds of a set of documents.
    """
    most, most_arcs = 0, 0
    for q in range(lo, hi):
        most = max(most, offsets[q + 1] - offsets[q])
        most_arcs = max(most_arcs, arc_offsets[q + 1] - arc_offsets[q])
    win, los = np.empty(most_arcs, np.int64), np.empty(most_arcs, np.int64)
    mu, c = np.empty(most_arcs), np.empty(most_arcs)
    used, following = np.empty(most_arcs, np.bool_), np.empty(2 * most_arcs, np.int64)
    head, order, up = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    order_b, up_b, seen = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.bool_)
    h, total, total_b = np.empty(most), np.empty(most), np.empty(most)
    out = np.empty(5)
    for q in range(lo, hi):
        a, first = offsets[q], arc_offsets[q]
        nodes, arcs = offsets[q + 1] - a, arc_offsets[q + 1] - first
        zeta[q] = room[q] = 0.0
        failed[q] = False
        if arcs == 0:  # nothing but cycles
            moved[a : a + nodes] = scores[a : a + nodes]
            continue
        w, z = weight[a : a + nodes], moved[a : a + nodes]
        m, s = margin[first : first + arcs], tie[first : first + arcs]
        mass = middle = 0.0
        for i in range(nodes):
            mass += w[i]
            middle += w[i] * scores[a + i]
        middle /= mass
        for i in range(nodes):
            h[i] = z[i] = scores[a + i] - middle
            head[i] = -1
        for e in range(arcs):
            win[e], los[e] = winner[first + e] - a, loser[first + e] - a
            used[e] = False
            mu[e] = 0.0
        price = slack * mass if slack > 0.0 else 0.0
        price_r = ties * mass if ties > 0.0 else 0.0
        r = 0.0
        low, high = 0.0, 0.0
        if ties < np.inf and s.max() > 0.0:
            high = 2.0 * np.abs(h[:nodes]).max() + m.sum()  # no pair is moved further apart than this
        for trial in range(200):
            t = _best_margin(
                price, r, nodes, arcs, win, los, m, s, w, h, z, mu, c, used, head, following, order, up, total, order_b,
                up_b, total_b, seen, out,
            )  # fmt: skip
            if t < 0.0:
                failed[q] = True
                break
            if high == 0.0:
                break
            excess = out[1] + price_r * r
            if (
                abs(excess) <= 1e-13 * (price_r * r - out[1])
                or (r == 0.0 and excess >= 0.0)
                or high - low <= 1e-15 * high
            ):
                break
            if excess > 0.0:
                high = r
            else:
                low = r
            bend = out[4] + price_r
            if 0.0 < t < 1.0:
                bend -= out[3] * out[3] / (out[2] + price)
            r = _between(low, high, r, excess, bend)
        zeta[q], room[q] = 1.0 - t, r
        for i in range(nodes):
            z[i] += middle
