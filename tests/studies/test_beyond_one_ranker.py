"""Studies of chapters 7 to 9: the effect is there where it was planted, and the tables say what was measured."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from studies.few_labels import _hidden, few_labels
from studies.query_dependent import query_dependent
from studies.transfer import transfer


def gains(frame, **where):
    for column, value in where.items():
        frame = frame.filter(frame[column] == value)
    return dict(zip(frame["ranker"].to_list(), frame["gain"].to_list(), strict=True))


def test_query_dependent_rankers_gain_only_where_weights_turn():
    frame = query_dependent(n_queries=60).frame
    turning, same = (gains(frame, data=name) for name in frame["data"].unique(maintain_order=True))
    assert all(turning[name] > 0.1 for name in ("KNN online", "KNN offline 2", "two layers", "CoupleNet"))
    assert all(abs(same[name]) < 0.05 for name in ("KNN offline 2", "classes, hard", "model clusters"))


def test_labels_spread_only_in_clusters():
    frame = few_labels(n_draws=5).frame
    clear, none = (gains(frame, data=name) for name in frame["data"].unique(maintain_order=True))
    assert clear["labels of neighbours, two lists"] > 0.01 and clear["preferences of neighbours"] > 0.01
    assert none["graph, clamped"] < 0.0


def test_labels_are_hidden():
    data = pk.datasets.make_ranking(n_queries=20, docs_per_query=30, n_features=4, random_state=0)
    hidden = _hidden(data, 2, 5, 0)
    kept = hidden.y >= 0
    assert (hidden.y[kept] == data.y[kept]).all()
    queries = np.unique(data.query_of_row[kept])
    assert queries.size == 5
    for q in queries:
        rows = data.query_of_row == q
        counts = {g: int((hidden.y[rows] == g).sum()) for g in np.unique(data.y[rows])}
        assert all(n == min(2, (data.y[rows] == g).sum()) for g, n in counts.items())
    study = few_labels({"made": data}, n_labelled=2, labelled_queries=4)
    assert "weak teacher" in study.frame["ranker"].to_list()


def test_transfer_helps_with_few_queries_and_is_watched():
    frame = transfer(n_target=(3,), n_draws=2).frame
    related, opposite = (gains(frame, target=name) for name in frame["target"].unique(maintain_order=True))
    assert related["pooled"] > 0.02 and opposite["pooled"] < -0.3 and abs(opposite["pooled, watched"]) < 0.05
    data = pk.datasets.make_ranking(n_queries=30, docs_per_query=10, n_features=4, random_state=0)
    parts = {"a": data.select(range(15)), "b": data.select(range(15, 30))}
    assert set(transfer(parts, n_target=(3,)).frame["target"]) == {"a", "b"}
    with pytest.raises(ValueError, match="several datasets"):
        transfer({"a": data})
