"""Symmetric trees against a search that tries every question in plain loops, and against LightGBM's reading of them."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.threshold_bins import ThresholdBins
from plackett.explanations.explain import explain
from plackett.losses.pointwise.square import Square
from plackett.models.trees.oblivious import Oblivious
from plackett.models.trees.oblivious_tree import Limits, ObliviousTree, Question, grow
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import join_trees, new_head, parse_trees, split_trees
from plackett.solvers.monitor import SilentMonitor


def worth(g, h, penalty):
    return g.sum() ** 2 / (h.sum() + penalty) if h.sum() + penalty > 0 else 0.0


def naive_tree(X, thresholds, gradient, curvature, limits):
    """The questions (feature, threshold, missing left) and the value of each row, by trying everything."""
    nodes = [np.arange(len(X))]
    questions = []
    for _ in range(limits.depth):
        best = (0.0, None)
        for j in range(X.shape[1]):
            blank = np.isnan(X[:, j])
            for missing_left in (False, True) if blank.any() else (None,):
                for t in thresholds[j]:
                    right = np.where(blank, not missing_left, X[:, j] > t)
                    gain = 0.0
                    for rows in nodes:
                        parts = rows[~right[rows]], rows[right[rows]]
                        if any(p.size < limits.rows or curvature[p].sum() < limits.curvature for p in parts):
                            continue
                        gain += sum(worth(gradient[p], curvature[p], limits.penalty) for p in parts)
                        gain -= worth(gradient[rows], curvature[rows], limits.penalty)
                    if gain > best[0] + 1e-9:
                        best = (gain, (j, float(t), missing_left, right))
        if best[1] is None:
            break
        questions.append(best[1][:3])
        nodes = [part for rows in nodes for part in (rows[~best[1][3][rows]], rows[best[1][3][rows]])]
    return questions


@pytest.mark.parametrize("limits", [Limits(3, 1, 0.0, 0.0), Limits(3, 6, 2.0, 1.5)])
@pytest.mark.parametrize("blank", [False, True])
def test_each_level_asks_the_best_question(limits, blank):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 5, (40, 3)).astype(np.float32)
        if blank:
            X[rng.random(40) < 0.3, 1] = np.nan
        gradient, curvature = rng.normal(size=40), rng.uniform(0.2, 2, 40)
        bins = ThresholdBins.of(X, 255)
        parts = [bins.thresholds[bins.first[j] : bins.first[j + 1]] for j in range(3)]
        tree, leaf = grow(bins, gradient, curvature, np.ones(3, bool), limits, 0.5, None)
        expected = naive_tree(X, parts, gradient, curvature, limits)
        assert [(q.feature, q.threshold, q.missing_left) for q in tree.questions] == expected
        np.testing.assert_array_equal(tree.values[leaf], tree.predict(X))
        for k in range(tree.values.size):
            rows = leaf == k
            assert tree.counts[k] == rows.sum()
            if rows.sum() >= limits.rows and curvature[rows].sum() >= limits.curvature and rows.any():
                step = -0.5 * gradient[rows].sum() / (curvature[rows].sum() + limits.penalty)
                np.testing.assert_allclose(tree.values[k], step, rtol=1e-9)


def test_a_leaf_that_is_too_small_has_the_value_above():
    X = np.array([[0, 0], [0, 0], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1]], np.float32)
    gradient = np.array([-1.0, -1, -4, 1, 1, 4, 4])
    tree, leaf = grow(ThresholdBins.of(X, 9), gradient, np.ones(7), np.ones(2, bool), Limits(2, 2, 0.0, 0.0), 1.0, None)
    assert [q.feature for q in tree.questions] == [0, 1]
    # left of the first question there are three documents, of which one is alone on its side of the second
    np.testing.assert_allclose(tree.values, [1.0, 6 / 3, -1.0, -4.0])
    assert leaf.tolist() == [0, 0, 1, 2, 2, 3, 3]


def test_lightgbm_reads_the_same_tree():
    questions = (Question(1, 0.5, None, 4.0), Question(0, -1.0, True, 2.0), Question(1, 2.5, False, 1.0))
    tree = ObliviousTree(questions, np.arange(8.0) - 3, np.full(8, 2), np.full(8, 1.5))
    text = join_trees(
        new_head(2), [tree.lines(), ObliviousTree((), np.array([0.25]), np.array([16]), np.ones(1)).lines()]
    )
    parse_trees(text)
    X = np.array([[x, y] for x in (-2, -1, 0, np.nan) for y in (0.5, 0.6, 2.5, 3, np.nan)], np.float32)
    result = TreeScorer(text).predict(X, np.array([0, len(X)]), 1)
    np.testing.assert_array_equal(result, tree.predict(X) + 0.25)
    by_hand = [(np.nan_to_num(y) > 0.5, (x > -1), (y > 2.5) or np.isnan(y)) for x, y in X.tolist()]
    np.testing.assert_array_equal(result, [4 * a + 2 * b + c - 2.75 for a, b, c in by_hand])
    assert join_trees(*split_trees(text)) == text


def test_ensembles_are_symmetric_and_work_everywhere(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [-0.5, 0.5]).astype(float)
    data = pk.RankingDataset.from_arrays(X, y, np.arange(300) // 10)
    ranker = pk.rankers()["ObliviousLambdaMART"](n_estimators=20, depth=3, n_jobs=1).fit(data)
    trees = split_trees(ranker.scorer_.text)[1]
    assert len(trees) == 20
    for tree in trees:
        for name in ("split_feature", "threshold"):
            _, *rest = tree[name].split()
            assert len(set(rest[:2])) == 1 and len(set(rest[2:])) == 1 and len(rest) == 6
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(data), ranker.predict(data))
    result = explain(ranker, data, 3)
    assert result.method == "trees"
    np.testing.assert_allclose(result.contributions.sum(axis=1) + result.base, result.scores, atol=1e-9)
    assert ranker.score(data) > 0.9
    for loss in ("ListNet", "Softmax"):  # any loss, several outputs too
        other = pk.GradientRanker(loss=loss, model="oblivious", n_jobs=1).fit(data)
        assert other.score(data) > 0.9


def test_one_level_on_the_square_loss_is_the_best_stump():
    """One tree of one level and rate 1: the split of least squared error, and the means of its sides."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 2)).astype(np.float32)
    y = (X[:, 1] > 0.3) * 2.0 + rng.integers(0, 2, 50)
    data = pk.RankingDataset.from_arrays(X, y, np.zeros(50))
    model = Oblivious(n_estimators=1, depth=1, learning_rate=1.0, min_child_samples=1, n_jobs=1)
    result = model.train(Square(), data, SilentMonitor()).predict(data.X, data.offsets)
    errors = {}
    for j in range(2):
        for t in data.X[:, j]:
            right = data.X[:, j] > t
            if right.any():
                errors[j, t] = sum(((y[s] - y[s].mean()) ** 2).sum() for s in (right, ~right))
    np.testing.assert_allclose(((y - result) ** 2).sum(), min(errors.values()))


@pytest.mark.parametrize("parameters", [{"depth": 0}, {"depth": 20}, {"n_estimators": 0}, {"subsample": 0.0}])
def test_refusals_name_the_parameter(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        pk.rankers()["ObliviousMART"](**parameters).fit([[0.0], [1.0]], [0, 1], qid=[1, 1])
