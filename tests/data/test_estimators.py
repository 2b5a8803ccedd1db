"""Training any ranker on a dataset."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.data.estimators import fit, fit_parameters, takes_dataset


@pytest.mark.parametrize("name", sorted(pk.rankers()))
def test_every_ranker_receives_the_dataset(name):
    assert takes_dataset(pk.rankers()[name]())


@pytest.mark.parametrize("name", ["PooledTransfer", "MultiTask", "ClassRankers"])
def test_the_queries_reach_a_ranker_whose_fit_extends_that_of_all(name):
    data = pk.datasets.make_ranking(n_queries=12, docs_per_query=6, n_features=3, random_state=0)
    ranker = pk.rankers()[name](base="LinearRegression")
    result = fit(ranker, data.select(range(8)), data.select(range(8, 12)))
    assert result.card_["data"]["queries"] == 8
    np.testing.assert_array_equal(
        result.predict(data), ranker.fit(data.select(range(8)), eval_set=data.select(range(8, 12))).predict(data)
    )


def test_parameters_of_fit_stop_at_a_method_that_hands_nothing_on():
    class Inner(pk.RankSVM):
        def fit(self, X, y=None, *, extra=None, **arguments):
            return super().fit(X, y, **arguments)

    class Closed(pk.RankSVM):
        def fit(self, X, y):
            return super().fit(X, y)

    assert {"extra", "qid", "eval_set"} <= set(fit_parameters(Inner()))
    assert set(fit_parameters(Closed())) == {"X", "y"}
