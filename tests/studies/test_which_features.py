from __future__ import annotations

import polars as pl

from studies.which_features import which_features


def test_avoiding_redundancy_beats_copies_of_the_strongest_signal():
    frame = which_features(sizes=(4,), n_seeds=3, n_queries=20).frame
    value = dict(frame.select("selection", "nDCG@10").rows())
    assert value["GAS, c = 1/t"] > value["importance"]
    assert value["GAS, c = 1/t"] > value["random"]
    assert frame.filter(pl.col("selection") == "random")["minus random"].to_list() == [0.0]
