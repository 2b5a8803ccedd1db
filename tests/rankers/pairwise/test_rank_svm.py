"""RankSVM against a generic solver on explicit pair differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from plackett import PlackettWarning, RankingDataset
from plackett.data.labelled_pairs import labelled_pairs
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise.rank_svm import RankSVM

from .explicit_pairs import label_pairs, linear_svc, objective, random_lists, tie_pairs

EXACT = {"standardize": False, "tol": 1e-9, "max_iter": 20_000, "n_jobs": 1}
POWER = {"squared_hinge": 2, "hinge": 1}


def differences(X, pairs):
    X = X.astype(np.float64)
    return X[pairs[:, 0]] - X[pairs[:, 1]]


@pytest.mark.parametrize("loss", POWER)
@pytest.mark.parametrize("C", [0.01, 0.3, 5.0])
@pytest.mark.parametrize("seed", range(3))
def test_equals_a_linear_svm_on_differences(loss, C, seed):
    X, y, qid = random_lists(seed)
    D = differences(X, label_pairs(y, qid))
    expected = linear_svc(D, C, power=POWER[loss])
    ranker = RankSVM(C=C, loss=loss, **(EXACT | {"tol": 1e-7})).fit(X, y, qid=qid)
    best = objective(expected, D, C, power=POWER[loss])
    np.testing.assert_allclose(ranker.objective_, objective(ranker.coef_, D, C, power=POWER[loss]), rtol=1e-12)
    np.testing.assert_allclose(ranker.objective_, best, rtol=2e-7)
    np.testing.assert_allclose(ranker.coef_, expected, atol=2e-3 * np.linalg.norm(expected))
    assert ranker.gap_ <= 1e-7


@pytest.mark.parametrize("loss", POWER)
@pytest.mark.parametrize("tol", [0.5, 0.1, 1e-2, 1e-4])
def test_the_gap_is_no_less_than_the_truth(loss, tol):
    for seed in range(5):
        X, y, qid = random_lists(seed, n_queries=15)
        best = RankSVM(C=1.0, loss=loss, **(EXACT | {"tol": 1e-8})).fit(X, y, qid=qid)
        rough = RankSVM(C=1.0, loss=loss, **(EXACT | {"tol": tol})).fit(X, y, qid=qid)
        missing = rough.objective_ - best.objective_ * (1 - best.gap_)
        assert rough.objective_ * (1 - rough.gap_) <= best.objective_ * (1 + 1e-12)
        assert 0 <= missing <= (rough.gap_ + best.gap_) * rough.objective_ + 1e-12
        assert rough.gap_ <= tol


def test_the_gap_is_that_of_the_pairs_own_multipliers():
    """α = 2 C ξ of every pair in the textbook's dual gives the lower bound that was used."""
    X, y, qid = random_lists(4)
    D = differences(X, label_pairs(y, qid))
    C, w = 0.7, np.array([0.4, -0.2, 0.1])
    miss = np.maximum(1 - D @ w, 0.0)
    alpha = 2 * C * miss
    u = alpha @ D
    dual = alpha.sum() - 0.5 * u @ u - (alpha**2).sum() / (4 * C)
    gradient = w - 2 * C * miss @ D
    np.testing.assert_allclose(objective(w, D, C) - dual, 0.5 * gradient @ gradient, rtol=1e-12)


def test_margin_of_separable_data():
    """A high price separates with the largest margin: the two nearest pairs decide, min Δ/‖w‖ = 1/‖w‖."""
    X = np.array([[0, 0], [1, 1], [3, 0], [5, 1]], np.float32)  # differences (1, 1) and (2, 1)
    ranker = RankSVM(C=1e6, loss="hinge", **EXACT).fit(X, [0, 1, 0, 1], qid=[1, 1, 2, 2])
    np.testing.assert_allclose(ranker.coef_, [0.5, 0.5], atol=1e-4)  # the shortest w with w·(1, 1) ≥ 1, w·(2, 1) ≥ 1
    np.testing.assert_allclose(1 / np.linalg.norm(ranker.coef_), np.sqrt(2), rtol=1e-4)


