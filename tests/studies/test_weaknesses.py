"""Weaknesses of the pointwise and of the pairwise approach show where they should."""

from __future__ import annotations

import numpy as np
import polars as pl

from studies.bottom_documents import bottom_documents
from studies.pairwise_problems import changed_pairs, pairwise_problems
from studies.pointwise_problems import pointwise_problems


def test_a_long_query_moves_regression_and_not_rankcosine():
    frame = pointwise_problems(factors=(1, 100)).frame.filter(pl.col("documents repeated") == 100)
    cosine = dict(zip(frame["method"], frame["cosine to the first weights"], strict=True))
    quality = dict(zip(frame["method"], frame["nDCG@10 on other queries"], strict=True))
    assert cosine["LinearRegression"] < 0.7 and cosine["RankSVM"] < 0.7
    assert min(cosine[m] for m in ("RankCosine", "IRSVM", "ListNet")) > 0.99
    assert quality["LinearRegression"] < quality["RankCosine"] - 0.1


def test_documents_at_the_bottom_cost_regression_more_than_losses_that_know_positions():
    frame = bottom_documents(n_bottom=(0, 30)).frame
    value = {(row["method"], row["documents of grade 0"]): row for row in frame.iter_rows(named=True)}
    for method in ("ListNet", "ApproxNDCG", "linear lambdas"):
        for column in ("nDCG@3 of the others", "share of the first feature"):
            assert value[method, 30][column] > value["LinearRegression", 30][column] + 0.05
        assert (
            abs(value[method, 0]["nDCG@3 of the others"] - value["LinearRegression", 0]["nDCG@3 of the others"]) < 0.02
        )


def test_remedies_win_when_the_knob_is_on_and_tie_when_it_is_off():
    frame = pairwise_problems().frame
    rows = {(row["weakness"], row["method"]): row for row in frame.iter_rows(named=True)}
    remedies = {
        "grades": ("MPRank", "MultipleHyperplaneRanker"),
        "long queries": ("IRSVM",),
        "noise": ("SigmoidRank", "RampRank"),
        "positions": ("linear lambdas",),
    }
    for weakness, methods in remedies.items():
        plain = rows[weakness, "RankSVM"]
        assert plain["on"] < plain["off"] - 0.1
        for method in methods:
            assert abs(rows[weakness, method]["off"] - plain["off"]) < 0.01
            assert rows[weakness, method]["on"] > plain["on"] + 0.02


def test_changed_pairs_by_a_double_loop():
    rng = np.random.default_rng(0)
    for _ in range(50):
        labels = rng.integers(0, 3, 6)
        d, new = int(rng.integers(6)), int(rng.integers(3))
        other = labels.copy()
        other[d] = new
        pairs = [{(u, v) for u in range(6) for v in range(6) if y[u] > y[v]} for y in (labels, other)]
        changed = {frozenset(pair) for pair in pairs[0] ^ pairs[1]}
        assert changed_pairs(labels, d, new) == len(changed) <= 5
