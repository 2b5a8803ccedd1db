"""Isotonic updates for any preferences: the search for the best margins and ties, around the least moves for each."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest
from plackett.losses.pairwise._forest import ArcForest, least_moves, walk

# An arc's bound is margin·t - tie·r: its margin, of which a share 1 - t is given up, and the gap r that tied documents
# have. The cost is convex in t and r, and its derivatives are piecewise linear, known from the forces of the arcs and
# from how the trees follow t and r.


@kernel
def _solve(f, margin, tie, t, r, out):
    """Best positions for t and r; False if there are none.

    ``out`` gets the derivatives of half the cost for t and r, and the second ones tt, tr, rr.
    """
    for e in range(f.m):
        f.bound[e] = margin[e] * t - tie[e] * r
    if not least_moves(f):
        return False
    out[:] = 0.0
    for e in range(f.m):
        out[0] += f.force[e] * margin[e]
        out[1] -= f.force[e] * tie[e]
    along_t, along_r = f.total, f.other_total
    for node in range(f.n):
        f.seen[node] = False
    for root in range(f.n):
        if f.seen[root]:
            continue
        n = walk(f, root, f.order, f.up)
        weight = mean_t = mean_r = 0.0
        along_t[root] = along_r[root] = 0.0
        for i in range(n):
            node = f.order[i]
            f.seen[node] = True
            if i > 0:
                e = f.up[node]
                if f.win[e] == node:
                    along_t[node] = along_t[f.los[e]] + margin[e]
                    along_r[node] = along_r[f.los[e]] - tie[e]
                else:
                    along_t[node] = along_t[f.win[e]] - margin[e]
                    along_r[node] = along_r[f.win[e]] + tie[e]
            weight += f.w[node]
            mean_t += f.w[node] * along_t[node]
            mean_r += f.w[node] * along_r[node]
        for i in range(n if weight > 0.0 else 0):
            node = f.order[i]
            a, b = along_t[node] - mean_t / weight, along_r[node] - mean_r / weight
            out[2] += f.w[node] * a * a
            out[3] += f.w[node] * a * b
            out[4] += f.w[node] * b * b
    return True


@kernel
def _between(low, high, x, value, slope):
    """Next trial for the root of a rising piecewise linear function: Newton's step if it stays inside the bracket.

    A bracket that begins at 0 is cut near 0, so that a root at 0 itself, where the function may jump, is found soon.
    """
    proposed = x - value / slope if slope > 0.0 else low
    if low < proposed < high:
        return proposed
    return high / 16.0 if low == 0.0 else 0.5 * (low + high)


@kernel
def _best_margin(f, margin, tie, price, r, out):
    """The best t for a gap r, or -1 if there is none; positions and derivatives are left at that t."""
    t = 0.0 if price == 0.0 else 1.0
    low, high = 0.0, 1.0
    for trial in range(200):
        if not _solve(f, margin, tie, t, r, out):
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
        t = 0.0 if trial == 0 else _between(low, high, t, excess, out[2] + price)
    return t


@kernel
def _best_gap(f, margin, tie, price, gap_price, widest):
    """The best gap r and the best t for it, which is -1 if there is none; positions are left at these."""
    out = np.empty(5)
    t, r = 0.0, 0.0
    low, high = 0.0, widest
    for _ in range(200):
        t = _best_margin(f, margin, tie, price, r, out)
        if t < 0.0 or high == 0.0:
            break
        excess = out[1] + gap_price * r
        small = abs(excess) <= 1e-13 * (gap_price * r - out[1])
        if small or (r == 0.0 and excess >= 0.0) or high - low <= 1e-15 * high:
            break
        if excess > 0.0:
            high = r
        else:
            low = r
        bend = out[4] + gap_price
        if 0.0 < t < 1.0:
            bend -= out[3] * out[3] / (out[2] + price)
        r = _between(low, high, r, excess, bend)
    return t, r


@kernel
def _scratch(lo, hi, offsets, arc_offsets):
    """Room for the forest of the query with most nodes, and for margins and ties of that with most arcs."""
    n, m = longest(lo, hi, offsets), longest(lo, hi, arc_offsets)
    win, los, following = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(2 * m, np.int64)
    bound, force, tight = np.empty(m), np.empty(m), np.empty(m, np.bool_)
    w, h, z, total, other_total = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    head, order, up = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    other_order, other_up, seen = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_)
    forest = ArcForest(
        n, m, win, los, bound, w, h, z, force, tight, head, following, order, up, total, other_order, other_up,
        other_total, seen,
    )  # fmt: skip
    return forest, np.empty(m), np.empty(m)


@kernel
def _forest_of(scratch, scores, weight, middle, winner, loser, first, margins, ties):
    """A query's forest without arcs that are tight, its margins and ties, and the furthest that a node may move.

    Positions are those of the scores less their ``middle``. Arcs name nodes from ``first`` on.
    """
    room, margin, tie = scratch
    n, m = scores.size, winner.size
    furthest = 0.0
    for i in range(n):
        room.w[i] = weight[i]
        room.head[i] = -1
        room.h[i] = room.z[i] = scores[i] - middle
        furthest = max(furthest, abs(room.h[i]))
    for e in range(m):
        room.win[e], room.los[e] = winner[e] - first, loser[e] - first
        margin[e], tie[e] = margins[e], ties[e]
        furthest += 0.5 * margin[e]
        room.tight[e] = False
        room.force[e] = 0.0
    forest = ArcForest(
        n, m, room.win, room.los, room.bound, room.w, room.h, room.z, room.force, room.tight, room.head, room.following,
        room.order, room.up, room.total, room.other_order, room.other_up, room.other_total, room.seen,
    )  # fmt: skip
    return forest, margin[:m], tie[:m], furthest


@kernel
def graph_updates(
    lo,
    hi,
    offsets,
    scores,
    weight,
    arc_offsets,
    winner,
    loser,
    margins,
    ties,
    slack,
    tie_price,
    moved,
    zeta,
    tie_gap,
    failed,
):
    """Least moves that satisfy the arcs of each query: new positions of the nodes into ``moved``.

    ``zeta`` is the share of the margins that is given up at the price ``slack``, ``tie_gap`` the distance left to tied
    documents at the price ``tie_price``. Nodes of weight 0 are free: they stand for the bounds of a set of documents.
    """
    scratch = _scratch(lo, hi, offsets, arc_offsets)
    for q in range(lo, hi):
        a, first = offsets[q], arc_offsets[q]
        n, m = offsets[q + 1] - a, arc_offsets[q + 1] - first
        zeta[q] = tie_gap[q] = 0.0
        failed[q] = False
        moved[a : a + n] = scores[a : a + n]
        if m == 0:  # nothing but cycles
            continue
        mass = middle = 0.0
        for i in range(n):
            mass += weight[a + i]
            middle += weight[a + i] * scores[a + i]
        middle /= mass
        r = slice(first, first + m)
        f, margin, tie, furthest = _forest_of(
            scratch, scores[a : a + n], weight[a : a + n], middle, winner[r], loser[r], a, margins[r], ties[r]
        )
        price = slack * mass if slack > 0.0 else 0.0
        gap_price = tie_price * mass if tie_price > 0.0 else 0.0
        # nothing is moved further apart than this
        widest = 2.0 * furthest if tie_price < np.inf and tie.max() > 0.0 else 0.0
        t, gap = _best_gap(f, margin, tie, price, gap_price, widest)
        failed[q] = t < 0.0
        zeta[q], tie_gap[q] = 1.0 - t, gap
        for i in range(n):
            moved[a + i] = f.z[i] + middle
