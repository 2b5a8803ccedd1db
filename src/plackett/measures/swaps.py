"""The change of a measure when two documents swap ranks.

For every measure that supports it, swapping the documents at ranks i < j changes the measure by

    |g_i − g_j| · a_i · |u_i + v_j|

where g depends on the document, and a, u, v on the ranks and the documents above. A sum of gains times discounts has
u = −v = discount and a = 1; average precision, reciprocal rank and ERR have prefix sums in u and v. The columns of the
state are g, a, u, v. A sum of such forms whose changes never have opposite signs, as graded average precision over its
thresholds, has four columns for each of them, one layer after the other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.measures.ranking import Ranking


@kernel(inline=True)
def swap(state, i, j):  # type: ignore[no-untyped-def]
    """|Change| when the documents at positions i < j of one query are exchanged."""
    change = 0.0
    for c in range(0, state.shape[1], 4):
        change += abs(state[i, c] - state[j, c]) * state[i, c + 1] * abs(state[i, c + 2] + state[j, c + 3])
    return change


@kernel(inline=True)
def n_layers(state):  # type: ignore[no-untyped-def]
    """Number of forms whose sum is the change."""
    return state.shape[1] // 4


@kernel
def swaps_below(state, i, out):  # type: ignore[no-untyped-def]
    """|Change| when position i is exchanged with each of the ``len(out)`` positions after it; by layers."""
    out[:] = 0.0
    for c in range(0, state.shape[1], 4):
        gain = state[i, c]
        factor = state[i, c + 1]
        here = state[i, c + 2]
        for j in range(out.size):
            other = i + 1 + j
            out[j] += abs(gain - state[other, c]) * factor * abs(here + state[other, c + 3])


def new_state(ranking: Ranking, layers: int = 1) -> np.ndarray:
    """Array for the state: a row per position; columns are contiguous, so that loops over j use vector registers."""
    return np.empty((4 * layers, ranking.labels.size)).T


def linear_state(
    ranking: Ranking,
    gains: tuple[np.ndarray, np.ndarray],
    scale: Any,
    cut: Any,
    weights: np.ndarray,
    beyond: Any = 0.0,
) -> np.ndarray:
    """State of scale[q] · Σ_r gain_r · weight_r, the weight being beyond[q] below rank cut[q] and where not retrieved.

    ``gains`` are values and table as `plackett.measures.gains.position_gains` gives them; ``scale``, ``cut`` and
    ``beyond`` are numbers or arrays over the queries; ``weights`` has the weight of each rank.
    """
    n_queries = ranking.data.n_queries
    state = new_state(ranking)
    scale = np.nan_to_num(np.array(np.broadcast_to(scale, n_queries), np.float64), posinf=0.0)
    cut = np.array(np.broadcast_to(cut, n_queries), np.int64)
    beyond = np.array(np.broadcast_to(beyond, n_queries), np.float64)
    over_queries(
        _linear_state,
        ranking.offsets,
        ranking.depth,
        *gains,
        scale,
        cut,
        weights,
        beyond,
        state,
        n_jobs=ranking.n_jobs,
    )
    return state


@kernel
def _linear_state(  # type: ignore[no-untyped-def]
    lo, hi, offsets, depth, values, table, scale, cut, weights, beyond, state
):
    for q in range(lo, hi):
        a = offsets[q]
        last = min(cut[q], depth[q])
        for i in range(a, offsets[q + 1]):
            weight = weights[i - a] if i - a < last else beyond[q]
            gain = values[i]
            if table.size > 0:
                gain = table[np.int64(gain)] if gain >= 0.0 else 0.0
            state[i, 0] = gain * scale[q]
            state[i, 1] = 1.0
            state[i, 2] = weight
            state[i, 3] = -weight


@kernel
def swap_matrix(state):  # type: ignore[no-untyped-def]
    """|Change| for every pair of positions of one list."""
    n = state.shape[0]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            out[i, j] = swap(state, i, j)
            out[j, i] = out[i, j]
    return out
