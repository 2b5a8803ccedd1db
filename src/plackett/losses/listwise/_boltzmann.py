"""Expectations under P(π) ∝ exp(−Σ_j c_{π(j)} s_j): exactly over sets of documents, or over a fixed set of orders."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.scratch import longest


@kernel
def _slope(rank, n, alpha):  # type: ignore[no-untyped-def]
    """The coefficient c of a rank counted from 0."""
    return 2.0 * alpha / (n - 1) * (rank - 0.5 * (n - 1))


@kernel
def _add(log_weight, mean, entry, log_more, more):  # type: ignore[no-untyped-def]
    """Add a weight e^log_more with a value to the sum of weights of an entry, and to its mean value."""
    if log_weight[entry] == -np.inf:
        log_weight[entry] = log_more
        mean[entry] = more
        return
    top = max(log_weight[entry], log_more)
    log_weight[entry] = top + np.log(np.exp(log_weight[entry] - top) + np.exp(log_more - top))
    mean[entry] += (more - mean[entry]) * np.exp(log_more - log_weight[entry])


@kernel
def _exact(s, x, n, ranks, alpha, table, means, covariances):  # type: ignore[no-untyped-def]
    """The log of Z, E[Σ x·ranks], and E[c] and E[Σ x·ranks · c] of each document, by dynamic programming over sets.

    A set holds the documents that come first. ``table`` is scratch: for each set, log-weights and mean values of the
    ranks before its end and of those after it.
    """
    ahead, ahead_value, rest, rest_value = table[0], table[1], table[2], table[3]
    full = (1 << n) - 1
    for mask in range(full + 1):
        ahead[mask] = -np.inf
        rest[mask] = -np.inf
    ahead[0] = 0.0
    ahead_value[0] = 0.0
    rest[full] = 0.0
    rest_value[full] = 0.0
    for mask in range(full):
        size = 0
        for i in range(n):
            size += mask >> i & 1
        for i in range(n):
            if mask >> i & 1 == 0:
                more = ahead_value[mask] + x[i] * ranks[size]
                _add(ahead, ahead_value, mask | 1 << i, ahead[mask] - _slope(size, n, alpha) * s[i], more)
    for mask in range(full - 1, -1, -1):
        size = 0
        for i in range(n):
            size += mask >> i & 1
        for i in range(n):
            if mask >> i & 1 == 0:
                after = mask | 1 << i
                more = rest_value[after] + x[i] * ranks[size]
                _add(rest, rest_value, mask, rest[after] - _slope(size, n, alpha) * s[i], more)
    log_z = rest[0]
    for i in range(n):
        means[i] = 0.0
        covariances[i] = 0.0
    for mask in range(full):
        size = 0
        for i in range(n):
            size += mask >> i & 1
        c = _slope(size, n, alpha)
        for i in range(n):
            if mask >> i & 1 == 0:
                after = mask | 1 << i
                # a probability: of scores far apart the sum is all rounding, and may be above 0
                p = np.exp(min(0.0, ahead[mask] - c * s[i] + rest[after] - log_z))
                means[i] += p * c
                covariances[i] += p * c * (ahead_value[mask] + x[i] * ranks[size] + rest_value[after])
    return log_z, rest_value[0]


@kernel
def _sampled(s, x, n, ranks, alpha, orders, log_p, means, covariances):  # type: ignore[no-untyped-def]
    """The same over some orders."""
    top = -np.inf
    for t in range(orders.shape[0]):
        energy = 0.0
        for r in range(n):
            energy += _slope(r, n, alpha) * s[orders[t, r]]
        log_p[t] = -energy
        top = max(top, -energy)
    total = 0.0
    for t in range(orders.shape[0]):
        total += np.exp(log_p[t] - top)
    log_z = top + np.log(total)
    for i in range(n):
        means[i] = 0.0
        covariances[i] = 0.0
    mean = 0.0
    for t in range(orders.shape[0]):
        p = np.exp(log_p[t] - log_z)
        reached = 0.0
        for r in range(n):
            reached += x[orders[t, r]] * ranks[r]
        mean += p * reached
        for r in range(n):
            c = p * _slope(r, n, alpha)
            means[orders[t, r]] += c
            covariances[orders[t, r]] += c * reached
    return log_z, mean


@kernel
def _gather(a, b, part, scores, gains, orders, s, x, rows, slot, taken):  # type: ignore[no-untyped-def]
    """The documents of a query that take part: scores, gains, rows, and the orders without the others."""
    n = 0
    for i in range(a, b):
        slot[i - a] = -1
        if part[i]:
            s[n] = scores[i]
            x[n] = gains[i]
            rows[n] = i
            slot[i - a] = n
            n += 1
    middle = 0.0
    for i in range(n):  # c adds up to 0: the level of the scores changes nothing but rounding
        middle += s[i] / n
    for i in range(n):
        s[i] -= middle
    if n > 0:
        for t in range(orders.shape[0]):
            at = 0
            for i in range(b - a):
                taken_slot = slot[orders[t, a + i]]
                if taken_slot >= 0 and at < n:
                    taken[t, at] = taken_slot
                    at += 1
    return n


@kernel
def _scratch(lo, hi, offsets, orders, max_exact):  # type: ignore[no-untyped-def]
    n_max = longest(lo, hi, offsets)
    lanes = np.empty((4, n_max), np.float64)
    rows = np.empty((2, n_max), np.int64)
    taken = np.empty((orders.shape[0], n_max), np.int64)
    table = np.empty((4, 1 << min(max_exact, n_max)), np.float64)
    return lanes, rows, taken, table, np.empty(orders.shape[0], np.float64)


@kernel
def _one(n, length, s, x, ranks, alpha, max_exact, table, taken, log_p, means, covariances):  # type: ignore[no-untyped-def]
    if length <= max_exact:
        return _exact(s, x, n, ranks, alpha, table, means, covariances)
    return _sampled(s, x, n, ranks, alpha, taken, log_p, means, covariances)


@kernel
def boltzmann(  # type: ignore[no-untyped-def]
    lo,
    hi,
    offsets,
    scores,
    part,
    gains,
    ranks,
    orders,
    max_exact,
    alpha,
    mix,
    target,
    constant,
    query_weight,
    value,
    gradient,
):
    """Loss and gradient; with mix 0 and no target or constant, the log of Z and minus E[c]."""
    (s, x, means, covariances), rows, taken, table, log_p = _scratch(lo, hi, offsets, orders, max_exact)
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        n = _gather(a, b, part, scores, gains, orders, s, x, rows[0], rows[1], taken)
        if n == 0:
            continue
        log_z, reached = _one(n, b - a, s, x, ranks, alpha, max_exact, table, taken, log_p, means, covariances)
        divergence = log_z + constant[q]
        for i in range(n):
            row = rows[0, i]
            divergence += s[i] * target[row]
            # E[N c] − E[N] E[c] is the covariance of nDCG and c, and minus the slope of E[N]
            slope = mix * (covariances[i] - reached * means[i]) + (1.0 - mix) * (target[row] - means[i])
            gradient[row] = query_weight[q] * slope
        value[q] = query_weight[q] * (mix * (1.0 - reached) + (1.0 - mix) * divergence)
