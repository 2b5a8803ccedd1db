from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline

from plackett import DataError, RankingDataset
from plackett.data.kfold import QueryKFold
from plackett.data.query_normalizer import QueryNormalizer

rng = np.random.default_rng(0)
QID = rng.permutation(np.repeat([f"q{i:02}" for i in range(12)], rng.integers(1, 9, 12)))
X = rng.normal(size=(QID.size, 3))
Y = X[:, 0] + 0.1 * rng.normal(size=QID.size)


def test_no_query_is_cut_and_parts_are_even():
    for splitter in (QueryKFold(5), QueryKFold(5, shuffle=True, random_state=1)):
        tested = []
        for train, test in splitter.split(X, Y, qid=QID):
            assert not set(QID[train]) & set(QID[test])
            assert sorted([*train, *test]) == list(range(QID.size))
            assert len(set(QID[test])) in (2, 3)
            tested.extend(set(QID[test]))
        assert sorted(tested) == sorted(set(QID))
    assert QueryKFold(3).get_n_splits() == 3


def test_row_order_does_not_matter_to_a_shuffled_split():
    def parts(order):
        folds = QueryKFold(4, shuffle=True, random_state=7).split(X[order], qid=QID[order])
        return [set(QID[order][test]) for _, test in folds]

    assert parts(np.arange(QID.size)) == parts(rng.permutation(QID.size))
    assert parts(np.arange(QID.size)) != [
        set(QID[test]) for _, test in QueryKFold(4, shuffle=True, random_state=8).split(X, qid=QID)
    ]


def test_sources_of_query_ids_agree():
    expected = [(a.tolist(), b.tolist()) for a, b in QueryKFold(3).split(X, qid=QID)]
    frame = pd.DataFrame(X, columns=list("abc")).assign(qid=QID)
    for folds in (QueryKFold(3).split(X, groups=QID), QueryKFold(3).split(frame)):
        assert [(a.tolist(), b.tolist()) for a, b in folds] == expected
    data = RankingDataset.from_arrays(X, Y, QID)
    for (train, test), (_, rows) in zip(QueryKFold(3).split(data), QueryKFold(3).split(X, qid=QID), strict=True):
        assert isinstance(train, RankingDataset)
        assert set(test.qids) == set(QID[rows])
        assert train.n_rows + test.n_rows == data.n_rows


class Best(RegressorMixin, BaseEstimator):
    """Scores by one column; its own score is the share of test queries seen whole, and needs qid."""

    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y, *, qid=None):
        self.queries_ = set(qid)
        return self

    def predict(self, X):
        return X[:, self.column]

    def score(self, X, y, sample_weight=None, *, qid=None):  # Pipeline.score always passes sample_weight
        assert not self.queries_ & set(qid)
        return np.mean(
            [np.argmax(self.predict(X[qid == q])) == np.argmax(np.asarray(y)[qid == q]) for q in np.unique(qid)]
        )


def test_cross_validation_and_grid_search_route_qid():
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(QueryNormalizer(), Best())
        scores = cross_validate(pipe, X, Y, params={"qid": QID}, cv=QueryKFold(4), error_score="raise")
        assert scores["test_score"].shape == (4,)
        search = GridSearchCV(
            pipe,
            {"best__column": [0, 1, 2], "querynormalizer__method": ["minmax", "rank"]},
            cv=QueryKFold(3, shuffle=True, random_state=0),
            error_score="raise",
        )
        search.fit(X, Y, qid=QID)
    assert search.best_params_["best__column"] == 0
    assert search.best_score_ > 0.8


def test_the_column_does_without_routing():
    class FromColumn(Best):
        def fit(self, X, y):
            return super().fit(X, y, qid=X["qid"])

        def predict(self, X):
            return X[["a", "b", "c"][self.column]].to_numpy()

        def score(self, X, y):
            return super().score(X, y, qid=X["qid"])

    frame = pd.DataFrame(X, columns=list("abc")).assign(qid=QID)
    search = GridSearchCV(
        make_pipeline(QueryNormalizer(), FromColumn()), {"fromcolumn__column": [0, 1, 2]}, cv=QueryKFold(3)
    )
    search.fit(frame, Y)
    assert search.best_params_["fromcolumn__column"] == 0


def test_refusals():
    with pytest.raises(DataError, match="needs the query"):
        list(QueryKFold().split(X))
    with pytest.raises(DataError, match="only 2 queries"):
        list(QueryKFold().split(np.zeros((3, 1)), qid=[1, 1, 2]))
    with pytest.raises(DataError, match="X has 3 rows, qid 2"):
        list(QueryKFold().split(np.zeros((3, 1)), qid=[1, 2]))
    with pytest.raises(DataError, match="n_splits"):
        QueryKFold(1)
    with pytest.raises(DataError, match="shuffle=True"):
        QueryKFold(random_state=1)
    assert repr(clone(QueryKFold(3), safe=False)).startswith("QueryKFold(n_splits=3")
