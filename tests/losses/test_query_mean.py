"""Query-level normalisation: the two invariances of IR-SVM, for pair and point losses."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import LossError, RankingDataset
from plackett.data.preferences import Preferences
from plackett.losses.pairwise.logistic import Logistic
from plackett.losses.query_mean import QueryMean

PAIR = ["Logistic", "Exponential", "Fidelity", "Hinge"]


@pytest.mark.parametrize("loss", [*PAIR, "Square", "BinaryLogistic"])
def test_the_loss_itself_where_all_queries_are_alike(loss):
    rng = np.random.default_rng(0)
    labels = np.tile([2, 1, 0, 0], 5)  # 5 pairs, 4 documents in each query
    data = RankingDataset.from_arrays(None, labels, np.repeat(np.arange(5), 4))
    scores = rng.normal(size=20)
    terms = 5 if loss in PAIR else 4
    whole = pk.losses()[loss]()
    assert QueryMean(loss=loss)(scores, data) == pytest.approx(whole(scores, data) / terms)
    for mean, plain in zip(QueryMean(loss=loss).gradient(scores, data), whole.gradient(scores, data), strict=True):
        np.testing.assert_allclose(mean, plain / terms, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("loss", PAIR)
def test_repeated_preferences_change_nothing(loss):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 2))
    pairs = np.array([[0, 1], [2, 1], [3, 4], [4, 5]])
    scores = rng.normal(size=6)
    result = []
    for times in (1, 3):
        listed = np.concatenate([np.repeat(pairs[:2], times, axis=0), pairs[2:]])
        data = RankingDataset.from_arrays(X, None, [0, 0, 0, 1, 1, 1], preferences=Preferences(*listed.T))
        result.append((QueryMean(loss=loss)(scores, data), pk.losses()[loss]()(scores, data)))
    assert result[0][0] == pytest.approx(result[1][0]) and result[0][1] != pytest.approx(result[1][1])


def test_repeated_documents_change_nothing_in_a_point_loss():
    rng = np.random.default_rng(2)
    X, y, qid = rng.normal(size=(9, 2)), rng.integers(0, 3, 9), np.repeat([0, 1, 2], 3)
    rows = np.concatenate([np.arange(9), np.arange(3), np.arange(3)])  # the first query three times
    weights = []
    for at in (np.arange(9), rows):
        ranker = pk.GradientRanker(loss=QueryMean(loss="Square"), model="linear").fit(X[at], y[at], qid=qid[at])
        weights.append(ranker.predict(X, qid=qid))
    np.testing.assert_allclose(weights[0], weights[1], rtol=1e-4, atol=1e-5)


def test_the_option_of_pair_losses_is_the_same_and_it_can_be_saved(tmp_path):
    rng = np.random.default_rng(3)
    X, y, qid = rng.normal(size=(40, 3)), rng.integers(0, 3, 40), np.repeat(np.arange(4), [2, 8, 10, 20])
    data = RankingDataset.from_arrays(X, y, qid, sample_weight=rng.random(40) + 0.5)
    scores = rng.normal(size=40)
    for loss in (Logistic(margin=0.5), Logistic(graded=True)):
        assert QueryMean(loss=loss)(scores, data) == pytest.approx(loss.replace(normalize=True)(scores, data))
    ranker = pk.GradientRanker(loss=QueryMean(loss=Logistic(margin=0.5)), model="linear").fit(data)
    ranker.save(tmp_path / "m.plackett")
    loaded = pk.load(tmp_path / "m.plackett")
    assert loaded.loss == ranker.loss
    np.testing.assert_array_equal(loaded.predict(data), ranker.predict(data))


def test_refusals():
    with pytest.raises(LossError, match="ListNet is not a sum over pairs"):
        QueryMean(loss="ListNet")
    assert QueryMean(loss="ListNet", per="documents").inner.name == "ListNet"
    with pytest.raises(LossError, match="per="):
        QueryMean(loss="Square", per="queries")
    with pytest.raises(LossError, match="another loss"):
        QueryMean(loss="QueryMean")
