from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(40, 8, 4, random_state=0)


def test_one_sample_of_everything_is_the_base(data):
    base = pk.ListNet().fit(data)
    one = pk.SubsampleEnsemble(base=pk.ListNet(), n_members=1, fraction=1.0, standardize=False).fit(data)
    np.testing.assert_array_equal(one.predict(data), base.predict(data))
    scaled = pk.SubsampleEnsemble(base=pk.ListNet(), n_members=1, fraction=1.0).fit(data)
    np.testing.assert_array_equal(scaled.rank(data), base.rank(data))


def test_linear_members_are_one_with_the_mean_of_the_weights(data):
    result = pk.SubsampleEnsemble(base="ListNet", n_members=4, fraction=0.3, standardize=False).fit(data)
    weights = np.mean([member.scorer_.weights[:, 0] for member in result.members_], axis=0)
    np.testing.assert_allclose(result.predict(data), data.X @ weights, rtol=1e-5, atol=1e-6)
    assert np.ptp([member.scorer_.weights[0, 0] for member in result.members_]) > 0  # they saw different queries


def test_the_squared_error_splits_into_the_members_errors_and_their_disagreement(data):
    """Ambiguity: error of the mean = mean error − mean squared distance from the mean."""
    result = pk.SubsampleEnsemble(base="LinearRegression", n_members=5, fraction=0.2, standardize=False).fit(data)
    scores = np.array([member.predict(data) for member in result.members_])
    mean = result.predict(data)
    error = ((mean - data.y) ** 2).mean()
    assert error == pytest.approx(((scores - data.y) ** 2).mean() - ((scores - mean) ** 2).mean(), rel=1e-6)
    assert error <= ((scores - data.y) ** 2).mean()


def test_close_to_training_on_everything(data):
    test = pk.datasets.make_ranking(40, 8, 4, random_state=1)
    whole = pk.ListNet().fit(data).score(test)
    assert pk.SubsampleEnsemble(base="ListNet", n_members=8, fraction=0.3).fit(data).score(test) > whole - 0.05


@pytest.mark.parametrize("parameters", [{"n_members": 0}, {"fraction": 0.0}, {"fraction": 1.5}])
def test_wrong_parameters(data, parameters):
    with pytest.raises(DataError, match=next(iter(parameters))):
        pk.SubsampleEnsemble(**parameters).fit(data)
