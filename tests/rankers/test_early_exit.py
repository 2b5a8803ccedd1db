"""Early exits: scores against a plain loop over lists, the choice, the frontier, storage."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.evaluation.evaluate import evaluate
from plackett.rankers.early_exit import early_exit


@pytest.fixture(scope="module")
def fitted():
    train, valid = (pk.datasets.make_ranking(40, n_features=6, random_state=seed) for seed in (0, 1))
    return pk.LambdaMART(n_estimators=30, num_leaves=6, n_jobs=1).fit(train), valid


def test_scores_are_those_of_a_plain_cascade(fitted, tmp_path):
    ranker, valid = fitted
    found = early_exit(ranker, valid, trees=(4,), keep=(3,), max_loss=1.0)
    assert (found.trees, found.keep) == (4, 3)
    full = ranker.booster_.predict(valid.X, raw_score=True, num_threads=1)
    first = ranker.booster_.predict(valid.X, raw_score=True, num_iteration=4, num_threads=1)
    scores = found.ranker.predict(valid)
    for a, b in zip(valid.offsets[:-1], valid.offsets[1:], strict=True):
        last = np.sort(first[a:b])[::-1][min(3, b - a) - 1]
        on = first[a:b] >= last  # ties with the third go on too
        order = np.lexsort((-np.where(on, full[a:b], first[a:b]), ~on))
        np.testing.assert_array_equal(np.argsort(-scores[a:b], kind="stable"), order)
    row = found.frame.row(0, named=True)
    assert row["value"] == pytest.approx(evaluate(valid, scores, ["nDCG@10"]).mean["nDCG@10"])
    found.ranker.save(tmp_path / "m")
    np.testing.assert_array_equal(pk.load(tmp_path / "m").predict(valid), scores)
    assert found.ranker.card_["exit"]["trees"] == 4 and "exit" not in ranker.card_


def test_whole_lists_lose_nothing(fitted):
    ranker, valid = fitted
    found = early_exit(ranker, valid, trees=(1, 10), keep=(10_000,), max_loss=0.0)
    assert found.frame["loss"].to_list() == [0.0, 0.0]
    assert found.trees is None and found.ranker is ranker  # more work than without


def test_the_cheapest_that_loses_little_is_chosen(fitted):
    ranker, valid = fitted
    found = early_exit(ranker, valid, max_loss=0.01, keep=(1, 2, 3, 5, 8))
    rows = found.frame.rows(named=True)
    assert [row["work"] for row in rows] == sorted(row["work"] for row in rows)
    good = [row for row in rows if row["loss"] <= 0.01 and row["work"] < 1]
    assert (found.trees, found.keep) == (good[0]["trees"], good[0]["keep"])
    for i, row in enumerate(rows):
        assert row["frontier"] == all(row["loss"] < other["loss"] for other in rows[:i])
    assert len(pk.plot.exit_frontier(found).data) == 2


def test_what_is_wrong_is_named(fitted):
    ranker, valid = fitted
    for parameters, message in (({"trees": (30,)}, "1 to 29"), ({"keep": (0,)}, "keep"), ({"trees": ()}, "trees")):
        with pytest.raises(DataError, match=message):
            early_exit(ranker, valid, **parameters)
    with pytest.raises(DataError, match="ListNet"):
        early_exit(pk.ListNet(max_iter=2).fit(valid), valid)
    with pytest.raises(DataError, match="no exits"):
        pk.plot.exit_frontier(ranker)
