from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.dataset import RankingDataset
from plackett.measures import AP, GAP
from plackett.measures.ranking import Scored
from plackett.testing.measures import check_measure, random_lists
from written_out.measures import DEFINITIONS


def ranked(labels, measure):
    return pk.evaluate(labels, -np.arange(len(labels)), [measure]).mean[str(measure)]


def naive(labels, g, k=None):
    """The formula of the paper in two loops; g are the probabilities of thresholds 1, 2, …"""
    grades = [max(int(label), 0) for label in labels]
    expected = sum(sum(g[:grade]) for grade in grades)
    total = 0.0
    for n in range(1, min(k or len(grades), len(grades)) + 1):
        total += sum(sum(g[: min(grades[m], grades[n - 1])]) for m in range(n)) / n
    return total / expected if expected else np.nan


def list_of(labels):
    return RankingDataset.from_arrays(None, np.asarray(labels, float))


THRESHOLDS = {
    "uniform": (0.25, 0.25, 0.25, 0.25),
    "exp2": (2 / 30, 4 / 30, 8 / 30, 16 / 30),
    (0.1, 0.0, 0.6, 0.3): (0.1, 0.0, 0.6, 0.3),
}


def test_worked_examples():
    """By hand; the first list is the test of Infer.NET's metric, whose gains are the labels."""
    total = 3 / 1 + (1 + 1) / 2 + (2 + 1 + 2) / 3 + (2 + 1 + 2 + 2) / 4
    assert ranked([3, 1, 2, 2], GAP) == pytest.approx(total / (3 + 1 + 2 + 2))
    assert ranked([1, 2], GAP(thresholds=(0.4, 0.6))) == pytest.approx((0.4 / 1 + (0.4 + 1.0) / 2) / 1.4)
    assert ranked([2, 1, 0], GAP) == pytest.approx(1)
    assert ranked([1, 0], GAP(thresholds=(0.0, 1.0), empty=0.25)) == 0.25  # nobody takes grade 1 as relevant


@pytest.mark.parametrize("k", [None, 1, 4])
@pytest.mark.parametrize("thresholds", THRESHOLDS, ids=str)
def test_against_the_formula(thresholds, k):
    rng = np.random.default_rng(3)
    measure = GAP(thresholds=thresholds, k=k, empty="skip")
    for _ in range(15):
        labels = rng.choice([-1, 0, 0, 1, 2, 2.5, 3, 4], int(rng.integers(1, 14)))
        result = measure.per_query(Scored(list_of(labels), -np.arange(labels.size)))[0]
        np.testing.assert_allclose(result, naive(labels, THRESHOLDS[thresholds], k), rtol=1e-12)


@pytest.mark.parametrize("ties", ["expected", "stable"])
def test_two_grades_are_average_precision(ties):
    data, scores = random_lists(np.random.default_rng(0), [7, 30, 1, 12], labels=(-1, 0, 0, 1))
    scored = Scored(data, scores)
    for thresholds in ("uniform", "exp2", (1.0,), (0.5, 0.5)):
        for k in (None, 5):
            graded = GAP(thresholds=thresholds, k=k, ties=ties, empty="skip").per_query(scored)
            np.testing.assert_array_equal(graded, AP(k=k, ties=ties, empty="skip").per_query(scored))


def test_one_threshold_is_average_precision_from_it_on():
    labels = [1, 3, 0, 2, 3]
    for rel in (1, 2, 3):
        certain = [float(grade == rel) for grade in (1, 2, 3)]
        assert ranked(labels, GAP(thresholds=certain)) == pytest.approx(ranked(labels, AP(rel=rel)))


def test_uniform_does_not_depend_on_the_largest_grade():
    for n in (3, 4, 9):
        assert ranked([1, 3, 0, 2], GAP(thresholds=[1 / n] * n)) == pytest.approx(ranked([1, 3, 0, 2], GAP))


@pytest.mark.parametrize("thresholds", THRESHOLDS, ids=str)
@pytest.mark.parametrize("k", [None, 3])
def test_battery_with_parameters(thresholds, k):
    """Exact means over ties, swap deltas against measuring again, bounds and the rest."""
    check_measure(GAP(thresholds=thresholds, k=k), definition=DEFINITIONS["GAP"])


def test_lambdamart_trains_for_it():
    """On held-out queries well above equal scores for all."""

    def task(seed):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 6)).astype(np.float32)
        y = np.digitize(X[:, 0] + 0.7 * X[:, 1] + rng.normal(0, 0.5, 500), [-0.3, 0.8, 1.6]).astype(float)
        return RankingDataset.from_arrays(X, y, np.arange(500) // 10)

    test = task(1)
    constant = pk.evaluate(test, np.zeros(500), ["GAP"]).mean["GAP"]
    for measure in ("GAP", "GAP(thresholds=(0.2, 0.3, 0.5))"):
        ranker = pk.LambdaMART(measure=measure, n_estimators=12, num_leaves=6, min_child_samples=3, n_jobs=1)
        result = pk.evaluate(test, ranker.fit(task(0)).predict(test), ["GAP"]).mean["GAP"]
        assert result > constant + 0.2


def test_large_labels():
    """Thresholds between the labels that occur cost nothing, and 2^label does not overflow."""
    assert ranked([0, 5000, 1], GAP(thresholds="exp2")) == pytest.approx(1 / 2)  # 1 is relevant with chance 2^−5000
    assert ranked([1, 1_000_000], GAP) == pytest.approx((1 + (1 + 1e6) / 2) / (1 + 1e6))


def test_refusals():
    for bad in ("equal", (0.5, 0.4), (1.5, -0.5), (), 3, ("a",), (float("nan"), 1.0)):
        with pytest.raises(pk.MeasureError, match="thresholds="):
            GAP(thresholds=bad)
    with pytest.raises(pk.MeasureError, match="label 3"):
        ranked([3, 0], GAP(thresholds=(0.5, 0.5)))
