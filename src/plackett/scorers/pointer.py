"""Orders that are built from the top: each choice depends on the documents above it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dense import dense
from plackett.scorers.base import Scorer
from plackett.scorers.fields import array, number

__all__ = ["PointerScorer"]


@dataclass(frozen=True)
class PointerScorer(Scorer):
    """g(d | prefix) = w·x_d + x_d·M c, where c is the mean of the documents of the prefix; decoded by a beam."""

    kind: ClassVar[str] = "pointer"
    list_aware: ClassVar[bool] = True
    weights: np.ndarray = array("features")
    matrix: np.ndarray = array("features features")
    scale: np.ndarray = array("features")
    beam: int = number(least=1, most=10_000)

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Positions of the documents, counted from the end of the list; documents that tie to the end share one."""
        x = np.ascontiguousarray(dense(X).astype(np.float64) / self.scale)
        out = np.empty(x.shape[0])
        over_queries(_decode, offsets, x, self.weights, self.matrix, self.beam, out, n_jobs=n_jobs, rows_per_thread=500)
        return out

    def check(self) -> None:
        """No feature is divided by 0."""
        self.check_that(self.scale.all(), "array 'scale' has a zero")


@kernel
def pointer_values(x, first, n, taken, context, n_taken, weights, matrix, out):
    """G of each document that is left, after ``n_taken`` documents whose sum is ``context``."""
    d = weights.size
    tilt = np.empty(d)
    for j in range(d):
        total = weights[j]
        if n_taken > 0:
            for t in range(d):
                total += matrix[j, t] * context[t] / n_taken
        tilt[j] = total
    for i in range(n):
        if not taken[i]:
            total = 0.0
            for j in range(d):
                total += tilt[j] * x[first + i, j]
            out[i] = total


@kernel
def _decode(lo, hi, offsets, x, weights, matrix, beam, out):
    d = weights.size
    for q in range(lo, hi):
        first, n = offsets[q], offsets[q + 1] - offsets[q]
        if n == 0:
            continue
        width = min(beam, 1 << min(n, 30))
        orders, new_orders = np.empty((width, n), np.int64), np.empty((width, n), np.int64)
        taken, new_taken = np.zeros((width, n), np.bool_), np.zeros((width, n), np.bool_)
        contexts, new_contexts = np.zeros((width, d)), np.zeros((width, d))
        logs, new_logs = np.zeros(width), np.zeros(width)
        alive = 1
        g, totals = np.empty(n), np.empty(width * n)
        for position in range(n):
            totals[:] = -np.inf
            for h in range(alive):
                pointer_values(x, first, n, taken[h], contexts[h], position, weights, matrix, g)
                top = -np.inf
                for i in range(n):
                    if not taken[h, i]:
                        top = max(top, g[i])
                mass = 0.0
                for i in range(n):
                    if not taken[h, i]:
                        mass += np.exp(g[i] - top)
                for i in range(n):
                    if not taken[h, i]:
                        totals[h * n + i] = logs[h] + g[i] - top - np.log(mass)
            n_kept = 0
            while n_kept < width:
                best = -1
                for c in range(alive * n):
                    if totals[c] > -np.inf and (best < 0 or totals[c] > totals[best]):
                        best = c
                if best < 0 and n_kept > 0:
                    break
                if best < 0:  # no value is a number: the first document that is left
                    best = 0
                    while taken[0, best]:
                        best += 1
                h, i = best // n, best % n
                new_orders[n_kept, :position] = orders[h, :position]
                new_orders[n_kept, position] = i
                new_taken[n_kept] = taken[h]
                new_taken[n_kept, i] = True
                for j in range(d):
                    new_contexts[n_kept, j] = contexts[h, j] + x[first + i, j]
                new_logs[n_kept] = totals[best]
                totals[best] = -np.inf
                n_kept += 1
            alive = n_kept
            orders, new_orders = new_orders, orders
            taken, new_taken = new_taken, taken
            contexts, new_contexts = new_contexts, contexts
            logs, new_logs = new_logs, logs
        # along the best order, documents that nothing tells apart share a position
        left, context = np.zeros(n, np.bool_), np.zeros(d)
        for position in range(n):
            pointer_values(x, first, n, left, context, position, weights, matrix, g)
            least, most = np.inf, -np.inf
            for i in range(n):
                if not left[i]:
                    least, most = min(least, g[i]), max(most, g[i])
            same = least == most
            for p in range(position, n if same else position + 1):
                out[first + orders[0, p]] = n - position
            if same:
                break
            chosen = orders[0, position]
            left[chosen] = True
            for j in range(d):
                context[j] += x[first + chosen, j]
