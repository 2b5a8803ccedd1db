"""Nested rankers: who is ordered anew, who trains on what."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from plackett import LossError, RankingDataset
from plackett.models.linear import Linear
from plackett.models.trees.model import Trees
from plackett.rankers.pairwise.nested_ranker import NestedRanker
from plackett.scorers.linear import LinearScorer
from plackett.scorers.nested import NestedScorer
from plackett.solvers.monitor import Monitor
from plackett.testing import parametrize_with_checks
from plackett.testing.rankers import easy_task, small

MODELS = [Linear(max_iter=25, n_jobs=1), Trees(n_estimators=6, num_leaves=4, min_child_samples=1, n_jobs=1)]


@parametrize_with_checks([small(NestedRanker, model=model, keep=(6, 3)) for model in MODELS])
def test_battery_with_three_stages(check):
    check()


def test_one_stage_is_ranknet():
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    from plackett.rankers import RankNet

    X, y, qid = easy_task()
    small_net = {"hidden": (6,), "max_epochs": 5, "device": "cpu", "n_jobs": 1}
    one = NestedRanker(keep=(), **small_net).fit(X, y, qid=qid)
    other = RankNet(alpha=0.0, weight_decay=6.0, average=1, graded=False, **small_net).fit(X, y, qid=qid)
    np.testing.assert_array_equal(one.predict(X, qid=qid), other.predict(X, qid=qid))


class Recorder(Linear):
    """A linear model that notes what it was trained on."""

    def train(self, loss, data, monitor: Monitor, start=None):
        self.seen.append(data)
        return super().train(loss, data, monitor, start)


def test_each_stage_trains_on_the_top_of_the_one_before():
    X, y, qid = easy_task(n_queries=15)
    data = RankingDataset.from_arrays(X, y, qid)
    recorder = Recorder(max_iter=20, n_jobs=1)
    recorder.seen = []
    stages = NestedRanker(model=recorder, keep=(6, 3)).fit(data).scorer_.stages
    assert len(stages) == len(recorder.seen) == 3
    for before, n, part in zip(stages, (6, 3), recorder.seen[1:], strict=False):
        whole = recorder.seen[recorder.seen.index(part) - 1]
        scores = whole.X.astype(float) @ before.weights[:, 0]
        for q in range(whole.n_queries):
            rows, kept = slice(*whole.offsets[q : q + 2]), slice(*part.offsets[q : q + 2])
            best = np.argsort(-scores[rows])[:n]
            np.testing.assert_array_equal(part.X[kept], whole.X[rows][np.sort(best)])


def test_documents_outside_keep_their_order_and_stay_below():
    """Against loops over the lists, with ties and lists of every length."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (60, 3)).astype(float)
    offsets = np.array([0, 0, 1, 3, 10, 30, 60])
    stages = tuple(LinearScorer(rng.normal(size=(3, 1)), np.zeros(1)) for _ in range(3))
    scores = NestedScorer(stages, np.array([60, 8, 3])).predict(X, offsets)
    for a, b in pairwise(offsets):
        rows = np.arange(a, b)
        groups = []
        for stage, n in zip(stages, (8, 3, None), strict=True):
            by_stage = dict(zip(rows, X[rows] @ stage.weights[:, 0], strict=True))
            cut = -np.inf if n is None or rows.size == 0 else sorted(by_stage.values())[-min(n, rows.size)]
            groups.insert(0, sorted((i for i in rows if by_stage[i] < cut), key=by_stage.get, reverse=True))
            rows = np.array([i for i in rows if by_stage[i] >= cut], int)
            last = by_stage
        groups.insert(0, sorted(rows, key=last.get, reverse=True))
        expected = [i for group in groups for i in group]
        result = scores[expected]
        assert (np.diff(result) <= 1e-12).all()
        for upper, lower in pairwise(groups):
            if upper and lower:
                assert scores[upper].min() > scores[lower].max()


def test_stages_that_drop_nothing_are_left_out():
    X, y, qid = easy_task(n_queries=8)
    ranker = NestedRanker(model=Linear(n_jobs=1), keep=(1000, 100, 5)).fit(X, y, qid=qid)
    assert ranker.scorer_.keep.tolist()[1:] == [5]


def test_refuses_sizes_that_do_not_fall():
    for keep in ((10, 10), (5, 8), (0,)):
        with pytest.raises(LossError, match="decreasing"):
            NestedRanker(model=Linear(), keep=keep).fit([[0.0], [1.0]], [0, 1], qid=[0, 0])
