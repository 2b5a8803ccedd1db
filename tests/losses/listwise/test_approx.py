"""ApproxAP, ApproxERR and ApproxRR come to their measures as the steepness grows."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import LossError, RankingDataset, evaluate
from plackett.losses import ApproxAPLoss, ApproxERR, ApproxRR


@pytest.mark.parametrize(
    ("loss", "measure"),
    [(ApproxAPLoss, "AP"), (ApproxRR, "RR"), (ApproxERR, "nERR(max_label=3)")],
)
def test_steep(loss, measure):
    rng = np.random.default_rng(0)
    sizes = [12, 5, 30, 8]
    labels = rng.integers(-1, 4, sum(sizes)).astype(float)
    labels[0] = 3.0
    data = RankingDataset.from_arrays(None, labels, group=sizes)
    scores = rng.permutation(sum(sizes)).astype(float)
    target = 4 - 4 * evaluate(data, scores, [measure]).mean[measure]
    far = [abs(loss(alpha=a, beta=b)(scores, data) - target) for a, b in ((0.1, 0.1), (3.0, 3.0), (50.0, 50.0))]
    assert far[0] > far[1] > far[2]
    assert far[2] < 1e-9


def test_refusals():
    with pytest.raises(LossError, match="beta"):
        ApproxAPLoss(beta=0.0)
    data = RankingDataset.from_arrays(None, [0.0, 4.0])
    with pytest.raises(LossError, match="max_label"):
        ApproxERR(max_label=3.0).bind(data)
    assert ApproxERR().settle(data).max_label == 4.0
    with pytest.raises(LossError, match="label"):
        ApproxRR(rel=5.0).settle(data)
