"""Active learning."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from plackett import RankingDataset
from plackett._base.errors import DataError
from plackett.selection.active.expected_change import change_norms, expected_change, label_chances
from plackett.selection.active.exploration import STRATEGIES, Beliefs, expected_pair_loss, explore
from plackett.selection.active.queries import k_center, queries_by_change, query_vectors
from plackett.selection.active.windows import closest_window, svm_sampling


def _cost(scores):
    return sum(abs(a - b) for a, b in itertools.combinations(scores, 2))


@pytest.mark.parametrize("seed", range(30))
def test_window_against_all_subsets(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=8).round(1 if seed % 2 else 6)
    k = 1 + seed % 8
    best = min(_cost(subset) for subset in itertools.combinations(scores, k))
    assert _cost(scores[closest_window(scores, k)]) == pytest.approx(best, abs=1e-9)


def test_windows_of_queries():
    rng = np.random.default_rng(0)
    qid = np.repeat([0, 1, 2], [9, 3, 8])
    labels = np.where(rng.random(20) < 0.2, 1.0, -1.0)
    data = RankingDataset.from_arrays(None, labels, qid)
    scores = rng.normal(size=20)
    chosen = svm_sampling(data, scores, budget=9).frame
    assert chosen.height == 9
    for q in range(3):
        rows = np.flatnonzero((qid == q) & (labels < 0))
        mine = chosen.filter(qid=q)["docid"].to_numpy()
        assert sorted(mine) == sorted(rows[closest_window(scores[rows], mine.size)])
    with pytest.raises(DataError, match="only"):
        svm_sampling(data, scores, budget=21)


def _loss(w, x, known, yk, grade, kind):
    total = 0.0
    for row, y in zip(known, yk, strict=True):
        if y != grade:
            margin = (x - row) @ w * (1 if grade > y else -1)
            total += max(0.0, 1 - margin) if kind == "hinge" else np.exp(-margin)
    return total


@pytest.mark.parametrize("kind", ["hinge", "exponential"])
def test_gradient_by_finite_differences(kind):
    rng = np.random.default_rng(0)
    x, known, w = rng.normal(size=(4, 3)), rng.normal(size=(9, 3)), rng.normal(size=3)
    yk, grades = rng.integers(0, 3, 9).astype(float), np.array([0.0, 1.0, 2.0])
    result = change_norms(x, x @ w, known, known @ w, yk, grades, kind)
    for i, g in itertools.product(range(4), range(3)):
        slope = [
            (_loss(w + d, x[i], known, yk, g, kind) - _loss(w - d, x[i], known, yk, g, kind)) / 2e-6
            for d in np.eye(3) * 1e-6
        ]
        assert result[i, g] == pytest.approx(np.linalg.norm(slope), abs=1e-5)


def test_far_outside_the_margin_nothing_changes():
    known = np.array([[0.0], [1.0]])
    norms = change_norms(
        np.array([[50.0]]), np.array([50.0]), known, known[:, 0], np.array([0.0, 0.0]), np.array([1.0]), "hinge"
    )
    assert norms.item() == 0.0


def test_expected_change_chooses_and_refuses():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 4)), np.where(np.arange(30) % 3 == 0, np.arange(30) % 2, -1.0)
    data = RankingDataset.from_arrays(X, labels, np.repeat([0, 1, 2], 10))
    scores = X[:, 0]
    one = expected_change(data, scores, budget=7).frame
    assert one.height == 7
    assert one.equals(expected_change(data, scores, budget=7).frame)
    assert (labels[one["docid"].to_numpy()] < 0).all()
    boosted = expected_change(data, scores, budget=7, members=np.sign(X), loss="exponential").frame
    assert boosted["priority"].is_finite().all()
    with pytest.raises(DataError, match="no document is judged"):
        expected_change(data.replace(y=np.full(30, -1.0)), scores, budget=1)
    with pytest.raises(DataError, match="hinge"):
        expected_change(data, scores, budget=1, loss="log")


def test_expected_pair_loss_by_simulation():
    draws = np.random.default_rng(0).normal(-0.4, 1.3, 400_000)
    assert expected_pair_loss(-0.4, 1.3) == pytest.approx(np.mean(draws**2 * (draws > 0)), abs=0.01)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_shown_lists(strategy):
    rng = np.random.default_rng(1)
    beliefs = Beliefs(rng.normal(size=6), rng.uniform(0.1, 2, 6))
    shown = explore(beliefs, strategy, random_state=0)
    ranking = np.argsort(-beliefs.mean)
    assert sorted(shown) == list(range(6))
    assert shown[2:].tolist() == [d for d in ranking if d not in shown[:2]]
    if strategy == "passive":
        assert shown.tolist() == ranking.tolist()


def test_beliefs_after_a_choice():
    before = Beliefs.prior(3, variance=2.0)
    after = before.preferred(2, 0)
    assert after.mean[2] > 0 > after.mean[0]
    assert (after.variance <= before.variance).all()
    surprise = Beliefs(np.array([5.0, -5.0]), np.array([1.0, 1.0])).preferred(1, 0)
    assert (surprise.variance <= 1.0).all()
    assert (surprise.variance > 0).all()


def _true_loss(beliefs, truth):
    order = np.argsort(-beliefs.mean, kind="stable")
    gap = np.maximum(truth[order][None, :] - truth[order][:, None], 0) ** 2
    return np.triu(np.exp(-np.arange(1, truth.size + 1) / 3.0)[:, None] * gap, 1).sum()


def test_exploring_beats_showing_the_same():
    def after(strategy, seed):
        rng = np.random.default_rng(seed)
        truth, beliefs = rng.normal(size=6), Beliefs.prior(6)
        for _ in range(25):
            a, b = explore(beliefs, strategy, random_state=rng)[:2]
            won = truth[a] + rng.normal() * 0.7 > truth[b] + rng.normal() * 0.7
            beliefs = beliefs.preferred(a, b) if won else beliefs.preferred(b, a)
        return _true_loss(beliefs, truth)

    mean = {s: np.mean([after(s, seed) for seed in range(25)]) for s in ("passive", "largest-pair", "largest-sum")}
    assert mean["largest-pair"] < mean["passive"]
    assert mean["largest-sum"] < mean["passive"]


@pytest.mark.parametrize("seed", range(5))
def test_k_center_is_within_twice_the_best(seed):
    Z = np.random.default_rng(seed).normal(size=(9, 2))

    def radius(centers):
        return np.sqrt(((Z[:, None] - Z[list(centers)]) ** 2).sum(axis=2)).min(axis=1).max()

    chosen = k_center(Z, 3, random_state=seed)
    assert len(set(chosen.tolist())) == 3
    assert radius(chosen) <= 2 * min(radius(c) for c in itertools.combinations(range(9), 3)) + 1e-12


def test_k_center_budget():
    rng = np.random.default_rng(0)
    data = RankingDataset.from_arrays(rng.normal(size=(20, 3)), None, np.repeat(np.arange(5), 4))
    assert query_vectors(data).shape == (5, 6)
    chosen = k_center(data, 3, labelled=[1, 4])
    assert sorted(chosen) == [0, 2, 3]
    assert sorted(k_center(np.zeros((4, 2)), 4)) == [0, 1, 2, 3]
    with pytest.raises(DataError, match="only 3 unlabelled queries"):
        k_center(data, 4, labelled=[1, 4])


@pytest.mark.parametrize("kind", ["hinge", "exponential"])
@pytest.mark.parametrize("per_document", [False, True])
def test_change_of_queries_by_finite_differences(kind, per_document):
    rng = np.random.default_rng(3)
    sizes = [6, 4, 5, 3]
    X, w = rng.normal(size=(18, 2)), np.array([0.7, -0.3])
    qid = np.repeat(np.arange(4), sizes)
    labels = np.where(qid == 0, np.arange(18) % 3, -1.0)
    data = RankingDataset.from_arrays(X, labels, qid)
    f, grades = data.X @ w, np.array([0.0, 1.0, 2.0])
    chance = label_chances(f, labels, grades)

    def loss(w, i, g):
        """Expected loss of the pairs of document i with grade g."""
        total = 0.0
        for j in np.flatnonzero(qid == qid[i]):
            for h in np.flatnonzero(grades != grades[g]):
                margin = (data.X[i] - data.X[j]).astype(float) @ w * (1 if g > h else -1)
                term = max(0.0, 1 - margin) if kind == "hinge" else np.exp(-margin)
                total += (j != i) * chance[j, h] * term
        return total

    scores = []
    for q in (1, 2, 3):
        rows = np.flatnonzero(qid == q)
        total = 0.0
        for i, g in itertools.product(rows, range(3)):
            slope = [(loss(w + d, i, g) - loss(w - d, i, g)) / 2e-6 for d in np.eye(2) * 1e-6]
            total += chance[i, g] * np.linalg.norm(slope)
        scores.append(total / (rows.size if per_document else 1))
    result = queries_by_change(data, f, 3, loss=kind, per_document=per_document)
    assert result.tolist() == (1 + np.argsort(-np.array(scores))).tolist()
    assert queries_by_change(data, f, 1, loss=kind, per_document=per_document).tolist() == result[:1].tolist()
    with pytest.raises(DataError, match="only 3 queries without judgements"):
        queries_by_change(data, f, 4)


def test_a_single_document_is_one_of_the_closest_two():
    data = RankingDataset.from_arrays(None, [-1.0] * 6, [1] * 5 + [2], docids=list("abcdef"))
    scores = [0.0, 9.0, 5.0, 5.1, 2.0, 1.0]
    frame = svm_sampling(data, scores, budget=2).frame
    assert frame["docid"].to_list() == ["d", "f"]
    reason = dict(frame.select("docid", "reason").rows())
    assert reason["d"] == "one of 2 documents whose scores differ by 0.1 on average"
    assert reason["f"] == "the only document of its query without a label"
