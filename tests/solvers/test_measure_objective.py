"""A measure as an objective: many score vectors at once, weights of documents and queries."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError, MeasureError, RankingDataset
from plackett.evaluation.evaluate import evaluate
from plackett.measures import parse
from plackett.solvers.measure_objective import MeasureObjective


def random_lists(rng, **columns):
    y, qid = rng.integers(-1, 4, 40).astype(float), np.sort(rng.integers(0, 6, 40))
    return RankingDataset.from_arrays(None, y, qid, **columns)


@pytest.mark.parametrize("name", ["AP", "nDCG@3", "ERR", "ARP", "KendallTau", 'P(ties="random")@2', 'AP(empty="skip")'])
def test_many_vectors_are_each_what_evaluate_says(name):
    rng = np.random.default_rng(0)
    data, measure = random_lists(rng), parse(name)
    scores = rng.integers(0, 4, (5, data.n_rows)).astype(float)
    lists = MeasureObjective(data, measure)
    expected = [evaluate(data, s, [measure]).mean[str(measure)] for s in scores]
    np.testing.assert_allclose(lists.values(scores), lists.sign * np.array(expected), rtol=1e-12)
    assert lists.value(scores[2]) == lists.values(scores[2:3])[0]


def test_weights_of_queries_and_documents():
    rng = np.random.default_rng(1)
    sample, query = rng.choice([0.0, 0.5, 2.0], 40), rng.uniform(0.5, 2.0, 6)
    data = random_lists(rng, sample_weight=sample, query_weight=query)
    scores = rng.normal(size=40)
    total = mass = 0.0
    for q in range(6):
        rows = np.arange(*data.offsets[q : q + 2])
        counted = rows[sample[rows] > 0]
        weight = query[q] * sample[rows].mean()
        value = evaluate(RankingDataset.from_arrays(None, data.y[counted]), scores[counted], ["AP"]).mean["AP"]
        total, mass = total + weight * value, mass + weight
    np.testing.assert_allclose(MeasureObjective(data, parse("AP")).value(scores), total / mass, rtol=1e-12)


def test_what_cannot_be_measured_is_refused():
    data = RankingDataset.from_arrays(None, [0.5, 0.0])
    with pytest.raises(DataError, match=r"no label is relevant to AP: the largest is 0.5.*AP\(rel=0.5\)"):
        MeasureObjective(data, parse("AP"))
    with pytest.raises(DataError, match="needs labels"):
        MeasureObjective(RankingDataset.from_arrays(None, None, [1, 1]), parse("AP"))
    with pytest.raises(MeasureError, match="between -1 and 1"):
        MeasureObjective(data, parse("DCG")).check_bounds("AdaRank")
