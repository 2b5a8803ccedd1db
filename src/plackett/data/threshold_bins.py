"""Features cut at thresholds: one byte per value, feature by feature, for searches that try every threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett._kernels.kernel import kernel, over_queries
from plackett.data.dense import dense

#: The code of a missing value; a feature that has some has at most 254 thresholds.
MISSING = 255
_BLOCK_COLUMNS = 16
_STRIP = 256


@dataclass(frozen=True, eq=False)
class ThresholdBins:
    """A table of features as codes: how many of a feature's thresholds lie below the value.

    A feature with at most ``n_thresholds + 1`` distinct values has a threshold halfway between each two neighbours.
    With more values, thresholds are at equal steps among the distinct values, so duplicating or omitting documents with
    the same values changes nothing.

    Attributes
    ----------
    thresholds, first
        The thresholds of feature j are ``thresholds[first[j]:first[j + 1]]``, ascending, float32.
    codes
        One row per feature, one column per row of the table, uint8; `MISSING` for NaN in a feature that has NaN.
    missing
        Whether each feature has missing values.

    Examples
    --------
    >>> bins = ThresholdBins.of(np.array([[1, 5], [3, np.nan], [2, 5]], np.float32), 255)
    >>> bins.thresholds.tolist(), bins.codes.tolist()
    ([1.5, 2.5], [[0, 2, 1], [0, 255, 0]])
    """

    thresholds: np.ndarray
    first: np.ndarray
    codes: np.ndarray
    missing: np.ndarray

    @classmethod
    def of(cls, X: Any, n_thresholds: int, n_jobs: int | None = None) -> ThresholdBins:
        """The codes of a dense table of float32."""
        whole("n_thresholds", n_thresholds, least=1, most=255)
        n, d = X.shape
        codes = np.empty((d, n), np.uint8)
        thresholds, missing = [], np.zeros(d, np.bool_)
        for start in range(0, d, _BLOCK_COLUMNS):
            block = columns(X, slice(start, start + _BLOCK_COLUMNS))
            ordered = np.sort(block, axis=1)  # NaN come last
            missing[start : start + _BLOCK_COLUMNS] = np.isnan(ordered[:, -1:]).any(axis=1)
            parts = [_thresholds(row, n_thresholds) for row in ordered]
            edges = np.concatenate(([0], np.cumsum([part.size for part in parts])))
            rows = np.arange(len(parts) + 1) * n
            over_queries(
                _encode, rows, block, np.concatenate(parts), edges, codes[start : start + _BLOCK_COLUMNS], n_jobs=n_jobs
            )
            thresholds += parts
        first = np.concatenate(([0], np.cumsum([part.size for part in thresholds])))
        return cls(np.concatenate(thresholds), first, codes, missing)


def columns(X: Any, chosen: slice | int) -> np.ndarray:
    """Some columns of a dense or sparse table as the rows of a dense one; one column as a vector."""
    part = X[:, [chosen]] if isinstance(chosen, int) else X[:, chosen]
    filled = dense(part)
    return filled[:, 0] if isinstance(chosen, int) else np.ascontiguousarray(filled.T)


def _thresholds(ordered: np.ndarray, n_thresholds: int) -> np.ndarray:
    """The thresholds of a feature, from its values in ascending order, NaN last."""
    known = ordered[: np.searchsorted(ordered, np.nan)]
    distinct = known[np.append(True, known[1:] != known[:-1])] if known.size else known
    most = min(n_thresholds, MISSING - 1) if known.size < ordered.size else n_thresholds
    gaps = distinct.size - 1
    if gaps < 1:
        return np.empty(0, np.float32)
    cut = np.arange(gaps) if gaps <= most else np.arange(1, most + 1) * distinct.size // (most + 1) - 1
    below, above = distinct[cut], distinct[cut + 1]
    middle = (0.5 * (below.astype(np.float64) + above)).astype(np.float32)
    return np.where(middle < above, middle, below)  # between neighbouring floats there is no middle


@kernel
def _encode(lo, hi, rows, block, thresholds, first, codes):
    # all values of a strip are bisected in step: no branches to predict, no steps that wait for each other
    bin = np.empty(_STRIP, np.int32)
    for j in range(lo, hi):
        edges = thresholds[first[j] : first[j + 1]]
        for start in range(0, block.shape[1], _STRIP):
            x = block[j, start : start + _STRIP]
            for i in range(x.size):
                bin[i] = 0
            n = edges.size
            while n > 0:
                half = (n + 1) >> 1
                for i in range(x.size):
                    bin[i] += half if edges[bin[i] + half - 1] < x[i] else 0
                n -= half
            for i in range(x.size):
                codes[j, start + i] = MISSING if np.isnan(x[i]) else bin[i]
