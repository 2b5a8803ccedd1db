from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.theory import capture_recapture


def test_independent_samples_give_the_size_and_correlated_ones_too_little():
    rng = np.random.default_rng(0)
    n = 5000
    popular = rng.random(n) < 0.2

    def estimate(chance):
        one, other = rng.random(n) < chance, rng.random(n) < chance
        return capture_recapture(int(one.sum()), int(other.sum()), int((one & other).sum()))

    independent = np.mean([estimate(np.full(n, 0.3)) for _ in range(200)])
    correlated = np.mean([estimate(np.where(popular, 0.8, 0.1)) for _ in range(200)])
    assert independent == pytest.approx(n, rel=0.02)
    assert correlated < 0.7 * n
    with pytest.raises(DataError, match="both"):
        capture_recapture(5, 5, 0)
