"""The study of learning from clicks."""

from __future__ import annotations

import pytest

import plackett as pk
from plackett.studies.learning_from_clicks import learning_from_clicks


def test_rows_and_the_gap():
    data = pk.datasets.make_ranking(120, 10, 8, random_state=0)
    found = learning_from_clicks(
        data, users=["position 2"], pages=[3000], methods=["naive", "PBM labels"], logging="random", seeds=2
    ).frame
    assert found["method"].to_list() == ["all grades", "naive", "PBM labels"]
    value = dict(zip(found["method"], found["nDCG@10"], strict=True))
    assert value["all grades"] > value["naive"] > 0.4
    closed = dict(zip(found["method"], found["closed"], strict=True))
    expected = (value["PBM labels"] - value["naive"]) / (value["all grades"] - value["naive"])
    assert closed["PBM labels"] == pytest.approx(expected)
    with pytest.raises(pk.DataError, match="users are"):
        learning_from_clicks(data, users=["nobody"])
