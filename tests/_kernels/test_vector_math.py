"""The vectorisable functions against NumPy in extended precision, at the errors and bounds that they state."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plackett._kernels import vector_math
from plackett._kernels.kernel import REASSOC


def looped(function):
    """The function over an array inside a kernel that may reorder its own sums."""

    @numba.njit(error_model="numpy", fastmath=set(REASSOC))
    def loop(x, out):
        for i in range(x.size):
            out[i] = function(x[i])

    return loop


NAMES = ("exp", "exp32", "log", "log1p", "sigmoid", "sigmoid32", "softplus")
LOOPS = {name: looped(getattr(vector_math, name)) for name in NAMES}


def apply(name, x):
    x = np.atleast_1d(x)
    x = x.astype(np.float32 if name.endswith("32") else np.float64)
    out = np.empty_like(x)
    LOOPS[name](x, out)
    return out


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


rng = np.random.default_rng(0)
WIDE = np.concatenate([rng.uniform(-708, 709, 200_000), rng.uniform(-1, 1, 200_000), rng.normal(0, 10, 200_000)])
NEAR_0 = rng.uniform(-1, 1, 200_000) * 10.0 ** rng.uniform(-18, 0, 200_000)
CASES = {
    "exp": (np.exp, WIDE, 2e-16),
    "sigmoid": (_sigmoid, WIDE, 4e-16),
    "log": (np.log, np.concatenate([np.exp(WIDE), 1 + NEAR_0[NEAR_0 > -0.999], rng.uniform(0.5, 2, 200_000)]), 3e-16),
    "log1p": (np.log1p, np.concatenate([np.exp(WIDE), NEAR_0]), 4e-16),
    "softplus": (_softplus, WIDE, 4e-16),
    "exp32": (np.exp, WIDE[(WIDE > -87) & (WIDE < 88)], 1e-7),
    "sigmoid32": (_sigmoid, WIDE[np.abs(WIDE) < 87], 2e-7),
}


@pytest.mark.parametrize("name", CASES)
def test_relative_error_is_below_the_stated_one(name):
    reference, x, error = CASES[name]
    x = x.astype(np.float32) if name.endswith("32") else x
    true = reference(x.astype(np.longdouble))
    got = apply(name, x)
    zero = true == 0
    assert (got[zero] == 0).all()
    assert float(np.max(np.abs((got[~zero] - true[~zero]) / true[~zero]))) < error


def test_every_function_has_a_case():
    assert set(CASES) == set(NAMES)


@pytest.mark.parametrize("name", CASES)
def test_nan_stays_nan(name):
    assert np.isnan(apply(name, [np.nan])).all()


def test_clipped_at_the_stated_bounds():
    far = [709.0, 710.0, 1e300, np.inf]
    assert (apply("exp", far) == apply("exp", 709.0)).all()
    assert (apply("exp", np.array(far) * -1) == apply("exp", -708.0)).all()
    np.testing.assert_allclose(apply("exp", [-708.0, 709.0]), np.exp([-708.0, 709.0]), rtol=1e-15)
    np.testing.assert_allclose(apply("exp32", [-1e9, -87, 88, 1e9]), np.exp([-87, -87, 88.0, 88]), rtol=2e-7)
    assert apply("sigmoid", [-np.inf, 0, 38, np.inf]).tolist() == [1 / (1 + apply("exp", 709.0)[0]), 0.5, 1, 1]
    assert (apply("sigmoid32", [-1e30, 1e30]) >= 0).all() and apply("sigmoid32", [18])[0] == 1
    assert apply("log", [0.0, -3.0, 1e-310]).tolist() == [np.log(2.2250738585072014e-308)] * 3
    assert apply("log", [1.0, np.inf]).tolist() == [0.0, np.inf]
    assert apply("log1p", [0.0, np.inf]).tolist() == [0.0, np.inf]
    assert apply("softplus", [-np.inf, np.inf]).tolist() == [apply("exp", -708.0)[0], np.inf]
    assert apply("softplus", [1e300]).tolist() == [1e300]


def test_float32_stays_float32():
    @numba.njit
    def result(x):
        return np.array([_exp(x), _sigmoid32(x)])

    _exp, _sigmoid32 = vector_math.exp32, vector_math.sigmoid32
    assert result(np.float32(0.3)).dtype == np.float32


@given(st.floats(-1e300, 1e300))
def test_identities(x):
    assert apply("sigmoid", x)[0] + apply("sigmoid", -x)[0] == pytest.approx(1, abs=4e-16)
    assert apply("softplus", x)[0] - apply("softplus", -x)[0] == pytest.approx(x, rel=1e-14, abs=1e-15)
    if -700 < x < 700:
        assert apply("log", apply("exp", x))[0] == pytest.approx(x, rel=4e-16, abs=4e-16)
