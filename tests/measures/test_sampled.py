"""Estimates of average precision from samples of judgements, against complete judgements."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk

LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0], float)
SCORES = -np.arange(8.0)
TOP, TAIL = np.arange(3), np.arange(3, 8)  # the top is judged whole, the tail sampled
N_DRAWN = 3


def _samples():
    """Every sample of a design of two strata, all equally likely."""
    for drawn in itertools.combinations(TAIL, N_DRAWN):
        labels = np.where(np.isin(np.arange(8), [*TOP, *drawn]), LABELS, -1.0)
        weight = np.where(np.arange(8) < 3, 1.0, TAIL.size / N_DRAWN)
        yield pk.RankingDataset.from_arrays(None, labels, sample_weight=weight)


def test_statap_is_a_ratio_of_unbiased_estimates():
    """Numerator and denominator, over all samples of the design, have the exact mean."""
    sums, totals = [], []
    for data in _samples():
        total = data.sample_weight[data.labels >= 1].sum()
        totals.append(total)
        sums.append(pk.evaluate(data, SCORES, ["statAP"]).mean["statAP"] * total)
    exact = pk.evaluate(LABELS, SCORES, ["AP"], qid=np.zeros(8)).mean["AP"]
    np.testing.assert_allclose(np.mean(totals), LABELS.sum())
    np.testing.assert_allclose(np.mean(sums), exact * LABELS.sum())


@pytest.mark.parametrize("measure", ["statAP", "xinfAP", "infAP"])
def test_close_to_the_truth_on_average(measure):
    exact = pk.evaluate(LABELS, SCORES, ["AP"], qid=np.zeros(8)).mean["AP"]
    result = [pk.evaluate(data, SCORES, [measure]).mean[measure] for data in _samples()]
    bias = abs(np.mean(result) - exact)
    # infAP takes the sample for a uniform one, and is misled by the top
    assert bias > 0.02 if measure == "infAP" else bias < 0.02


def test_without_weights():
    rng = np.random.default_rng(0)
    labels, scores, qid = rng.integers(-1, 3, 90).astype(float), rng.normal(size=90), np.repeat(np.arange(9), 10)
    result = pk.evaluate(labels, scores, ["statAP", "AP", "xinfAP", "infAP"], qid=qid).values
    np.testing.assert_allclose(result["statAP"], result["AP"])
    np.testing.assert_allclose(result["xinfAP"], result["infAP"])


def test_every_order_of_rows_and_many_queries_at_once():
    rng = np.random.default_rng(1)
    labels, scores = rng.integers(-2, 2, 60).astype(float), rng.normal(size=60)
    weight, qid = rng.choice([1.0, 2.0, 5.0], 60), np.repeat(np.arange(6), 10)
    order = rng.permutation(60)
    names = ["statAP", "xinfAP"]
    data = pk.RankingDataset.from_arrays(None, labels, qid, sample_weight=weight)
    one = pk.evaluate(data, scores, names)
    again = pk.RankingDataset.from_arrays(None, labels[order], qid[order], sample_weight=weight[order])
    two = pk.evaluate(again, again.from_input_order(scores[order]), names)
    for name in names:
        by_query = dict(zip(two.qids.tolist(), two.values[name].tolist(), strict=True))
        np.testing.assert_allclose([by_query[q] for q in one.qids.tolist()], one.values[name])
        assert np.isfinite(one.values[name]).all()