@pytest.mark.parametrize("loss", POWER)
def test_worked_by_hand(loss):
    """One pair with difference 2: min w²/2 + C max(0, 1 − 2w)^p at w = 2C (hinge, C ≤ ¼) or 4C / (1 + 8C)."""
    C = 0.125
    ranker = RankSVM(C=C, loss=loss, **EXACT).fit([[0.0], [2.0]], [0, 1], qid=[1, 1])
    np.testing.assert_allclose(ranker.coef_[0], {"hinge": 0.25, "squared_hinge": 0.25}[loss], rtol=1e-6)
    ranker = RankSVM(C=0.05, loss=loss, **EXACT).fit([[0.0], [2.0]], [0, 1], qid=[1, 1])
    np.testing.assert_allclose(ranker.coef_[0], {"hinge": 0.1, "squared_hinge": 0.2 / 1.4}[loss], rtol=1e-6)


@pytest.mark.parametrize("loss", POWER)
def test_centring_queries_changes_nothing(loss):
    X, y, qid = random_lists(1)
    level = np.random.default_rng(0).integers(-3, 3, (qid.max() + 1, X.shape[1])).astype(np.float32)
    expected = RankSVM(C=0.5, loss=loss, **(EXACT | {"tol": 1e-7})).fit(X, y, qid=qid)
    moved = RankSVM(C=0.5, loss=loss, **(EXACT | {"tol": 1e-7})).fit(X + level[qid], y, qid=qid)
    np.testing.assert_allclose(moved.objective_, expected.objective_, rtol=3e-7)
    np.testing.assert_allclose(moved.coef_, expected.coef_, atol=2e-3)


def test_prices_of_other_tools():
    """The table of the docstring, each line against the other tool's objective written out."""
    X, y, qid = random_lists(2)
    D = differences(X, label_pairs(y, qid))
    n_queries, N = qid.max() + 1, len(D)
    rng = np.random.default_rng(0)
    settings = EXACT | {"loss": "hinge", "tol": 1e-6}

    def is_minimum(ranker, others):
        best = others(ranker.coef_)
        for _ in range(200):
            moved = ranker.coef_ + rng.normal(size=3) * 10 ** rng.uniform(-4, 0)
            assert others(moved) >= best * (1 - 2e-6)

    def hinge(w):
        return np.maximum(1 - D @ w, 0)

    c, lam = 0.8, 0.02
    pairs = label_pairs(y, qid)
    share = 1.0 / np.bincount(qid[pairs[:, 0]], minlength=n_queries)[qid[pairs[:, 0]]]
    svm_light = RankSVM(C=c, **settings).fit(X, y, qid=qid)
    is_minimum(svm_light, lambda w: 0.5 * w @ w + c * hinge(w).sum())
    svm_rank = RankSVM(C=c / n_queries, **settings).fit(X, y, qid=qid)
    is_minimum(svm_rank, lambda w: 0.5 * w @ w + c * hinge(w).sum() / n_queries)
    share_of_pairs = RankSVM(C=c / n_queries, normalize=True, **settings).fit(X, y, qid=qid)
    is_minimum(share_of_pairs, lambda w: 0.5 * w @ w + c * (share * hinge(w)).sum() / n_queries)
    mean = RankSVM(C=1 / (2 * lam * N), **settings).fit(X, y, qid=qid)
    is_minimum(mean, lambda w: hinge(w).mean() + lam * w @ w)


