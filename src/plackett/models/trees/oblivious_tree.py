"""One symmetric tree: all nodes of a level ask the same question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.data.threshold_bins import MISSING, ThresholdBins, columns

_BINS = 256


@dataclass(frozen=True)
class Question:
    """The split of a level: whether the feature is above the threshold.

    A missing value goes to the side that was better in training. ``missing_left`` is None if the training data had no
    missing values; then they count as 0.
    """

    feature: int
    threshold: float
    missing_left: bool | None
    gain: float

    def answer(self, X: Any) -> np.ndarray:
        """Whether each row of a table goes right."""
        x = columns(X, self.feature)
        blank = np.isnan(x)
        above = np.where(blank, 0.0, x) > self.threshold
        return above if self.missing_left is None else np.where(blank, not self.missing_left, above)


@dataclass(frozen=True)
class Limits:
    """Limits of a tree: its levels, the least documents and curvature of a leaf, and the L2 penalty of leaf values."""

    depth: int
    rows: int
    curvature: float
    penalty: float


@dataclass(frozen=True, eq=False)
class ObliviousTree:
    """The questions of the levels, and for each of the 2^levels leaves its value, documents and curvature.

    The bits of a leaf's number are the answers; that of the first level is the highest.
    """

    questions: tuple[Question, ...]
    values: np.ndarray
    counts: np.ndarray
    weights: np.ndarray

    def predict(self, X: Any) -> np.ndarray:
        """The value of each row of a table."""
        leaf = np.zeros(X.shape[0], np.int32)
        for question in self.questions:
            leaf = 2 * leaf + question.answer(X)
        return self.values[leaf]

    def lines(self) -> dict[str, str]:
        """The tree as LightGBM writes it: a full binary tree, its nodes level by level."""
        leaves, depth = self.values.size, len(self.questions)
        counts = np.maximum(self.counts, 1)  # TreeSHAP divides by them, and a leaf of this tree may be empty
        tree = {"num_leaves": str(leaves), "num_cat": "0"}
        if depth:
            level = np.repeat(np.arange(depth), 2 ** np.arange(depth))
            left = 2 * np.arange(leaves - 1) + 1
            child = [np.where(c < leaves - 1, c, -(c - leaves + 1) - 1) for c in (left, left + 1)]
            per_level = {
                "split_feature": [q.feature for q in self.questions],
                "split_gain": [q.gain / 2**i for i, q in enumerate(self.questions)],
                "threshold": [q.threshold for q in self.questions],
                # LightGBM's bits: 2 missing values go left, 8 missing values are NaN
                "decision_type": [2 if q.missing_left is None else 8 + 2 * q.missing_left for q in self.questions],
            }
            tree |= {name: _text([values[i] for i in level]) for name, values in per_level.items()}
            tree |= {"left_child": _text(child[0].tolist()), "right_child": _text(child[1].tolist())}
        tree |= {"leaf_value": _text(self.values.tolist()), "leaf_weight": _text(self.weights.tolist())}
        tree |= {"leaf_count": _text(counts.tolist())}
        if depth:
            sums = (self.values * counts, self.weights, counts)
            upper = [np.concatenate([a.reshape(2**i, -1).sum(axis=1) for i in range(depth)]) for a in sums]
            tree["internal_value"] = _text((upper[0] / upper[2]).tolist())
            tree["internal_weight"] = _text(upper[1].tolist())
            tree["internal_count"] = _text(upper[2].tolist())
        return tree | {"is_linear": "0", "shrinkage": "1"}


def _text(values: list[Any]) -> str:
    return " ".join(map(repr, values))


def grow(
    bins: ThresholdBins,
    gradient: np.ndarray,
    curvature: np.ndarray,
    used: np.ndarray,
    limits: Limits,
    rate: float,
    n_jobs: int | None,
) -> tuple[ObliviousTree, np.ndarray]:
    r"""Grow a tree; also returns the leaf of each row.

    A level asks the question with the largest sum over its nodes of
    :math:`G_l^2 / (H_l + \lambda) + G_r^2 / (H_r + \lambda) - G^2 / (H + \lambda)`, in which a node counts only if
    both sides satisfy the limits. A leaf of too few documents has the value of the node above it.
    """
    node = np.zeros(gradient.size, np.int32)
    questions: list[Question] = []
    d = bins.missing.size
    work = np.arange(d + 1) * gradient.size
    for level in range(limits.depth):
        totals = _totals(node, gradient, curvature, 1 << level)
        gains, cuts, missing_left = np.zeros(d), np.zeros(d, np.int64), np.zeros(d, np.bool_)
        numbers = (limits.rows, limits.curvature, limits.penalty)
        table = (bins.codes, node, gradient, curvature, bins.first, bins.missing, used, totals)
        over_queries(_best_splits, work, *table, *numbers, gains, cuts, missing_left, n_jobs=n_jobs)
        j = int(np.argmax(gains))
        if not gains[j] > 0.0:
            break
        b, codes = int(cuts[j]), bins.codes[j]
        right = codes > b
        side = bool(missing_left[j]) if bins.missing[j] else None
        if side:
            right &= codes != MISSING
        node = 2 * node + right
        questions.append(Question(j, float(bins.thresholds[bins.first[j] + b]), side, float(gains[j])))
    totals = _totals(node, gradient, curvature, 1 << len(questions))
    values = rate * _values(totals, limits)
    return ObliviousTree(tuple(questions), values, totals[:, 2].astype(np.int64), totals[:, 1].copy()), node


def _totals(node: np.ndarray, gradient: np.ndarray, curvature: np.ndarray, n_nodes: int) -> np.ndarray:
    """Gradient, curvature and number of documents of each node."""
    sums = [np.bincount(node, weights, n_nodes) for weights in (gradient, curvature, None)]
    return np.ascontiguousarray(np.stack(sums, axis=1), dtype=np.float64)


def _values(totals: np.ndarray, limits: Limits) -> np.ndarray:
    """Newton step of each leaf, or of the lowest node above it that satisfies the limits."""
    values = np.zeros(1)
    n_leaves, width = totals.shape[0], 1
    while width <= n_leaves:
        gradient, curvature, rows = totals.reshape(width, -1, 3).sum(axis=1).T
        below = curvature + limits.penalty
        step = np.divide(-gradient, below, out=np.zeros(width), where=below > 0.0)
        above = values if width == 1 else np.repeat(values, 2)
        values = np.where((rows >= limits.rows) & (curvature >= limits.curvature), step, above)
        width *= 2
    return values


@kernel(inline=True)
def _worth(gradient, curvature, penalty):
    below = curvature + penalty
    return gradient * gradient / below if below > 0.0 else 0.0


@kernel
def _best_splits(
    lo,
    hi,
    work,
    codes,
    node,
    gradient,
    curvature,
    first,
    missing,
    used,
    totals,
    least_rows,
    least_curvature,
    penalty,
    gains,
    cuts,
    missing_left,
):
    n_nodes = totals.shape[0]
    histogram = np.empty((n_nodes * _BINS, 3))
    left = np.empty((n_nodes, 3))
    before = np.empty(n_nodes)
    for k in range(n_nodes):
        before[k] = _worth(totals[k, 0], totals[k, 1], penalty)
    for j in range(lo, hi):
        n_thresholds = first[j + 1] - first[j]
        if not used[j] or n_thresholds == 0:
            continue
        histogram[:] = 0.0
        code = codes[j]
        for i in range(code.size):
            b = node[i] * _BINS + code[i]
            histogram[b, 0] += gradient[i]
            histogram[b, 1] += curvature[i]
            histogram[b, 2] += 1.0
        for with_left in range(2 if missing[j] else 1):  # missing values with the right side, then with the left
            for k in range(n_nodes):
                for c in range(3):
                    left[k, c] = histogram[k * _BINS + MISSING, c] if with_left else 0.0
            for b in range(n_thresholds):
                gain = 0.0
                for k in range(n_nodes):
                    for c in range(3):
                        left[k, c] += histogram[k * _BINS + b, c]
                    rows = totals[k, 2] - left[k, 2]
                    rest = totals[k, 1] - left[k, 1]
                    if min(left[k, 2], rows) >= least_rows and min(left[k, 1], rest) >= least_curvature:
                        gain += _worth(left[k, 0], left[k, 1], penalty) - before[k]
                        gain += _worth(totals[k, 0] - left[k, 0], rest, penalty)
                if gain > gains[j]:
                    gains[j] = gain
                    cuts[j] = b
                    missing_left[j] = with_left == 1
