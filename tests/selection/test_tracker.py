"""The caution report."""

from __future__ import annotations

import numpy as np
from scipy.stats import ks_2samp

from plackett.datasets import make_ranking
from plackett.selection import Candidates, DepthPool, HedgePool
from plackett.selection.tracker import caution, feature_shift

RUNS = [{q: {f"d{i}": -((i * k) % 7) for i in range(7)} for q in "ab"} for k in (1, 1, 3)]


def test_a_missing_top_document_is_noticed():
    judged = {q: {f"d{i}": i % 2 for i in range(1, 7)} for q in "ab"}
    result = caution(Candidates.from_runs(RUNS, judged), top=2)
    assert result.warnings[0].startswith(
        "2 documents that every run ranks among its first 2 are not judged, such as d0"
    )
    whole = {q: {f"d{i}": i % 2 for i in range(7)} for q in "ab"}
    assert caution(Candidates.from_runs(RUNS, whole), top=2).warnings == ()


def test_what_else_is_noticed():
    candidates = Candidates.from_runs(RUNS, {"a": {"d0": 1, "d1": 1}})
    tokens = " ".join(caution(candidates, top=2, gap=0.2).warnings)
    assert "not treated alike" in tokens
    assert "1 query without any judgement, such as b" in tokens
    assert "one kind only" in tokens
    assert "depends on earlier" in " ".join(caution(candidates, HedgePool().select(candidates, budget=2)).warnings)


def test_what_is_chosen_counts():
    candidates = Candidates.from_runs(RUNS)
    result = caution(candidates, DepthPool().select(candidates, budget=14), top=3)
    assert result.warnings == ()
    assert result.by_rank["judged or chosen"].to_list() == [1.0] * result.by_rank.height
    assert result.by_rank["candidates"].sum() == 14


def test_distance_of_features():
    data = make_ranking(n_queries=5, docs_per_query=20, n_features=3, random_state=0)
    chosen = data.X[:, 1] > 0.3
    table = feature_shift(data, chosen)
    expected = [ks_2samp(data.X[chosen, j], data.X[:, j]).statistic for j in range(3)]
    assert table["feature"][0] == str(data.feature_names[1] if data.feature_names else 1)
    np.testing.assert_allclose(np.sort(table["distance"]), np.sort(expected))
