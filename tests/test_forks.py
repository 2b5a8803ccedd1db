"""Children started by `fork` have none of the parent's threads, and must not wait for them."""

from __future__ import annotations

import multiprocessing
import sys
import threading

import numpy as np
import pytest

import plackett as pk
from plackett.scorers.trees.build import build_trees
from plackett.scorers.trees.codes import TreeCodes
from plackett.scorers.trees.scoring import TreeKernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="fork is safe on Linux only")


def in_child(function, seconds=600):
    """What the function returns in a forked child; a child that hangs is ended and fails the test."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(function()))
    child.start()
    try:
        assert receiver.poll(seconds), "the child hangs"
        return receiver.recv()
    finally:
        child.kill()
        child.join()


def test_evaluate():
    rng = np.random.default_rng(0)
    data = pk.RankingDataset.from_arrays(
        rng.normal(size=(60_000, 1)), rng.integers(0, 3, 60_000), np.arange(60_000) // 100
    )

    def evaluated():
        return pk.evaluate(data, data.X[:, 0], ["nDCG@10", "AP"], n_jobs=2).mean

    assert in_child(evaluated) == evaluated()
    assert in_child(evaluated) == evaluated()  # now the parent has a pool


@pytest.mark.parametrize("name", ["LambdaMART", "RankNet", "ListNet"])
def test_predict_after_a_fit(name):
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(5000, 4)), rng.integers(0, 3, 5000), np.arange(5000) // 50
    few = {"LambdaMART": {"n_estimators": 3}, "RankNet": {"max_epochs": 1}, "ListNet": {"max_iter": 3}}[name]
    ranker = getattr(pk.rankers, name)(n_jobs=2, **few).fit(X, y, qid=qid)
    scores = ranker.predict(X)
    np.testing.assert_array_equal(in_child(lambda: ranker.predict(X)), scores)
    np.testing.assert_array_equal(in_child(lambda: ranker.fit(X, y, qid=qid).predict(X)), scores)


def test_score_while_a_thread_of_the_parent_prepares_trees(monkeypatch):
    trees = build_trees(1, [1], [0], [0.5], [~0], [~1], [-1.0, 1.0])
    X = np.array([[0.0], [1.0]])
    begun, go_on, prepare = threading.Event(), threading.Event(), TreeCodes.of

    def prepare_slowly(trees):
        if threading.current_thread() is thread:
            begun.set()
            go_on.wait()
        return prepare(trees)

    thread = threading.Thread(target=lambda: TreeKernels(trees).predict(X))
    monkeypatch.setattr(TreeCodes, "of", prepare_slowly)
    thread.start()
    try:
        assert begun.wait(60)
        assert in_child(lambda: TreeKernels(trees).predict(X), seconds=60).tolist() == [-1.0, 1.0]
    finally:
        go_on.set()
        thread.join()
