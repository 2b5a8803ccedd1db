"""KernelRankSVM against the explicit dual over the kernel of pairs."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import PlackettWarning, RankingDataset
from plackett.data.preferences import Preferences
from plackett.rankers.pairwise import kernel_rank_svm
from plackett.rankers.pairwise.kernel_rank_svm import KernelRankSVM
from plackett.rankers.pairwise.rank_svm import RankSVM

from .explicit_pairs import dual_qp, label_pairs, random_lists

EXACT = {"standardize": False, "tol": 1e-8, "max_iter": 20_000, "n_jobs": 1}
POWER = {"squared_hinge": 2, "hinge": 1}


def documents_kernel(X, Z, name, gamma, coef0=0.0, degree=3):
    X, Z = X.astype(np.float64), Z.astype(np.float64)
    if name == "rbf":
        return np.exp(-gamma * ((X[:, None] - Z) ** 2).sum(axis=2))
    return X @ Z.T if name == "linear" else (gamma * X @ Z.T + coef0) ** degree


def pairs_kernel(K, pairs):
    """The four terms, entry by entry."""
    u, v = pairs.T
    return K[np.ix_(u, u)] + K[np.ix_(v, v)] - K[np.ix_(u, v)] - K[np.ix_(v, u)]


@pytest.mark.parametrize("loss", POWER)
@pytest.mark.parametrize(
    ("name", "numbers"), [("rbf", {"gamma": 0.7}), ("poly", {"gamma": 0.5, "coef0": 1.0, "degree": 2}), ("linear", {})]
)
def test_equals_the_explicit_dual(loss, name, numbers):
    X, y, qid = random_lists(0, n_queries=4)
    pairs = label_pairs(y, qid)
    K = documents_kernel(X, X, name, **({"gamma": 1.0} | numbers))
    rng = np.random.default_rng(0)
    document = rng.uniform(0.5, 2, y.size)
    weight = document[pairs[:, 0]] * document[pairs[:, 1]]
    alpha, dual = dual_qp(pairs_kernel(K, pairs), 0.5, weight, np.ones(len(pairs)), POWER[loss])
    ranker = KernelRankSVM(kernel=name, C=0.5, loss=loss, **numbers, **EXACT)
    ranker.fit(X, y, qid=qid, sample_weight=document)
    np.testing.assert_allclose(ranker.objective_, dual, rtol=1e-5)
    assert ranker.gap_ <= 1e-8
    new = rng.normal(size=(10, 3)).astype(np.float32)
    cross = documents_kernel(new, X, name, **({"gamma": 1.0} | numbers))
    expected = (cross[:, pairs[:, 0]] - cross[:, pairs[:, 1]]) @ alpha
    np.testing.assert_allclose(ranker.predict(new, qid=np.zeros(10)), expected, atol=5e-3 * np.abs(expected).max())


def test_the_kernel_of_pairs():
    """It is positive semi-definite, and a constant added to the kernel of documents falls out."""
    X, y, qid = random_lists(1)
    pairs = label_pairs(y, qid)
    K = documents_kernel(X, X, "rbf", 0.5)
    large = pairs_kernel(K, pairs)
    assert np.linalg.eigvalsh(large).min() > -1e-10
    np.testing.assert_allclose(pairs_kernel(K + 3.0, pairs), large, atol=1e-12)
    plain = KernelRankSVM(kernel="poly", degree=1, gamma=1.0, coef0=0.0, C=0.3, **EXACT).fit(X, y, qid=qid)
    moved = KernelRankSVM(kernel="poly", degree=1, gamma=1.0, coef0=2.0, C=0.3, **EXACT).fit(X, y, qid=qid)
    np.testing.assert_allclose(plain.objective_, moved.objective_, rtol=1e-7)


@pytest.mark.parametrize("loss", POWER)
def test_linear_kernel_is_the_primal(loss):
    X, y, qid = random_lists(2)
    settings = {"C": 0.4, "loss": loss, "margin": "label", "normalize": True} | EXACT | {"tol": 1e-7}
    dual = KernelRankSVM(kernel="linear", **settings).fit(X, y, qid=qid)
    primal = RankSVM(**settings).fit(X, y, qid=qid)
    np.testing.assert_allclose(dual.objective_, primal.objective_, rtol=3e-7)
    np.testing.assert_allclose(dual.predict(X, qid=qid), primal.predict(X, qid=qid), atol=3e-3)


@pytest.mark.parametrize("loss", POWER)
def test_the_gap_is_no_less_than_the_truth(loss):
    X, y, qid = random_lists(3, n_queries=12)
    best = KernelRankSVM(C=2.0, loss=loss, gamma=1.0, **EXACT).fit(X, y, qid=qid)
    for tol in (0.5, 0.05, 1e-3):
        rough = KernelRankSVM(C=2.0, loss=loss, gamma=1.0, **EXACT | {"tol": tol}).fit(X, y, qid=qid)
        assert rough.objective_ * (1 - rough.gap_) <= best.objective_ <= rough.objective_ * (1 + 1e-8)
        assert rough.gap_ <= tol


def test_all_documents_as_landmarks_are_exact():
    X, y, qid = random_lists(4)
    settings = {"C": 0.5, "gamma": 0.5, "loss": "squared_hinge"} | EXACT | {"tol": 1e-6}
    exact = KernelRankSVM(**settings).fit(X, y, qid=qid)
    nystroem = KernelRankSVM(n_components=y.size, **settings).fit(X, y, qid=qid)
    np.testing.assert_allclose(nystroem.objective_, exact.objective_, rtol=1e-5)
    np.testing.assert_allclose(nystroem.predict(X, qid=qid), exact.predict(X, qid=qid), atol=1e-3)
    few = KernelRankSVM(n_components=5, **settings).fit(X, y, qid=qid)
    assert few.objective_ >= exact.objective_ * (1 - 1e-5)  # fewer features cannot do better
    assert few.scorer_.support.shape[0] <= 5


def test_preferences():
    X, y, qid = random_lists(5)
    pairs = label_pairs(y, qid)[::3]
    rng = np.random.default_rng(0)
    margin, weight = rng.uniform(0.5, 2, len(pairs)), rng.uniform(0, 2, len(pairs))
    weight[0] = 0.0
    data = RankingDataset.from_arrays(
        X, None, qid, preferences=Preferences.from_pairs(pairs, margin=margin, weight=weight)
    )
    ranker = KernelRankSVM(C=0.5, gamma=0.5, loss="squared_hinge", **EXACT).fit(data)
    K = pairs_kernel(documents_kernel(X, X, "rbf", 0.5), pairs[1:])
    _, dual = dual_qp(K, 0.5, weight[1:], margin[1:], 2)
    np.testing.assert_allclose(ranker.objective_, dual, rtol=1e-5)


def test_too_many_documents(monkeypatch):
    X, y, qid = random_lists(0)
    monkeypatch.setattr(kernel_rank_svm, "_MOST_DOCUMENTS", 10)
    with pytest.raises(ValueError, match="n_components=500"):
        KernelRankSVM().fit(X, y, qid=qid)
    KernelRankSVM(n_components=10).fit(X, y, qid=qid)


def test_refusals():
    X, y, qid = random_lists(0)
    for parameters, match in (
        ({"kernel": "sigmoid"}, "rbf"),
        ({"n_components": 0}, "n_components=0"),
        ({"C": -1.0}, "C=-1"),
        ({"margin": "x"}, "'label'"),
    ):
        with pytest.raises(ValueError, match=match):
            KernelRankSVM(**parameters).fit(X, y, qid=qid)
    with pytest.warns(PlackettWarning, match="relative gap"):
        KernelRankSVM(C=100.0, max_iter=1, tol=1e-9).fit(X, y, qid=qid)
