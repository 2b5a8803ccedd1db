"""What fitted models say about their features, against the models themselves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from plackett.datasets import make_ranking
from plackett.explanations.model_importance import model_importance
from plackett.rankers import LambdaMART, ListNet, RankBoost, RankNet


@pytest.fixture(scope="module")
def data():
    return make_ranking(20, 7, 4, random_state=1).replace(feature_names=None)


def by_feature(frame, column="importance"):
    return dict(zip(frame["feature"], frame[column], strict=True))


def test_what_models_say_of_themselves(data):
    trees = LambdaMART(n_estimators=5, min_child_samples=2, n_jobs=1).fit(data)
    gain = by_feature(model_importance(trees, data))
    model = trees.scorer_.booster.dump_model()["tree_info"]
    totals = dict.fromkeys(gain, 0.0)

    def walk(node):
        if "split_gain" in node:
            totals[str(node["split_feature"] + 1)] += node["split_gain"]
            walk(node["left_child"])
            walk(node["right_child"])

    for tree in model:
        walk(tree["tree_structure"])
    assert gain == pytest.approx(totals, rel=1e-4)

    linear = ListNet(n_jobs=1).fit(data)
    for given in (data, data.replace(X=sp.csr_array(data.X))):
        result = model_importance(linear, given)
        expected = np.abs(linear.scorer_.weights[:, 0]) * np.std(data.X.astype(float), axis=0)
        assert by_feature(result) == pytest.approx({str(j + 1): v for j, v in enumerate(expected)}, rel=1e-5)
        assert result["share"].sum() == pytest.approx(1)

    boosted = RankBoost(n_jobs=1, n_estimators=10).fit(data)
    result = by_feature(model_importance(boosted, data))
    for j in range(4):  # what the score does when only this feature differs between documents
        X = np.zeros_like(data.X)
        X[:, j] = data.X[:, j]
        assert result[str(j + 1)] == pytest.approx(np.std(boosted.predict(data.replace(X=X))), abs=1e-9)


def test_models_that_say_nothing(data):
    pytest.importorskip("torch")
    network = RankNet(max_epochs=1, n_jobs=1).fit(data)
    assert model_importance(network, data) is None