@pytest.mark.parametrize("loss", POWER)
def test_preferences_with_margins_and_weights(loss):
    X, y, qid = random_lists(3)
    pairs = label_pairs(y, qid)[::2]
    pairs = np.vstack([pairs, pairs[:2, ::-1]])  # some that contradict others
    rng = np.random.default_rng(0)
    margin, weight = rng.uniform(0.2, 3, len(pairs)), rng.uniform(0, 2, len(pairs))
    document, query = rng.uniform(0.5, 2, y.size), rng.uniform(0.5, 2, qid.max() + 1)
    data = RankingDataset.from_arrays(
        X,
        None,
        qid,
        preferences=Preferences.from_pairs(pairs, margin=margin, weight=weight),
        sample_weight=document,
        query_weight=query,
    )
    ranker = RankSVM(C=0.4, loss=loss, **(EXACT | {"tol": 1e-7})).fit(data)
    whole = weight * document[pairs[:, 0]] * document[pairs[:, 1]] * query[qid[pairs[:, 0]]]
    D = differences(X, pairs)
    expected = linear_svc(D, 0.4, whole, margin, POWER[loss])
    np.testing.assert_allclose(ranker.objective_, objective(expected, D, 0.4, whole, margin, POWER[loss]), rtol=3e-7)
    np.testing.assert_allclose(ranker.coef_, expected, atol=2e-3)


@pytest.mark.parametrize("loss", POWER)
def test_margins_by_label_and_weights(loss):
    X, y, qid = random_lists(5, grades=5)
    y = np.where(y >= 0, y * 0.75, y)
    pairs = label_pairs(y, qid)
    rng = np.random.default_rng(1)
    document, query = rng.uniform(0, 2, y.size), rng.uniform(0.5, 2, qid.max() + 1)
    ranker = RankSVM(C=0.2, loss=loss, margin="label", **(EXACT | {"tol": 1e-7}))
    ranker.fit(X, y, qid=qid, sample_weight=document, query_weight=query)
    D, margin = differences(X, pairs), y[pairs[:, 0]] - y[pairs[:, 1]]
    whole = document[pairs[:, 0]] * document[pairs[:, 1]] * query[qid[pairs[:, 0]]]
    expected = linear_svc(D, 0.2, whole, margin, POWER[loss])
    np.testing.assert_allclose(ranker.objective_, objective(expected, D, 0.2, whole, margin, POWER[loss]), rtol=3e-7)
    np.testing.assert_allclose(ranker.coef_, expected, atol=2e-3)
    given = RankingDataset.from_arrays(X, y, qid, preferences=Preferences.from_pairs(pairs))
    as_pairs = RankSVM(C=0.2, loss=loss, margin="label", **EXACT | {"tol": 1e-7}).fit(given)
    as_labels = RankSVM(C=0.2, loss=loss, margin="label", **EXACT | {"tol": 1e-7}).fit(X, y, qid=qid)
    np.testing.assert_allclose(as_pairs.objective_, as_labels.objective_, rtol=3e-7)


