"""The Mallows distribution around the order of the labels, as a chain of choices of the next document.

An order has a factor e^−θ for each pair of unequal labels that it reverses. Of the remaining documents, one of a block
of equal labels is next with a probability proportional to e^(−θ h) (1 − e^(−θ n)) / (1 − e^−θ), where n documents are
left in the block and h above it. For θ = ∞ this is the uniform distribution over the orders that the labels allow.
"""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.draws import label_key, unit


@kernel
def _factors(counts, blocks, theta, factor):
    """The unnormalised chance of each document of a block to be next, from the numbers left in the blocks."""
    ahead = 1.0
    for b in range(blocks):
        factor[b] = 0.0
        if counts[b] > 0:
            size = counts[b] if theta == 0.0 else np.expm1(-theta * counts[b]) / np.expm1(-theta)
            factor[b] = ahead * size / counts[b]
            ahead *= np.exp(-theta * counts[b])


@kernel
def exact_choice(block, w, s, n, theta, ranks, reached, counts, factor, g):
    """The divergence over all sets of documents that may come first; ``reached`` is scratch."""
    loss = 0.0
    reached[: 1 << n] = 0.0
    reached[0] = 1.0
    last, blocks = 0, 0
    for r in range(n):
        if ranks[r] != 0.0:
            last = r + 1
        blocks = max(blocks, block[r] + 1)
    for mask in range((1 << n) - 1):
        if reached[mask] == 0.0:
            continue
        size = 0
        top = -np.inf
        counts[:blocks] = 0
        for i in range(n):
            if mask >> i & 1:
                size += 1
            else:
                counts[block[i]] += 1 if w[i] > 0.0 else 0
                top = max(top, s[i])
        if size >= last:
            continue
        _factors(counts, blocks, theta, factor)
        total, powers = 0.0, 0.0
        for i in range(n):
            if mask >> i & 1 == 0:
                total += w[i] * factor[block[i]]
                powers += np.exp(s[i] - top)
        if total == 0.0:
            continue  # only documents of weight 0 are left
        log_s = top + np.log(powers)
        share = reached[mask] * ranks[size]
        for i in range(n):
            if mask >> i & 1 == 0:
                target = w[i] * factor[block[i]] / total
                if target > 0.0:
                    loss += share * target * (np.log(target) - s[i] + log_s)
                    reached[mask | 1 << i] += reached[mask] * target
                g[i] += share * (np.exp(s[i] - log_s) - target)
    return loss


@kernel
def sampled_choice(block, w, s, n, theta, ranks, order, log_s, counts, factor, sums, g):
    """The divergence along one order; ``log_s`` has the log of Σ e^s of each rank and everything after it."""
    blocks = 0
    for i in range(n):
        blocks = max(blocks, block[i] + 1)
    weight, scored, spread, pull = sums[0], sums[1], sums[2], sums[3]
    counts[:blocks] = 0
    sums[:, :blocks] = 0.0
    for i in range(n):
        if w[i] > 0.0:
            b = block[i]
            counts[b] += 1
            weight[b] += w[i]
            scored[b] += w[i] * s[i]
            spread[b] += w[i] * np.log(w[i])
    loss = 0.0
    push = 0.0  # Σ over the ranks so far of weight · e^(rest now − rest then)
    for r in range(n):
        _factors(counts, blocks, theta, factor)
        total = 0.0
        for b in range(blocks):
            total += factor[b] * weight[b]
        push = push * np.exp(log_s[r] - log_s[r - 1]) if r > 0 else 0.0
        if total > 0.0:
            push += ranks[r]
            mean = 0.0
            for b in range(blocks):
                p = factor[b] / total
                if p > 0.0:
                    mean += p * (spread[b] + weight[b] * np.log(p) - scored[b])
                    pull[b] += ranks[r] * p
            loss += ranks[r] * (mean + log_s[r])
        i = order[r]
        b = block[i]
        g[i] += push * np.exp(s[i] - log_s[r]) - w[i] * pull[b]
        if w[i] > 0.0:
            counts[b] -= 1
            weight[b] = weight[b] - w[i] if counts[b] > 0 else 0.0
            scored[b] = scored[b] - w[i] * s[i] if counts[b] > 0 else 0.0
            spread[b] = spread[b] - w[i] * np.log(w[i]) if counts[b] > 0 else 0.0
    return loss


@kernel
def _orders(lo, hi, offsets, labels, block, weight, theta, seed, longer_than, out):
    n_max = longest(lo, hi, offsets)
    counts = np.empty(n_max + 1, np.int64)
    factor = np.empty(n_max + 1, np.float64)
    left = np.empty(n_max, np.int64)
    for q in range(lo, hi):
        a = offsets[q]
        n = offsets[q + 1] - a
        if n <= longer_than:
            continue
        state = label_key(labels[a : a + n], seed)
        for t in range(out.shape[0]):
            blocks = 0
            counts[:] = 0
            for i in range(n):
                left[i] = i
                blocks = max(blocks, block[a + i] + 1)
                if block[a + i] >= 0 and weight[a + i] > 0.0:
                    counts[block[a + i]] += 1
            for r in range(n):
                _factors(counts, blocks, theta, factor)
                total = 0.0
                for j in range(n - r):
                    i = a + left[j]
                    total += weight[i] * factor[block[i]] if block[i] >= 0 else 0.0
                state = mix(state)
                want = unit(state) * total
                taken = 0  # where nothing is left to draw, the next in the order of the rows
                for j in range(n - r):
                    i = a + left[j]
                    part = weight[i] * factor[block[i]] if block[i] >= 0 else 0.0
                    if part > 0.0:
                        taken = j
                        want -= part
                        if want <= 0.0:
                            break
                i = left[taken]
                out[t, a + r] = i
                if block[a + i] >= 0 and weight[a + i] > 0.0:
                    counts[block[a + i]] -= 1
                for j in range(taken, n - r - 1):
                    left[j] = left[j + 1]


@kernel
def _blocks(lo, hi, offsets, labels, block):
    for q in range(lo, hi):
        a, b = offsets[q], offsets[q + 1]
        distinct = np.unique(labels[a:b])
        for i in range(a, b):
            level = np.searchsorted(distinct, labels[i])
            block[i] = distinct.size - 1 - level if labels[i] >= 0.0 else -1


def label_blocks(data: RankingDataset, n_jobs: int | None) -> np.ndarray:
    """Number of each document's label in its query, 0 is the largest; −1 for unjudged documents."""
    block = np.empty(data.n_rows, np.int64)
    over_queries(_blocks, data.offsets, data.labels, block, n_jobs=n_jobs)
    return block


def mallows_orders(
    data: RankingDataset,
    block: np.ndarray,
    weight: np.ndarray,
    theta: float,
    seed: int,
    times: int,
    longer_than: int,
    n_jobs: int | None,
) -> np.ndarray:
    """Orders drawn from the distribution, in the form of `sampled_orders`."""
    short = data.group.max(initial=0) <= np.iinfo(np.int16).max
    out = np.zeros((times, data.n_rows), np.int16 if short else np.int32)
    known = data.labels, block, weight, theta, np.uint64(seed), longer_than
    over_queries(_orders, data.offsets, *known, out, n_jobs=n_jobs)
    return out
