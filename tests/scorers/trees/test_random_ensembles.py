"""Trees of any shape, not only those LightGBM would grow: kernels, a plain walk and LightGBM agree in every bit."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.scorers.trees.arrays import TINY, TreeArrays
from plackett.scorers.trees.scoring import TreeKernels
from plackett.scorers.trees.text import write_text

lgb = pytest.importorskip("lightgbm")

#: Numbers at the edges of LightGBM's zero, of float32 and of float64.
EDGES = [
    0.0,
    -0.0,
    TINY,
    -TINY,
    np.nextafter(TINY, 1.0),
    1e-45,
    -5e-324,
    3.4028234663852886e38,
    1e39,
    -1e300,
    16777217.0,
]
SIZES = {
    "one leaf": [1] * 3,
    "stumps": [2] * 9,
    "edges of bytes": [1, 2, 3, 8, 9, 63, 64, 65],
    "edges of masks": [127, 128, 255, 256],
    "too large for masks": [257, 1, 300],
}
ROWS = (0, 1, 2, 6, 63, 64, 65, 128, 129, 256, 257)


def children(n_leaves, shape, rng):
    """Children of the splits: each new split takes the place of a leaf, by the shape the first, the last or any."""
    child = np.full((n_leaves - 1, 2), -1)
    free = []
    for split in range(n_leaves - 1):
        if split:
            position = {"wide": 0, "chain": len(free) - 1}.get(shape, rng.integers(len(free)))
            child[free.pop(position)] = split
        sides = [(split, 0), (split, 1)]
        free += sides if rng.random() < 0.5 else sides[::-1]
    for position, leaf in zip(free, rng.permutation(len(free)), strict=True):
        child[position] = ~leaf
    return child


def ensemble(sizes, rng, n_features=4):
    """Splits of all kinds: few thresholds and many, edges, everything that can be missing, sets of categories."""
    sizes = np.array(sizes)
    shapes = rng.choice(["wide", "chain", "any"], sizes.size)
    links = np.concatenate([children(size, shape, rng) for size, shape in zip(sizes, shapes, strict=True)])
    n, n_leaves = len(links), int(sizes.sum())
    threshold = np.where(rng.random(n) < 0.5, rng.normal(size=n), rng.normal(size=n).round(1))
    threshold = np.where(rng.random(n) < 0.2, rng.choice(EDGES, n), threshold)
    decision = 4 * rng.integers(0, 3, n) + 2 * rng.integers(0, 2, n)
    by_category = np.flatnonzero(rng.random(n) < 0.2)
    decision[by_category] |= 1
    threshold[by_category] = np.arange(by_category.size)
    set_sizes = rng.integers(1, 5, by_category.size)
    trees = TreeArrays(
        n_features=n_features,
        n_outputs=1,
        split_offsets=np.concatenate(([0], np.cumsum(sizes - 1))),
        leaf_offsets=np.concatenate(([0], np.cumsum(sizes))),
        feature=rng.integers(0, n_features, n).astype(np.int32),
        threshold=threshold,
        decision=decision.astype(np.uint8),
        left=links[:, 0].astype(np.int32),
        right=links[:, 1].astype(np.int32),
        leaf_value=rng.normal(size=n_leaves) * 10.0 ** rng.integers(-6, 6, n_leaves),
        set_offsets=np.concatenate(([0], np.cumsum(set_sizes))),
        set_words=rng.integers(0, 2**32, set_sizes.sum(), dtype=np.uint32),
        shrinkage=np.ones(sizes.size),
        **{name: np.zeros(n) for name in ("split_gain", "internal_value", "internal_weight")},
        internal_count=np.zeros(n, np.int32),
        leaf_weight=np.zeros(n_leaves),
        leaf_count=np.zeros(n_leaves, np.int32),
        feature_names=" ".join(f"f{j}" for j in range(n_features)),
        feature_infos=" ".join(["none"] * n_features),
        monotone_constraints=np.zeros(0, np.int8),
    )
    trees.check()
    return trees


def rows(trees, n, dtype, rng):
    """Ordinary values, missing ones, categories (negative and unseen too), edges, thresholds and their neighbours."""
    X = rng.normal(size=(n, trees.n_features))
    pools = [[np.nan], [0.0], [*EDGES, np.inf, -np.inf], rng.integers(-2, 200, 50) + 0.5, [3e9]]
    pools += [np.append(trees.threshold[trees.decision % 2 == 0], 0.0)] * 3
    kind = rng.integers(0, 2 * len(pools), X.shape)
    for number, pool in enumerate(pools):
        X[kind == number] = rng.choice(pool, int((kind == number).sum()))
    with np.errstate(over="ignore", under="ignore"):
        X = X.astype(dtype)
        return np.where(rng.random(X.shape) < 0.2, np.nextafter(X, rng.choice([dtype(-9), dtype(9)], X.shape)), X)


def plain_score(trees, x):
    """The leaves of one row, added up tree by tree, by LightGBM's rules as its source states them."""
    score = 0.0
    for t in range(trees.n_trees):
        first = int(trees.split_offsets[t])
        node = 0 if trees.split_offsets[t + 1] > first else ~0
        while node >= 0:
            s = first + node
            value, threshold, decision = float(x[trees.feature[s]]), float(trees.threshold[s]), int(trees.decision[s])
            missing, default_left = decision >> 2, bool(decision & 2)
            if decision & 1:
                begin, end = (int(trees.set_offsets[int(threshold) + i]) for i in (0, 1))
                category = int(value) if np.isfinite(value) else -1
                inside = 0 <= category < 32 * (end - begin)
                left = inside and bool(int(trees.set_words[begin + category // 32]) >> category % 32 & 1)
            else:
                if np.isnan(value) and missing != 2:
                    value = 0.0
                zero = abs(value) <= TINY
                is_missing = (missing == 1 and zero) or (missing == 2 and np.isnan(value))
                left = default_left if is_missing else (0.0 if zero else value) <= threshold
            node = int(trees.left[s] if left else trees.right[s])
        score += float(trees.leaf_value[trees.leaf_offsets[t] + ~node])
    return score


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_any_trees_any_rows(sizes, dtype):
    rng = np.random.default_rng(len(sizes))
    trees = ensemble(rng.permutation(sizes), rng)
    X = rows(trees, max(ROWS), dtype, rng)
    kernels = TreeKernels(trees)
    expected = lgb.Booster(model_str=write_text(trees)).predict(X, raw_score=True, num_threads=1)
    for n in ROWS:
        assert kernels.predict(X[:n]).tobytes() == expected[:n].tobytes()
        assert kernels.predict(np.asfortranarray(X)[::-1][:n]).tobytes() == expected[::-1][:n].tobytes()
    assert [plain_score(trees, x) for x in X[::16]] == expected[::16].tolist()
