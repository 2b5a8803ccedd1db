"""Semi-supervised rankers: neutral settings, loops, dense solves, planted data with few labels."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import plackett as pk
from plackett import DataError
from plackett.losses.pairwise.logistic import Logistic
from plackett.rankers.semi_supervised._neighbours import list_neighbours, scaled
from plackett.rankers.semi_supervised.graph_propagation import harmonic_labels
from plackett.rankers.semi_supervised.preference_propagation import propagated_pairs
from plackett.rankers.semi_supervised.semi_supervised_rank_boost import separated
from plackett.rankers.semi_supervised.similarity_propagation import propagated_labels
from plackett.rankers.semi_supervised.weak_supervision import soft_pairs
from plackett.scorers.kernel_pca import KERNELS, kernel_components, kernel_matrix

BASE = pk.RankSVM(C=0.01, n_jobs=1)
TREES = pk.GradientRanker(
    loss="Logistic", model=pk.Trees(n_estimators=6, num_leaves=4, min_child_samples=1, n_jobs=1), n_jobs=1
)


def clustered(n_queries, seed, labelled=2, n_docs=20, n_features=6, signal=1, noise=0.35, separation=1.5):
    """Relevant and other documents of a list lie around two centres; of each kind a few have labels."""
    rng = np.random.default_rng(seed)
    kind = np.tile(np.arange(n_docs) % 2, n_queries)
    direction = np.zeros(n_features)
    direction[:signal] = separation * np.resize([1, -1], signal)
    X = np.repeat(0.3 * rng.normal(size=(n_queries, n_features)), n_docs, axis=0) + np.outer(kind, direction)
    X += noise * rng.normal(size=X.shape)
    seen = np.tile(np.arange(n_docs) < 2 * labelled, n_queries)
    y = kind.astype(float)
    data = pk.RankingDataset.from_arrays(X, np.where(seen, y, -1.0), np.repeat(np.arange(n_queries), n_docs))
    return data, data.replace(y=y)


@pytest.fixture(scope="module")
def few():
    return clustered(4, 0)[0]


@pytest.fixture(scope="module")
def test():
    return clustered(40, 1)[1]


NEUTRAL = [
    lambda base: pk.SimilarityPropagation(base=base, n_neighbors=0),
    lambda base: pk.GraphPropagation(base=base, n_neighbors=0),
    lambda base: pk.PreferencePropagation(base=base, n_neighbors=0),
    lambda base: pk.SemiSupervisedRankBoost(base=base, trade_off=0.0),
    lambda base: pk.WeakSupervision(base=base, trade_off=0.0),
    lambda base: pk.KernelFeatures(base=base, n_components=0),
]


@pytest.mark.parametrize("base", [BASE, TREES], ids=["linear", "trees"])
@pytest.mark.parametrize("make", NEUTRAL)
def test_neutral_setting_is_the_base_ranker(make, base, few, test):
    np.testing.assert_array_equal(make(base).fit(few).predict(test), base.fit(few).predict(test))


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("far", [False, True])
def test_neighbours_against_a_loop(few, metric, far):
    X = scaled(few, metric)
    judged = few.labels >= 0
    row, other, value = list_neighbours(few, X, 3, judged, ~judged, metric, far=far)
    for u in np.flatnonzero(judged)[::5]:
        q = few.query_of_row[u]
        there = [v for v in range(few.offsets[q], few.offsets[q + 1]) if not judged[v]]
        close = [X[u] @ X[v] if metric == "cosine" else np.exp(-((X[u] - X[v]) ** 2).sum()) for v in there]
        order = np.argsort(close) if far else np.argsort(-np.array(close))
        assert other[row == u].tolist() == [there[i] for i in order[:3]]
        np.testing.assert_allclose(value[row == u], [close[i] for i in order[:3]])


def test_copies_take_the_label_and_human_labels_stay():
    X = [[0.0, 0.0], [5.0, 5.0], [5.0, 5.0], [0.0, 0.0], [2.6, 2.6]]
    data = pk.RankingDataset.from_arrays(X, [0, 2, -1, -1, -1], qid=[1] * 5)
    result = propagated_labels(data, 1, "euclidean")
    assert result.tolist() == [0, 2, 2, 0, -1]
    both = propagated_labels(data, 3, "euclidean")
    assert both.tolist() == [0, 2, 2, 0, 2]  # the nearest label wins
    assert propagated_labels(data, 3, "euclidean", threshold=0.9).tolist() == [0, 2, 2, 0, -1]
    assert propagated_labels(data, 0, "euclidean").tolist() == data.y.tolist()


def test_harmonic_labels_are_means_of_their_neighbours():
    rng = np.random.default_rng(0)
    W = rng.uniform(size=(8, 8))
    W = np.triu(W, 1) + np.triu(W, 1).T
    labels = np.array([0.0, 2.0, 1.0, -1, -1, -1, -1, -1])
    result = harmonic_labels(labels, csr_matrix(W))
    P = W / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result[3:], (P @ result)[3:], atol=1e-4)
    F = np.where(labels >= 0, labels, 0.0)
    for _ in range(2000):  # Zhu's iteration
        F = np.where(labels >= 0, labels, P @ F)
    np.testing.assert_allclose(result, F, atol=1e-4)
    assert result.min() >= 0 and result.max() <= 2
    island = np.pad(W, (0, 2))
    island[8, 9] = island[9, 8] = 1.0
    assert harmonic_labels(np.append(labels, [-1, -1]), csr_matrix(island))[8:].tolist() == [-1, -1]


def test_mixed_propagation_against_a_dense_solve():
    rng = np.random.default_rng(0)
    like, unlike = (np.triu(rng.uniform(size=(6, 6)), 1) for _ in range(2))
    like, unlike = like + like.T, 0.3 * (unlike + unlike.T)
    labels = np.array([0.0, 2.0, -1, -1, -1, -1])
    result = harmonic_labels(labels, csr_matrix(like), csr_matrix(unlike))
    A = np.diag(like.sum(axis=1)) - like + np.diag(unlike.sum(axis=1)) + unlike
    G = np.array([-1.0, 1.0])
    np.testing.assert_allclose(result[2:] - 1.0, np.linalg.solve(A[2:, 2:], (like - unlike)[2:, :2] @ G), atol=1e-4)
    none = harmonic_labels(labels, csr_matrix(like), csr_matrix((6, 6)))
    np.testing.assert_allclose(none, harmonic_labels(labels, csr_matrix(like)), atol=1e-9)
    weak, strong = csr_matrix((3, 3)).tolil(), csr_matrix((3, 3)).tolil()
    weak[0, 2] = weak[2, 0] = 0.1
    strong[0, 2] = strong[2, 0] = 5.0
    assert harmonic_labels(np.array([2.0, 0.0, -1]), weak.tocsr(), strong.tocsr())[2] < 1.0  # pushed to the other end


def test_propagated_pairs_against_a_loop(few):
    k = 2
    X, judged = scaled(few, "euclidean"), few.labels >= 0
    giver, taker, value = list_neighbours(few, X, k, judged, ~judged, "euclidean")
    near = {}
    for u, v, s in zip(giver, taker, value, strict=True):
        near.setdefault(u, []).append((v, s))
    net = {}
    for u in near:
        for v in near:
            if few.query_of_row[u] == few.query_of_row[v] and few.y[u] > few.y[v]:
                for a, s in near[u]:
                    for b, t in near[v]:
                        if a != b:
                            net[a, b] = net.get((a, b), 0.0) + s * t
                            net[b, a] = net.get((b, a), 0.0) - s * t
    pairs = propagated_pairs(few, k, "euclidean")
    expected = {pair: weight for pair, weight in net.items() if weight > 1e-12}
    result = dict(zip(map(tuple, pairs.to_pairs().tolist()), pairs.weight.tolist(), strict=True))
    assert result.keys() == expected.keys()
    np.testing.assert_allclose([result[p] for p in result], [expected[p] for p in result])
    with pytest.raises(DataError, match="does not learn from pairs"):
        pk.PreferencePropagation(base="LinearRegression").fit(few)


def test_two_distributions_against_explicit_pairs(few):
    """Rounds of closed steps against sums over explicit pairs of both kinds, each with its own mean."""
    labels = propagated_labels(few, 2, "euclidean")
    lam = 0.4
    ranker = pk.RankBoost(n_estimators=6, step="closed", smoothing=0.0, n_jobs=1).fit(separated(few, labels, lam))
    human, made = few.labels >= 0, (labels >= 0) & (few.labels < 0)

    def pairs(mask):
        return [
            (u, v)
            for u in np.flatnonzero(mask)
            for v in np.flatnonzero(mask)
            if few.query_of_row[u] == few.query_of_row[v] and labels[u] > labels[v]
        ]

    both = [(1.0, pairs(human)), (lam, pairs(made))]
    H, before = np.zeros(few.n_rows), np.inf
    for feature, threshold, _, alpha, *_ in ranker.rounds_.tolist():
        h = (few.X[:, feature] > threshold).astype(float)
        plus = minus = value = 0.0
        for share, some in both:
            for u, v in some:
                weight = share / len(some) * np.exp(H[v] - H[u])
                value += weight
                plus += weight * (h[u] - h[v] == 1)
                minus += weight * (h[u] - h[v] == -1)
        assert value < before
        before = value
        if plus > 0 and minus > 0:
            assert alpha == pytest.approx(0.5 * np.log(plus / minus), rel=1e-6)
        H = H + alpha * h


def test_soft_pairs_are_the_cross_entropy(few):
    """The logistic loss over both directions is the cross entropy to σ(κ Δ)."""
    scores = few.X[:, 1].astype(float)
    pairs = soft_pairs(few, scores, 2.0)
    s = np.random.default_rng(0).normal(size=few.n_rows)
    result = Logistic()(s, few.replace(preferences=pairs))
    expected = 0.0
    for q in range(few.n_queries):
        rows = np.arange(few.offsets[q], few.offsets[q + 1])
        own = scores[rows] / scores[rows].std()
        for i, u in enumerate(rows):
            for j in range(i):
                p, guess = (1 / (1 + np.exp(-d)) for d in (2.0 * (own[i] - own[j]), s[u] - s[rows[j]]))
                expected -= p * np.log(guess) + (1 - p) * np.log(1 - guess)
    assert result == pytest.approx(expected, rel=1e-6)


def test_without_labels_it_learns_the_weak_teacher(few, test):
    nothing = few.replace(y=np.full(few.n_rows, -1.0))
    for base in (pk.GradientRanker(), pk.LinearRegression()):
        ranker = pk.WeakSupervision(base=base, reference=1).fit(nothing)
        result = ranker.predict(test)
        tau = np.corrcoef(result, test.X[:, 1])[0, 1]
        assert tau > 0.9


@pytest.mark.parametrize("name", list(KERNELS))
def test_kernels_are_symmetric_and_positive(name):
    X = np.random.default_rng(0).normal(size=(12, 4))
    K = kernel_matrix(name, X)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() > -1e-10
    if name != "diffusion":
        np.testing.assert_allclose(kernel_matrix(name, X.copy(), X), K, atol=1e-12)
    with pytest.raises(DataError, match="unknown kernel"):
        kernel_matrix("cubic", X)


def test_diffusion_without_time_is_the_identity():
    X = np.random.default_rng(0).normal(size=(6, 3))
    np.testing.assert_allclose(kernel_matrix("diffusion", X, None, 0.0), np.eye(6), atol=1e-12)


def test_kernel_components():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(15, 4)), rng.normal(size=(7, 4))
    own, projected = kernel_components("linear", X, new, 3)
    centred = X - X.mean(axis=0)
    _, values, vectors = np.linalg.svd(centred, full_matrices=False)
    for p in range(3):  # ordinary PCA, up to the sign
        sign = np.sign(own[:, p] @ (centred @ vectors[p]))
        np.testing.assert_allclose(own[:, p], sign * (centred @ vectors[p]), atol=1e-9)
        np.testing.assert_allclose(projected[:, p], sign * ((new - X.mean(axis=0)) @ vectors[p]), atol=1e-9)
    np.testing.assert_allclose(own.var(axis=0), values[:3] ** 2 / 15)
    for name in ("polynomial", "rbf"):
        own, again = kernel_components(name, X, X.copy(), 3)
        np.testing.assert_allclose(own, again, atol=1e-9)
    assert not kernel_components("rbf", X[:1], new, 2)[0].any()


def test_transductive_scores_by_hand(few, test, tmp_path):
    ranker = pk.KernelFeatures(base=BASE, kernels=("rbf",), n_components=2).fit(few)
    assert ranker.card_["transductive"] is True
    part = test.select([3])
    own, train = ranker.scorer_.widened(part.X)
    np.testing.assert_allclose(ranker.predict(part), BASE.fit(train).predict(own, qid=part.qid), rtol=1e-9)
    ranker.save(tmp_path / "model.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "model.plackett").predict(part), ranker.predict(part))
    with pytest.raises(DataError, match="kernels='rbf'"):
        pk.KernelFeatures(kernels="rbf").fit(few)


def test_unlabelled_documents_help_with_few_labels():
    """Two clusters in 20 noisy features, two labels in each of two lists: mean over draws."""
    rankers = (
        pk.GraphPropagation(base=BASE),
        pk.PreferencePropagation(base=BASE, n_neighbors=5),
        pk.SemiSupervisedRankBoost(base=BASE, n_neighbors=9, trade_off=1.0),
    )
    gains = []
    for seed in range(5):
        parameters = {"n_features": 20, "signal": 8, "noise": 0.8, "separation": 1.3}
        few, test = clustered(2, seed, labelled=1, **parameters)[0], clustered(30, 100 + seed, **parameters)[1]
        alone = BASE.fit(few).score(test)
        gains.append([ranker.fit(few).score(test) - alone for ranker in rankers])
    assert (np.mean(gains, axis=0) > 0.01).all()


def test_validation_data_decide(few, test):
    ranker = pk.SimilarityPropagation(base=BASE).fit(few, eval_set=test.select(range(10)))
    assert ranker.unlabelled_helps_ in (True, False)
    documents = ranker.card_["documents"]
    assert max(documents["labelled alone"], documents["with unlabelled"]) == ranker.card_["validation"]["value"]


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (pk.SimilarityPropagation(n_neighbors=2.5), "n_neighbors=2.5"),
        (pk.PreferencePropagation(n_neighbors=None), "n_neighbors=None"),
        (pk.PreferencePropagation(weight=np.nan), "weight=nan"),
        (pk.SemiSupervisedRankBoost(trade_off=np.nan), "trade_off=nan"),
        (pk.GraphPropagation(kappa=np.nan), "kappa=nan"),
        (pk.GraphPropagation(n_dissimilar=1.5, kappa=1.0), "n_dissimilar=1.5"),
        (pk.GraphPropagation(weight=np.inf), "weight=inf"),
    ],
)
def test_numbers_that_say_nothing_are_refused(ranker, message):
    with pytest.raises(pk.DataError, match=message):
        ranker.fit([[0.0], [1.0], [2.0]], [0, 1, -1], qid=[1, 1, 1])


def test_more_neighbours_than_documents_are_all_of_them():
    X, y, qid = np.arange(6.0)[:, None], [0, -1, 1, -1, 2, -1], [1] * 6
    data = pk.RankingDataset.from_arrays(X, y, qid)
    np.testing.assert_array_equal(
        pk.GraphPropagation(n_neighbors=10**12).labels(data), pk.GraphPropagation(n_neighbors=5).labels(data)
    )


def test_lists_of_automatic_labels_keep_the_features_of_their_query():
    data = pk.datasets.make_ranking(n_queries=8, docs_per_query=6, n_features=3, random_state=0)
    y = np.where(np.arange(data.n_rows) % 2 == 0, data.y, -1)
    data = data.replace(y=y, query_features=np.arange(8.0)[:, None])
    ranker = pk.SemiSupervisedRankBoost(base=pk.KNNOffline2(base="LinearRegression", query_features="given", k=4))
    assert np.isfinite(ranker.fit(data).predict(data)).all()
    with pytest.raises(pk.DataError, match="trained with query features"):
        ranker.predict(data.X, qid=data.query_of_row)
