"""Profiles, comparisons and attraction from features."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.clicks.compare import compare_models
from plackett.clicks.features import FeatureAttraction, dataset_rows
from plackett.clicks.log import ClickLog
from plackett.clicks.models.dbn import DBN, SDBN
from plackett.clicks.models.pbm import PBM
from plackett.clicks.profile import profile_log
from plackett.clicks.simulate import CascadeUsers, PositionUsers, simulate_log
from plackett.solvers.logistic_rates import LogisticRates


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=40, docs_per_query=8, n_features=6, random_state=0)


def test_the_model_that_made_the_data_explains_it_best(data):
    names = ["GlobalCTR", "RankCTR", "ICM", "PBM", "UBM", "DCM", "DBN", "SDBN"]
    by_position = simulate_log(data, n_pages=15_000, k=6, users=PositionUsers(strength=1.0), random_state=0)
    result = compare_models(by_position, models=names)
    assert set(result.frame["model"][:2]) == {"PBM", "UBM"}  # the second contains the first
    from_the_top = simulate_log(data, n_pages=15_000, k=6, users=CascadeUsers(go_on=0.8), random_state=0)
    result = compare_models(from_the_top, models=names)
    assert result.frame["model"][0] == "DBN"
    assert result.per_rank.shape == (8, 7)
    pytest.importorskip("plotly")
    assert len(result.plot().data) == 8


def test_relevance_against_grades(data):
    named = data.replace(docids=np.arange(data.n_rows))
    log = simulate_log(named, n_pages=6000, k=6, random_state=0)
    qrels = [
        (str(q), str(d), int(y))
        for q, d, y in zip(np.repeat(named.qids, np.diff(named.offsets)), named.docids, named.y, strict=True)
    ]
    result = compare_models(log, models=["RankCTR", "PBM"], grades=qrels).frame
    quality = dict(zip(result["model"], result["nDCG@10"], strict=True))
    assert quality["PBM"] > quality["RankCTR"] + 0.1


def test_profile():
    fixed = ClickLog.from_arrays(["q"] * 3, [["a", "b"]] * 3, [[1, 0], [1, 1], [0, 0]], users=["u", "u", "v"])
    facts = profile_log(fixed)
    assert facts.moving_pairs == 0
    assert facts.connected_ranks == 1
    assert facts.pages_without_clicks == 1
    assert facts.pages_with_several_clicks == 1
    assert facts.repeated_pages == 0
    assert facts.users == 2
    assert "cannot be told apart" in facts.advice[0]
    assert facts.clicks_per_rank == pytest.approx([2 / 3, 1 / 3])
    swapped = ClickLog.from_arrays(["q", "q"], [["a", "b", "c"], ["b", "a", "c"]], [[1, 0, 0], [0, 1, 0]])
    facts = profile_log(swapped)
    assert facts.moving_pairs == 2
    assert facts.connected_ranks == 2
    assert "2 of 3 ranks" in facts.advice[0]
    busy = ClickLog.from_arrays(["q"] * 600, [["a", "b"]] * 600, [[1, 0]] * 600, users=["robot"] * 599 + ["u"])
    assert profile_log(busy).robot_pages == 599


def test_logistic_rates_against_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    trials = rng.integers(1, 20, 300).astype(float)
    hits = rng.binomial(trials.astype(int), 1 / (1 + np.exp(-(X @ [1.0, -0.5, 0.2] - 1))))
    result = LogisticRates(alpha=2.0).fit(X, hits, trials)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = LogisticRegression(C=0.5, tol=1e-10, max_iter=1000).fit(
        np.concatenate((Z, Z)), np.repeat([1, 0], 300), sample_weight=np.concatenate((hits, trials - hits))
    )
    np.testing.assert_allclose(result.coef_, [*peer.coef_[0], peer.intercept_[0]], atol=1e-4)


def test_features_know_new_documents_better_than_the_mean(data):
    rng = np.random.default_rng(1)
    weight = rng.normal(size=data.n_features)
    true = 1 / (1 + np.exp(-(np.asarray(data.X) @ weight - 1)))
    log = simulate_log(data, data.X[:, 0], n_pages=8000, k=6, temperature=1.0, random_state=0)
    rows = dataset_rows(log, data)
    assert (rows >= 0).all()
    look = 1 / np.arange(1, 7)
    clicks = rng.random(log.n_rows) < look[log.rank - 1] * true[rows[log.pair]]
    log = log.replace(clicks=clicks.astype(np.int32))
    half = log.select(log.query < 20)
    model = FeatureAttraction(PBM()).fit(half, data)
    new = np.repeat(np.arange(40), 8) >= 20
    result = model.attraction(data)
    np.testing.assert_allclose(model.model_.examination_, look, atol=0.12)
    assert np.abs(result - true)[new].mean() < 0.3 * np.abs(true.mean() - true)[new].mean()
    other = pk.RankingDataset.from_arrays(np.zeros((2, 6)), [0, 1], qid=[900, 901])
    with pytest.raises(pk.DataError, match="ids agree"):
        FeatureAttraction(PBM()).fit(half, other)


def test_any_logistic_ranker_may_learn_the_attraction(data):
    log = simulate_log(data, data.X[:, 0], n_pages=4000, k=6, temperature=1.0, random_state=0)
    true = 1 / (1 + np.exp(-2 * np.asarray(data.X)[:, 1]))
    clicks = np.random.default_rng(0).random(log.n_rows) < 0.5 * true[dataset_rows(log, data)[log.pair]]
    log = log.replace(clicks=clicks.astype(np.int32))
    model = FeatureAttraction(SDBN(), pk.LogisticRegression(), n_rounds=3).fit(log, data)
    assert np.corrcoef(model.attraction(data), true)[0, 1] > 0.8
    assert isinstance(model.model_, DBN)


def test_a_log_of_one_page_cannot_be_split():
    log = ClickLog.from_arrays(["q"], [["a", "b"]], [[0, 1]])
    with pytest.raises(pk.DataError, match="1 pages to fit and 0 to score on"):
        compare_models(log, models=["PBM"])