@pytest.mark.parametrize("loss", POWER)
def test_pairs_labelled_zero(loss):
    """Left out, it is training on the others; kept, each costs what its scores are apart beyond the width."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 40, 3)).astype(np.float32)
    sign = np.sign(np.round(2 * (first - second)[:, 0] + rng.normal(size=40)) // 2)
    assert set(sign) == {-1, 0, 1}
    settings = EXACT | {"C": 0.5, "loss": loss, "tol": 1e-7}
    data = labelled_pairs(first, second, sign)
    dropped = RankSVM(**settings).fit(data)
    filtered = RankSVM(**settings).fit(labelled_pairs(first[sign != 0], second[sign != 0], sign[sign != 0]))
    np.testing.assert_allclose(dropped.coef_, filtered.coef_, atol=1e-3)
    D = second.astype(np.float64) - first
    expected = linear_svc(D[sign != 0] * sign[sign != 0, None], 0.5, power=POWER[loss])
    np.testing.assert_allclose(dropped.coef_, expected, atol=2e-3)

    def with_ties(w):
        z = D @ w
        cost = np.where(sign == 0, 0.6 * np.maximum(np.abs(z) - 0.1, 0) ** POWER[loss], 0)
        cost += np.where(sign != 0, np.maximum(1 - sign * z, 0) ** POWER[loss], 0)
        return 0.5 * w @ w + 0.5 * cost.sum()

    kept = RankSVM(tie_weight=0.6, tie_width=0.1, **settings).fit(data)
    np.testing.assert_allclose(kept.objective_, with_ties(kept.coef_), rtol=1e-12)
    for _ in range(300):
        moved = kept.coef_ + rng.normal(size=3) * 10 ** rng.uniform(-4, 0)
        assert with_ties(moved) >= kept.objective_ * (1 - 2e-7)
    assert np.abs(D[sign == 0] @ kept.coef_).mean() < np.abs(D[sign == 0] @ dropped.coef_).mean()


@pytest.mark.parametrize("loss", POWER)
def test_ties_of_lists(loss):
    X, y, qid = random_lists(7)
    D, T = differences(X, label_pairs(y, qid)), differences(X, tie_pairs(y, qid))
    ranker = RankSVM(C=0.3, loss=loss, tie_weight=2.0, tie_width=0.25, **EXACT | {"tol": 1e-7}).fit(X, y, qid=qid)
    w, p = ranker.coef_, POWER[loss]
    ties = 0.6 * (np.maximum(np.abs(T @ w) - 0.25, 0) ** p).sum()
    np.testing.assert_allclose(ranker.objective_, objective(w, D, 0.3, power=p) + ties, rtol=1e-12)


@pytest.mark.parametrize("loss", POWER)
def test_sparse_and_standardised(loss):
    X, y, qid = random_lists(8)
    scale = X.std(axis=0, dtype=np.float64)
    settings = {"C": 0.3, "loss": loss, "tol": 1e-7, "max_iter": 20_000, "n_jobs": 1}
    by_hand = RankSVM(standardize=False, **settings).fit(X / scale, y, qid=qid)
    for features in (X, csr_matrix(X)):
        ranker = RankSVM(**settings).fit(features, y, qid=qid)
        np.testing.assert_allclose(ranker.objective_, by_hand.objective_, rtol=1e-6)
        np.testing.assert_allclose(ranker.coef_ * scale, by_hand.coef_, atol=2e-3)


def test_too_few_rounds_are_told():
    X, y, qid = random_lists(0)
    with pytest.warns(PlackettWarning, match="after 1 rounds"):
        RankSVM(C=10.0, max_iter=1, tol=1e-9).fit(X, y, qid=qid)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"loss": "log"}, "loss='log'; give one of 'squared_hinge', 'hinge'"),
        ({"C": 0.0}, "C=0"),
        ({"margin": "labels"}, "'label'"),
        ({"margin": -1.0}, "margin=-1"),
        ({"tie_weight": -1.0}, "tie_weight"),
        ({"tol": 0.0}, "tol=0"),
    ],
)
def test_refusals(parameters, match):
    X, y, qid = random_lists(0)
    with pytest.raises(ValueError, match=match):
        RankSVM(**parameters).fit(X, y, qid=qid)


@pytest.mark.parametrize("loss", POWER)
def test_a_handful_of_pairs_gives_weights(loss):
    """With few pairs and the default penalty w = 0 is optimal within the tolerance, but it orders nothing."""
    X, y, qid = random_lists(0, n_queries=2)
    ranker = RankSVM(loss=loss, n_jobs=1).fit(X, y, qid=qid)
    exact = RankSVM(loss=loss, n_jobs=1, tol=1e-9, max_iter=20_000).fit(X, y, qid=qid)
    assert (ranker.coef_ != 0).any() and ranker.gap_ <= ranker.tol
    cosine = ranker.coef_ @ exact.coef_ / np.linalg.norm(ranker.coef_) / np.linalg.norm(exact.coef_)
    assert cosine > 0.99
    assert not RankSVM(n_jobs=1).fit(X, np.zeros(len(y)), qid=qid).coef_.any()  # no pair: nothing to do
