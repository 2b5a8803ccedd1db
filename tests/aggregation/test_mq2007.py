"""LETOR's rank aggregation set."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import datasets, evaluate
from plackett.aggregation import CPS, RRF, Borda, Kemeny, RankLists


@pytest.fixture(scope="module")
def parts(data_dir):
    return [datasets.load("mq2007-agg", part=part, root=data_dir) for part in ("S1", "S2")]


def _ap(data, scores):
    return evaluate(data, scores, "AP", preset="letor4").mean["AP"]


def test_aggregation_beats_the_lists_and_labels_beat_both(parts):
    train, test = parts
    lists = RankLists.from_dataset(test)
    assert lists.n_lists == 21 and lists.unlisted.size
    single = [_ap(test, np.nan_to_num(lists.values[:, m], nan=-1e9)) for m in range(21)]
    fitted = CPS().fit(RankLists.from_dataset(train), train.y)
    result = {type(m).__name__: _ap(test, m.scores(lists)) for m in (Borda(), RRF(), Kemeny(), fitted)}
    assert min(result["Borda"], result["RRF"], result["Kemeny"]) > np.median(single)
    assert result["CPS"] > max(result["Borda"], result["RRF"], result["Kemeny"]) + 0.01


def test_kemenys_order_is_nearer_to_the_lists_than_bordas(parts):
    lists = RankLists.from_dataset(parts[1])
    kemeny, borda = (Kemeny().distance(lists, m.scores(lists)) for m in (Kemeny(), Borda()))
    assert kemeny.sum() < borda.sum()
