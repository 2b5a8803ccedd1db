"""Tree ensembles of other libraries, converted to the rule of our kernels: ``x <= threshold`` goes left.

Libraries differ in three things: whether a row goes left below the threshold or up to it, whether values are rounded to
float32 before they are compared, and where missing values go. Each combination has an equivalent threshold in float64,
so the kernels need only one rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers.trees.arrays import DEFAULT_LEFT, MISSING_NAN, MISSING_NONE, MISSING_ZERO, TreeArrays

_MISSING = {"nan": MISSING_NAN, "zero": MISSING_ZERO, "none": MISSING_NONE}


def build_trees(
    n_features: int,
    n_splits: Any,
    feature: Any,
    threshold: Any,
    left: Any,
    right: Any,
    leaf_value: Any,
    *,
    comparison: Literal["<=", "<"] = "<=",
    float32_inputs: bool = False,
    missing: Literal["nan", "zero", "none"] = "nan",
    missing_left: Any = False,
    n_outputs: int = 1,
    feature_names: Sequence[str] | None = None,
) -> TreeArrays:
    """Checked arrays of an ensemble that LightGBM did not grow.

    Parameters
    ----------
    n_features, n_outputs
        Columns of a row; scores per row. Tree t belongs to output ``t % n_outputs``.
    n_splits
        Number of splits of each tree, which has one leaf more. The next four have an entry per split, tree after tree.
    feature, threshold
        A row goes left where its value compares with the threshold as ``comparison`` says, else right.
    left, right
        Children: a split of the same tree, counted from its first, or ``~leaf``. A split comes before its children.
    leaf_value
        Value of each leaf, tree after tree. They are added in the order of the trees, in float64.
    comparison
        ``"<="`` (LightGBM, RankLib, scikit-learn) or ``"<"`` (XGBoost).
    float32_inputs
        Whether values are rounded to float32 before they are compared, as XGBoost, RankLib and scikit-learn do. This
        matters only for float64 rows. If True, thresholds must be float32 numbers.
    missing
        What counts as missing: NaN; NaN and 0; or nothing, in which case NaN is treated as 0.
    missing_left
        Whether missing values go left: for all splits, or for each.
    feature_names
        Names without blanks; None numbers them.

    Examples
    --------
    A stump of XGBoost, ``x0 < 0.5``, missing values to the left:

    >>> trees = build_trees(1, [1], [0], [0.5], [~0], [~1], [-1.0, 1.0], comparison="<", float32_inputs=True,
    ...                     missing_left=True)
    >>> from plackett.scorers.trees.scorer import TreeScorer
    >>> TreeScorer.of(trees).predict(np.array([[0.4], [0.5], [np.nan], [0.5 - 1e-12]]), None).tolist()
    [-1.0, 1.0, -1.0, 1.0]
    """
    sizes = np.asarray(n_splits, np.int64)
    splits, leaves = int(sizes.sum()), int(sizes.sum()) + sizes.size
    if sizes.ndim != 1 or (sizes < 0).any() or n_features < 1:
        raise DataError("n_splits must be a list of numbers from 0, and n_features at least 1")
    if comparison not in ("<=", "<") or missing not in _MISSING:
        raise DataError(f"comparison={comparison!r}, missing={missing!r}; give '<=' or '<', and {', '.join(_MISSING)}")
    names = [f"Column_{j}" for j in range(n_features)] if feature_names is None else list(feature_names)
    goes_left = np.broadcast_to(np.asarray(missing_left, bool), splits)
    trees = TreeArrays(
        n_features=n_features,
        n_outputs=n_outputs,
        split_offsets=np.concatenate(([0], np.cumsum(sizes))),
        leaf_offsets=np.concatenate(([0], np.cumsum(sizes + 1))),
        feature=np.array(feature, np.int32),
        threshold=equal_threshold(np.asarray(threshold, np.float64), comparison, float32_inputs),
        decision=(np.where(goes_left, DEFAULT_LEFT, 0) + 4 * _MISSING[missing]).astype(np.uint8),
        left=np.array(left, np.int32),
        right=np.array(right, np.int32),
        leaf_value=np.array(leaf_value, np.float64),
        set_offsets=np.zeros(1, np.int64),
        set_words=np.zeros(0, np.uint32),
        shrinkage=np.ones(sizes.size),
        **{name: np.zeros(splits) for name in ("split_gain", "internal_value", "internal_weight")},
        internal_count=np.zeros(splits, np.int32),
        leaf_weight=np.zeros(leaves),
        leaf_count=np.zeros(leaves, np.int32),
        feature_names=" ".join(map(str, names)),
        feature_infos=" ".join(["none"] * n_features),
        monotone_constraints=np.zeros(0, np.int8),
        tiny=0.0,
    )
    trees.check()
    return trees


def equal_threshold(threshold: np.ndarray, comparison: str, float32_inputs: bool) -> np.ndarray:
    """Float64 thresholds t such that ``x <= t`` decides what the comparison decides, for every float64 number x.

    >>> equal_threshold(np.array([1.0]), "<", False) == np.nextafter(1.0, 0.0)
    array([ True])
    >>> equal_threshold(np.array([1.0]), "<=", True) == 1.0 + 2.0**-24  # half of the next float32 number still rounds
    array([ True])
    """
    if not float32_inputs:
        return np.nextafter(threshold, -np.inf) if comparison == "<" else threshold
    with np.errstate(over="ignore"):
        last = threshold.astype(np.float32)
    if (last != threshold).any():
        bad = threshold[last != threshold][0]
        raise DataError(f"the threshold {bad!r} is not a float32 number, though inputs are rounded to float32")
    with np.errstate(all="ignore"):
        if comparison == "<":
            last = np.nextafter(last, np.float32(-np.inf))  # the largest float32 number that goes left
        following = np.nextafter(last, np.float32(np.inf))
    low, high = (_unbounded(values) for values in (last, following))
    middle = 0.5 * (low + high)
    even = (last.view(np.uint32) & 1) == 0  # the middle rounds to the even one of its neighbours
    largest = np.where(even, middle, np.nextafter(middle, -np.inf))
    return np.where(last == np.inf, np.inf, largest)


def _unbounded(values: np.ndarray) -> np.ndarray:
    """Float32 numbers as float64, with infinity as the number that would follow the largest finite one."""
    wide = values.astype(np.float64)
    return np.where(np.isinf(wide), np.sign(wide) * 2.0**128, wide)
