"""Cascades: stages, what they keep, what they cost."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError


@pytest.fixture(scope="module")
def parts():
    made = pk.datasets.make_ranking(n_queries=60, docs_per_query=(10, 30), n_features=6, random_state=0)
    return pk.split_queries(made, (0.6, 0.4), random_state=0)


def test_one_stage_is_the_ranker_itself(parts):
    train, test = parts
    cascade = pk.Cascade(stages=("ListNet",), keep=()).fit(train)
    np.testing.assert_array_equal(cascade.predict(test), pk.ListNet().fit(train).predict(test))
    assert cascade.cost_ == train.n_features


def test_keeping_all_documents_is_the_last_stage(parts):
    train, test = parts
    cascade = pk.Cascade(stages=("LinearRegression", "ListNet"), keep=(1000,)).fit(train)
    np.testing.assert_array_equal(cascade.predict(test), pk.ListNet().fit(train).predict(test))


def test_scores_of_three_stages_by_hand(parts):
    """Stage by stage: trained on what reached it, above what did not, in the order of its own scores."""
    train, test = parts
    columns, keep = ([0], [0, 1, 2], range(6)), (8, 3)
    cascade = pk.Cascade(stages=("ListNet", "LinearRegression", "RankSVM(C=0.01)"), keep=keep,
                         features=(*columns[:2], None)).fit(train)  # fmt: skip
    first = pk.ListNet().fit(train.X[:, [0]], train.y, qid=train.query_of_row)
    # the columns lie in another order in memory, and the last digit of a sum depends on the processor
    np.testing.assert_allclose(cascade.members_[0].predict(test.X[:, [0]]), first.predict(test.X[:, [0]]), rtol=1e-9)
    scores = cascade.predict(test)
    stages = [member.predict(test.X[:, list(own)]) for member, own in zip(cascade.members_, columns, strict=True)]
    for a, b in zip(test.offsets[:-1], test.offsets[1:], strict=True):
        order = list(range(a, b))
        for number, n in ((0, b - a), (1, keep[0]), (2, keep[1])):
            head = sorted(order[:n], key=lambda i: -stages[number][i])
            order = head + order[n:]
        assert np.argsort(-scores[a:b], kind="stable").tolist() == [i - a for i in order]


def test_cost_is_that_of_new_features_times_the_documents_that_reach_a_stage(parts):
    train, _ = parts
    costs = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    cascade = pk.Cascade(stages=("ListNet", "ListNet", "ListNet"), keep=(6, 2), features=([0], [0, 1], [1, 5]),
                         feature_costs=costs).fit(train)  # fmt: skip
    share = np.minimum(train.group, 6).sum() / train.n_rows, np.minimum(train.group, 2).sum() / train.n_rows
    assert cascade.cost_ == pytest.approx(1.0 + 2.0 * share[0] + 32.0 * share[1], rel=1e-12)


def test_auto_takes_the_cheapest_that_loses_little_enough(parts):
    train, test = parts
    cascade = pk.Cascade(stages=("ListNet", "MART(n_estimators=10)"), features=([0, 1, 2], None), max_loss=0.01)
    cascade.fit(train, eval_set=test)
    table = cascade.frontier_
    assert table["cost"].is_sorted()
    good = table.filter(table["loss"] <= 0.01)
    assert list(cascade.keep_) == good["keep"][0].to_list()
    value = pk.evaluate(test, cascade.predict(test), "nDCG@10").mean["nDCG@10"]
    assert value == pytest.approx(good["value"][0], rel=1e-12)
    chosen = table.filter(table["frontier"])
    assert (np.diff(chosen["loss"].to_numpy()) < 0).all()  # what costs more loses less


def test_saved_and_loaded(parts, tmp_path):
    train, test = parts
    cascade = pk.Cascade(stages=("ListNet", "MART(n_estimators=5)"), keep=(4,), features=([0, 2], None)).fit(train)
    cascade.save(tmp_path / "c.plackett")
    again = pk.load(tmp_path / "c.plackett")
    np.testing.assert_array_equal(again.predict(test), cascade.predict(test))
    assert (again.keep_, again.cost_) == (cascade.keep_, cascade.cost_)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"stages": ()}, "stages"),
        ({"stages": ("ListNet", 3)}, "not a plackett ranker"),
        ({"keep": "auto"}, "validation data"),
        ({"keep": (0,)}, "keep"),
        ({"keep": (5, 3)}, "keep"),
        ({"keep": 5}, "keep"),
        ({"keep": (5,), "features": ([0],)}, "each of the 2 stages"),
        ({"keep": (5,), "features": ([9], None)}, "no feature 9"),
        ({"keep": (5,), "features": (["title"], None)}, "match_0"),
        ({"keep": (5,), "feature_costs": [1.0]}, "1 entries for 6"),
        ({"keep": (5,), "feature_costs": [-1.0] * 6}, "0 or more"),
    ],
)
def test_refusals(parts, parameters, match):
    with pytest.raises(DataError, match=match):
        pk.Cascade(**parameters).fit(parts[0])


def test_no_value_on_the_validation_data(parts):
    train, valid = parts
    none = valid.replace(y=np.zeros(valid.n_rows))
    cascade = pk.Cascade(stages=("LinearRegression",) * 2, eval_measure='nDCG(empty="skip")@10', n_jobs=1)
    with pytest.raises(DataError, match="has no value on the validation data"):
        cascade.fit(train, eval_set=none)
