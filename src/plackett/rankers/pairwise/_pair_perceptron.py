"""Kernel of the pair perceptron: one pass over all pairs, and the resulting state."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel
from plackett._kernels.randomness import mix
from plackett._kernels.scratch import longest
from plackett.solvers.training_vectors import difference, measure, signed

#: Indices into the counts of a path: pairs visited, changes, pairs since the last change.
PAIRS, CHANGES, SINCE = 0, 1, 2


class Path:
    """State of the weights: current, correction to their running sum, and those that survived longest."""

    def __init__(self, n_features: int, max_votes: int) -> None:
        self.w, self.drift = np.zeros(n_features + 1), np.zeros(n_features + 1)
        self.counts = np.zeros(3, np.int64)
        self.kept, self.lasted = np.zeros((max_votes, n_features + 1)), np.zeros(max_votes, np.int64)


@kernel
def _score(row, values, columns, pointers, inverse, w, vector, indices):
    n = signed(values, columns, pointers, inverse, row, 1.0, 0.0, vector, indices)
    return measure(vector, n, indices, columns.size == 0, w)[0]


@kernel
def _keep(w, since, kept, lasted):
    """Replace the shortest-lived kept weights by the ones that end now, if these lasted longer."""
    least = 0
    for i in range(1, lasted.size):
        if lasted[i] < lasted[least]:
            least = i
    if since > lasted[least]:
        lasted[least] = since
        for k in range(w.size):
            kept[least, k] = w[k]


@kernel
def _shuffled(i, n, half, seed):
    """Entry i of a random order of 0..n − 1, without storing it: a Feistel network, walked until it is below n."""
    mask = (np.uint64(1) << half) - np.uint64(1)
    x = i
    while True:
        left = x >> half
        right = x & mask
        for turn in range(4):
            left, right = right, left ^ (mix(right ^ mix(seed + np.uint64(turn))) & mask)
        x = (left << half) | right
        if x < n:
            return x


@kernel
def one_pass(
    seed, values, columns, pointers, inverse, first, low, order, starts, weight, row_weight, credit, own, margin,
    w, drift, counts, kept, lasted, score, stamp,
):  # fmt: skip
    """Visit every pair once, in random order, and update the weights if it is not ordered by the margin.

    Visiting them in the order of the documents would teach it far less, because the pairs of a document pull the
    weights the same way. Pair number ``starts[entry] + k`` is that of the entry with its k-th worse document.
    ``score`` and ``stamp`` are scratch, one number for each row.
    """
    n_rows = pointers.size - 1
    vector = np.empty(2 * longest(0, n_rows, pointers) + 1)
    indices = np.empty(vector.size if columns.size else 0, np.uint32)
    stamp[:] = -1
    n_pairs = starts[-1]
    half = 1
    while (1 << (2 * half)) < n_pairs:
        half += 1
    for t in range(n_pairs):
        number = np.int64(_shuffled(np.uint64(t), np.uint64(n_pairs), np.uint64(half), seed))
        entry = np.searchsorted(starts, number, side="right") - 1
        u = first[entry]
        v = order[low[entry] + number - starts[entry]]
        share = weight[entry] * row_weight[v]
        if share == 0.0:
            continue
        for row in (u, v):
            if stamp[row] != counts[CHANGES]:
                score[row] = _score(row, values, columns, pointers, inverse, w, vector, indices)
                stamp[row] = counts[CHANGES]
        g = 1.0
        if credit.size:
            g = credit[u] - credit[v]
        elif own.size:
            g = own[entry]
        if score[u] - score[v] <= margin * g:
            _keep(w, counts[SINCE], kept, lasted)
            n = difference(values, columns, pointers, inverse, u, v, vector, indices)
            for k in range(n):
                at = k if columns.size == 0 else indices[k]
                w[at] += share * g * vector[k]
                drift[at] += counts[PAIRS] * share * g * vector[k]
            counts[CHANGES] += 1
            counts[SINCE] = 0
        else:
            counts[SINCE] += 1
        counts[PAIRS] += 1
