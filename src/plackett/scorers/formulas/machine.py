"""The machine that runs programs: a stack of vectors, for blocks of documents and many programs at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.threshold_bins import columns
from plackett.scorers.formulas.operations import OPERATIONS, apply
from plackett.scorers.formulas.program import CONSTANT, Program

#: Documents run together: the top of the stack and the block's features stay in the processor's cache.
_BLOCK = 512
_ARITY = np.array([operation.arity for operation in OPERATIONS], np.int64)
#: Steps of a program on a document that are worth a thread.
_STEPS_PER_THREAD = 200_000


def by_column(X: Any, used: Sequence[int]) -> np.ndarray:
    """Some features of a dense or sparse table, one row for each, float32."""
    out = np.empty((len(used), X.shape[0]), np.float32)
    for row, j in enumerate(used):
        out[row] = columns(X, int(j))
    return out


def evaluate(programs: Sequence[Program], features: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """Value of each program (row) for each document (column).

    ``features`` has one row for each feature, float32 or float64. Nothing overflows: see `operations`.

    >>> program = Program((-2, 0, -1), (0.0, 0.0, 2.5))  # x1 + 2.5
    >>> evaluate([program], np.array([[1, 2, 3]], np.float32)).tolist()
    [[3.5, 4.5, 5.5]]
    """
    longest = max((p.size for p in programs), default=0)
    if any(max(p.code) >= len(features) for p in programs):
        raise DataError(f"a formula uses a feature that a table of {len(features)} does not have")
    code, constants = np.zeros((len(programs), longest), np.int32), np.zeros((len(programs), longest))
    for i, program in enumerate(programs):
        code[i, : program.size], constants[i, : program.size] = program.code, program.constants
    sizes = np.array([p.size for p in programs], np.int64)
    out = np.empty((len(programs), features.shape[1]))
    work = np.concatenate(([0], np.cumsum(sizes * features.shape[1])))
    over_queries(_run, work, code, constants, sizes, features, out, n_jobs=n_jobs, rows_per_thread=_STEPS_PER_THREAD)
    return out


@kernel
def _copy(source, target):
    for i in range(source.size):
        target[i] = source[i]


@kernel
def _run(lo, hi, work, code, constants, sizes, features, out):
    stack = np.empty((code.shape[1] // 2 + 3, _BLOCK))
    row = np.arange(
        stack.shape[0]
    )  # row of the table that holds each level of the stack; the one above the top is free
    for start in range(0, features.shape[1], _BLOCK):
        n = min(_BLOCK, features.shape[1] - start)
        for p in range(lo, hi):
            top = -1
            for t in range(sizes[p] - 1, -1, -1):  # from the right, so that arguments come before their operation
                c = code[p, t]
                if c >= 0:
                    top += 1
                    _copy(features[c, start : start + n], stack[row[top]])
                elif c == CONSTANT:
                    top += 1
                    stack[row[top]].fill(constants[p, t])
                else:
                    below = top if _ARITY[-2 - c] == 1 else top - 1
                    free = row[top + 1]
                    apply(-2 - c, stack[row[top], :n], stack[row[below], :n], stack[free, :n])
                    row[top + 1], row[below] = row[below], free
                    top = below
            _copy(stack[row[0], :n], out[p, start : start + n])
