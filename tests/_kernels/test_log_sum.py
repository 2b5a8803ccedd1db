"""Sums of exponentials, a term at a time."""

import numpy as np
from scipy.special import logsumexp

from plackett._kernels.log_sum import add_exp


def test_sum_of_large_and_small_terms() -> None:
    terms = np.array([-800.0, 900.0, 3.0, 900.5, -np.inf])
    largest, total = -np.inf, 0.0
    for term in terms:
        largest, total = add_exp(largest, total, term)
    np.testing.assert_allclose(largest + np.log(total), logsumexp(terms), rtol=1e-15)
