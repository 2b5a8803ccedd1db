"""A linear ranker of rates with exposure, and the labels it learns from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

import plackett as pk
from plackett.clicks.labels.dataset import labelled_dataset
from plackett.clicks.labels.from_model import examined_labels, model_labels
from plackett.clicks.models.additive import AdditiveTwoTower
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.dbn import DBN
from plackett.clicks.models.pbm import PBM
from plackett.clicks.models.trust_bias import TrustBias
from plackett.clicks.rankers.exposure_softmax import ExposureSoftmax
from plackett.clicks.simulate import PositionUsers, TrustUsers, simulate_log
from plackett.clicks.unbiased.weights import ips_labels


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=30, docs_per_query=6, n_features=4, random_state=0)


def rates(data, seed=0):
    rng = np.random.default_rng(seed)
    examined = rng.exponential(4.0, data.n_rows)
    examined[::7] = 0.0
    return data.replace(
        y=np.where(rng.random(data.n_rows) < 0.1, -1.0, rng.random(data.n_rows)), sample_weight=examined
    )


def objective(v, data, alpha, saturation):
    """The formula, query by query."""
    rows = (data.labels >= 0) & (data.sample_weight > 0)
    X = data.X.astype(np.float64)
    X = X / X[rows].std(axis=0)
    loss = amount = 0.0
    for q in range(data.n_queries):
        at = [i for i in range(*data.offsets[q : q + 2]) if rows[i]]
        w = data.sample_weight[at] / (data.sample_weight[at] + saturation)
        mass = w * np.exp(X[at] @ v)
        loss -= (w * data.labels[at] * np.log(mass / mass.sum())).sum()
        amount += (w * data.labels[at]).sum()
    return loss / amount + 0.5 * alpha * v @ v


def test_the_minimum_by_another_solver(data):
    train = rates(data)
    ranker = ExposureSoftmax(alpha=0.1, saturation=3.0).fit(train)
    other = minimize(objective, np.zeros(4), args=(train, 0.1, 3.0), options={"gtol": 1e-7})
    np.testing.assert_allclose(ranker.coef_ * ranker.scale_, other.x, atol=1e-5)
    assert ranker.n_iter_ < 10
    np.testing.assert_allclose(ranker.predict(data), data.X @ ranker.coef_, rtol=1e-6)
    sparse = train.replace(X=csr_matrix(train.X))
    np.testing.assert_allclose(ExposureSoftmax(alpha=0.1, saturation=3.0).fit(sparse).coef_, ranker.coef_, rtol=1e-5)


def test_documents_that_were_never_examined_do_not_matter(data):
    train = rates(data)
    changed = train.labels.copy()
    changed[::7] = 100.0
    a, b = (ExposureSoftmax().fit(each).coef_ for each in (train, train.replace(y=changed)))
    np.testing.assert_array_equal(a, b)


def test_equal_weights_are_no_weights(data):
    plain = rates(data).replace(sample_weight=None)
    heavy = plain.replace(sample_weight=np.full(data.n_rows, 50.0))
    np.testing.assert_allclose(ExposureSoftmax().fit(plain).coef_, ExposureSoftmax().fit(heavy).coef_, atol=1e-7)


def test_noisy_rates_of_rare_documents_do_less_harm():
    """Long lists of which few documents are shown often: inverse propensities alone are worse than with weights."""
    both = pk.datasets.make_ranking(n_queries=120, docs_per_query=30, n_features=6, random_state=0)
    data, fresh = both.select(range(40)), both.select(range(40, 120))
    data = data.replace(docids=np.arange(data.n_rows))
    users = PositionUsers(strength=1.0)
    quality = {True: [], False: []}
    for seed in range(6):
        log = simulate_log(data, data.X[:, 0], n_pages=500, users=users, temperature=0.5, random_state=seed)
        labels = ips_labels(log, users.examination(log.longest))
        for weighted, values in quality.items():
            ranker = ExposureSoftmax().fit(labelled_dataset(labels, data, weighted=weighted).data)
            values.append(pk.evaluate(fresh, ranker.predict(fresh), ["nDCG@10"]).mean["nDCG@10"])
    assert np.mean(quality[True]) > np.mean(quality[False]) + 0.01


def test_what_cannot_be_learned_from_is_named(data):
    with pytest.raises(pk.DataError, match="no document has a rate above 0"):
        ExposureSoftmax().fit(data.replace(y=np.zeros(data.n_rows)))
    holes = np.where(np.arange(data.n_rows)[:, None] == 5, np.nan, data.X)
    with pytest.raises(pk.DataError, match="feature 'match_0' of row 5 is nan"):
        ExposureSoftmax().fit(data.replace(X=holes))
    with pytest.raises(pk.DataError, match=r"X has 0 feature\(s\)"):
        ExposureSoftmax().fit(pk.RankingDataset.from_arrays(None, [1, 0]))
    with pytest.raises(ValueError, match="not fitted"):
        ExposureSoftmax().predict(data)
    with pytest.raises(pk.DataError, match="X has 4 features, but ExposureSoftmax is expecting 3"):
        ExposureSoftmax().fit(data.replace(X=data.X[:, :3], feature_names=None)).predict(data)
    with pytest.raises(pk.DataError, match="alpha='x'"):
        ExposureSoftmax(alpha="x").fit(rates(data))
    with pytest.raises(pk.DataError, match="alpha=0"):
        ExposureSoftmax(alpha=0).fit(rates(data))
    with pytest.raises(pk.DataError, match="saturation=-1"):
        ExposureSoftmax(saturation=-1).fit(rates(data))


def test_rates_per_examination(data):
    log = simulate_log(data, n_pages=400, k=4, random_state=0)
    model = DBN().fit(log)
    labels = examined_labels(model)
    np.testing.assert_allclose(labels["label"] * labels["weight"], model.clicks_, atol=1e-9)
    assert labels["label"].max() <= 1.0
    assert (labels["weight"].to_numpy() <= model.shown_ + 1e-9).all()
    assert labels["document"].equals(model_labels(model)["document"])
    plain = examined_labels(IndependentClickModel().fit(log))
    np.testing.assert_allclose(plain["weight"], model.shown_)
    with pytest.raises(pk.DataError, match="has no expected examinations"):
        examined_labels(AdditiveTwoTower().fit(log))
    with pytest.raises(pk.DataError, match="not fitted"):
        examined_labels(PBM())


def test_rates_corrected_for_trust(data):
    """By the mean of the corrected clicks, weighted by what each rank tells; and near the truth on a long log."""
    log = simulate_log(data, n_pages=20_000, k=4, users=TrustUsers(), random_state=0)
    model = TrustBias().fit(log)
    labels = model.corrected_labels(log)
    span = np.maximum(model.relevant_ - model.irrelevant_, 0.01)[log.rank - 1]
    seen = np.bincount(log.pair, span)
    np.testing.assert_allclose(labels["weight"], seen)
    rest = np.bincount(log.pair, span * model.corrected_clicks(log))
    np.testing.assert_allclose(labels["label"], np.maximum(rest / seen, 0.0), atol=1e-12)
    grade = data.labels[log.documents[log.pair_document]]
    assert np.corrcoef(labels["label"], 2.0**grade)[0, 1] > 0.8


def test_a_member_learns_from_the_same_documents_as_alone(data):
    """Rates that are unknown, and documents without examinations, are no rivals inside other rankers either."""
    train = rates(data).replace(query_weight=np.random.default_rng(1).exponential(size=data.n_queries))
    alone = ExposureSoftmax().fit(train)
    for outer in (
        pk.Blend(members=(ExposureSoftmax(),)),
        pk.AutoRanker(candidates=[ExposureSoftmax()], n_trials=1, n_folds=2, n_repeats=1),
    ):
        member = outer.fit(train).members_[0]
        np.testing.assert_allclose(member.coef_, alone.coef_, atol=1e-12)
