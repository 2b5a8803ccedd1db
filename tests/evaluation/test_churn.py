from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(0)
    qid = np.repeat(["a", "b", "c", "d", "e"], [1, 3, 12, 20, 15])
    n = qid.size
    data = pk.RankingDataset.from_arrays(None, rng.integers(0, 3, n), qid, docids=[f"d{i}" for i in range(n)])
    return data, rng.normal(size=n), rng.normal(size=n)


def test_counts_equal_sets_of_documents(case):
    data, old, new = case
    result = pk.churn(old, new, data, k=5)
    for row in result.per_query.to_dicts():
        q = list(data.qids).index(row["qid"])
        a, b = data.offsets[q : q + 2]
        tops = [[int(i) for i in a + np.argsort(-each[a:b])[:5]] for each in (old, new)]
        assert row["replaced"] == len(set(tops[0]) - set(tops[1]))
        assert row["moved"] == sum(i in tops[1] and tops[1].index(i) != position for position, i in enumerate(tops[0]))
        assert row["first_changes"] == (tops[0][0] != tops[1][0])
        example = result.example(row["qid"])
        assert set(example["docid"]) == {str(data.docids[i]) for i in {*tops[0], *tops[1]}}
    values = [pk.evaluate(data, each, "nDCG@10").mean["nDCG@10"] for each in (old, new)]
    assert result.mean["old"] == pytest.approx(values[0]) and result.mean["new"] == pytest.approx(values[1])
    assert result.per_query["replaced"].to_list() == sorted(result.per_query["replaced"], reverse=True)


def test_the_same_ranking_changes_nothing(case):
    data, old, _ = case
    result = pk.churn(old, 3 * old + 1, data)
    assert result.mean["replaced"] == result.mean["moved"] == result.mean["difference"] == 0
    assert result.mean["unchanged"] == 1.0
    assert "100% of the queries stay" in result.to_markdown()


def test_rankers_and_data_without_labels():
    data = pk.datasets.make_ranking(6, 12, 3, random_state=0)
    rankers = [pk.LinearRegression().fit(data), pk.ListNet().fit(data)]
    result = pk.churn(*rankers, data.replace(y=None), k=3)
    assert "label" not in result.documents.columns and "old" not in result.per_query.columns
    scores = [ranker.predict(data) for ranker in rankers]
    assert result.per_query.equals(pk.churn(*scores, data.replace(y=None), k=3).per_query)


def test_wrong_requests(case):
    data, old, new = case
    with pytest.raises(DataError, match="k=0"):
        pk.churn(old, new, data, k=0)
    with pytest.raises(DataError, match="no query"):
        pk.churn(old, new, data).example("zz")


@pytest.mark.parametrize("k", [0, 2.5, "3", True, None])
def test_k_is_a_whole_number(k):
    data = pk.RankingDataset.from_arrays(None, [1, 0, 2], [1, 1, 1])
    with pytest.raises(pk.DataError, match="whole number"):
        pk.churn([1, 2, 3], [3, 2, 1], data, k=k)
