"""Structural SVM for subsets: its greedy search, its features, its risk, and planted words."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from plackett import DataError, RankingDataset, SVMDiv
from plackett.rankers.subsets.svm_div import covered


def planted(seed=0, n_queries=25, n_docs=12, n_subtopics=4):
    """A word for each subtopic, which a third of the documents has; noise words in one document or in all."""
    rng = np.random.default_rng(seed)
    n = n_queries * n_docs
    topic = rng.integers(0, n_subtopics, n)
    tokens = np.zeros((n, n_subtopics + 1 + 6 * n_docs))
    tokens[np.arange(n), topic] = rng.integers(1, 4, n)
    tokens[:, n_subtopics] = 1  # everywhere
    for i in range(n):  # rare ones: some documents have many
        own = n_subtopics + 1 + 6 * (i % n_docs)
        tokens[i, own : own + rng.integers(0, 6)] = rng.integers(1, 5)
    subtopics = np.eye(n_subtopics)[topic]
    return RankingDataset.from_arrays(tokens, None, np.repeat(np.arange(n_queries), n_docs), subtopics=subtopics)


def score_of(rows, data, coef, levels, shares, query):
    """w·Ψ of a set, by the definition."""
    X = np.asarray(data.X)
    listed = X[data.offsets[query] : data.offsets[query + 1]]
    total = 0.0
    for a, level in enumerate(levels):
        for word in range(X.shape[1]):
            if (X[rows, word] >= level).any():
                share = (listed[:, word] >= level).mean()
                total += sum(coef[a, s] for s, least in enumerate(shares) if share >= least)
    return total


def test_search_and_features_against_brute_force():
    data = planted(1, n_queries=4, n_docs=7)
    rng = np.random.default_rng(0)
    for signs in (1.0, -1.0):
        learner = SVMDiv(k=3, levels=(1.0, 2.0), shares=(0.1, 0.3, 0.6))
        coef = rng.random((2, 3))
        coef[0, 1] *= signs
        learner.coef_ = coef
        order = learner.order(data)
        features = learner._features(data, learner._words(data), order)
        for q in range(4):
            rows = order[data.offsets[q] : data.offsets[q] + 3]
            value = score_of(rows, data, coef, learner.levels, learner.shares, q)
            assert features[q] @ coef.ravel() == pytest.approx(value)
            best = max(
                score_of(list(each), data, coef, learner.levels, learner.shares, q)
                for each in combinations(range(data.offsets[q], data.offsets[q + 1]), 3)
            )
            if signs > 0:
                assert value >= (1 - 1 / np.e) * best
            plain, left = [], list(range(data.offsets[q], data.offsets[q + 1]))
            for _ in range(3):  # the plain greedy search
                gains = [score_of([*plain, i], data, coef, learner.levels, learner.shares, q) for i in left]
                plain.append(left.pop(int(np.argmax(np.round(gains, 9)))))
            assert value == pytest.approx(score_of(plain, data, coef, learner.levels, learner.shares, q))


def test_it_learns_which_words_are_subtopics():
    train, test = planted(0), planted(1)
    subtopics = np.nan_to_num(test.subtopics)
    learner = SVMDiv(k=4, shares=(0.05, 0.15, 0.9)).fit(train)
    assert learner.gap_ <= learner.tol
    missed = covered(test, subtopics, learner.order(test), 4).mean()
    untrained = SVMDiv(k=4, shares=(0.05, 0.15, 0.9))
    untrained.coef_ = np.ones((2, 3))  # covers as many words as it can
    assert missed < 0.08  # a subtopic of a single document looks like any rare word
    assert covered(test, subtopics, untrained.order(test), 4).mean() > missed + 0.05


def test_the_most_violated_set_trades_words_against_subtopics():
    data = planted(2, n_queries=3, n_docs=6)
    learner = SVMDiv(k=2)
    tokens, subtopics = learner._words(data), np.nan_to_num(data.subtopics)
    worst, missed = learner._search(data, tokens, np.zeros(12), subtopics, missed=-1.0)
    np.testing.assert_allclose(missed, covered(data, subtopics, worst, 2))
    cover, least = learner._search(data, tokens, np.zeros(12), subtopics, missed=1.0)
    assert (least <= missed).all()
    for q in range(3):
        best = min(
            covered(data, subtopics, np.concatenate([cover[: data.offsets[q]], each, cover[data.offsets[q] + 2 :]]), 2)[
                q
            ]
            for each in combinations(range(data.offsets[q], data.offsets[q + 1]), 2)
        )
        assert least[q] == pytest.approx(best)  # one subtopic per document: greedy is exact


def test_refusals():
    data = planted(n_queries=3)
    with pytest.raises(DataError, match="has none"):
        SVMDiv().fit(data.replace(subtopics=None))
    with pytest.raises(DataError, match="nothing to learn"):
        SVMDiv().fit(data.replace(subtopics=np.zeros((data.n_rows, 2))))
    with pytest.raises(DataError, match="word counts"):
        SVMDiv().fit(data.replace(X=-np.asarray(data.X)))
    with pytest.raises(ValueError, match="not fitted"):
        SVMDiv().order(data)
