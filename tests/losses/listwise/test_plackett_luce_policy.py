"""The policy gradient is an unbiased estimate of the gradient of the expected measure."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy.special import logsumexp

from plackett import LossError, RankingDataset, evaluate
from plackett.losses import PlackettLucePolicy


@pytest.mark.parametrize("measure", ["nDCG@2", "AP", "RR", "ARP"])
def test_unbiased(measure):
    labels, scores = np.array([1.0, 0.0, 2.0, 0.0]), np.array([0.2, 0.5, -0.3, 0.0])
    data = RankingDataset.from_arrays(None, labels)
    orders = list(permutations(range(4)))
    values = [evaluate(data, -np.argsort(order).astype(float), [measure]).mean[measure] for order in orders]

    def expected(s):
        p = [sum(s[j] - logsumexp(s[list(o[r:])]) for r, j in enumerate(o)) for o in orders]
        return np.exp(p) @ values

    exact = np.array([(expected(scores + h) - expected(scores - h)) / 2e-6 for h in 1e-6 * np.eye(4)])
    sign = 1.0 if measure == "ARP" else -1.0  # a rank to be made small
    drawn = np.array(
        [
            PlackettLucePolicy(measure=measure, n_samples=64, random_state=seed).gradient(scores, data)[0]
            for seed in range(300)
        ]
    )
    error = drawn.std(axis=0) / np.sqrt(300)
    assert (np.abs(drawn.mean(axis=0) - sign * exact) < 4 * error).all()
    assert np.abs(exact).max() > 10 * error.max()


def test_refusals():
    with pytest.raises(LossError, match="n_samples"):
        PlackettLucePolicy(n_samples=1)
    with pytest.raises(ValueError, match="measure"):
        PlackettLucePolicy(measure="no such measure")
