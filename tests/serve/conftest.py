"""Rankers to serve."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.serve.application import application


@pytest.fixture(scope="session")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=600), [0.0, 1.5])
    return pk.RankingDataset.from_arrays(X, y, np.arange(600) // 20, feature_names=["bm25", "age", "clicks", "price"])


@pytest.fixture(scope="session")
def trees(data):
    return pk.LambdaMART(n_estimators=20, n_jobs=1).fit(data)


@pytest.fixture(scope="session")
def linear(data):
    return pk.ListNet(n_jobs=1).fit(data)


@pytest.fixture(scope="session")
def nameless(data):
    return pk.LambdaMART(n_estimators=20, n_jobs=1).fit(data.X, data.y, qid=data.qid)


@pytest.fixture
def app(trees, linear):
    return application({"trees": trees, "linear": linear})


@pytest.fixture
def one(trees):
    return application({"trees": trees})
