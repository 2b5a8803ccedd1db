"""Measures of runs from samples of judgements."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.selection import APPriorPool, Candidates, HedgePool, UniformPool, evaluate_sample

RUN = {"q": {f"d{i:02}": -i for i in range(16)}, "r": {f"d{i:02}": -((i * 5) % 16) for i in range(16)}}
TRUTH = {q: {f"d{i:02}": int(i in (0, 2, 3, 7, 11)) for i in range(16)} for q in RUN}


def _judge(frame):
    result: dict[str, dict[str, int]] = {}
    for qid, docid in frame.select("qid", "docid").rows():
        result.setdefault(qid, {})[docid] = TRUTH[qid][docid]
    return result


@pytest.mark.parametrize("pool", [UniformPool(), APPriorPool()])
def test_everything_judged_is_average_precision(pool):
    sample = pool.select([RUN], budget=32)
    result = evaluate_sample(TRUTH, RUN, sample, ["statAP", "xinfAP"])
    exact = pk.evaluate_run(TRUTH, RUN, ["AP"]).values["AP"]
    np.testing.assert_allclose(result.values["statAP"], exact)
    np.testing.assert_allclose(result.values["xinfAP"], exact, atol=1e-3)


@pytest.mark.parametrize("pool", [UniformPool(), APPriorPool()])
def test_mean_over_samples(pool):
    exact = pk.evaluate_run(TRUTH, RUN, ["AP"]).mean["AP"]
    candidates = Candidates.from_runs([RUN])
    result = []
    for seed in range(40):
        sample = pool.select(candidates, budget=16, random_state=seed)
        result.append(evaluate_sample(_judge(sample.frame), RUN, sample, ["statAP"]).mean["statAP"])
    assert abs(np.mean(result) - exact) < 4 * np.std(result) / np.sqrt(40) + 0.03


def test_a_sample_without_probabilities():
    sample = HedgePool().select([RUN], budget=4)
    with pytest.raises(DataError, match=r"'hedge'.*no inclusion"):
        evaluate_sample(TRUTH, RUN, sample)
    with pytest.raises(DataError, match="Selection or a table"):
        evaluate_sample(TRUTH, RUN, 3)


def test_tables(tmp_path):
    import polars as pl

    sample = UniformPool().select([RUN], budget=16)
    one = evaluate_sample(_judge(sample.frame), RUN, sample)
    two = evaluate_sample(_judge(sample.frame), RUN, sample.frame_of_candidates.to_pandas())
    assert one.mean == two.mean
    with pytest.raises(DataError, match="inclusion 1.5"):
        evaluate_sample(TRUTH, RUN, sample.frame_of_candidates.with_columns(inclusion=pl.lit(1.5)))
    with pytest.raises(DataError, match="no column 'inclusion'"):
        evaluate_sample(TRUTH, RUN, sample.frame_of_candidates.drop("inclusion"))
