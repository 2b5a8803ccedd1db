"""Networks of logistic neurons, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from plackett.scorers.sigmoid_layers import SigmoidLayersScorer


def network():
    rng = np.random.default_rng(0)
    return SigmoidLayersScorer((rng.normal(size=(3, 2)), rng.normal(size=(2, 1))), (rng.normal(size=2), np.ones(1)))


def test_scores_against_plain_products():
    scorer, X = network(), np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)

    def sigmoid(z):
        return 1 / (1 + np.exp(-z))

    hidden = sigmoid(X.astype(float) @ scorer.weights[0] + scorer.biases[0])
    expected = sigmoid(hidden @ scorer.weights[1] + 1.0)[:, 0]
    result = scorer.predict(X, np.array([0, 50]))
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    np.testing.assert_allclose(scorer.predict(csr_matrix(X), np.array([0, 50])), expected, rtol=1e-12)
    np.testing.assert_array_equal(scorer.predict(X[7:8], np.array([0, 1])), result[7:8])
    again = SigmoidLayersScorer.from_arrays(scorer.to_arrays())
    np.testing.assert_array_equal(again.predict(X, np.array([0, 50])), result)


@pytest.mark.parametrize(
    "change", [{"biases.0": np.ones(3)}, {"weights.1": np.ones((3, 1))}, {"weights.0": np.ones(3)}]
)
def test_damaged_arrays_are_refused(change):
    with pytest.raises(ValueError, match="damaged"):
        SigmoidLayersScorer.from_arrays(network().to_arrays() | change)


@pytest.mark.parametrize("gone", ["biases.0", "weights.1", None])
def test_missing_arrays_are_refused(gone):
    arrays = {} if gone is None else {k: v for k, v in network().to_arrays().items() if k != gone}
    with pytest.raises(ValueError, match="damaged"):
        SigmoidLayersScorer.from_arrays(arrays)
