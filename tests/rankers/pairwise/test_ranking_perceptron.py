"""The perceptron on pairs: plain loops, the mistake bound, votes, a kernel."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.kernel_approximation import Nystroem

from plackett import RankingDataset
from plackett.data.canonical import canonical_order
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.ranking_perceptron import RankingPerceptron
from plackett.scorers.voting import VotingScorer

MASK = (1 << 64) - 1


def mix(x):
    """SplitMix64, in whole numbers of Python."""
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def turns(n, seed, turn):
    """The order in which pairs come in a pass: a permutation from a Feistel network."""
    half = next(h for h in range(1, 40) if 1 << (2 * h) >= n)
    mask, order = (1 << half) - 1, []
    for x in range(n):
        while True:
            left, right = x >> half, x & mask
            for r in range(4):
                left, right = right, left ^ (mix(right ^ mix((seed + turn + r) & MASK)) & mask)
            x = (left << half) | right
            if x < n:
                break
        order.append(x)
    assert sorted(order) == list(range(n))
    return order


def ideal_ranks(data):
    """Mean position of the grade of each document in the ideal list of its query."""
    ranks = np.zeros(data.n_rows)
    for q in range(data.n_queries):
        rows = np.arange(data.offsets[q], data.offsets[q + 1])
        for row in rows:
            above, same = (data.y[rows] > data.y[row]).sum(), (data.y[rows] == data.y[row]).sum()
            ranks[row] = above + (same + 1) / 2
    return ranks


def reference(data, uneven, margin, passes):
    """All weights, one per pair looked at, as the definition has them."""
    X = data.X.astype(float) if isinstance(data.X, np.ndarray) else data.X.toarray().astype(float)
    ranks = ideal_ranks(data)
    g = {
        "rank": lambda u, v: 1 / ranks[u] - 1 / ranks[v],
        "label": lambda u, v: data.y[u] - data.y[v],
        "none": lambda u, v: 1.0,
    }[uneven]
    weight = np.ones(data.n_rows) if data.sample_weight is None else data.sample_weight
    seed = int(np.random.default_rng(0).integers(2**63))
    entries = []
    for q in range(data.n_queries):
        rows = np.arange(data.offsets[q], data.offsets[q + 1])
        rows = rows[data.y[rows] >= 0]
        rows = rows[np.argsort(-data.y[rows], kind="stable")]
        entries += [(u, v) for u in rows for v in rows if data.y[v] < data.y[u]]
    w, path, changes = np.zeros(X.shape[1]), [], 0
    for turn in range(passes):
        for i in turns(len(entries), seed, turn):
            u, v = entries[i]
            share = weight[u] * weight[v]
            if share == 0:
                continue
            if w @ (X[u] - X[v]) <= margin * g(u, v):
                w = w + share * g(u, v) * (X[u] - X[v])
                changes += 1
            path.append(w)
    return np.array(path), changes


def task(seed=0, sparse=False, weighted=False, noise=1.5):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(7), rng.integers(1, 14, 7))
    X = np.where(rng.random((qid.size, 4)) < 0.3, 0.0, rng.normal(size=(qid.size, 4))).astype(np.float32)
    y = np.clip(np.round(X[:, 0] - X[:, 1] + noise * rng.normal(size=qid.size)), -1, 2)
    weight = rng.integers(0, 3, qid.size) if weighted else None
    return canonical_order(RankingDataset.from_arrays(csr_matrix(X) if sparse else X, y, qid, sample_weight=weight))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("uneven", "margin"), [("rank", 1.0), ("label", 0.7), ("none", 0.0), ("none", 3.0)])
def test_passes_against_a_plain_loop(uneven, margin, weighted, sparse):
    """The lazy mean is the explicit one, over every pair looked at, changed by it or not."""
    data = task(sparse=sparse, weighted=weighted)
    path, changes = reference(data, uneven, margin, 3)
    settings = {"uneven": uneven, "margin": margin, "max_iter": 3, "standardize": False}
    last = RankingPerceptron(output="last", **settings).fit(data)
    assert sum(last.mistakes_) == changes > 0
    np.testing.assert_allclose(last.scorer_.weights[:, 0], path[-1], atol=1e-9)
    mean = RankingPerceptron(**settings).fit(data)
    np.testing.assert_allclose(mean.scorer_.weights[:, 0], path.mean(axis=0), atol=1e-9)


def test_the_margin_must_be_exceeded():
    """One pair, ranks 1 and 2, so g = ½: 0 ≤ ½, then ½ ≤ ½, then 1 > ½."""
    X, y, qid = np.array([[1.0, 0.0], [0.0, 0.0]]), [1, 0], [1, 1]
    settings = {"margin": 1.0, "standardize": False, "output": "last"}
    for passes, expected in ((1, 0.5), (2, 1.0), (3, 1.0)):
        ranker = RankingPerceptron(max_iter=passes, **settings).fit(X, y, qid=qid)
        np.testing.assert_array_equal(ranker.scorer_.weights[:, 0], [expected, 0.0])
    assert RankingPerceptron(max_iter=9, **settings).fit(X, y, qid=qid).mistakes_ == [1, 1, 0]


def separable(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    X = X[np.abs(X @ [1.0, -2.0, 0.5] % 1.0 - 0.5) < 0.4]  # a gap between grades
    y = np.floor(X @ [1.0, -2.0, 0.5])
    data = RankingDataset.from_arrays(X, y - y.min(), np.arange(len(X)) // 10)
    pairs = Preferences.from_labels(data)
    return data, data.X[pairs.winner].astype(float) - data.X[pairs.loser]


@pytest.mark.parametrize("seed", range(5))
def test_mistake_bound(seed):
    """At most (max |Δ| / ρ)² changes in all, for every unit vector without a mistake; no change in the last pass."""
    data, Z = separable(seed)
    # a vector of large margin: max ρ with Z u ≥ ρ, |u|∞ ≤ 1, then scaled to length 1
    solved = linprog(
        [0, 0, 0, -1],
        A_ub=np.column_stack([-Z, np.ones(len(Z))]),
        b_ub=np.zeros(len(Z)),
        bounds=[(-1, 1)] * 3 + [(0, None)],
    )
    rho = solved.x[3] / np.linalg.norm(solved.x[:3])
    assert rho > 0
    ranker = RankingPerceptron(uneven="none", margin=0.0, max_iter=10_000, standardize=False, output="last").fit(data)
    assert ranker.mistakes_[-1] == 0
    longest = (Z**2).sum(axis=1).max()
    assert 0 < sum(ranker.mistakes_) <= longest / rho**2
    assert longest <= 4 * (data.X.astype(float) ** 2).sum(axis=1).max()
    assert (Z @ ranker.scorer_.weights[:, 0] > 0).all()


def test_kernel_perceptron():
    """On Nyström features of all documents it makes the changes of the perceptron in the space of the kernel."""
    data = task(seed=3, noise=0.5)
    features = Nystroem(gamma=0.3, n_components=data.n_rows, random_state=0).fit_transform(data.X.astype(float))
    mapped = data.replace(X=features.astype(np.float32))
    ranker = RankingPerceptron(uneven="none", margin=0.0, max_iter=2, standardize=False, output="last")
    X = data.X.astype(float)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    seed = int(np.random.default_rng(0).integers(2**63))
    # the rows keep their order: a dataset of the same labels, whose features are the kernel's coefficients
    ordered = canonical_order(mapped)
    rows = [int(np.abs(mapped.X - x).sum(axis=1).argmin()) for x in ordered.X]
    entries, c, changes = [], np.zeros(data.n_rows), 0
    for q in range(ordered.n_queries):
        mine = [r for r in range(ordered.offsets[q], ordered.offsets[q + 1]) if ordered.y[r] >= 0]
        mine.sort(key=lambda r: -ordered.y[r])
        entries += [(u, v) for u in mine for v in mine if ordered.y[v] < ordered.y[u]]
    for turn in range(2):
        for i in turns(len(entries), seed, turn):
            u, v = entries[i]
            if c @ (K[:, rows[u]] - K[:, rows[v]]) <= 1e-6:  # 0, up to the rounding of float32 features
                c[rows[u]] += 1
                c[rows[v]] -= 1
                changes += 1
    ranker.fit(mapped)
    assert sum(ranker.mistakes_) == changes > 0
    np.testing.assert_allclose(ranker.predict(mapped), K @ c, atol=1e-4)


def test_preferences_take_the_place_of_labels():
    data = RankingDataset.from_arrays(np.eye(3), None, [1, 1, 1])
    pairs = Preferences.from_pairs([(2, 0), (0, 1)], margin=[2.0, 1.0], weight=[1.0, 3.0])
    ranker = RankingPerceptron(margin=0.0, max_iter=5, standardize=False, output="last")
    ranker._fit(data.replace(preferences=pairs), ranker.make_monitor(None))
    w = ranker.scorer_.weights[:, 0]
    assert w[2] > w[0] > w[1]
    # the steps are multiples of margin times weight
    assert set(np.abs(w)) <= {1.0, 2.0, 3.0, 5.0, 6.0}


# -------------------------------------------------------------------------------------------------------------- votes


def test_votes_against_a_double_loop():
    rng = np.random.default_rng(0)
    X, offsets = rng.integers(-2, 3, (30, 3)).astype(np.float32), np.array([0, 1, 12, 12, 30])
    scorer = VotingScorer(rng.normal(size=(4, 3)).round(0), np.array([1.0, 5.0, 0.0, 2.0]))
    result = VotingScorer.from_arrays(scorer.to_arrays()).predict(X, offsets)
    for a, b in pairwise(offsets):
        for u in range(a, b):
            wins = sum(
                c * np.sign(w @ X[u].astype(float) - w @ X[v].astype(float))
                for w, c in zip(scorer.weights, scorer.counts, strict=True)
                for v in range(a, b)
            )
            np.testing.assert_allclose(result[u], wins / 8.0 / max(b - a - 1, 1), atol=1e-12)


def test_voters_are_the_weights_that_lasted():
    data = task()
    path, _ = reference(data, "none", 0.0, 4)
    lasted = {}
    for before, after in zip(np.vstack([np.zeros(4), path[:-1]]), path, strict=True):
        if (before == after).all():  # right: the weights get a vote
            lasted[tuple(after)] = lasted.get(tuple(after), 0) + 1
    settings = {"uneven": "none", "margin": 0.0, "max_iter": 4, "standardize": False, "output": "voted"}
    scorer = RankingPerceptron(max_votes=10_000, **settings).fit(data).scorer_
    assert len(lasted) > 10
    assert scorer.counts.sum() == sum(lasted.values())
    few = RankingPerceptron(max_votes=3, **settings).fit(data).scorer_
    assert few.counts.size <= 4  # and the weights at the end
    assert sorted(scorer.counts)[-2:] == sorted(few.counts)[-2:]


@pytest.mark.parametrize("change", [{"counts": np.ones(3)}, {"counts": -np.ones(2)}, {"weights": np.ones(2)}])
def test_damaged_votes_are_refused(change):
    arrays = VotingScorer(np.ones((2, 3)), np.ones(2)).to_arrays()
    with pytest.raises(ValueError, match="voting model is damaged"):
        VotingScorer.from_arrays(arrays | change)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"uneven": "odd"}, "uneven='odd'; give one of 'rank', 'label', 'none'"),
        ({"output": "first"}, "output='first'; give one of 'averaged', 'voted', 'last'"),
        ({"margin": -1.0}, "0 or"),
    ],
)
def test_refusals(parameters, match):
    with pytest.raises(ValueError, match=match):
        RankingPerceptron(**parameters).fit(task())
