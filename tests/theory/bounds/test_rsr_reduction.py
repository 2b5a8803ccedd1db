"""The reduction from nDCG to weighted pairs."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.theory.bounds.rsr_reduction import rsr_reduction


def test_bound_holds_for_orders():
    rng = np.random.default_rng(0)
    tight = 0
    for _ in range(2000):
        n = int(rng.integers(1, 8))
        labels, scores = rng.integers(-1, 4, n), rng.permutation(n).astype(float)
        result = rsr_reduction(scores, labels)
        assert result.transitive
        assert result.loss <= result.bound + 1e-12
        tight += result.loss > 0.99 * result.bound > 0
    assert tight > 50  # the bound is attained: no factor is lost


def test_loss_is_that_of_the_measure():
    rng = np.random.default_rng(1)
    for _ in range(20):
        labels, scores = rng.integers(0, 4, 6), rng.normal(size=6)
        data = RankingDataset.from_arrays(None, labels, qid=np.zeros(6, int))
        expected = 1.0 - evaluate(data, scores, ["nDCG(empty=1)"]).values["nDCG(empty=1)"][0]
        np.testing.assert_allclose(rsr_reduction(scores, labels).loss, expected, atol=1e-12)


def test_a_table_of_preferences_is_the_order_it_says():
    scores, labels = np.array([0.3, -1.0, 2.0, 0.1]), [0, 2, 1, 0]
    table = scores[:, None] < scores
    one, two = rsr_reduction(scores, labels), rsr_reduction(table, labels)
    assert one.ranks.tolist() == two.ranks.tolist() == [2, 4, 1, 3]
    assert (one.loss, one.bound) == (two.loss, two.bound)


def test_circles_are_named_and_can_break_the_bound():
    """a before b before c before a: all positions tie."""
    circle = np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert not rsr_reduction(circle, [0, 0, 1]).transitive
    rng = np.random.default_rng(0)
    broken = 0
    for _ in range(300):
        upper = np.triu(rng.integers(0, 2, (5, 5)), 1)
        table = upper + np.tril(1 - upper.T, -1)
        result = rsr_reduction(table, rng.integers(0, 3, 5))
        broken += result.loss > result.bound + 1e-12
        assert result.transitive is False or result.loss <= result.bound + 1e-12
    assert broken > 0


def test_refusals():
    for classifier, match in (
        ([1.0], "shape"),
        (np.zeros((2, 2)), "exactly one"),
        (np.full((2, 2), 0.5), "exactly one"),
    ):
        with pytest.raises(ValueError, match=match):
            rsr_reduction(classifier, [0, 1])
