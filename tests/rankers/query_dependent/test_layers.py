"""Two layers and CoupleNet: products by hand, gradients, planted data."""

from __future__ import annotations

import numpy as np
from scipy.optimize import check_grad

import plackett as pk
from plackett.losses.pairwise.logistic import Logistic
from plackett.rankers.query_dependent.couple_net import Layers
from plackett.scorers.two_layer import products
from tests.rankers.query_dependent.planted import rotating


def test_is_the_base_ranker_on_products():
    train, test = rotating(40, 0), rotating(20, 1)
    base = pk.LinearRegression(n_jobs=1)
    ranker = pk.TwoLayer(base=base, n_components=None).fit(train)
    z = [
        ((d.query_features - train.query_features.mean(axis=0)) / train.query_features.std(axis=0))
        for d in (train, test)
    ]
    wide = [
        d.replace(X=np.hstack([d.X, d.X * own[d.query_of_row][:, [0]], d.X * own[d.query_of_row][:, [1]]]).astype("f4"))
        for d, own in zip((train, test), z, strict=True)
    ]
    expected = base.fit(wide[0]).predict(wide[1])
    np.testing.assert_allclose(ranker.predict(test), expected, rtol=1e-3, atol=1e-4)
    assert ranker.layer_.shape == (4, 3)
    weights = ranker.layer_ @ np.append(1.0, z[1][0])  # those of the first test query
    first = test.select([0])
    np.testing.assert_allclose(
        first.X @ weights + ranker.scorer_.members[0].intercept_, ranker.predict(first), rtol=1e-4, atol=1e-5
    )


def test_equal_queries_give_the_base_ranker():
    train, test = (d.replace(query_features=np.ones((30, 2), np.float32)) for d in (rotating(30, 0), rotating(30, 1)))
    for base in (pk.LinearRegression(n_jobs=1), pk.LambdaMART(n_estimators=4, n_jobs=1, min_child_samples=1)):
        expected = base.fit(train).predict(test)
        np.testing.assert_array_equal(pk.TwoLayer(base=base).fit(train).predict(test), expected)
    linear = pk.GradientRanker(loss=Logistic(normalize=True), model=pk.Linear(alpha=1e-3))
    np.testing.assert_array_equal(pk.CoupleNet(alpha=1e-3).fit(train).predict(test), linear.fit(train).predict(test))


def test_gradient_of_both_layers():
    data = rotating(6, 0, n_docs=5)
    bound = Logistic().bind(data)
    layers = Layers(data, data.query_features.astype(float), np.array([1.0, 2.0, 0.5, 1.0]), bound, 0.1, 3)
    rng = np.random.default_rng(0)
    for _ in range(3):
        flat = rng.normal(size=layers.start(rng).size)
        off = check_grad(lambda w: layers.objective(w)[0], lambda w: layers.objective(w)[1], flat)
        assert off < 1e-4 * np.linalg.norm(layers.objective(flat)[1])


def test_couple_net_beats_the_linear_ranker_where_weights_turn():
    train, test = rotating(80, 0), rotating(60, 1)
    assert pk.CoupleNet(hidden=4).fit(train).score(test) > pk.RankSVM(C=0.01).fit(train).score(test) + 0.2


def test_sparse_products():
    from scipy.sparse import csr_matrix

    data = rotating(5, 0)
    z = data.query_features.astype(float)
    dense = products(data.X, data.offsets, z)
    np.testing.assert_allclose(products(csr_matrix(data.X), data.offsets, z).toarray(), dense)
