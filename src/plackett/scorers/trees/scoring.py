"""Scores of rows by a tree ensemble: which kernel, which block of rows, how many threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._kernels.cores import n_threads
from plackett._kernels.kernel import over_queries
from plackett.scorers.trees.arrays import TreeArrays
from plackett.scorers.trees.codes import MOST_LEAVES, TreeCodes
from plackett.scorers.trees.steps import TreeSteps

#: Rows of a block that is scored by steps.
_FEW_ROWS = 32
_ONE_BLOCK = [np.array([0, rows]) for rows in range(_FEW_ROWS + 1)]
#: Times in units of what masks take for one split: a step of one row, the same if the words do not fit into the nearer
#: caches, and a row of codes.
_STEP, _FAR_STEP, _CODE_ROW = 0.9, 1.5, 60.0
_NEAR_BYTES = 1 << 21
#: Least number of splits passed that is worth a thread.
_WORK_PER_THREAD = 2_000_000
#: Rows of a sparse matrix that are made dense at once.
_DENSE_ROWS = 4_096


class TreeKernels:
    """An ensemble ready to be scored: bit for bit what LightGBM's own prediction gives.

    Parameters
    ----------
    trees
        Checked trees.
    """

    def __init__(self, trees: TreeArrays) -> None:
        self.trees = trees
        self._known: dict[Any, tuple[Any, ...]] = {}
        self.masked = bool((np.diff(trees.leaf_offsets) <= MOST_LEAVES).all())

    @cached_property
    def codes(self) -> TreeCodes:
        """The tables of the mask kernel, made when first needed."""
        return TreeCodes.of(self.trees)

    @cached_property
    def steps(self) -> TreeSteps | None:
        """The words of the kernel for few rows; None if the ensemble is too large for it."""
        return TreeSteps.of(self.trees, self.codes)

    @cached_property
    def few(self) -> int:
        """Up to this many rows, steps are faster than masks."""
        if self.steps is None:
            return 0
        step = _STEP if self.steps.words.nbytes <= _NEAR_BYTES else _FAR_STEP
        masks = self.trees.feature.size + _CODE_ROW * self.codes.row_feature.size
        return int(masks / (step * max(self.steps.n_steps, 1)))

    def predict(self, X: Any, n_jobs: int | None = None, start: np.ndarray | None = None) -> np.ndarray:
        """One score per row, or one per output; ``start`` is what the leaves are added to, 0 by default."""
        if X.shape[1] != self.trees.n_features:
            raise DataError(f"a table of {X.shape[1]} features, but the trees were grown on {self.trees.n_features}")
        if not isinstance(X, np.ndarray):
            return self._predict_sparse(X, n_jobs, start)
        if X.dtype.char not in "fd" or not X.dtype.isnative:
            X = X.astype(np.float64)
        out = np.zeros((X.shape[0], self.trees.n_outputs))
        if start is not None:
            out[:] = start.reshape(out.shape)
        if X.shape[0]:
            # NumPy's way to say that a view is not writable, so that Numba compiles for one kind of array only
            X = np.ascontiguousarray(X).view()
            X.flags.writeable = False
            self._way(X.shape[0])(X, out, n_jobs)
        return out.reshape(-1) if self.trees.n_outputs == 1 else out

    def _predict_sparse(self, X: Any, n_jobs: int | None, start: np.ndarray | None) -> np.ndarray:
        cuts = (slice(i, i + _DENSE_ROWS) for i in range(0, max(X.shape[0], 1), _DENSE_ROWS))
        parts = [self.predict(X[cut].toarray(), n_jobs, None if start is None else start[cut]) for cut in cuts]
        return np.concatenate(parts)

    def _way(self, rows: int) -> Callable[[np.ndarray, np.ndarray, int | None], None]:
        """The fastest kernel that can score the ensemble."""
        if self.masked and rows > self.few:
            return self._by_masks
        return self._by_walking if self.steps is None else self._by_steps

    def _by_steps(self, X: np.ndarray, out: np.ndarray, n_jobs: int | None) -> None:
        from plackett.scorers.trees.steps import score_by_steps

        width = min(len(X), _FEW_ROWS)
        arguments = (X, *self._of_steps(X.dtype), width, out)
        if len(X) <= width:  # the whole call takes microseconds: no threads to think about
            score_by_steps(0, 1, _ONE_BLOCK[width], *arguments)
            return
        blocks, least = self._blocks(len(X), width), self._rows_per_thread()
        over_queries(score_by_steps, blocks, *arguments, n_jobs=n_jobs, rows_per_thread=least)

    def _of_steps(self, dtype: Any) -> tuple[Any, ...]:
        """What the kernel of steps knows of the ensemble."""
        known = self._known.get(dtype)
        if known is None:
            c, t, s = self.codes, self.trees, self.steps
            assert s is not None
            known = self._known[dtype] = (
                c.thresholds32 if dtype == np.float32 else c.thresholds, c.table_offsets, c.row_feature, c.row_missing,
                c.row_block, c.row_mirrored, c.row_set, t.set_offsets, t.set_words, t.tiny, s.words, s.first,
                s.n_splits, s.depth, t.leaf_value, t.leaf_offsets,
            )  # fmt: skip
        return known

    def _by_walking(self, X: np.ndarray, out: np.ndarray, n_jobs: int | None) -> None:
        from plackett.scorers.trees.walk import walk

        t = self.trees
        over_queries(
            walk, self._blocks(len(X), 1), X, t.split_offsets, t.leaf_offsets, t.feature, t.threshold, t.decision,
            t.left, t.right, t.leaf_value, t.set_offsets, t.set_words, t.tiny, out, n_jobs=n_jobs,
            rows_per_thread=self._rows_per_thread(),
        )  # fmt: skip

    def _by_masks(self, X: np.ndarray, out: np.ndarray, n_jobs: int | None) -> None:
        from plackett.scorers.trees.masks import LANES, MOST_ROWS, score_by_masks

        c, t, least = self.codes, self.trees, self._rows_per_thread()
        threads = min(n_threads(n_jobs), 1 + len(X) // least)
        width = min(-(-len(X) // (threads * LANES)) * LANES, MOST_ROWS)  # something for each thread
        over_queries(
            score_by_masks, self._blocks(len(X), width), X, c.thresholds32 if X.dtype == np.float32 else c.thresholds,
            c.table_offsets, c.row_feature, c.row_missing, c.row_block, c.row_mirrored, c.row_set, t.set_offsets,
            t.set_words, t.tiny, c.nodes, c.node_offsets, c.byte_offsets, c.leaf_value, c.leaf_offsets, out,
            n_jobs=n_jobs, rows_per_thread=least,
        )  # fmt: skip

    def _blocks(self, rows: int, width: int) -> np.ndarray:
        return np.append(np.arange(0, rows, width), rows)

    def _rows_per_thread(self) -> int:
        return 1 + _WORK_PER_THREAD // max(self.trees.feature.size, 1)
